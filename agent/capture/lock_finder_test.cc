#include "agent/capture/lock_finder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/capture/device_cells.h"

namespace swaplock {
namespace {

// A kernel of three structs, as 6.18 lays them out.
class FakeKernel {
 public:
  FakeKernel() {
    symbols_.members = {
        {"zram.comps", {16, "struct zcomp *[4]"}},
        {"zram.mem_pool", {8, "struct zs_pool *"}},
        {"zcomp.stream", {0, "struct zcomp_strm *"}},
        {"zcomp_strm.lock", {0, "struct mutex"}},
        {"zs_pool.size_class", {8, "struct size_class *[4]"}},
        {"zs_pool.lock", {2120, "rwlock_t"}},
        {"size_class.lock", {4, "spinlock_t"}},
    };
    Put(kZram + 8, kPool);
    Put(kZram + 16, kComp);
    Put(kZram + 32, kComp + 64);  // priority 2; 1 and 3 are unused
    Put(kComp, 0x30080);
    Put(kComp + 64, 0x30100);
    Put(kPool + 8, kClass);
    Put(kPool + 16, kClass);  // classes of like geometry share one
    Put(kPool + 24, kClass + 0x100);
  }

  ReadKernel Reader() {
    return [this](uint64_t address, void* out, size_t bytes) {
      char* to = static_cast<char*>(out);
      memset(to, 0, bytes);
      for (size_t i = 0; i + 8 <= bytes; i += 8) {
        const auto at = memory_.find(address + i);
        if (at != memory_.end()) memcpy(to + i, &at->second, 8);
      }
      return broken_ ? absl::NotFoundError("no kernel memory")
                     : absl::OkStatus();
    };
  }

  absl::StatusOr<ZramLocks> Find() {
    return FindZramLocks(symbols_, Reader(), kZram);
  }

  static constexpr uint64_t kZram = 0xffff888000001000;
  static constexpr uint64_t kComp = 0xffff888000002000;
  static constexpr uint64_t kPool = 0xffff888000003000;
  static constexpr uint64_t kClass = 0xffff888000008000;

  void Put(uint64_t address, uint64_t value) { memory_[address] = value; }

