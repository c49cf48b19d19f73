#include "common/command_line.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/version.h"

namespace swaplock {
namespace {

enum class Stage { kParsing, kParsingHelp, kParsed };
Stage stage = Stage::kParsed;

// absl ends the program from within; this is the only way to have a say.
void CorrectExitStatus(int status, void*) {
  if (stage == Stage::kParsed || status != 1) return;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(stage == Stage::kParsingHelp ? 0 : kExitUsage);
}

}  // namespace

std::vector<std::string> ParseCommandLine(absl::string_view usage, int argc,
                                          char** argv) {
  absl::SetProgramUsageMessage(usage);
  absl::FlagsUsageConfig config;
  config.version_string = [] {
    return absl::StrCat("swaplock ", kVersion, "\n");
  };
  // --help lists the flags of the program, wherever in it they are defined.
  const auto ours = [](absl::string_view file) {
    return absl::StartsWith(file, "agent/") ||
           absl::StartsWith(file, "server/") || absl::StartsWith(file, "cli/");
  };
  config.contains_help_flags = ours;
  config.contains_helpshort_flags = ours;
  absl::SetFlagsUsageConfig(config);

  const bool help = std::any_of(argv, argv + argc, [](absl::string_view arg) {
    return absl::StartsWith(arg, "--help") || absl::StartsWith(arg, "-help");
  });
  stage = help ? Stage::kParsingHelp : Stage::kParsing;
  on_exit(CorrectExitStatus, nullptr);
  const std::vector<char*> left = absl::ParseCommandLine(argc, argv);
  stage = Stage::kParsed;
  return std::vector<std::string>(left.begin() + 1, left.end());
}

}  // namespace swaplock
