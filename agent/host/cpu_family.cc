#include "agent/host/cpu_family.h"

#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/host/host_file.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

constexpr size_t kMaxBytes = 64;

}  // namespace

std::string CpuFamilyOf(absl::string_view cpuinfo) {
  // Every CPU has its lines; most are the same on all.
  std::map<std::string, std::set<std::string>> values;
  for (const absl::string_view line : absl::StrSplit(cpuinfo, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const absl::string_view name =
        absl::StripAsciiWhitespace(line.substr(0, colon));
    if (name != "vendor_id" && name != "cpu family" && name != "model" &&
        name != "CPU implementer" && name != "CPU part" && name != "cpu") {
      continue;
    }
    values[std::string(name)].emplace(
        absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  const auto all = [&values](const char* name) {
    const auto it = values.find(name);
    return it == values.end() ? "" : absl::StrJoin(it->second, "+");
  };
  std::string out;
  if (values.count("cpu family") > 0) {
    out = absl::StrCat(all("vendor_id"), " ", all("cpu family"), " ",
                       all("model"));
  } else if (values.count("CPU implementer") > 0) {
    out = absl::StrCat(all("CPU implementer"), " ", all("CPU part"));
  } else {
    out = all("cpu");
  }
  return PlainText(absl::StripAsciiWhitespace(out), kMaxBytes);
}

std::string ReadCpuFamily(absl::string_view root) {
  return CpuFamilyOf(ReadHostFile(root, "/proc/cpuinfo"));
}

}  // namespace swaplock
