#include "agent/host/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

namespace swaplock {
namespace {

TEST(EnvironmentTest, PreemptModeFromEachSource) {
  EXPECT_EQ(PreemptMode("none voluntary (full) lazy\n", "", ""), "full");
  EXPECT_EQ(PreemptMode("full (lazy)", "PREEMPT_DYNAMIC", ""), "lazy");
  EXPECT_EQ(PreemptMode("", "#1 SMP PREEMPT_DYNAMIC", "quiet preempt=none"),
            "none");
  EXPECT_EQ(PreemptMode("", "#1 SMP PREEMPT_RT Debian", ""), "full");
  EXPECT_EQ(PreemptMode("", "#1 SMP PREEMPT_DYNAMIC", "quiet"), "");
}

TEST(EnvironmentTest, BuildIdFromNotes) {
  const char note[] = {4, 0, 0,   0,   3,   0, 0,      0,      3,      0,
                       0, 0, 'G', 'N', 'U', 0, '\xab', '\xcd', '\x01', 0};
  EXPECT_EQ(BuildId(absl::string_view(note, sizeof(note))), "abcd01");
  // Cut short, or lying about its length.
  EXPECT_EQ(BuildId(absl::string_view(note, 14)), "");
  EXPECT_EQ(BuildId("\xff\xff\xff\xff\xff\xff\xff\xff\x03\x00\x00\x00GNU"), "");
  EXPECT_EQ(BuildId(""), "");
}

class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = std::string(getenv("TEST_TMPDIR")) + "/rootXXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  void Write(const std::string& path, const std::string& text) {
    for (size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0755);
    }
    std::ofstream(root_ + path) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

TEST(EnvironmentTest, ZswapIsInUseWhileItHoldsPages) {
  FakeRoot fake;
  EXPECT_FALSE(ZswapEnabled(fake.root()));
  EXPECT_TRUE(ZswapHoldsPages(fake.root()));  // nobody says that it does not
  fake.Write("/sys/kernel/debug/zswap/stored_pages", "0\n");
  EXPECT_FALSE(ZswapHoldsPages(fake.root()));
  fake.Write("/sys/module/zswap/parameters/enabled", "Y\n");
  EXPECT_TRUE(ZswapEnabled(fake.root()));
  fake.Write("/proc/meminfo",
             "SwapFree:  1024 kB\nZswap:     4 kB\nZswapped:   12 kB\n");
  EXPECT_TRUE(ZswapHoldsPages(fake.root()));
  fake.Write("/proc/meminfo", "Zswap:     4 kB\nZswapped:          0 kB\n");
  EXPECT_FALSE(ZswapHoldsPages(fake.root()));
}

TEST(EnvironmentTest, ZramDevicesWithTheirAlgorithms) {
  FakeRoot fake;
  fake.Write("/sys/block/zram1/disksize", "268435456\n");
  fake.Write("/sys/block/zram1/comp_algorithm", "lzo lz4 [zstd] deflate\n");
  fake.Write("/sys/block/zram1/recomp_algorithm",
             "#1: lzo [lz4]\n#3: [deflate] lz4\n#99: [x]\n");
  fake.Write("/sys/block/zram0/disksize", "0\n");
  fake.Write("/sys/block/zram0/comp_algorithm", "[lzo-rle] lzo\n");
  fake.Write("/sys/block/sda/disksize", "1\n");
  const std::vector<ZramDevice> devices = ReadZramDevices(fake.root());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "zram0");
  EXPECT_EQ(devices[0].disksize_bytes, 0u);
  EXPECT_EQ(devices[1].disksize_bytes, 268435456u);
  EXPECT_EQ(devices[1].algorithms,
            (std::vector<std::string>{"zstd", "lz4", "", "deflate"}));
}

TEST(EnvironmentTest, WhatIsNotThereIsEmptyAndNeverGuessed) {
  FakeRoot fake;
  const Environment e = ReadEnvironment(fake.root());
  EXPECT_EQ(e.page_cluster, -1);
  EXPECT_EQ(e.swap_backend, "");
  EXPECT_EQ(e.kernel_build_id, "");
  EXPECT_FALSE(e.kernel_release.empty());
}

TEST(EnvironmentTest, OwnUsageGrows) {
  const OwnUsage usage = ReadOwnUsage();
  EXPECT_GT(usage.rss_bytes, 100'000u);
}

}  // namespace
}  // namespace swaplock
