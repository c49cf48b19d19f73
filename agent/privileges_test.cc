#include "agent/privileges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/capability.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

namespace swaplock {
namespace {

using testing::Contains;
using testing::Not;

class PrivilegesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    for (const char* folder :
         {"", "/sys", "/sys/class", "/sys/class/zram-control", "/sys/module",
          "/sys/module/zram"}) {
      mkdir((root_ + folder).c_str(), 0700);
    }
  }
  std::string root_;
};

TEST_F(PrivilegesTest, BuiltInNeedsNoAdministrator) {
  EXPECT_THAT(NeededCapabilities({}, root_), Not(Contains("cap_sys_admin")));
  EXPECT_THAT(NeededCapabilities({}, root_), Contains("cap_bpf"));
}

TEST_F(PrivilegesTest, AModuleMayComeBack) {
  std::ofstream(root_ + "/sys/module/zram/initstate") << "live\n";
  EXPECT_THAT(NeededCapabilities({}, root_), Contains("cap_sys_admin"));
}

TEST_F(PrivilegesTest, AModuleMayYetCome) {
  rmdir((root_ + "/sys/class/zram-control").c_str());
  EXPECT_THAT(NeededCapabilities({}, root_), Contains("cap_sys_admin"));
}

TEST_F(PrivilegesTest, OwnFoldersNeedNoOverride) {
  EXPECT_THAT(NeededCapabilities({root_, root_ + "/new/file", "here"}, root_),
              Not(Contains("cap_dac_override")));
}

// In a thread of its own, so that the others keep what they have.
TEST_F(PrivilegesTest, WhatIsNotKeptIsGone) {
  std::thread([] {
    const absl::StatusOr<std::string> left =
        KeepOnly({"cap_syslog", "cap_no_such_thing"});
    ASSERT_TRUE(left.ok()) << left.status();
    const cap_t now = cap_get_proc();
    for (cap_value_t value = 0; value <= cap_max_bits() - 1; ++value) {
      if (value == CAP_SYSLOG) continue;
      for (const cap_flag_t flag :
           {CAP_PERMITTED, CAP_EFFECTIVE, CAP_INHERITABLE}) {
        cap_flag_value_t has = CAP_SET;
        EXPECT_EQ(cap_get_flag(now, value, flag, &has), 0);
        EXPECT_EQ(has, CAP_CLEAR) << value;
      }
    }
    cap_free(now);
  }).join();
}

}  // namespace
}  // namespace swaplock
