#include "server/admission/admit.h"

#include <gtest/gtest.h>

#include "common/plain_text.h"
#include "common/testing.h"

namespace swaplock {
namespace {

TEST(AdmitTest, TakesAnOrdinaryWindow) {
  EXPECT_FALSE(Refuse(MakeWindow("a", 1), "a").has_value());
  EXPECT_FALSE(
      Refuse(MakeWindow("a", 1, "6.12.57+deb13~rc1_x-amd64"), "a").has_value());
}

TEST(AdmitTest, RefusesEachKindOfHarm) {
  const struct {
    const char* name;
    RejectReason reason;
    void (*harm)(Window*);
  } kCases[] = {
      {"other host", RejectReason::kWrongHost,
       [](Window* w) { w->key.host_id = "b"; }},
      {"no kernel", RejectReason::kBadKernel,
       [](Window* w) { w->environment.kernel_release = ""; }},
      {"long kernel", RejectReason::kBadKernel,
       [](Window* w) { w->environment.kernel_release.assign(65, '6'); }},
      {"kernel with a quote", RejectReason::kBadKernel,
       [](Window* w) { w->environment.kernel_release = "6.1\"} 1"; }},
      {"kernel with a newline", RejectReason::kBadKernel,
       [](Window* w) { w->environment.kernel_release = "6.1\n"; }},
      {"preempt mode of two lines", RejectReason::kBadText,
       [](Window* w) { w->environment.preempt = "a\nb"; }},
      {"algorithm with an escape", RejectReason::kBadText,
       [](Window* w) { w->cells[0].key.algorithm = "\x1b[31m"; }},
      {"device too long", RejectReason::kBadText,
       [](Window* w) { w->cells[0].key.device.assign(33, 'z'); }},
      {"comm that is no UTF-8", RejectReason::kBadText,
       [](Window* w) { w->top_holds[0].comm = "\xff"; }},
      {"probe's name", RejectReason::kBadText,
       [](Window* w) { w->coverage.probes[0].name = std::string(1, '\0'); }},
      {"label's value", RejectReason::kBadText,
       [](Window* w) { w->environment.labels["tier"] = "\t"; }},
      {"sentence", RejectReason::kBadText,
       [](Window* w) { w->coverage.not_measured = {"\r"}; }},
      {"waiter's comm", RejectReason::kBadText,
       [](Window* w) {
         w->top_holds[0].waiters.push_back({1, "\x1b", 0, 0, 0, false});
       }},
      {"frame", RejectReason::kBadText,
       [](Window* w) {
         w->top_holds[0].switch_stack = {"f", "a\nb"};
       }},
      {"cgroup of a hold in progress", RejectReason::kBadText,
       [](Window* w) {
         w->holds_in_progress = w->top_holds;
         w->holds_in_progress[0].cgroup = "\xff";
       }},
      {"33 preemptors", RejectReason::kTooMany,
       [](Window* w) { w->top_holds[0].preemptors.resize(33); }},
      {"65 holds in progress", RejectReason::kTooMany,
       [](Window* w) { w->holds_in_progress.resize(65); }},
      {"huge stall", RejectReason::kImplausible,
       [](Window* w) { w->top_holds[0].stall_ns = ~uint64_t{0}; }},
      {"fact", RejectReason::kBadText,
       [](Window* w) { w->context.facts["swap/areas"] = "a\nb"; }},
      {"gauge's name", RejectReason::kBadText,
       [](Window* w) { w->context.gauges["\x1b"] = 1; }},
      {"huge counter", RejectReason::kImplausible,
       [](Window* w) { w->context.counters["a"] = ~uint64_t{0}; }},
      {"1025 names", RejectReason::kTooMany,
       [](Window* w) {
         for (int i = 0; i < 1025; ++i) {
           w->context.counters[std::to_string(i)] = 1;
         }
       }},
      {"513 cells", RejectReason::kTooMany,
       [](Window* w) { w->cells.resize(513); }},
      {"65 holds", RejectReason::kTooMany,
       [](Window* w) { w->top_holds.resize(65); }},
      {"257 probes", RejectReason::kTooMany,
       [](Window* w) { w->coverage.probes.resize(257); }},
      {"huge sum", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].wait.sum_ns = uint64_t{1} << 51; }},
      {"huge count", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].acquisitions = ~uint64_t{0}; }},
      {"huge loss", RejectReason::kImplausible,
       [](Window* w) { w->losses[LossReason::kNested] = ~uint64_t{0}; }},
      {"a split above the runnable part", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].preempted_ns = 10'000'001; }},
      {"parts of a split above the runnable part together",
       RejectReason::kImplausible,
       [](Window* w) {
         w->cells[0].preempted_ns = 6'000'000;
         w->cells[0].woken_ns = 4'000'001;
       }},
      {"more throttled than preempted", RejectReason::kImplausible,
       [](Window* w) {
         w->cells[0].preempted_ns = 1;
         w->cells[0].throttled_ns = 2;
       }},
      {"a split that wraps", RejectReason::kImplausible,
       [](Window* w) {
         w->cells[0].preempted_ns = ~uint64_t{0};
         w->cells[0].woken_ns = 1;
       }},
      {"a hold's split above its runnable part", RejectReason::kImplausible,
       [](Window* w) { w->top_holds[0].woken_ns = 10'000'001; }},
      {"huge migrations", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].migrations = ~uint64_t{0}; }},
      {"huge latency", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].latency.sum_ns = uint64_t{1} << 51; }},
      {"latency that nothing measured", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].latency.Add(1); }},
      {"latency in a lock's cell", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].latency_tier = Tier::kExact; }},
      {"a sum that no buckets have", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].hold.sum_ns *= 3; }},
      {"a sum too small for its buckets", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].hold.sum_ns /= 3; }},
      {"a sum of nothing", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].latency.sum_ns = 1; }},
      {"more holds than time", RejectReason::kImplausible,
       [](Window* w) { w->cells[0].acquisitions = 1'000'000'000'000; }},
      {"a million CPUs", RejectReason::kImplausible,
       [](Window* w) { w->environment.cpus = 1'000'000; }},
      {"huge seq", RejectReason::kImplausible,
       [](Window* w) { w->key.seq = ~uint64_t{0}; }},
  };
  for (const auto& test : kCases) {
    Window window = MakeWindow("a", 1);
    test.harm(&window);
    const std::optional<Refusal> refusal = Refuse(window, "a");
    ASSERT_TRUE(refusal.has_value()) << test.name;
    EXPECT_EQ(Name(refusal->reason), Name(test.reason)) << test.name;
    EXPECT_TRUE(IsPlainText(refusal->sentence)) << test.name;
  }
}

