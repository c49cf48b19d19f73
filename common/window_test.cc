#include "common/window.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

Window Sample() {
  Window w;
  w.key = {"host-a", std::string(16, '\x07'), 3, 9};
  w.start_boottime_ns = 1'000;
  w.end_boottime_ns = 2'000;
  w.end_unix_ns = 1'700'000'000'000'000'000;
  w.environment.kernel_release = "6.18.15";
  w.environment.labels["tier"] = "web";
  Cell cell;
  cell.key = {Subsystem::kZram, Operation::kWrite, Role::kStream,
              Mode::kExclusive, "zram0",           "zstd"};
  cell.lock_model = LockModel::kMutex;
  cell.hold_tier = Tier::kExact;
  cell.wait_tier = Tier::kContention;
  cell.acquisitions = 3;
  for (const uint64_t ns : {100u, 5000u, 12'000'000u}) {
    cell.hold.Add(ns);
    cell.on_cpu_ns += ns;
  }
  cell.on_cpu_ns -= 11'000'000;
  cell.runnable.Add(11'000'000);
  w.cells.push_back(cell);
  Hold hold;
  hold.hold_ns = 12'000'000;
  hold.on_cpu_ns = 1'000'000;
  hold.runnable_ns = 11'000'000;
  hold.comm = "kswapd0";
  hold.nice = -19;
  w.top_holds.push_back(hold);
  w.losses[LossReason::kRecursion] = 4;
  w.context.complete = true;
  for (int i = 0; i < 40; ++i) {
    w.context.counters["vmstat/" + std::to_string(i)] = i;
  }
  w.context.gauges["mem/free_bytes"] = uint64_t{1} << 40;
  w.context.facts["zswap/compressor"] = "zstd";
  w.coverage.probes.push_back(
      {"fexit/zcomp_stream_get", ProbeState::kAttached, "", 1, 2, 3});
  w.coverage.fingerprint = Fingerprint(w.coverage.probes, w.cells);
  return w;
}

TEST(WindowTest, SurvivesTheWire) {
  const Window before = Sample();
  const absl::StatusOr<Window> after = ParseWindow(Serialize(before));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(Serialize(*after), Serialize(before));
  EXPECT_EQ(after->key, before.key);
  EXPECT_EQ(after->cells[0].hold.buckets, before.cells[0].hold.buckets);
  EXPECT_EQ(after->top_holds[0].comm, "kswapd0");
  EXPECT_EQ(after->context, before.context);
  EXPECT_EQ(after->losses.at(LossReason::kRecursion), 4u);
}

// Each row breaks one rule of the schema; none may pass.
TEST(WindowTest, RefusesWhatBreaksTheSchema) {
  const struct {
    const char* name;
    void (*harm)(v1::Window*);
  } kCases[] = {
      {"no host", [](v1::Window* w) { w->clear_host_id(); }},
      {"short boot id", [](v1::Window* w) { w->set_boot_id("x"); }},
      {"seq 0", [](v1::Window* w) { w->set_seq(0); }},
      {"ends at its start",
       [](v1::Window* w) { w->set_end_boottime_ns(w->start_boottime_ns()); }},
      {"count is not the buckets' sum",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->set_count(9);
       }},
      {"bucket below range",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->set_bucket_index_delta(0, 62);
       }},
      {"bucket above range",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->set_bucket_index_delta(
             0, 4000000000u);
       }},
      {"bucket twice",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->set_bucket_index_delta(1, 0);
       }},
      {"indices without counts",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->add_bucket_index_delta(1);
       }},
      {"more exceedances than values",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_hold()->set_over_1ms(99);
       }},
      {"parts are not the hold",
       [](v1::Window* w) { w->mutable_cells(0)->set_on_cpu_ns(1); }},
      {"parts overflow",
       [](v1::Window* w) {
         w->mutable_cells(0)->set_unknown_ns(~uint64_t{0});
       }},
      {"unknown subsystem",
       [](v1::Window* w) {
         w->mutable_cells(0)->mutable_key()->set_subsystem(
             static_cast<v1::Subsystem>(77));
       }},
      {"hold of no cell",
       [](v1::Window* w) { w->mutable_top_holds(0)->set_cell(1); }},
      {"a hold's parts",
       [](v1::Window* w) { w->mutable_top_holds(0)->set_runnable_ns(1); }},
  };
  for (const auto& test : kCases) {
    v1::Window message = ToProto(Sample());
    test.harm(&message);
    const absl::StatusOr<Window> got = FromProto(message);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument)
        << test.name;
  }
}

TEST(WindowTest, RefusesBytesThatAreNoMessage) {
  EXPECT_FALSE(ParseWindow("\xff\xff\xff").ok());
  EXPECT_FALSE(ParseWindow("").ok());
}

TEST(WindowTest, FingerprintIgnoresOrderAndSeesEveryProbe) {
  Window w = Sample();
  w.coverage.probes.push_back(
      {"fentry/zcomp_stream_put", ProbeState::kAttached, "", 0, 0, 0});
  const uint64_t both = Fingerprint(w.coverage.probes, w.cells);
  std::swap(w.coverage.probes[0], w.coverage.probes[1]);
  EXPECT_EQ(Fingerprint(w.coverage.probes, w.cells), both);
  w.coverage.probes[0].state = ProbeState::kRefused;
  EXPECT_NE(Fingerprint(w.coverage.probes, w.cells), both);
}

}  // namespace
}  // namespace swaplock
