#include "common/kernel_release.h"

#include <cstddef>

#include "absl/strings/ascii.h"

namespace swaplock {
namespace {

constexpr int kVersionNumbers = 4;
// Above every release candidate's number: the release itself.
constexpr absl::string_view kNoCandidate = "999999999";

// Takes the digits at the front of `text`, without leading zeros ("0" is "").
absl::string_view TakeNumber(absl::string_view* text) {
  size_t end = 0;
  while (end < text->size() && absl::ascii_isdigit((*text)[end])) ++end;
  absl::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  while (!number.empty() && number[0] == '0') number.remove_prefix(1);
  return number;
}

// Of two numbers without leading zeros the longer one is the greater.
int CompareNumbers(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

struct Release {
  absl::string_view version[kVersionNumbers];
  absl::string_view candidate = kNoCandidate;
  absl::string_view rest;
};

Release Parse(absl::string_view text) {
  Release out;
  for (int i = 0; i < kVersionNumbers; ++i) {
    if (text.empty() || !absl::ascii_isdigit(text[0])) break;
    out.version[i] = TakeNumber(&text);
    if (text.size() < 2 || text[0] != '.' || !absl::ascii_isdigit(text[1])) {
      break;
    }
    text.remove_prefix(1);
  }
  out.rest = text;
  for (size_t at = text.find("rc"); at != absl::string_view::npos;
       at = text.find("rc", at + 1)) {
    absl::string_view tail = text.substr(at + 2);
    if (at == 0 || absl::ascii_isalnum(text[at - 1]) || tail.empty() ||
        !absl::ascii_isdigit(tail[0])) {
      continue;
    }
    out.candidate = TakeNumber(&tail);
    break;
  }
  return out;
}

int CompareRest(absl::string_view a, absl::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (absl::ascii_isdigit(a[0]) && absl::ascii_isdigit(b[0])) {
      const absl::string_view left = TakeNumber(&a);
      const absl::string_view right = TakeNumber(&b);
      if (const int order = CompareNumbers(left, right); order != 0) {
        return order;
      }
      continue;
    }
    if (a[0] != b[0]) {
      // '~' sorts before anything, as in package versions.
      if (a[0] == '~') return -1;
      if (b[0] == '~') return 1;
      return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0])
                 ? -1
                 : 1;
    }
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() && b.empty()) return 0;
  if (a.empty()) return b[0] == '~' ? 1 : -1;
  return a[0] == '~' ? -1 : 1;
}

}  // namespace

int CompareKernelReleases(absl::string_view a, absl::string_view b) {
  const bool a_numbered = !a.empty() && absl::ascii_isdigit(a[0]);
  const bool b_numbered = !b.empty() && absl::ascii_isdigit(b[0]);
  if (a_numbered != b_numbered) return a_numbered ? 1 : -1;
  const Release left = Parse(a);
  const Release right = Parse(b);
  for (int i = 0; i < kVersionNumbers; ++i) {
    const int order = CompareNumbers(left.version[i], right.version[i]);
    if (order != 0) return order;
  }
  if (const int order = CompareNumbers(left.candidate, right.candidate);
      order != 0) {
    return order;
  }
  if (const int order = CompareRest(left.rest, right.rest); order != 0) {
    return order;
  }
  return a.compare(b);
}

}  // namespace swaplock