TEST(AdmitTest, TakesOperationsAndSplitsThatAddUp) {
  Window window = MakeWindow("a", 1);
  window.cells[0].preempted_ns = 6'000'000;
  window.cells[0].woken_ns = 4'000'000;
  window.cells[0].throttled_ns = 6'000'000;
  window.top_holds[0].preempted_ns = 10'000'000;
  Cell load;
  load.key.subsystem = Subsystem::kZswap;
  load.key.operation = Operation::kLoad;
  load.lock_model = LockModel::kNone;
  load.latency_tier = Tier::kExact;
  load.latency.Add(5'000);
  window.cells.push_back(load);
  const std::optional<Refusal> refusal = Refuse(window, "a");
  EXPECT_FALSE(refusal.has_value()) << refusal->sentence;
}

TEST(AdmitTest, TakesListsAtTheirLimit) {
  Window window = MakeWindow("a", 1);
  window.cells.resize(512);
  window.top_holds.resize(64);
  window.cells[0].acquisitions = 200'000'000;  // 10 s on 2 CPUs
  EXPECT_FALSE(Refuse(window, "a").has_value());
}

TEST(AdmitTest, TakesAnyNumberUpTo2To50FromWhoDoesNotSayItsCpus) {
  Window window = MakeWindow("a", 1);
  window.environment.cpus = 0;
  window.cells[0].acquisitions = uint64_t{1} << 50;
  EXPECT_FALSE(Refuse(window, "a").has_value());
}

// Beyond the last bucket a value may be anything.
TEST(AdmitTest, TakesHoldsOfMinutes) {
  Window window = MakeWindow("a", 1);
  AddHold(&window.cells[0], 500'000'000'000);
  const std::optional<Refusal> refusal = Refuse(window, "a");
  EXPECT_FALSE(refusal.has_value()) << refusal->sentence;
}

TEST(AdmitTest, RefusesHostsWithoutAName) {
  EXPECT_TRUE(RefuseHost("").has_value());
  EXPECT_TRUE(RefuseHost("a\n").has_value());
  EXPECT_FALSE(RefuseHost("web-17.example").has_value());
}

}  // namespace
}  // namespace swaplock
