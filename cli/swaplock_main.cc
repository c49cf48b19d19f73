// swaplock: what the locks of a host or a fleet do, for people and scripts.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "cli/subcommands.h"
#include "common/command_line.h"
#include "common/version.h"

ABSL_FLAG(std::string, output, "", "form of what is printed");
ABSL_FLAG(int, seconds, 0, "stop after so many seconds; 0: never");
ABSL_FLAG(bool, lkml, false,
          "plain ASCII text of at most 72 columns, to paste into a mail");
// Only for --help: main() takes every one of them off the command line.
ABSL_FLAG(std::string, label, "",
          "name=value that the run is recorded with; may be given again");

namespace swaplock {
namespace {

bool Has(const std::vector<absl::string_view>& all, absl::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string Help() {
  std::string text =
      "swaplock: what the locks on Linux's swap-compression path do\n\n";
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppendFormat(&text, "  swaplock %-10s %s\n",
                          std::string(subcommand.name),
                          std::string(subcommand.summary));
  }
  return absl::StrCat(text,
                      "\nswaplock SUBCOMMAND --help tells its flags; "
                      "swaplock --version tells the version.\n");
}

std::string Help(const Subcommand& subcommand) {
  std::string text =
      absl::StrCat("swaplock ", subcommand.name, " ", subcommand.arguments,
                   "\n\n", subcommand.summary, "\n\n");
  for (const absl::string_view name : subcommand.flags) {
    const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(name);
    if (flag == nullptr) continue;
    const std::string value = name == "output"
                                  ? std::string(subcommand.outputs[0])
                                  : flag->DefaultValue();
    absl::StrAppend(&text, name.size() == 1 ? "  -" : "  --", name, "  ",
                    flag->Help());
    if (name == "output") {
      absl::StrAppend(&text, ": ", absl::StrJoin(subcommand.outputs, ", "));
    }
    if (!value.empty()) absl::StrAppend(&text, " (", value, ")");
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// The command line, taken apart: flags for absl, the rest for the subcommand.
struct Arguments {
  std::vector<std::string> flags;
  Words words;
  bool help = false;
  std::string error;
};

Arguments TakeApart(const Subcommand& subcommand,
                    const std::vector<std::string>& arguments) {
  Arguments out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (argument == "--") {
      out.words.dashes = true;
      out.words.after_dashes.assign(
          arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      out.words.words.emplace_back(argument);
      continue;
    }
    if (!absl::ConsumePrefix(&argument, "--")) argument.remove_prefix(1);
    const size_t equals = argument.find('=');
    // "--fail-on-regression" is "--fail_on_regression".
    const std::string name =
        absl::StrReplaceAll(argument.substr(0, equals), {{"-", "_"}});
    if (name == "help" || name == "h") {
      out.help = true;
      continue;
    }
    const absl::CommandLineFlag* flag =
        Has(subcommand.flags, name) ? absl::FindCommandLineFlag(name) : nullptr;
    const bool negated =
        flag == nullptr && absl::StartsWith(name, "no") &&
        Has(subcommand.flags, absl::string_view(name).substr(2));
    if (flag == nullptr && !negated) {
      out.error = absl::StrCat("it has no flag ", arguments[i]);
      return out;
    }
    out.words.flags.insert(name);
    std::string whole = absl::StrCat("--", name);
    if (equals != absl::string_view::npos) {
      absl::StrAppend(&whole, argument.substr(equals));
    }
    if (!negated && equals == absl::string_view::npos &&
        !flag->IsOfType<bool>()) {
      if (i + 1 == arguments.size()) {
        out.error = absl::StrCat(arguments[i], " needs a value");
        return out;
      }
      absl::StrAppend(&whole, "=", arguments[++i]);
    }
    if (name == "label") {
      out.words.labels.push_back(whole.substr(whole.find('=') + 1));
    } else {
      out.flags.push_back(whole);
    }
  }
  return out;
}

int Run(const Subcommand& subcommand, char* program,
        const std::vector<std::string>& arguments) {
  Arguments parts = TakeApart(subcommand, arguments);
  if (parts.help) {
    std::fputs(Help(subcommand).c_str(), stdout);
    return 0;
  }
  if (!parts.error.empty()) return UsageError(subcommand.name, parts.error);
  std::vector<char*> argv = {program};
  for (std::string& flag : parts.flags) argv.push_back(flag.data());
  ParseCommandLine("", static_cast<int>(argv.size()), argv.data());

  if (absl::GetFlag(FLAGS_output).empty()) {
    absl::SetFlag(&FLAGS_output, std::string(subcommand.outputs[0]));
  }
  if (!Has(subcommand.outputs, absl::GetFlag(FLAGS_output))) {
    return UsageError(subcommand.name,
                      absl::StrCat("--output is ",
                                   absl::StrJoin(subcommand.outputs, " or ")));
  }
  if (absl::GetFlag(FLAGS_seconds) < 0) {
    return UsageError(subcommand.name, "--seconds is at least 0");
  }
  return subcommand.run(parts.words);
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs(Help().c_str(), stderr);
    return kExitUsage;
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h" || first == "help") {
    std::fputs(Help().c_str(), stdout);
    return 0;
  }
  if (first == "--version") {
    std::printf("swaplock %s\n", std::string(kVersion).c_str());
    return 0;
  }
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.name == first) {
      return Run(subcommand, argv[0], {arguments.begin() + 1, arguments.end()});
    }
  }
  std::fprintf(stderr, "swaplock: no subcommand \"%s\"; see swaplock --help\n",
               first.c_str());
  return kExitUsage;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) { return swaplock::Main(argc, argv); }