  KernelSymbols symbols_;
  std::map<uint64_t, uint64_t> memory_;
  bool broken_ = false;
};

TEST(LockFinderTest, FindsStreamsAndPoolLocks) {
  FakeKernel kernel;
  const absl::StatusOr<ZramLocks> locks = kernel.Find();
  ASSERT_TRUE(locks.ok()) << locks.status();
  ASSERT_EQ(locks->compressors.size(), 2u);
  EXPECT_EQ(locks->compressors[0].comp, FakeKernel::kComp);
  ASSERT_EQ(locks->compressors[0].locks.size(), 1u);
  EXPECT_EQ(locks->compressors[0].locks[0].pointer, 0x30080u);
  EXPECT_EQ(locks->compressors[0].locks[0].role, Role::kStream);
  EXPECT_TRUE(locks->compressors[0].locks[0].mutex);
  EXPECT_EQ(locks->compressors[1].priority, 2);
  EXPECT_EQ(locks->pool.pool_lock, FakeKernel::kPool + 2120);
  EXPECT_EQ(locks->pool.class_locks,
            (std::vector<uint64_t>{FakeKernel::kClass + 4,
                                   FakeKernel::kClass + 0x104}));
}

TEST(LockFinderTest, AKernelWithOnePoolLockHasNoClassLocks) {
  FakeKernel kernel;
  kernel.symbols_.members.erase("size_class.lock");
  const auto locks = kernel.Find();
  ASSERT_TRUE(locks.ok());
  EXPECT_TRUE(locks->pool.class_locks.empty());
  EXPECT_NE(locks->pool.pool_lock, 0u);
}

TEST(LockFinderTest, FindsZswapsPool) {
  FakeKernel kernel;
  kernel.symbols_.members["zswap_pool.zs_pool"] = {8, "struct zs_pool *"};
  const auto pool =
      FindZswapPoolLocks(kernel.symbols_, kernel.Reader(), FakeKernel::kZram);
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_EQ(pool->pool_lock, FakeKernel::kPool + 2120);
  EXPECT_EQ(pool->class_locks.size(), 2u);
  kernel.symbols_.members.erase("zswap_pool.zs_pool");
  EXPECT_FALSE(
      FindZswapPoolLocks(kernel.symbols_, kernel.Reader(), FakeKernel::kZram)
          .ok());
}

TEST(LockFinderTest, SaysWhichTypeIsMissing) {
  FakeKernel kernel;
  kernel.symbols_.members.erase("zcomp.stream");
  EXPECT_NE(kernel.Find().status().message().find("zcomp.stream"),
            absl::string_view::npos);
}

TEST(LockFinderTest, UnreadableMemoryIsAnErrorNotAnAddress) {
  FakeKernel kernel;
  kernel.broken_ = true;
  EXPECT_FALSE(kernel.Find().ok());
}

Plan ExactPlan() {
  Plan plan;
  plan.zram_model = LockModel::kMutex;
  plan.zswap_model = LockModel::kMutex;
  plan.zram_hold = Tier::kExact;
  plan.zswap_hold = Tier::kBracket;
  plan.wait = Tier::kContention;
  plan.size_class_model = LockModel::kSpinlock;
  plan.pool_model = LockModel::kRwlock;
  return plan;
}

DeviceLocks Device(const std::string& name, uint64_t comp) {
  DeviceLocks d;
  d.device.name = name;
  d.device.algorithms = {"zstd"};
  d.zram = 0xffff888000001000 + comp;
  d.locks.compressors = {{0, comp, {{Role::kStream, true, 0x30080}}}};
  d.locks.pool.pool_lock = 0xffff888000003848;
  d.locks.pool.class_locks = {0xffff888000008000};
  return d;
}

TEST(DeviceCellsTest, EachDeviceHasItsOwnCellsAndLocks) {
  WindowBuilder builder;
  const LockTables tables =
      AssignCells(ExactPlan(), {Device("zram0", 1), Device("zram1", 2)},
                  {"lzo", {}, {}}, {0x1000, 0x2000}, 64, &builder);
  ASSERT_EQ(tables.comps.size(), 2u);
  EXPECT_NE(tables.comps[0].base, tables.comps[1].base);
  const CellMeaning& write = builder.meanings().at(
      static_cast<int>(tables.comps[1].base) + SL_OP_STORE);
  EXPECT_EQ(write.key.device, "zram1");
  EXPECT_EQ(write.key.operation, Operation::kWrite);
  EXPECT_EQ(write.key.algorithm, "zstd");
  // Per device: a stream lock on each of two CPUs, a class, a pool.
  EXPECT_EQ(tables.locks.size(), 8u);
  EXPECT_EQ(tables.rows[1].lock[0], 0x30080u + 0x2000u);
  EXPECT_TRUE(tables.left_out.empty());
}

TEST(DeviceCellsTest, ZswapsPoolsShareOneSetOfCells) {
  WindowBuilder builder;
  const PoolLocks first = {0xffff888000010000, {0xffff888000020000}};
  const PoolLocks second = {0xffff888000030000, {0xffff888000040000}};
  const LockTables tables = AssignCells(
      ExactPlan(), {}, {"lzo", {}, {first, second}}, {0x1000}, 64, &builder);
  EXPECT_EQ(tables.locks.size(), 4u);
  const CellMeaning& meaning =
      builder.meanings().at(ZswapPoolCell(ExactPlan()) + SL_ZS_CLASS);
  EXPECT_EQ(meaning.key.subsystem, Subsystem::kZsmalloc);
  EXPECT_EQ(meaning.key.role, Role::kSizeClass);
  EXPECT_EQ(meaning.key.device, "");
  EXPECT_EQ(meaning.key.algorithm, "lzo");
}

TEST(DeviceCellsTest, DevicesWithoutCellsLeftAreNamed) {
  WindowBuilder builder;
  const LockTables tables = AssignCells(
      ExactPlan(), {Device("zram0", 1), Device("zram1", 2)}, {"", {}, {}},
      {0x1000}, FirstDeviceCell(ExactPlan()) + DeviceCells(ExactPlan(), 1),
      &builder);
  EXPECT_EQ(tables.comps.size(), 1u);
  EXPECT_EQ(tables.left_out, std::vector<std::string>{"zram1"});
}

TEST(DeviceCellsTest, ADeviceThatWentTakesItsCellsWithIt) {
  WindowBuilder builder;
  AssignCells(ExactPlan(), {Device("zram0", 1)}, {"", {}, {}}, {0x1000}, 64,
              &builder);
  const size_t with = builder.meanings().size();
  AssignCells(ExactPlan(), {}, {"", {}, {}}, {0x1000}, 64, &builder);
  EXPECT_LT(builder.meanings().size(), with);
}

TEST(DeviceCellsTest, ALockWithPreemptionOffHasNoWaiters) {
  Plan plan = ExactPlan();
  plan.zram_model = LockModel::kPreemptOff;
  DeviceLocks device = Device("zram0", 1);
  device.locks.pool.pool_lock = 0;
  device.locks.pool.class_locks.clear();
  WindowBuilder builder;
  const LockTables tables =
      AssignCells(plan, {device}, {"", {}, {}}, {0x1000}, 64, &builder);
  EXPECT_TRUE(tables.locks.empty());
  EXPECT_EQ(tables.comps.size(), 1u);
}

TEST(DeviceCellsTest, SplitStreamsHaveCellsByRoleAndMode) {
  Plan plan = ExactPlan();
  plan.zram_model = LockModel::kSplitMutex;
  plan.zram_exclusive_model = LockModel::kRwsemExclusive;
  plan.zram_shared_model = LockModel::kRwsemShared;
  DeviceLocks device = Device("zram0", 1);
  device.locks.compressors = {{0,
                               1,
                               {{Role::kCompressStream, true, 0x30080},
                                {Role::kDecompressStream, false, 0x30100}}}};
  WindowBuilder builder;
  const LockTables tables =
      AssignCells(plan, {device}, {"", {}, {}}, {0x1000}, 64, &builder);
  ASSERT_EQ(tables.comps.size(), 1u);
  const int base = static_cast<int>(tables.comps[0].base);
  const CellMeaning& write =
      builder.meanings().at(base + SL_LANE_STREAM * SL_OPS + SL_OP_STORE);
  EXPECT_EQ(write.key.role, Role::kCompressStream);
  EXPECT_EQ(write.lock_model, LockModel::kSplitMutex);
  const CellMeaning& shared =
      builder.meanings().at(base + SL_LANE_SHARED * SL_OPS + SL_OP_LOAD);
  EXPECT_EQ(shared.key.role, Role::kDecompressStream);
  EXPECT_EQ(shared.key.mode, Mode::kShared);
  EXPECT_EQ(shared.lock_model, LockModel::kRwsemShared);
  const CellMeaning& alone =
      builder.meanings().at(base + SL_LANE_EXCLUSIVE * SL_OPS + SL_OP_LOAD);
  EXPECT_EQ(alone.key.mode, Mode::kExclusive);
  // No two cells mean the same.
  std::set<CellKey> keys;
  for (const auto& [index, meaning] : builder.meanings()) {
    EXPECT_TRUE(keys.insert(meaning.key).second) << index;
  }
  // A semaphore has no owner to probe for.
  EXPECT_EQ(tables.rows[0].lock[0], 0x31080u);
  EXPECT_EQ(tables.rows[0].lock[1], 0u);
}

TEST(DeviceCellsTest, OperationsOfADeviceHaveTheirOwnLatency) {
  Plan plan = ExactPlan();
  plan.zram_latency = Tier::kExact;
  plan.zswap_latency = Tier::kExact;
  std::vector<DeviceLocks> devices;
  devices.reserve(SL_ZRAM_DEVICES + 1);
  for (int i = 0; i < SL_ZRAM_DEVICES + 1; ++i) {
    devices.push_back(
        Device("zram" + std::to_string(i), static_cast<uint64_t>(i) + 1));
  }
  WindowBuilder builder;
  const LockTables tables =
      AssignCells(plan, devices, {"lzo", {}, {}}, {0x1000}, 64, &builder);
  ASSERT_EQ(tables.zram_devices.size(),
            size_t{SL_ZRAM_DEVICES});  // the fifth has none
  const LatencyMeaning& read = builder.latency_meanings().at(
      static_cast<int>(tables.zram_devices[1].base) + SL_OP_LOAD);
  EXPECT_EQ(read.key.device, "zram1");
  EXPECT_EQ(read.key.operation, Operation::kRead);
  EXPECT_EQ(read.key.role, Role::kUnspecified);
  EXPECT_EQ(read.lock_model, LockModel::kMutex);
  EXPECT_FALSE(read.only_if_used);
}

TEST(DeviceCellsTest, TheOwnerProbeCannotTellOperationsApart) {
  Plan plan = ExactPlan();
  plan.zram_hold = Tier::kOwnerProbe;
  plan.zswap_hold = Tier::kOwnerProbe;
  WindowBuilder builder;
  AssignCells(plan, {Device("zram0", 1)}, {"lzo", {0x40000}, {}}, {0x1000}, 64,
              &builder);
  int streams = 0;
  for (const auto& [index, meaning] : builder.meanings()) {
    if (meaning.key.subsystem == Subsystem::kZsmalloc) continue;
    EXPECT_EQ(meaning.key.operation, Operation::kUnspecified);
    ++streams;
  }
  EXPECT_EQ(streams, 2);  // zram0's and zswap's
}

}  // namespace
}  // namespace swaplock
