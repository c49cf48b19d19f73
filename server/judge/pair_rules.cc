#include "server/judge/pair_rules.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

using Words = std::vector<std::string>;

std::string Take(const Words& words, PairRules* rules) {
  const std::string& what = words[0];
  if (what == "baseline") {
    if (words.size() != 2) return "\"baseline\" takes one kernel release";
    if (!rules->baseline.empty()) return "there is a baseline already";
    rules->baseline = words[1];
    return "";
  }
  if (what == "pair") {
    if (words.size() != 3) {
      return "\"pair\" takes two kernel releases, the old one first";
    }
    if (words[1] == words[2]) return "a kernel is not compared with itself";
    rules->only.push_back({words[1], words[2]});
    return "";
  }
  if (what == "end") {
    absl::CivilDay day;
    if (words.size() != 3 || !absl::ParseCivilTime(words[2], &day)) {
      return "\"end\" takes a kernel release and a day, as in \"end 6.18.15 "
             "2026-12-24\"";
    }
    rules->ends[words[1]] = day - absl::CivilDay(1970, 1, 1);
    return "";
  }
  return absl::StrCat("\"", PlainText(what, 40),
                      "\" is not one of baseline, pair and end");
}

}  // namespace

absl::StatusOr<PairRules> ParsePairRules(absl::string_view text) {
  PairRules rules;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    const Words words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty()) continue;
    const std::string complaint = Take(words, &rules);
    if (!complaint.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", complaint));
    }
  }
  return rules;
}

absl::StatusOr<PairRules> ReadPairRules(const std::string& path) {
  if (path.empty()) return PairRules();
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::FailedPreconditionError(
        absl::StrCat("open ", path, ": ", std::strerror(errno)));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) {
    return absl::FailedPreconditionError(
        absl::StrCat("read ", path, ": ", std::strerror(errno)));
  }
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is longer than a file of kernel pairs can be"));
  }
  absl::StatusOr<PairRules> rules = ParsePairRules(text);
  if (!rules.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ", ", rules.status().message()));
  }
  return rules;
}

}  // namespace swaplock
