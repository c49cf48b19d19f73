#include "agent/host/context.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "agent/host/kernel_config.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = std::string(getenv("TEST_TMPDIR")) + "/rootXXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  std::string Path(const std::string& path) {
    for (size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0755);
    }
    return root_ + path;
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(Path(path)) << text;
  }
  void Remove(const std::string& path) { unlink((root_ + path).c_str()); }
  void Zram(const std::string& name, const std::string& mm_stat) {
    const std::string folder = "/sys/block/" + name + "/";
    Write(folder + "disksize", "4096000\n");
    Write(folder + "comp_algorithm", "lzo [zstd]\n");
    Write(folder + "mm_stat", mm_stat);
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

using Counters = std::map<std::string, uint64_t>;

TEST(ContextTest, NamesWhatItReads) {
  FakeRoot fake;
  fake.Write("/proc/vmstat",
             "nr_zspages 12\npswpin 1\nallocstall_dma 2\nallocstall_normal 3\n"
             "zswpout 40\nnot_of_interest 9\n");
  fake.Write("/proc/meminfo",
             "MemTotal:  1000 kB\nMemAvailable:   500 kB\nSwapFree: 7 kB\n"
             "Zswap:  3 kB\nHugePages_Total:   0\n");
  fake.Write("/proc/pressure/memory",
             "some avg10=12.34 avg60=0.00 avg300=0.00 total=100\n"
             "full avg10=0.07 avg60=0.00 avg300=0.00 total=50\n");
  fake.Write("/proc/schedstat",
             "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1000 200 30\n"
             "domain0 3 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 1 2 3\n");
  fake.Write("/proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3\n");
  fake.Write("/proc/swaps",
             "Filename\tType\tSize\tUsed\tPriority\n"
             "/dev/zram0   partition\t4000\t0\t100\n");
  fake.Write("/sys/module/zswap/parameters/compressor", "zstd\n");
  fake.Write("/sys/kernel/debug/zswap/pool_limit_hit", "4\n");
  fake.Write("/sys/kernel/debug/zswap/pool_total_size", "999999\n");
  fake.Write("/sys/kernel/sched_ext/state", "enabled\n");
  fake.Write("/sys/kernel/sched_ext/root/ops", "lavd\n");
  fake.Write("/sys/kernel/mm/transparent_hugepage/enabled",
             "always [madvise] never\n");
  fake.Write("/proc/sys/vm/swappiness", "60\n");
  fake.Zram("zram0", "  81920 20000 24576 0 24576 3 2 1 5\n");
  fake.Write("/sys/block/zram0/io_stat", "0 1 0 6\n");
  fake.Write("/sys/block/zram0/stat", "10 0 80 1 20 0 160 1 0 1 2\n");
  fake.Write("/sys/block/zram0/bd_stat", "1 2 3\n");

  ContextTracker tracker(fake.root());
  const Context said = tracker.Take();
  EXPECT_TRUE(said.complete);
  EXPECT_EQ(said.gauges, (Counters{
                             {"mem/available_bytes", 512000},
                             {"mem/swap_free_bytes", 7168},
                             {"psi/memory/full_avg10_ppm", 700},
                             {"psi/memory/some_avg10_ppm", 123400},
                             {"vmstat/nr_zspages", 12},
                             {"zram/devices", 1},
                             {"zram/zram0/backing_bytes", 4096},
                             {"zram/zram0/compressed_bytes", 20000},
                             {"zram/zram0/disksize_bytes", 4096000},
                             {"zram/zram0/huge_pages", 1},
                             {"zram/zram0/limit_bytes", 0},
                             {"zram/zram0/orig_bytes", 81920},
                             {"zram/zram0/pool_bytes", 24576},
                             {"zram/zram0/pool_max_bytes", 24576},
                             {"zram/zram0/same_pages", 3},
                             {"zswap/pool_bytes", 3072},
                         }));
  EXPECT_EQ(said.facts, (std::map<std::string, std::string>{
                            {"mm/thp", "madvise"},
                            {"sched_ext/ops", "lavd"},
                            {"sched_ext/state", "enabled"},
                            {"swap/areas", "zram0 partition 100"},
                            {"sysctl/vm/swappiness", "60"},
                            {"zram/zram0/algorithms", "zstd"},
                            {"zswap/compressor", "zstd"},
                        }));
  // Nothing moved, but all are named.
  for (const char* name :
       {"vmstat/pswpin", "vmstat/allocstall", "vmstat/zswpout",
        "psi/memory/some_us", "psi/memory/full_us", "sched/run_ns",
        "sched/run_delay_ns", "sched/timeslices", "cpu/steal_ms",
        "zswap/pool_limit_hit", "zram/zram0/reads", "zram/zram0/written_bytes",
        "zram/zram0/notify_free", "zram/zram0/huge_pages_stored",
        "zram/zram0/backing_written_bytes"}) {
    EXPECT_EQ(said.counters.count(name), 1u) << name;
  }
  EXPECT_EQ(said.counters.count("vmstat/not_of_interest"), 0u);
  for (const auto& [name, delta] : said.counters) EXPECT_EQ(delta, 0u) << name;

  fake.Write("/proc/stat", "cpu  1 2 3 4 5 6 7 10 0 0\n");
  fake.Write("/proc/vmstat",
             "allocstall_dma 4\nallocstall_normal 4\n"
             "nr_zspages 12\npswpin 1\nzswpout 40\n");
  fake.Write("/sys/block/zram0/stat", "10 0 80 1 21 0 168 1 0 1 2\n");
  const Context next = tracker.Take();
  EXPECT_FALSE(next.complete);
  EXPECT_EQ(next.counters, (Counters{{"cpu/steal_ms", 20},
                                     {"vmstat/allocstall", 3},
                                     {"zram/zram0/writes", 1},
                                     {"zram/zram0/written_bytes", 4096}}));
}

TEST(ContextTest, OnlyChangesTravel) {
  FakeRoot fake;
  fake.Write("/proc/vmstat", "pswpin 5\npswpout 7\n");
  fake.Write("/proc/meminfo", "MemFree: 10 kB\nSwapTotal: 20 kB\n");
  fake.Write("/sys/module/zswap/parameters/compressor", "lzo\n");
  fake.Write("/sys/module/zswap/parameters/enabled", "Y\n");
  ContextTracker tracker(fake.root());
  fake.Write("/proc/vmstat", "pswpin 6\npswpout 7\n");
  Context known = Applied(tracker.Take(), {});
  EXPECT_EQ(known.counters,
            (Counters{{"vmstat/pswpin", 1}, {"vmstat/pswpout", 0}}));

  EXPECT_EQ(tracker.Take(), Context());

  fake.Write("/proc/vmstat", "pswpin 6\npswpout 9\n");
  fake.Write("/proc/meminfo", "MemFree: 11 kB\nSwapTotal: 20 kB\n");
  fake.Write("/sys/module/zswap/parameters/compressor", "zstd\n");
  const Context said = tracker.Take();
  EXPECT_EQ(said, (Context{false,
                           {{"vmstat/pswpout", 2}},
                           {{"mem/free_bytes", 11264}},
                           {{"zswap/compressor", "zstd"}}}));
  known = Applied(said, known);
  EXPECT_EQ(known.gauges.at("mem/swap_total_bytes"), 20480u);
  EXPECT_EQ(known.facts.at("zswap/enabled"), "Y");
  EXPECT_EQ(known.facts.at("zswap/compressor"), "zstd");
}

TEST(ContextTest, ADeviceThatGoesIsForgottenAndItsLikeBeginsAnew) {
  FakeRoot fake;
  fake.Zram("zram0", "1 1 1 0 1 0 500 0 0\n");
  ContextTracker tracker(fake.root());
  Context known = Applied(tracker.Take(), {});
  EXPECT_EQ(known.facts.count("zram/zram0/algorithms"), 1u);

  fake.Write("/sys/block/zram0/disksize", "0\n");
  const Context gone = tracker.Take();
  EXPECT_TRUE(gone.complete);
  known = Applied(gone, known);
  EXPECT_EQ(known.facts.count("zram/zram0/algorithms"), 0u);
  EXPECT_EQ(known.counters.count("zram/zram0/compacted_pages"), 0u);

  fake.Zram("zram0", "1 1 1 0 1 0 900 0 0\n");
  EXPECT_EQ(tracker.Take().counters.at("zram/zram0/compacted_pages"), 0u);
  fake.Zram("zram0", "1 1 1 0 1 0 901 0 0\n");
  EXPECT_EQ(tracker.Take().counters.at("zram/zram0/compacted_pages"), 1u);
}

TEST(ContextTest, ACounterThatGoesBackwardsBeginsAnew) {
  FakeRoot fake;
  fake.Zram("zram0", "1 1 1 0 1 0 500 0 0\n");
  ContextTracker tracker(fake.root());
  tracker.Take();
  fake.Zram("zram0", "1 1 1 0 1 0 20 0 0\n");
  EXPECT_EQ(tracker.Take().counters.count("zram/zram0/compacted_pages"), 0u);
  fake.Zram("zram0", "1 1 1 0 1 0 25 0 0\n");
  EXPECT_EQ(tracker.Take().counters.at("zram/zram0/compacted_pages"), 5u);
}

// An offline CPU has no line; its count goes on where it was.
TEST(ContextTest, HotplugOfCpusMakesNoRunDelay) {
  FakeRoot fake;
  const std::string cpu0 = "cpu0 0 0 0 0 0 0 10 ";
  fake.Write("/proc/schedstat", cpu0 + "100 1\ncpu1 0 0 0 0 0 0 10 5000 1\n");
  ContextTracker tracker(fake.root());
  tracker.Take();
  fake.Write("/proc/schedstat", cpu0 + "103 1\n");
  EXPECT_EQ(tracker.Take().counters, (Counters{{"sched/run_delay_ns", 3}}));
  fake.Write("/proc/schedstat", cpu0 + "103 1\ncpu1 0 0 0 0 0 0 10 5020 1\n");
  EXPECT_EQ(tracker.Take().counters, (Counters{{"sched/run_delay_ns", 20}}));
}

TEST(ContextTest, LeavesOutWhatIsBetweenWindows) {
  FakeRoot fake;
  fake.Write("/proc/vmstat", "pswpin 5\n");
  ContextTracker tracker(fake.root());
  fake.Write("/proc/vmstat", "pswpin 50\n");
  tracker.Restart();
  fake.Write("/proc/vmstat", "pswpin 53\n");
  const Context said = tracker.Take();
  EXPECT_TRUE(said.complete);
  EXPECT_EQ(said.counters, (Counters{{"vmstat/pswpin", 3}}));
}

TEST(ContextTest, ComesCompleteAgain) {
  FakeRoot fake;
  fake.Write("/proc/sys/vm/swappiness", "60\n");
  ContextTracker tracker(fake.root());
  EXPECT_TRUE(tracker.Take().complete);
  int changes = 0;
  while (!tracker.Take().complete && changes < 1000) ++changes;
  EXPECT_EQ(changes, 59);
}

TEST(ContextTest, TakesNothingThatIsNoNumberOrNoText) {
  FakeRoot fake;
  fake.Write("/proc/vmstat",
             "pswpin -1\npswpout 99999999999999999999999\n\n"
             "zswpin\nzswpout 1 2\nswap_ra x\n");
  fake.Write("/proc/meminfo", "MemFree: kB\nSwapFree: z kB\nSwapTotal: 1\n");
  fake.Write("/proc/pressure/cpu",
             "some avg10=nan avg60=0 avg300=0 total=1\n"
             "full avg10=1e9 avg60=0 avg300=0 total=1\n"
             "some\n");
  fake.Write("/proc/schedstat", "cpu 1\ncpux 1 2 3 4 5 6 7 8 9\n");
  fake.Write("/proc/stat", "");
  fake.Write("/proc/swaps", "\n\n");
  fake.Write("/sys/module/zswap/parameters/compressor", "z\xff\x1b[31m");
  fake.Write("/sys/block/zram0/disksize", "1\n");
  fake.Write("/sys/block/zram0/mm_stat", "");
  ContextTracker tracker(fake.root());
  const Context said = tracker.Take();
  EXPECT_EQ(said.counters, Counters());
  EXPECT_EQ(said.gauges,
            (Counters{{"zram/devices", 1}, {"zram/zram0/disksize_bytes", 1}}));
  EXPECT_EQ(
      said.facts,
      (std::map<std::string, std::string>{{"zswap/compressor", "z??[31m"}}));
}

TEST(ContextTest, OfThisHostIsPlainAndSmall) {
  ContextTracker tracker;
  const Context said = tracker.Take();
  EXPECT_GT(said.gauges.at("mem/free_bytes"), 0u);
  EXPECT_LT(said.counters.size() + said.gauges.size() + said.facts.size(),
            1000u);
  for (const auto& [name, value] : said.facts) {
    EXPECT_TRUE(IsPlainText(name) && IsPlainText(value)) << name;
  }
  // Nothing here grows for longer than the test runs.
  for (const auto& [name, delta] : said.counters) {
    EXPECT_LT(delta, uint64_t{1} << 50) << name;
  }
}

constexpr char kConfig[] =
    "# Linux/x86 6.18 Kernel Configuration\nCONFIG_PREEMPT_DYNAMIC=y\n"
    "CONFIG_HZ=250\n# CONFIG_SCHEDSTATS is not set\nCONFIG_ZRAM=m\n"
    "CONFIG_LOCALVERSION=\"-x\"\nCONFIG_SWAP=y\n";
const std::map<std::string, std::string> kOptions = {
    {"CONFIG_HZ", "250"},
    {"CONFIG_PREEMPT_DYNAMIC", "y"},
    {"CONFIG_SCHEDSTATS", "n"},
    {"CONFIG_ZRAM", "m"}};

TEST(KernelConfigTest, FromTheKernelItself) {
  FakeRoot fake;
  const gzFile file = gzopen(fake.Path("/proc/config.gz").c_str(), "wb");
  gzputs(file, kConfig);
  gzclose(file);
  EXPECT_EQ(ReadKernelConfig(fake.root()), kOptions);
  EXPECT_EQ(ContextTracker(fake.root()).Take().facts.at("kernel/CONFIG_HZ"),
            "250");
}

TEST(KernelConfigTest, FromBoot) {
  utsname name = {};
  uname(&name);
  FakeRoot fake;
  EXPECT_TRUE(ReadKernelConfig(fake.root()).empty());
  fake.Write("/boot/config-some-other", kConfig);
  EXPECT_TRUE(ReadKernelConfig(fake.root()).empty());
  fake.Write(std::string("/boot/config-") + name.release, kConfig);
  EXPECT_EQ(ReadKernelConfig(fake.root()), kOptions);
}

TEST(KernelConfigTest, HalfAFileIsNone) {
  FakeRoot fake;
  const std::string path = fake.Path("/proc/config.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 100; ++i) gzputs(file, kConfig);
  gzclose(file);
  struct stat whole = {};
  ASSERT_EQ(stat(path.c_str(), &whole), 0);
  ASSERT_EQ(truncate(path.c_str(), whole.st_size / 2), 0);
  EXPECT_TRUE(ReadKernelConfig(fake.root()).empty());
}

}  // namespace
}  // namespace swaplock
