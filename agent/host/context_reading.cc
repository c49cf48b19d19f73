#include "agent/host/context_reading.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/host/cpu_family.h"
#include "agent/host/environment.h"
#include "agent/host/kernel_config.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

using Words = std::vector<absl::string_view>;

// /proc/schedstat of a thousand CPUs with their domains stays below it.
constexpr size_t kMaxFileBytes = 4 << 20;
constexpr size_t kMaxFactBytes = 128;

// Devices beyond these are only counted. Sixteen have some 300 names.
constexpr size_t kMaxZramDevices = 16;

// Counters of /proc/vmstat; pages or events. They never go backwards: the
// kernel sums them with CPU hotplug locked out.
constexpr absl::string_view kVmstatCounters[] = {
    "compact_stall",
    "kswapd_high_wmark_hit_quickly",
    "kswapd_low_wmark_hit_quickly",
    "numa_pages_migrated",
    "oom_kill",
    "pageoutrun",
    "pgmajfault",
    "pgscan_direct",
    "pgscan_direct_throttle",
    "pgscan_khugepaged",
    "pgscan_kswapd",
    "pgscan_proactive",
    "pgsteal_direct",
    "pgsteal_khugepaged",
    "pgsteal_kswapd",
    "pgsteal_proactive",
    "pswpin",
    "pswpout",
    "swap_ra",
    "swap_ra_hit",
    "swpin_zero",
    "swpout_zero",
    "thp_swpout",
    "thp_swpout_fallback",
    "workingset_activate_anon",
    "workingset_refault_anon",
    "workingset_refault_file",
    "zswpin",
    "zswpout",
    "zswpwb",
};

class Reader {
 public:
  explicit Reader(absl::string_view root) : root_(root) {}

  ContextReading Take() && { return std::move(out_); }

