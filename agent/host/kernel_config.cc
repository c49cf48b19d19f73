#include "agent/host/kernel_config.h"

#include <sys/utsname.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

// Ten times what a kernel's has; a pipe in its place must not fill the memory.
constexpr size_t kMaxBytes = 4 << 20;

constexpr absl::string_view kOptions[] = {
    // Who may preempt a holder, and when.
    "CONFIG_PREEMPT_NONE",
    "CONFIG_PREEMPT_VOLUNTARY",
    "CONFIG_PREEMPT",
    "CONFIG_PREEMPT_LAZY",
    "CONFIG_PREEMPT_RT",
    "CONFIG_PREEMPT_DYNAMIC",
    "CONFIG_HZ",
    "CONFIG_NO_HZ_FULL",
    "CONFIG_SCHED_CORE",
    "CONFIG_SCHED_CLASS_EXT",
    "CONFIG_CFS_BANDWIDTH",
    "CONFIG_FAIR_GROUP_SCHED",
    "CONFIG_RT_GROUP_SCHED",
    "CONFIG_SCHED_AUTOGROUP",
    "CONFIG_SCHED_PROXY_EXEC",
    // How its locks behave.
    "CONFIG_MUTEX_SPIN_ON_OWNER",
    "CONFIG_RWSEM_SPIN_ON_OWNER",
    "CONFIG_RT_MUTEXES",
    "CONFIG_DEBUG_MUTEXES",
    "CONFIG_DEBUG_LOCK_ALLOC",
    "CONFIG_LOCKDEP",
    "CONFIG_LOCK_STAT",
    "CONFIG_PARAVIRT_SPINLOCKS",
    // What can be measured.
    "CONFIG_SCHED_INFO",
    "CONFIG_SCHEDSTATS",
    "CONFIG_TASK_DELAY_ACCT",
    "CONFIG_PSI",
    "CONFIG_FTRACE",
    "CONFIG_KPROBES",
    "CONFIG_BPF_SYSCALL",
    "CONFIG_DEBUG_INFO_BTF",
    "CONFIG_DEBUG_INFO_BTF_MODULES",
    // What slows everything.
    "CONFIG_KASAN",
    "CONFIG_KCSAN",
    "CONFIG_DEBUG_PREEMPT",
    // Swap and its compression.
    "CONFIG_ZSWAP",
    "CONFIG_ZSWAP_SHRINKER_DEFAULT_ON",
    "CONFIG_ZSMALLOC",
    "CONFIG_ZSMALLOC_CHAIN_SIZE",
    "CONFIG_Z3FOLD",
    "CONFIG_ZBUD",
    "CONFIG_ZRAM",
    "CONFIG_ZRAM_WRITEBACK",
    "CONFIG_ZRAM_MULTI_COMP",
    "CONFIG_ZRAM_TRACK_ENTRY_ACTIME",
    "CONFIG_CRYPTO_ZSTD",
    "CONFIG_CRYPTO_LZ4",
    "CONFIG_CRYPTO_LZO",
    "CONFIG_LRU_GEN_ENABLED",
    "CONFIG_MEMCG",
    "CONFIG_THP_SWAP",
};

// Plain or compressed alike.
std::string Read(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(
      gzopen(path.c_str(), "rbe"), gzclose);
  std::string text;
  if (file == nullptr) return text;
  std::array<char, 16384> buffer;
  int got = 0;
  while (text.size() < kMaxBytes &&
         (got = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  int error = Z_OK;
  gzerror(file.get(), &error);
  // Half a configuration would read as options that this kernel lacks.
  return got == 0 && error == Z_OK ? text : "";
}

bool Wanted(absl::string_view option) {
  return std::find(std::begin(kOptions), std::end(kOptions), option) !=
         std::end(kOptions);
}

}  // namespace

std::map<std::string, std::string> ReadKernelConfig(absl::string_view root) {
  std::map<std::string, std::string> out;
  utsname name = {};
  uname(&name);
  std::string text;
  for (const std::string& path :
       {absl::StrCat(root, "/proc/config.gz"),
        absl::StrCat(root, "/boot/config-", name.release),
        absl::StrCat(root, "/lib/modules/", name.release, "/config")}) {
    text = Read(path);
    if (!text.empty()) break;
  }
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool unset = absl::ConsumePrefix(&line, "# ");
    if (unset && !absl::ConsumeSuffix(&line, " is not set")) continue;
    const std::pair<absl::string_view, absl::string_view> words =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (!Wanted(words.first)) continue;
    absl::string_view value = words.second;
    absl::ConsumePrefix(&value, "\"");
    absl::ConsumeSuffix(&value, "\"");
    out[std::string(words.first)] = unset ? "n" : PlainText(value, 64);
  }
  return out;
}

}  // namespace swaplock
