// The name that a certificate gives its owner, as a URI among its subject
// alternative names: spiffe://DOMAIN/host/web-17, spiffe://DOMAIN/reader/ops or
// spiffe://DOMAIN/operator/ops. The form is SPIFFE's (SPIFFE-ID.md of
// github.com/spiffe/spiffe, section 2), the three kinds are ours.
#ifndef SWAPLOCK_COMMON_SPIFFE_ID_H_
#define SWAPLOCK_COMMON_SPIFFE_ID_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace swaplock {

enum class PeerKind {
  kHost,      // sends windows of the host that it is named for
  kReader,    // asks, and sends nothing
  kOperator,  // asks, acts on verdicts, says how his hosts measure
};

// "host", "reader", "operator".
absl::string_view Name(PeerKind kind);

struct SpiffeId {
  std::string domain;  // who signs: 1 to 255 of a-z, 0-9, '.', '-', '_'
  PeerKind kind = PeerKind::kHost;
  std::string name;  // 1 to 128 letters, digits, '.', '-', '_'

  // "spiffe://example.org/host/web-17"
  std::string ToString() const;
};

bool IsTrustDomain(absl::string_view text);
// Whether `text` can be a host, reader or operator in such a URI.
bool IsSpiffeName(absl::string_view text);

// InvalidArgument, with the URI in a sentence, for anything else.
absl::StatusOr<SpiffeId> ParseSpiffeId(absl::string_view uri);

// Of a certificate with these URIs, which must be exactly one: with two, who
// checks which would decide whom it speaks for.
absl::StatusOr<SpiffeId> OnlySpiffeId(const std::vector<std::string>& uris);

}  // namespace swaplock

#endif  // SWAPLOCK_COMMON_SPIFFE_ID_H_
