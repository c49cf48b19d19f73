// `swaplock certs`: the certificates of a small site or a test, as files in one
// folder.
//
//   ca.crt  ca.key                the CA; its key signs and stays here
//   server.crt  server.key        of the server
//   host-NAME.crt  host-NAME.key  of each host
//   reader-NAME.crt ...           of who asks
//   operator-NAME.crt ...         of who also acts on verdicts
//
// Keys have mode 0600. A certificate that is there is replaced, a CA never.
#ifndef SWAPLOCK_CLI_CERTS_CERTS_H_
#define SWAPLOCK_CLI_CERTS_CERTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace swaplock {

struct CertsRequest {
  std::string folder = ".";
  std::string domain = "swaplock";  // trust domain of the hosts' names
  int days = 0;                     // 0: 3650 for a CA, 397 for others
  absl::Time now;
};

// words: "ca"; "server" and its DNS names and addresses; "host", "reader" or
// "operator" and its name. Returns what it made as one line for people.
// InvalidArgument when the words are wrong, otherwise what is wrong with the
// folder or its CA.
absl::StatusOr<std::string> MakeCerts(const std::vector<std::string>& words,
                                      const CertsRequest& request);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_CERTS_CERTS_H_