  void Vmstat() {
    const std::string text = File("/proc/vmstat");
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const Words words = absl::StrSplit(line, ' ');
      if (words.size() != 2) continue;
      // One per zone.
      if (absl::StartsWith(words[0], "allocstall")) {
        AddCounter("vmstat/allocstall", words[1]);
      } else if (words[0] == "nr_zspages") {
        Gauge("vmstat/nr_zspages", words[1]);
      } else if (std::find(std::begin(kVmstatCounters),
                           std::end(kVmstatCounters),
                           words[0]) != std::end(kVmstatCounters)) {
        AddCounter(absl::StrCat("vmstat/", words[0]), words[1]);
      }
    }
  }

  void Meminfo() {
    constexpr std::pair<absl::string_view, absl::string_view> kLines[] = {
        {"AnonPages:", "mem/anon_bytes"},
        {"MemAvailable:", "mem/available_bytes"},
        {"MemFree:", "mem/free_bytes"},
        {"SwapCached:", "mem/swap_cached_bytes"},
        {"SwapFree:", "mem/swap_free_bytes"},
        {"SwapTotal:", "mem/swap_total_bytes"},
        {"Zswap:", "zswap/pool_bytes"},  // the last two since 5.19
        {"Zswapped:", "zswap/stored_bytes"},
    };
    const std::string text = File("/proc/meminfo");
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.size() != 3 || words[2] != "kB") continue;
      for (const auto& [title, name] : kLines) {
        if (words[0] == title) Gauge(name, words[1], 1024);
      }
    }
  }

  // "some avg10=1.25 avg60=0.50 avg300=0.10 total=123456", total in us.
  void Pressure() {
    for (const char* resource : {"cpu", "io", "irq", "memory"}) {
      const std::string text = File(absl::StrCat("/proc/pressure/", resource));
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        const Words words = absl::StrSplit(line, ' ');
        if (words.size() != 5) continue;
        absl::string_view average = words[1];
        absl::string_view total = words[4];
        double percent = 0;
        if (!absl::ConsumePrefix(&average, "avg10=") ||
            !absl::ConsumePrefix(&total, "total=") ||
            !absl::SimpleAtod(average, &percent) || !(percent >= 0) ||
            percent > 100) {
          continue;
        }
        const std::string name = absl::StrCat("psi/", resource, "/", words[0]);
        AddCounter(absl::StrCat(name, "_us"), total);
        out_.gauges[absl::StrCat(name, "_avg10_ppm")] =
            static_cast<uint64_t>(std::llround(percent * 10'000));
      }
    }
  }

  // "cpu0 ...", since version 14 (2.6.19) with run time, run delay (both ns)
  // and time slices as 7th to 9th number. CPUs that are offline have no line.
  void Schedstat() {
    const std::string text = File("/proc/schedstat");
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      absl::string_view number = words.empty() ? "" : words[0];
      int cpu = 0;
      if (words.size() < 10 || !absl::ConsumePrefix(&number, "cpu") ||
          !absl::SimpleAtoi(number, &cpu)) {
        continue;
      }
      AddCounter("sched/run_ns", words[7], 1, cpu);
      AddCounter("sched/run_delay_ns", words[8], 1, cpu);
      AddCounter("sched/timeslices", words[9], 1, cpu);
    }
  }

  // Time of all CPUs; the unit of /proc/stat is 10 ms on every architecture.
  void CpuTime() {
    constexpr absl::string_view kStates[] = {
        "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
    const std::string text = File("/proc/stat");
    const Words words =
        absl::StrSplit(absl::string_view(text).substr(0, text.find('\n')), ' ',
                       absl::SkipEmpty());
    if (words.empty() || words[0] != "cpu") return;
    for (size_t i = 0; i < std::size(kStates) && i + 1 < words.size(); ++i) {
      AddCounter(absl::StrCat("cpu/", kStates[i], "_ms"), words[i + 1], 10);
    }
  }

  void Zswap() {
    for (const char* name :
         {"accept_threshold_percent", "compressor", "enabled",
          "exclusive_loads", "max_pool_percent",
          "non_same_filled_pages_enabled", "same_filled_pages_enabled",
          "shrinker_enabled", "zpool"}) {
      Fact(absl::StrCat("zswap/", name),
           Line(absl::StrCat("/sys/module/zswap/parameters/", name)));
    }
    const std::string folder = "/sys/kernel/debug/zswap/";
    for (const char* name : {"decompress_fail", "pool_limit_hit",
                             "reject_alloc_fail", "reject_compress_fail",
                             "reject_compress_poor", "reject_kmemcache_fail",
                             "reject_reclaim_fail", "written_back_pages"}) {
      AddCounter(absl::StrCat("zswap/", name), Line(folder + name));
    }
    for (const char* name :
         {"same_filled_pages", "stored_incompressible_pages"}) {
      Gauge(absl::StrCat("zswap/", name), Line(folder + name));
    }
    if (out_.gauges.count("zswap/pool_bytes") == 0) {
      Gauge("zswap/pool_bytes", Line(folder + "pool_total_size"));
      Gauge("zswap/stored_bytes", Line(folder + "stored_pages"),
            static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
    }
  }

  void Zram() {
    const std::vector<ZramDevice> devices = ReadZramDevices(root_);
    out_.gauges["zram/devices"] = devices.size();
    for (size_t i = 0; i < std::min(devices.size(), kMaxZramDevices); ++i) {
      ZramOne(devices[i]);
    }
  }

  void Settings() {
    for (const char* path :
         {"kernel/numa_balancing", "kernel/sched_autogroup_enabled",
          "kernel/sched_rt_runtime_us", "kernel/sched_schedstats",
          "kernel/tainted", "kernel/task_delayacct", "vm/min_free_kbytes",
          "vm/overcommit_memory", "vm/swappiness", "vm/watermark_boost_factor",
          "vm/watermark_scale_factor"}) {
      Fact(absl::StrCat("sysctl/", path),
           Line(absl::StrCat("/proc/sys/", path)));
    }
    Fact("sched_ext/state", Line("/sys/kernel/sched_ext/state"));
    Fact("sched_ext/ops", Line("/sys/kernel/sched_ext/root/ops"));
    // Its name before 6.6: min_granularity_ns.
    const std::string sched = "/sys/kernel/debug/sched/";
    Fact("sched/base_slice_ns", Line(sched + "base_slice_ns"));
    Fact("sched/min_granularity_ns", Line(sched + "min_granularity_ns"));
    Fact("mm/lru_gen", Line("/sys/kernel/mm/lru_gen/enabled"));
    Fact("mm/thp", Chosen(Line("/sys/kernel/mm/transparent_hugepage/enabled")));
    const std::string cpu = "/sys/devices/system/cpu/";
    Fact("cpu/online", Line(cpu + "online"));
    Fact("cpu/smt", Line(cpu + "smt/active"));
    Fact("cpu/governor", Line(cpu + "cpu0/cpufreq/scaling_governor"));
    Fact("cpu/clocksource", Line("/sys/devices/system/clocksource/clocksource0/"
                                 "current_clocksource"));
    SwapAreas();
  }

 private:
  void ZramOne(const ZramDevice& device) {
    const std::string name =
        absl::StrCat("zram/", PlainText(device.name, 32), "/");
    const std::string folder = absl::StrCat("/sys/block/", device.name, "/");
    out_.gauges[name + "disksize_bytes"] = device.disksize_bytes;
    if (device.disksize_bytes == 0) return;  // not set up: all else means 0
    Fact(name + "algorithms", absl::StrJoin(device.algorithms, ","));
    Fact(name + "backing_device", Line(folder + "backing_dev"));

    const std::vector<std::string> mm = Numbers(folder + "mm_stat");
    constexpr absl::string_view kGauges[] = {
        "orig_bytes",  "compressed_bytes", "pool_bytes",
        "limit_bytes", "pool_max_bytes",   "same_pages"};
    for (size_t i = 0; i < std::size(kGauges) && i < mm.size(); ++i) {
      Gauge(absl::StrCat(name, kGauges[i]), mm[i]);
    }
    if (mm.size() > 6) AddCounter(name + "compacted_pages", mm[6]);
    if (mm.size() > 7) Gauge(name + "huge_pages", mm[7]);
    if (mm.size() > 8) AddCounter(name + "huge_pages_stored", mm[8]);

    const std::vector<std::string> io = Numbers(folder + "io_stat");
    constexpr absl::string_view kIo[] = {"failed_reads", "failed_writes",
                                         "invalid_io", "notify_free"};
    for (size_t i = 0; i < std::size(kIo) && i < io.size(); ++i) {
      AddCounter(absl::StrCat(name, kIo[i]), io[i]);
    }
    // Of the block layer: I/Os, merged, sectors, ms, for reads and writes.
    const std::vector<std::string> stat = Numbers(folder + "stat");
    if (stat.size() > 7) {
      AddCounter(name + "reads", stat[0]);
      AddCounter(name + "read_bytes", stat[2], 512);
      AddCounter(name + "writes", stat[4]);
      AddCounter(name + "written_bytes", stat[6], 512);
    }
    // In units of 4 KiB.
    const std::vector<std::string> backing = Numbers(folder + "bd_stat");
    if (backing.size() == 3) {
      Gauge(name + "backing_bytes", backing[0], 4096);
      AddCounter(name + "backing_read_bytes", backing[1], 4096);
      AddCounter(name + "backing_written_bytes", backing[2], 4096);
    }
  }

  // "zram0 partition 100, swapfile file -2": name, kind and priority.
  void SwapAreas() {
    const std::string text = File("/proc/swaps");
    std::vector<std::string> areas;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const Words words =
          absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
      if (words.size() != 5 || !absl::StartsWith(words[0], "/")) continue;
      areas.push_back(absl::StrCat(words[0].substr(words[0].rfind('/') + 1),
                                   " ", words[1], " ", words[4]));
    }
    Fact("swap/areas", absl::StrJoin(areas, ", "));
  }

  std::string File(absl::string_view path) const {
    std::string text;
    const int fd =
        open(absl::StrCat(root_, path).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    std::array<char, 16384> buffer;
    ssize_t got = 0;
    while (text.size() < kMaxFileBytes &&
           (got = read(fd, buffer.data(), buffer.size())) > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
    }
    close(fd);
    return text;
  }

  std::string Line(absl::string_view path) const {
    return std::string(absl::StripAsciiWhitespace(File(path)));
  }

  std::vector<std::string> Numbers(const std::string& path) const {
    return absl::StrSplit(Line(path), absl::ByAnyChar(" \t\n"),
                          absl::SkipEmpty());
  }

  static absl::string_view Chosen(absl::string_view text) {
    const size_t begin = text.find('[');
    const size_t end = text.find(']');
    if (begin == text.npos || end == text.npos || end < begin) return "";
    return text.substr(begin + 1, end - begin - 1);
  }

  void AddCounter(absl::string_view name, absl::string_view text,
                  uint64_t unit = 1, int part = 0) {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) return;
    out_.counters[{std::string(name), part}] += value * unit;
  }

  void Gauge(absl::string_view name, absl::string_view text,
             uint64_t unit = 1) {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) return;
    out_.gauges[std::string(name)] = value * unit;
  }

  void Fact(absl::string_view name, absl::string_view text) {
    if (text.empty()) return;
    out_.facts[std::string(name)] = PlainText(text, kMaxFactBytes);
  }

  const absl::string_view root_;
  ContextReading out_;
};

}  // namespace

ContextReading ReadContext(absl::string_view root) {
  Reader reader(root);
  reader.Vmstat();
  reader.Meminfo();
  reader.Pressure();
  reader.Schedstat();
  reader.CpuTime();
  reader.Zswap();
  reader.Zram();
  reader.Settings();
  return std::move(reader).Take();
}

std::map<std::string, std::string> ReadLastingFacts(absl::string_view root) {
  std::map<std::string, std::string> out;
  if (std::string cpu = ReadCpuFamily(root); !cpu.empty()) {
    out["cpu/family"] = std::move(cpu);
  }
  for (const auto& [option, value] : ReadKernelConfig(root)) {
    out[absl::StrCat("kernel/", option)] = value;
  }
  return out;
}

}  // namespace swaplock
