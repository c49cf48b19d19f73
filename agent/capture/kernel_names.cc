#include "agent/capture/kernel_names.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace swaplock {
namespace {

// Remembered names; beyond it everything is forgotten and learned anew.
constexpr size_t kMaxNames = 1024;

constexpr char kCgroupMount[] = "/sys/fs/cgroup";

// FILEID_KERNFS of include/linux/exportfs.h: the handle is the cgroup's id.
constexpr int kFileIdKernfs = 0xfe;

bool IsBpfFrame(absl::string_view name) {
  return absl::StartsWith(name, "bpf_prog_") ||
         absl::StartsWith(name, "bpf_trampoline_") ||
         absl::StartsWith(name, "bpf_get_stack") ||
         absl::StartsWith(name, "bpf_trace_run") ||
         absl::StartsWith(name, "__bpf_trace_");
}

}  // namespace

KernelFunctions ResolveFunctions(std::istream& kallsyms,
                                 const std::vector<uint64_t>& addresses) {
  std::vector<uint64_t> wanted = addresses;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  // The nearest text symbol at or below each wanted address so far.
  std::vector<std::pair<uint64_t, std::string>> best(wanted.size());
  // The nearest symbol of any kind above it.
  std::vector<uint64_t> next(wanted.size(), ~uint64_t{0});
  // Some 250,000 lines of "ffffffff81000000 T name" and, for modules,
  // "\t[module]": read without allocating until a line is of use.
  for (std::string line; std::getline(kallsyms, line);) {
    uint64_t address = 0;
    size_t at = 0;
    for (; at < line.size() && line[at] != ' '; ++at) {
      const char c = line[at];
      const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
      if (digit < 0 || digit > 15) break;
      address = address << 4 | static_cast<uint64_t>(digit);
    }
    if (address == 0 || at + 3 >= line.size()) continue;
    const auto above = std::lower_bound(wanted.begin(), wanted.end(), address);
    if (above != wanted.begin()) {
      uint64_t& nearest = next[static_cast<size_t>(above - wanted.begin()) - 1];
      nearest = std::min(nearest, address);
    }
    const char type = line[at + 1];
    if (type != 't' && type != 'T' && type != 'W') continue;
    if (above == wanted.end()) continue;
    auto& nearest = best[static_cast<size_t>(above - wanted.begin())];
    if (nearest.first >= address) continue;
    nearest.first = address;
    nearest.second.assign(line, at + 3, std::string::npos);
  }
  // Each symbol was noted for the first wanted address above it alone.
  for (size_t i = 1; i < best.size(); ++i) {
    if (best[i - 1].first > best[i].first) best[i] = best[i - 1];
  }
  for (size_t i = next.size(); i > 1; --i) {
    next[i - 2] = std::min(next[i - 2], next[i - 1]);
  }
  for (auto& [address, name] : best) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(name, absl::MaxSplits('\t', 1));
    name = words.size() == 2 && words[1] != "[bpf]"
               ? absl::StrCat(words[0], " ", words[1])
               : std::string(words[0]);
  }
  KernelFunctions out;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (best[i].first != 0) out[best[i].first] = {next[i], best[i].second};
  }
  return out;
}

const std::string* KernelNames::Function(uint64_t address) const {
  auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  --after;
  return address < after->second.end ? &after->second.name : nullptr;
}

void KernelNames::ForgetFunctions() {
  functions_.clear();
  nameless_.clear();
}

bool KernelNames::AskFor(uint64_t address) {
  if (ask_ == nullptr) return false;
  std::string name = ask_(address);
  if (name.empty()) return false;
  if (absl::StartsWith(name, "0x")) {
    nameless_.insert(address);
    return true;
  }
  functions_[address] = {address + 1,
                         std::string(absl::StripSuffix(name, " [bpf]"))};
  return true;
}

void KernelNames::LearnStacks(
    const std::vector<std::vector<uint64_t>>& stacks) {
  if (functions_.size() + nameless_.size() > kMaxNames) ForgetFunctions();
  std::vector<uint64_t> unknown;
  for (const std::vector<uint64_t>& stack : stacks) {
    for (const uint64_t address : stack) {
      if (address != 0 && nameless_.count(address) == 0 &&
          Function(address) == nullptr && !AskFor(address)) {
        unknown.push_back(address);
      }
    }
  }
  if (unknown.empty()) return;
  std::ifstream kallsyms("/proc/kallsyms");
  functions_.merge(ResolveFunctions(kallsyms, unknown));
  for (const uint64_t address : unknown) {
    if (Function(address) == nullptr) nameless_.insert(address);
  }
}

std::vector<std::string> KernelNames::Stack(
    const std::vector<uint64_t>& addresses) {
  std::vector<std::string> out;
  for (const uint64_t address : addresses) {
    if (address == 0) break;
    const std::string* known = Function(address);
    std::string name =
        known != nullptr ? *known : absl::StrCat("0x", absl::Hex(address));
    if (!IsBpfFrame(name)) out.push_back(std::move(name));
  }
  return out;
}

std::string KernelNames::Cgroup(uint64_t id) {
  if (id == 0) return "";
  const auto known = cgroups_.find(id);
  if (known != cgroups_.end()) return known->second;
  if (cgroups_.size() > kMaxNames) cgroups_.clear();
  std::string& path = cgroups_[id];
  const int mount = open(kCgroupMount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (mount < 0) return path;
  alignas(file_handle) char storage[sizeof(file_handle) + sizeof(id)] = {};
  auto* handle = reinterpret_cast<file_handle*>(storage);
  handle->handle_bytes = sizeof(id);
  handle->handle_type = kFileIdKernfs;
  memcpy(storage + sizeof(file_handle), &id, sizeof(id));
  const int folder = open_by_handle_at(mount, handle, O_RDONLY | O_CLOEXEC);
  close(mount);
  if (folder < 0) return path;
  char target[4096];
  const ssize_t n = readlink(absl::StrCat("/proc/self/fd/", folder).c_str(),
                             target, sizeof(target));
  close(folder);
  absl::string_view name(target, n > 0 ? static_cast<size_t>(n) : 0);
  if (absl::ConsumePrefix(&name, kCgroupMount)) {
    path = name.empty() ? "/" : std::string(name);
  }
  return path;
}

}  // namespace swaplock
