#include "server/ledger/boot_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swaplock {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(BootPropertiesTest, KeysAreThoseOfTheHostAndItsLabels) {
  Environment environment;
  environment.kernel_version = "#1 SMP PREEMPT_DYNAMIC";
  environment.architecture = "x86_64";
  environment.cpus = 64;
  environment.preempt = "lazy";
  environment.page_cluster = 0;
  environment.swap_backend = "zswap+zram";
  environment.labels = {{"tier", "web"}, {"cpus", "ignored"}, {"rack", "7"}};
  const Facts facts = {{"zswap/compressor", "lz4"},
                       {"zram/zram0/algorithms", "zstd"},
                       {"sched_ext/ops", "scx_rusty"}};
  EXPECT_THAT(StrataKeysOf(environment, facts),
              UnorderedElementsAre(
                  Pair("cpus", "up to 64"), Pair("architecture", "x86_64"),
                  Pair("backend", "zswap+zram"), Pair("compressor", "lz4 zstd"),
                  Pair("preempt", "lazy"), Pair("preempt_rt", "no"),
                  Pair("sched_ext", "scx_rusty"), Pair("page_cluster", "0"),
                  Pair("tier", "web")));
}

TEST(BootPropertiesTest, TheKindOfCpuIsAKeyAndNoFactThatChanges) {
  const Facts facts = {{"cpu/family", "GenuineIntel 6 207"}};
  EXPECT_THAT(StrataKeysOf({}, facts),
              UnorderedElementsAre(Pair("cpu_family", "GenuineIntel 6 207")));
  EXPECT_THAT(ChangeableFacts({}, facts), IsEmpty());
  Environment environment;
  environment.labels = {{"cpu_family", "gen4"}};
  EXPECT_THAT(StrataKeysOf(environment, facts),
              UnorderedElementsAre(Pair("cpu_family", "gen4")));
}

TEST(BootPropertiesTest, WhatIsNotKnownIsNoKeyAndNoFact) {
  EXPECT_THAT(StrataKeysOf({}, {}), IsEmpty());
  EXPECT_THAT(ChangeableFacts({}, {}), IsEmpty());
}

TEST(BootPropertiesTest, FactsAreThoseThatMayChangeWithAKernel) {
  Environment environment;
  environment.kernel_release = "6.18.15";
  environment.agent_version = "0.3";
  environment.labels = {{"image", "42"}};
  const Facts out = ChangeableFacts(environment, {{"kernel/CONFIG_HZ", "250"}});
  EXPECT_THAT(out, UnorderedElementsAre(Pair("host/agent_version", "0.3"),
                                        Pair("label/image", "42"),
                                        Pair("kernel/CONFIG_HZ", "250")));
  EXPECT_THAT(out, Not(Contains(Pair(testing::_, "6.18.15"))));
}

}  // namespace
}  // namespace swaplock
