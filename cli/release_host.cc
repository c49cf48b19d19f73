#include <cstdio>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/status/statusor.h"
#include "cli/query/admin_client.h"
#include "cli/query/server_flags.h"
#include "cli/subcommands.h"

namespace swaplock {

int ReleaseHost(const Words& words) {
  if (words.words.size() != 2 || words.dashes) {
    return UsageError("quarantine", "release takes one host");
  }
  const std::string& host = words.words[1];
  v1::ReleaseRequest request;
  request.set_host_id(host);
  const absl::StatusOr<v1::ReleaseReply> reply =
      AskForRelease(absl::GetFlag(FLAGS_server), IdentityAsFlagsSay(), request);
  if (!reply.ok()) return AdminFailed("quarantine", reply.status());
  std::printf("%s %s\n", host.c_str(),
              reply->was_set_aside()
                  ? "is heard again, when its agent comes back"
                  : "was not set aside");
  return 0;
}

}  // namespace swaplock
