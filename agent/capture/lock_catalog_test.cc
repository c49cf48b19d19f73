#include "agent/capture/lock_catalog.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace swaplock {
namespace {

std::string ReadTestData(const std::string& name) {
  std::ifstream in("agent/capture/testdata/" + name);
  EXPECT_TRUE(in.is_open()) << name;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

KernelSymbols Recorded(const std::string& kernel) {
  const absl::StatusOr<KernelSymbols> symbols =
      ParseKernelSymbols(ReadTestData(kernel + ".symbols"));
  EXPECT_TRUE(symbols.ok()) << symbols.status();
  return *symbols;
}

absl::Status Permit(ProbeKind, const std::string&) { return absl::OkStatus(); }

absl::Status RefuseFunctions(ProbeKind kind, const std::string& target) {
  if (kind == ProbeKind::kTracepoint) return absl::OkStatus();
  return absl::PermissionDeniedError("load " + target + ": EPERM");
}

class LockCatalogTest : public testing::TestWithParam<const char*> {};

// The golden files are what the kernel itself said when its list was recorded.
TEST_P(LockCatalogTest, PlansWhatTheRealKernelTook) {
  const std::string kernel = GetParam();
  EXPECT_EQ(FormatPlan(MakePlan(Recorded(kernel), Permit)),
            ReadTestData(kernel + ".plan"));
}

TEST_P(LockCatalogTest, RecordedListsSurviveTheirText) {
  const KernelSymbols symbols = Recorded(GetParam());
  const auto again = ParseKernelSymbols(FormatKernelSymbols(symbols));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->functions, symbols.functions);
  EXPECT_EQ(again->members, symbols.members);
  EXPECT_EQ(again->tracepoints, symbols.tracepoints);
}

INSTANTIATE_TEST_SUITE_P(Kernels, LockCatalogTest,
                         testing::Values("6.1", "6.12", "6.18", "7.3",
                                         "7.3-plain", "7.3-patched",
                                         "7.3-zram-split"));

TEST(LockCatalogTest, KnowsEachGenerationsLock) {
  EXPECT_EQ(MakePlan(Recorded("6.12"), Permit).zram_model,
            LockModel::kPreemptOff);
  EXPECT_EQ(MakePlan(Recorded("6.18"), Permit).zram_model, LockModel::kMutex);
  EXPECT_EQ(MakePlan(Recorded("6.12"), Permit).zswap_model, LockModel::kMutex);
}

// PREEMPT_RT: the same type, but a real lock that has a size.
TEST(LockCatalogTest, ALocalLockWithASizeIsNotPreemptOff) {
  KernelSymbols symbols = Recorded("6.12");
  symbols.members["zcomp_strm.buffer"].offset_bytes = 32;
  EXPECT_EQ(MakePlan(symbols, Permit).zram_model, LockModel::kLocalLock);
}

TEST(LockCatalogTest, WithoutFunctionHooksTheOwnerProbeTakesOver) {
  const Plan plan = MakePlan(Recorded("6.18"), RefuseFunctions);
  EXPECT_EQ(plan.zram_hold, Tier::kOwnerProbe);
  EXPECT_EQ(plan.zswap_hold, Tier::kOwnerProbe);
  EXPECT_TRUE(plan.Attaches("owner_switch"));
  EXPECT_TRUE(plan.Attaches("contention_begin"));
  EXPECT_FALSE(plan.Attaches("zram_get"));
  EXPECT_FALSE(plan.Attaches("switch_hook"));
  ASSERT_EQ(plan.not_measured.size(), 2u);
  EXPECT_NE(plan.not_measured[0].find("EPERM"), std::string::npos);
}

absl::Status RefuseTrampolines(ProbeKind kind, const std::string& target) {
  return kind == ProbeKind::kFentry || kind == ProbeKind::kFexit
             ? absl::PermissionDeniedError("load " + target + ": EPERM")
             : absl::OkStatus();
}

TEST(LockCatalogTest, KprobesStandInForTrampolines) {
  for (const char* kernel : {"6.1", "6.12", "6.18", "7.3", "7.3-patched"}) {
    SCOPED_TRACE(kernel);
    const Plan plan = MakePlan(Recorded(kernel), RefuseTrampolines);
    EXPECT_EQ(plan.zram_hold, Tier::kBracket);
    EXPECT_EQ(plan.zswap_hold, Tier::kBracket);
    EXPECT_TRUE(plan.Attaches("zram_get_k"));
    EXPECT_TRUE(plan.Attaches("zram_compress_k"));
    EXPECT_TRUE(plan.Attaches("zswap_release_store_k"));
    EXPECT_TRUE(plan.Attaches("switch_hook"));
    // A kretprobe misses exits where many tasks are inside.
    EXPECT_EQ(plan.zram_latency, Tier::kUnspecified);
    EXPECT_EQ(plan.zswap_latency, Tier::kUnspecified);
  }
}

// A hook less for each page that is read; where the streams say it, for each.
TEST(LockCatalogTest, WhatIsToldByOthersIsNotHooked) {
  const Plan one = MakePlan(Recorded("6.18"), Permit);
  EXPECT_TRUE(one.Attaches("zram_compress"));
  EXPECT_FALSE(one.Attaches("zram_decompress"));
  const Plan split = MakePlan(Recorded("7.3-patched"), Permit);
  EXPECT_FALSE(split.Attaches("zram_compress"));
  EXPECT_FALSE(split.Attaches("zram_decompress_k"));
  // Without the one, the other has to tell.
  KernelSymbols symbols = Recorded("6.18");
  symbols.functions.erase("zcomp_compress");
  EXPECT_TRUE(MakePlan(symbols, Permit).Attaches("zram_decompress"));
}

// By kprobe the work after the get says that the stream was got.
TEST(LockCatalogTest, KprobesAloneNeedTheWork) {
  KernelSymbols symbols = Recorded("6.18");
  symbols.functions.erase("zcomp_decompress");
  const Plan plan = MakePlan(symbols, RefuseTrampolines);
  EXPECT_EQ(plan.zram_hold, Tier::kOwnerProbe);
  EXPECT_FALSE(plan.Attaches("zram_get_k"));
}

TEST(LockCatalogTest, SplitStreamsHaveTheirOwnHooksAndModels) {
  const Plan plan = MakePlan(Recorded("7.3-patched"), Permit);
  EXPECT_EQ(plan.zram_hold, Tier::kExact);
  EXPECT_EQ(plan.zram_model, LockModel::kSplitMutex);
  EXPECT_EQ(plan.zram_exclusive_model, LockModel::kRwsemExclusive);
  EXPECT_EQ(plan.zram_shared_model, LockModel::kRwsemShared);
  EXPECT_TRUE(plan.Attaches("zram_get"));
  EXPECT_TRUE(plan.Attaches("zram_read_get"));
  EXPECT_TRUE(plan.Attaches("zram_read_put_k"));  // several may hold it
  EXPECT_EQ(plan.zswap_model, LockModel::kSplitMutex);
  EXPECT_TRUE(plan.zswap_lock_free_loads);
}

// The series' first version, and its third, as its mails describe them.
TEST(LockCatalogTest, KnowsTheOtherVersionsOfSplitStreams) {
  KernelSymbols first = Recorded("7.3-patched");
  first.members["zcomp_dstrm.lock"].type = "struct mutex";
  first.members.erase("zcomp_dstrm.excl_locked");
  const Plan mutexes = MakePlan(first, Permit);
  EXPECT_EQ(mutexes.zram_exclusive_model, LockModel::kSplitMutex);
  EXPECT_EQ(mutexes.zram_shared_model, LockModel::kUnspecified);

  KernelSymbols third = Recorded("7.3-patched");
  third.members.erase("zcomp_dstrm.excl_locked");
  third.members["zcomp_dstrm.excl_lock"] = {40, "struct mutex"};
  EXPECT_EQ(ReadingStreamSharedBy(third).how, SL_SHARED_BY_EXCL_LOCK);
  EXPECT_EQ(ReadingStreamSharedBy(third).offset_bytes, 40u);
  EXPECT_EQ(MakePlan(third, Permit).zram_shared_model, LockModel::kRwsemShared);
}

// With preemption off there is no owner to find: nothing measures its holds.
TEST(LockCatalogTest, WithoutFunctionHooksAPreemptOffLockIsNotMeasured) {
  const Plan plan = MakePlan(Recorded("6.12"), RefuseFunctions);
  EXPECT_EQ(plan.zram_hold, Tier::kUnspecified);
  EXPECT_EQ(plan.zram_model, LockModel::kPreemptOff);
}

// One question per mechanism: fexit for fentry and fexit, one kprobe.
TEST(LockCatalogTest, AsksNoFurtherOnceFunctionHooksAreRefused) {
  int asked = 0;
  MakePlan(Recorded("6.18"),
           [&](ProbeKind kind, const std::string& target) -> absl::Status {
             asked += kind != ProbeKind::kTracepoint;
             return RefuseFunctions(kind, target);
           });
  EXPECT_EQ(asked, 2);
}

// One lock's missing hook leaves the other lock's tier alone.
TEST(LockCatalogTest, OneRefusedFunctionStopsOnlyItsOwnLock) {
  const Plan plan =
      MakePlan(Recorded("6.18"), [](ProbeKind, const std::string& target) {
        return target == "zcomp_stream_put"
                   ? absl::FailedPreconditionError("attach: EBUSY")
                   : absl::OkStatus();
      });
  EXPECT_EQ(plan.zram_hold, Tier::kOwnerProbe);
  EXPECT_EQ(plan.zswap_hold, Tier::kBracket);
  EXPECT_FALSE(plan.Attaches("zram_get"));
  EXPECT_TRUE(plan.Attaches("switch_hook"));
}

TEST(LockCatalogTest, AnOptionalFunctionMayBeMissing) {
  KernelSymbols symbols = Recorded("6.18");
  symbols.functions.erase("shrink_memcg_cb");
  EXPECT_EQ(MakePlan(symbols, Permit).zswap_hold, Tier::kBracket);
}

TEST(LockCatalogTest, WithoutBtfNothingIsAttachedAndEverythingSaysWhy) {
  const Plan plan = MakePlan(KernelSymbols{}, Permit);
  EXPECT_TRUE(plan.attachments.empty());
  EXPECT_FALSE(plan.not_measured.empty());
  for (const Probe& probe : plan.probes) {
    EXPECT_EQ(probe.state, ProbeState::kAbsent) << probe.name;
    EXPECT_FALSE(probe.reason.empty());
  }
}

TEST(LockCatalogTest, AModuleThatIsNotLoadedIsLookedForLater) {
  KernelSymbols symbols = Recorded("6.18");
  for (const char* name : {"zcomp_stream_get", "zcomp_stream_put",
                           "zcomp_compress", "zcomp_decompress"}) {
    symbols.functions.erase(name);
  }
  symbols.members.erase("zcomp_strm.lock");
  const Plan plan = MakePlan(symbols, Permit);
  EXPECT_EQ(plan.zram_hold, Tier::kUnspecified);
  EXPECT_EQ(plan.zswap_hold, Tier::kBracket);
  ASSERT_EQ(plan.not_measured.size(), 1u);
  EXPECT_NE(plan.not_measured[0].find("not loaded"), std::string::npos);
}

}  // namespace
}  // namespace swaplock
