#include "agent/host/environment.h"

#include <dirent.h>
#include <elf.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/host/host_file.h"

namespace swaplock {
namespace {

// "lzo lz4 [zstd]" -> "zstd".
std::string Chosen(absl::string_view text, char open, char close) {
  const size_t begin = text.find(open);
  const size_t end = text.find(close, begin == text.npos ? 0 : begin);
  if (begin == text.npos || end == text.npos) return "";
  return std::string(text.substr(begin + 1, end - begin - 1));
}

}  // namespace

std::string PreemptMode(absl::string_view debugfs, absl::string_view version,
                        absl::string_view command_line) {
  if (std::string mode = Chosen(debugfs, '(', ')'); !mode.empty()) return mode;
  for (const absl::string_view word :
       absl::StrSplit(command_line, absl::ByAnyChar(" \n"))) {
    absl::string_view value = word;
    if (absl::ConsumePrefix(&value, "preempt=")) return std::string(value);
  }
  for (const absl::string_view word : absl::StrSplit(version, ' ')) {
    // PREEMPT_RT always preempts; "PREEMPT" is a kernel built for it.
    if (word == "PREEMPT_RT" || word == "PREEMPT") return "full";
    if (word == "PREEMPT_LAZY") return "lazy";
  }
  return "";
}

std::string BuildId(absl::string_view notes) {
  const auto padded = [](uint32_t n) { return (n + 3u) & ~3u; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    memcpy(&header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    const uint64_t name = padded(header.n_namesz);
    const uint64_t descriptor = padded(header.n_descsz);
    if (name + descriptor > notes.size()) return "";
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        absl::StartsWith(notes, "GNU")) {
      return absl::BytesToHexString(notes.substr(name, header.n_descsz));
    }
    notes.remove_prefix(name + descriptor);
  }
  return "";
}

std::vector<ZramDevice> ReadZramDevices(absl::string_view root) {
  std::vector<ZramDevice> out;
  const std::string directory = absl::StrCat(root, "/sys/block");
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(directory.c_str()),
                                                closedir);
  if (dir == nullptr) return out;
  while (const dirent* entry = readdir(dir.get())) {
    if (!absl::StartsWith(entry->d_name, "zram")) continue;
    const std::string base = absl::StrCat("/sys/block/", entry->d_name);
    ZramDevice device;
    device.name = entry->d_name;
    if (!absl::SimpleAtoi(ReadHostValue(root, base + "/disksize"),
                          &device.disksize_bytes)) {
      continue;
    }
    device.algorithms.push_back(
        Chosen(ReadHostValue(root, base + "/comp_algorithm"), '[', ']'));
    // "#1: lzo lz4 [zstd]" per line, priorities 1 to 3, since 6.2.
    for (const absl::string_view line : absl::StrSplit(
             ReadHostValue(root, base + "/recomp_algorithm"), '\n')) {
      absl::string_view rest = line;
      size_t priority = 0;
      if (!absl::ConsumePrefix(&rest, "#")) continue;
      const size_t colon = rest.find(':');
      if (colon == rest.npos ||
          !absl::SimpleAtoi(rest.substr(0, colon), &priority) || priority > 7) {
        continue;
      }
      if (device.algorithms.size() <= priority) {
        device.algorithms.resize(priority + 1);
      }
      device.algorithms[priority] = Chosen(rest, '[', ']');
    }
    out.push_back(std::move(device));
  }
  std::sort(
      out.begin(), out.end(),
      [](const ZramDevice& a, const ZramDevice& b) { return a.name < b.name; });
  return out;
}

std::string ZswapAlgorithm(absl::string_view root) {
  return ReadHostValue(root, "/sys/module/zswap/parameters/compressor");
}

bool ZswapEnabled(absl::string_view root) {
  return ReadHostValue(root, "/sys/module/zswap/parameters/enabled") == "Y";
}

bool ZswapHoldsPages(absl::string_view root) {
  const std::string memory = ReadHostFile(root, "/proc/meminfo");
  for (absl::string_view line : absl::StrSplit(memory, '\n')) {
    if (!absl::ConsumePrefix(&line, "Zswapped:")) continue;
    return absl::StripAsciiWhitespace(line) != "0 kB";
  }
  return ReadHostValue(root, "/sys/kernel/debug/zswap/stored_pages") != "0";
}

Environment ReadEnvironment(absl::string_view root) {
  Environment out;
  utsname name;
  if (uname(&name) == 0) {
    out.kernel_release = name.release;
    out.kernel_version = name.version;
    out.architecture = name.machine;
  }
  out.kernel_build_id = BuildId(ReadHostFile(root, "/sys/kernel/notes"));
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (cpus > 0) out.cpus = static_cast<uint32_t>(cpus);
  const long pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0) {
    out.memory_bytes = static_cast<uint64_t>(pages) *
                       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  out.preempt =
      PreemptMode(ReadHostValue(root, "/sys/kernel/debug/sched/preempt"),
                  out.kernel_version, ReadHostValue(root, "/proc/cmdline"));
  int page_cluster = 0;
  if (absl::SimpleAtoi(ReadHostValue(root, "/proc/sys/vm/page-cluster"),
                       &page_cluster)) {
    out.page_cluster = page_cluster;
  }
  const bool zswap = ZswapEnabled(root);
  const bool zram =
      absl::StrContains(ReadHostFile(root, "/proc/swaps"), "/zram");
  out.swap_backend = zswap && zram ? "zswap+zram"
                     : zswap       ? "zswap"
                     : zram        ? "zram"
                                   : "";
  return out;
}

OwnUsage ReadOwnUsage() {
  OwnUsage out;
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto ns = [](const timeval& t) {
      return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
             static_cast<uint64_t>(t.tv_usec) * 1'000;
    };
    out.cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
  }
  // /proc/self/statm: size resident shared ... in pages.
  const std::vector<std::string> words =
      absl::StrSplit(ReadHostFile("", "/proc/self/statm"), ' ');
  uint64_t pages = 0;
  if (words.size() > 1 && absl::SimpleAtoi(words[1], &pages)) {
    out.rss_bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  return out;
}

}  // namespace swaplock
