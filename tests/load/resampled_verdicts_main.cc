// Prints what is said of fleets that are made of recorded windows of two
// kernels, one fleet a seed: how often each verdict comes out for an operation
// and outcome, and the first fleet's sentence.
//
// usage: resampled_verdicts [--fleets N] [--blocks N] BASE.slk NEW.slk
//
// server/replay/recordings/ has such records; record_lab_windows.sh there makes
// them.
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/replay/resampled_windows.h"
#include "tests/load/ledger_verdicts.h"

ABSL_FLAG(uint64_t, fleets, 1, "fleets drawn");
ABSL_FLAG(int, blocks, 20, "recorded blocks in a host's day, 1 to 1000");

namespace swaplock {
namespace {

// Of one operation and outcome, over the fleets.
struct Said {
  std::map<std::string, uint64_t> kinds;
  std::string first;
};

int Fail(const absl::Status& status) {
  absl::FPrintF(stderr, "resampled_verdicts: %s\n", status.message());
  return absl::IsNotFound(status) || absl::IsDataLoss(status) ? 78 : 1;
}

std::string StemOf(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

int Main(const std::vector<char*>& files) {
  ResampledRollout plan;
  plan.blocks_per_day = absl::GetFlag(FLAGS_blocks);
  if (files.size() != 2 || plan.blocks_per_day < 1 ||
      plan.blocks_per_day > 1000) {
    absl::FPrintF(
        stderr,
        "usage: resampled_verdicts [--fleets N] [--blocks N] BASE.slk "
        "NEW.slk; N blocks are 1 to 1000\n");
    return 2;
  }
  const auto base = ReadRecordedKernel(files[0], StemOf(files[0]));
  if (!base.ok()) return Fail(base.status());
  auto renewed = ReadRecordedKernel(files[1], StemOf(files[1]));
  if (!renewed.ok()) return Fail(renewed.status());
  if (base->windows.empty() || renewed->windows.empty()) {
    return Fail(absl::DataLossError("a record has no windows"));
  }
  if (renewed->name == base->name) absl::StrAppend(&renewed->name, " again");
  std::map<std::string, Said> all;
  for (uint64_t seed = 1; seed <= absl::GetFlag(FLAGS_fleets); ++seed) {
    std::string directory =
        (std::filesystem::temp_directory_path() / "resampled-XXXXXX").string();
    if (mkdtemp(directory.data()) == nullptr) {
      return Fail(absl::InternalError("no temporary directory"));
    }
    const auto verdicts =
        VerdictsThroughLedger(ResampledWindows(*base, *renewed, plan, seed),
                              directory, base->name, renewed->name);
    std::filesystem::remove_all(directory);
    if (!verdicts.ok()) return Fail(verdicts.status());
    for (const VerdictRecord& r : verdicts->verdicts) {
      Said& said = all[absl::StrCat(Name(r.subsystem), " ", Name(r.operation),
                                    " ", Name(r.outcome))];
      ++said.kinds[std::string(Name(r.kind))];
      if (seed == 1) said.first = r.sentence;
    }
  }
  for (const auto& [what, said] : all) {
    absl::PrintF("%s\n ", what);
    for (const auto& [kind, count] : said.kinds) {
      absl::PrintF(" %s: %d", kind, count);
    }
    absl::PrintF("\n  %s\n", said.first);
  }
  return 0;
}

}  // namespace
}  // namespace swaplock

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "resampled_verdicts [--fleets N] BASE.slk NEW.slk");
  std::vector<char*> files = absl::ParseCommandLine(argc, argv);
  files.erase(files.begin());
  return swaplock::Main(files);
}
