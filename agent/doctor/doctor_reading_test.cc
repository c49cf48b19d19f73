#include "agent/doctor/doctor_reading.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace swaplock {
namespace {

class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = std::string(getenv("TEST_TMPDIR")) + "/rootXXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  void Write(const std::string& path, const std::string& text) {
    MakeFolders(path);
    std::ofstream(root_ + path) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    MakeFolders(path);
    ASSERT_EQ(symlink(target.c_str(), (root_ + path).c_str()), 0);
  }
  const std::string& root() const { return root_; }

 private:
  void MakeFolders(const std::string& path) {
    for (size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0755);
    }
  }

  std::string root_;
};

TEST(DoctorReadingTest, LockdownIsTheWordInBrackets) {
  EXPECT_EQ(LockdownMode("[none] integrity confidentiality"), "none");
  EXPECT_EQ(LockdownMode("none [integrity] confidentiality"), "integrity");
  EXPECT_EQ(LockdownMode("none integrity [confidentiality]"),
            "confidentiality");
  EXPECT_EQ(LockdownMode(""), "");
  EXPECT_EQ(LockdownMode("none integrity"), "");
}

TEST(DoctorReadingTest, CapabilitiesByName) {
  // Bits 38 and 39 (linux/capability.h).
  EXPECT_EQ(EffectiveCapabilities("CapPrm:\t000001ffffffffff\n"
                                  "CapEff:\t000000c000000000\n"),
            (std::set<std::string>{"CAP_BPF", "CAP_PERFMON"}));
  EXPECT_EQ(EffectiveCapabilities("CapEff:\t000001ffffffffff\n").size(), 5u);
  EXPECT_TRUE(EffectiveCapabilities("CapEff:\t0000000000000000\n").empty());
  EXPECT_TRUE(EffectiveCapabilities("CapEff:\tnonsense\n").empty());
}

TEST(DoctorReadingTest, ReadsWhatIsThere) {
  FakeRoot fake;
  fake.Write("/sys/kernel/security/lockdown", "none [integrity] x\n");
  fake.Write("/sys/kernel/btf/vmlinux", "x");
  fake.Write("/sys/bus/event_source/devices/kprobe/type", "6\n");
  fake.Write("/proc/sys/kernel/bpf_stats_enabled", "1\n");
  fake.Write("/proc/sys/kernel/kptr_restrict", "2\n");
  fake.Write("/proc/sys/kernel/perf_event_paranoid", "-1\n");
  fake.Write("/proc/pressure/cpu", "some avg10=0.00\n");
  fake.Write("/proc/self/status", "CapEff:\t0000008000000000\n");
  fake.Link("/proc/self/ns/user", "user:[4026531837]");
  fake.Write("/proc/self/mounts",
             "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
             "debugfs /elsewhere debugfs rw 0 0\n"
             "debugfs /sys/kernel/debug debugfs rw 0 0\n");
  // Data symbols of CPU 0 lie at 0 whoever looks.
  fake.Write("/proc/kallsyms",
             "0000000000000000 A fixed_percpu_data\n"
             "ffffffff81000000 T _stext\n");
  fake.Write("/sys/module/zswap/parameters/enabled", "Y\n");
  fake.Write("/sys/module/zswap/parameters/compressor", "lz4\n");
  fake.Write("/sys/module/zram/initstate", "live\n");
  fake.Write("/sys/block/zram0/disksize", "4096\n");
  fake.Write("/sys/block/zram0/comp_algorithm", "[lz4]\n");
  fake.Write("/sys/block/zram1/disksize", "4096\n");
  fake.Write("/dev/zram1", "");

  const HostFacts facts = ReadHostFacts(fake.root());
  EXPECT_EQ(facts.lockdown, "integrity");
  EXPECT_TRUE(facts.btf_file);
  EXPECT_TRUE(facts.kprobes);
  EXPECT_EQ(facts.bpf_stats, true);
  EXPECT_EQ(facts.kptr_restrict, 2);
  EXPECT_EQ(facts.perf_event_paranoid, -1);
  EXPECT_TRUE(facts.psi);
  EXPECT_EQ(facts.capabilities, std::set<std::string>{"CAP_BPF"});
  EXPECT_FALSE(facts.user_namespace);
  EXPECT_TRUE(facts.kernel_addresses);
  EXPECT_EQ(facts.zswap_enabled, true);
  EXPECT_EQ(facts.zswap_compressor, "lz4");
  EXPECT_TRUE(facts.zram_loaded);
  ASSERT_EQ(facts.zram_devices.size(), 2u);
  EXPECT_EQ(facts.zram_devices[0].read_error, ENOENT);
  EXPECT_EQ(facts.zram_devices[1].read_error, 0);
  ASSERT_NE(facts.Mount("cgroup2"), nullptr);
  EXPECT_FALSE(facts.Mount("cgroup2")->InPlace());
  EXPECT_EQ(facts.Mount("cgroup2")->path, "/sys/fs/cgroup/unified");
  EXPECT_TRUE(facts.Mount("debugfs")->InPlace());
  EXPECT_EQ(facts.Mount("tracefs")->path, "");
}

TEST(DoctorReadingTest, NothingIsGuessedWhereNothingCanBeRead) {
  const HostFacts facts = ReadHostFacts("/nonexistent");
  EXPECT_EQ(facts.lockdown, "");
  EXPECT_FALSE(facts.bpf_stats.has_value());
  EXPECT_FALSE(facts.zswap_enabled.has_value());
  EXPECT_EQ(facts.kptr_restrict, -1);
  EXPECT_TRUE(facts.capabilities.empty());
  EXPECT_FALSE(facts.user_namespace);
  EXPECT_FALSE(facts.kernel_addresses);
}

TEST(DoctorReadingTest, HiddenAddressesAndOtherUserNamespacesAreSeen) {
  FakeRoot fake;
  fake.Link("/proc/self/ns/user", "user:[4026532000]");
  fake.Write("/proc/kallsyms",
             "0000000000000000 A fixed_percpu_data\n"
             "0000000000000000 T _stext\n");
  const HostFacts facts = ReadHostFacts(fake.root());
  EXPECT_TRUE(facts.user_namespace);
  EXPECT_FALSE(facts.kernel_addresses);
}

}  // namespace
}  // namespace swaplock
