// swaplock: what the fleet's locks do, for people and scripts.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "cli/subcommands.h"
#include "common/command_line.h"

ABSL_FLAG(std::string, server, "127.0.0.1:7787",
          "host:port of the server's gRPC side");
ABSL_FLAG(std::string, tls_ca, "",
          "certificate of the CA that signed the server's; empty: plaintext");
ABSL_FLAG(std::string, tls_cert, "", "our certificate, of a reader");
ABSL_FLAG(std::string, tls_key, "", "its key");
ABSL_FLAG(std::string, tls_server_name, "",
          "name in the server's certificate, if it is not that of --server");
ABSL_FLAG(std::string, token_file, "",
          "file with the token of a reader, for a server that wants one");
ABSL_FLAG(std::string, output, "table", "table or json");
ABSL_FLAG(std::string, kernel, "", "top: show this kernel release only");
ABSL_FLAG(absl::Duration, interval, absl::Seconds(2),
          "top: time between two looks, at least 100ms");
ABSL_FLAG(int, seconds, 0, "top: stop after so many seconds; 0: never");
ABSL_FLAG(bool, once, false, "top: look once");
ABSL_FLAG(bool, explain, false,
          "top: say of each of the longest holds why it was long, as far as it "
          "is known: who ran instead, who waited, stacks");

namespace swaplock {
namespace {

constexpr char kUsage[] =
    "What the fleet's locks do.\n"
    "  swaplock top        the fleet's locks, live\n"
    "  swaplock verdicts   kernels against each other\n"
    "  swaplock doctor     what can be measured on this host\n"
    "  swaplock certs      certificates for a small site: ca, server NAME...,\n"
    "                      host NAME, reader NAME";

int Usage(const std::string& message) {
  std::fprintf(stderr, "swaplock: %s; see swaplock --help\n", message.c_str());
  return kExitUsage;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> words = ParseCommandLine(kUsage, argc, argv);
  CommandOptions options;
  options.server = absl::GetFlag(FLAGS_server);
  options.identity.tls = {absl::GetFlag(FLAGS_tls_ca),
                          absl::GetFlag(FLAGS_tls_cert),
                          absl::GetFlag(FLAGS_tls_key)};
  options.identity.server_name = absl::GetFlag(FLAGS_tls_server_name);
  options.identity.token_file = absl::GetFlag(FLAGS_token_file);
  options.kernel = absl::GetFlag(FLAGS_kernel);
  options.interval = absl::GetFlag(FLAGS_interval);
  options.seconds = absl::GetFlag(FLAGS_seconds);
  options.once = absl::GetFlag(FLAGS_once);
  options.explain = absl::GetFlag(FLAGS_explain);
  const std::string output = absl::GetFlag(FLAGS_output);
  options.json = output == "json";
  if (!options.json && output != "table")
    return Usage("--output is table or json");
  if (options.interval < absl::Milliseconds(100) || options.seconds < 0) {
    return Usage("--interval is at least 100ms, --seconds at least 0");
  }
  if (!words.empty() && words[0] == "certs") {
    return Certs({words.begin() + 1, words.end()});
  }
  if (words.size() != 1)
    return Usage("one subcommand: top, verdicts, doctor or certs");
  if (words[0] == "top") return Top(options);
  if (words[0] == "verdicts") return Verdicts(options);
  if (words[0] == "doctor") return Doctor(options);
  return Usage("unknown subcommand \"" + words[0] + "\"");
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) { return swaplock::Main(argc, argv); }
