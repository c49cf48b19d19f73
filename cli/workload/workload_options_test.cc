#include "cli/workload/workload_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace swaplock {
namespace {

WorkloadOptions Zram() { return {}; }

WorkloadOptions Zswap() {
  WorkloadOptions options;
  options.kind = WorkloadKind::kZswapInversion;
  return options;
}

TEST(WorkloadOptions, WhatNobodyGaveIsRight) {
  EXPECT_TRUE(CheckGiven(Zram()).ok());
  EXPECT_TRUE(CheckGiven(Zswap()).ok());
}

TEST(WorkloadOptions, DefaultsAreThoseOfTheListsTests) {
  WorkloadOptions options = Zswap();
  FillDefaults(1, &options);
  EXPECT_EQ(options.workers, 4);
  EXPECT_EQ(options.hogs, 1);
  EXPECT_EQ(options.readers, 1);

  options = Zswap();
  FillDefaults(8, &options);
  EXPECT_EQ(options.workers, 16);
  EXPECT_EQ(options.hogs, 8);
  EXPECT_EQ(options.readers, 8);

  options = Zram();
  FillDefaults(24, &options);
  EXPECT_EQ(options.workers, 48);
  EXPECT_EQ(options.hogs, 24);
  EXPECT_EQ(options.readers, 24);
  EXPECT_EQ(options.low, "write");
}

TEST(WorkloadOptions, WhatWasGivenStays) {
  WorkloadOptions options = Zram();
  options.workers = 0;
  options.hogs = 7;
  options.readers = 3;
  options.mib = 5;
  options.low = "read";
  options.block_kib = 8;
  options.low_block_kib = 16;
  FillDefaults(2, &options);
  EXPECT_EQ(options.workers, 0);
  EXPECT_EQ(options.hogs, 7);
  EXPECT_EQ(options.readers, 3);
  EXPECT_EQ(options.mib, 5);
  EXPECT_TRUE(options.LowReads());
  EXPECT_EQ(options.block_kib, 8);
  EXPECT_EQ(options.low_block_kib, 16);
}

TEST(WorkloadOptions, DefaultsAreInRangeOnAnyMachine) {
  for (const int cpus : {1, 2, 24, 5000}) {
    for (WorkloadOptions options : {Zram(), Zswap()}) {
      options.setup = options.kind == WorkloadKind::kZswapInversion;
      FillDefaults(cpus, &options);
      EXPECT_TRUE(CheckGiven(options).ok()) << CheckGiven(options);
    }
  }
}

struct Wrong {
  WorkloadOptions base;
  std::function<void(WorkloadOptions&)> change;
  std::string names;  // what the sentence must say
};

TEST(WorkloadOptions, EachWrongValueIsNamed) {
  using O = WorkloadOptions&;
  const std::vector<Wrong> all = {
      {Zram(), [](O o) { o.workers = -2; }, "--workers"},
      {Zram(), [](O o) { o.workers = 1025; }, "--workers"},
      {Zram(), [](O o) { o.hogs = -5; }, "--hogs"},
      {Zram(), [](O o) { o.readers = 0; }, "--readers"},
      {Zram(), [](O o) { o.duration = absl::ZeroDuration(); }, "--duration"},
      {Zram(), [](O o) { o.duration = absl::InfiniteDuration(); },
       "--duration"},
      {Zram(), [](O o) { o.duration = -absl::Seconds(1); }, "--duration"},
      {Zram(), [](O o) { o.pause = absl::Seconds(2); }, "--pause"},
      {Zram(), [](O o) { o.slow_holder = absl::Seconds(1); }, "--slow_holder"},
      {Zram(),
       [](O o) {
         o.slow_holder = absl::Milliseconds(1);
         o.workers = 0;
       },
       "--slow_holder"},
      {Zram(), [](O o) { o.ratio = 0.5; }, "--ratio"},
      {Zram(), [](O o) { o.ratio = NAN; }, "--ratio"},
      {Zram(), [](O o) { o.mib = -1; }, "--mib"},
      {Zram(), [](O o) { o.codec = "lz4\nx"; }, "--codec"},
      {Zram(), [](O o) { o.low = "both"; }, "--low"},
      {Zram(), [](O o) { o.block_kib = 3; }, "--block_kib"},
      {Zram(), [](O o) { o.low_block_kib = 2048; }, "--low_block_kib"},
      {Zram(), [](O o) { o.device = "sda"; }, "--device"},
      {Zram(), [](O o) { o.device = "zram"; }, "--device"},
      {Zram(), [](O o) { o.device = "zram0/../sda"; }, "--device"},
      {Zram(),
       [](O o) {
         o.device = "zram0";
         o.codec = "lz4";
       },
       "--codec"},
      {Zram(), [](O o) { o.setup = true; }, "--setup"},
      {Zram(), [](O o) { o.swap_device = "/dev/ram0"; }, "--swap_device"},
      {Zswap(), [](O o) { o.low = "read"; }, "--low"},
      {Zswap(), [](O o) { o.device = "zram0"; }, "--device"},
      {Zswap(), [](O o) { o.codec = "zstd"; }, "--setup"},
      {Zswap(), [](O o) { o.swap_device = "/dev/ram1"; }, "--setup"},
      {Zswap(),
       [](O o) {
         o.setup = true;
         o.swap_device = "/dev/sda";
       },
       "RAM disk"},
  };
  for (const Wrong& wrong : all) {
    WorkloadOptions options = wrong.base;
    wrong.change(options);
    const absl::Status status = CheckGiven(options);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong.names;
    EXPECT_NE(status.message().find(wrong.names), absl::string_view::npos)
        << status;
  }
}

}  // namespace
}  // namespace swaplock
