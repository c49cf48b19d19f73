#include "common/context.h"

#include <gtest/gtest.h>

#include <vector>

namespace swaplock {
namespace {

const Context kFirst = {
    true,
    {{"vmstat/zswpin", 0}, {"vmstat/zswpout", 7}},
    {{"mem/swap_free_bytes", 100}, {"zram/zram0/pool_bytes", 9}},
    {{"zswap/compressor", "lzo"}}};
const Context kSecond = {false,
                         {{"vmstat/zswpin", 5}},
                         {{"mem/swap_free_bytes", 90}},
                         {{"zswap/compressor", "zstd"}}};
const Context kQuiet = {};
// zram0 is gone.
const Context kThird = {true,
                        {{"vmstat/zswpin", 1}, {"vmstat/zswpout", 0}},
                        {{"mem/swap_free_bytes", 80}},
                        {{"zswap/compressor", "zstd"}}};

TEST(ContextTest, AbsentMeansUnchangedOrNotMoved) {
  const Context first = Applied(kFirst, {});
  EXPECT_EQ(first, kFirst);
  const Context second = Applied(kSecond, first);
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.counters, (std::map<std::string, uint64_t>{
                                 {"vmstat/zswpin", 5}, {"vmstat/zswpout", 0}}));
  EXPECT_EQ(second.gauges.at("mem/swap_free_bytes"), 90u);
  EXPECT_EQ(second.gauges.at("zram/zram0/pool_bytes"), 9u);
  EXPECT_EQ(second.facts.at("zswap/compressor"), "zstd");
  const Context quiet = Applied(kQuiet, second);
  EXPECT_EQ(quiet.counters.at("vmstat/zswpin"), 0u);
  EXPECT_EQ(quiet.gauges, second.gauges);
}

TEST(ContextTest, ACompleteOneForgetsWhatIsGone) {
  const Context third = Applied(kThird, Applied(kFirst, {}));
  EXPECT_EQ(third.gauges.count("zram/zram0/pool_bytes"), 0u);
}

TEST(ContextTest, WithoutTheBeginningItIsNotComplete) {
  EXPECT_FALSE(Applied(kSecond, {}).complete);
  EXPECT_TRUE(Applied(kThird, Applied(kSecond, {})).complete);
}

// However a row of windows is merged, what the reader knows at its end is the
// same, and so is each counter's sum.
TEST(ContextTest, MergingKeepsTheMeaning) {
  const std::vector<Context> row = {kFirst, kSecond, kQuiet, kThird, kSecond};
  Context apart;
  std::map<std::string, uint64_t> sums;
  for (const Context& said : row) {
    apart = Applied(said, apart);
    for (const auto& [name, delta] : apart.counters) sums[name] += delta;
  }
  for (size_t begin = 0; begin < row.size(); ++begin) {
    for (size_t end = begin + 1; end <= row.size(); ++end) {
      Context merged = row[begin];
      for (size_t i = begin + 1; i < end; ++i) merged = Merged(merged, row[i]);
      Context known;
      std::map<std::string, uint64_t> got;
      const auto apply = [&](const Context& said) {
        known = Applied(said, known);
        for (const auto& [name, delta] : known.counters) got[name] += delta;
      };
      for (size_t i = 0; i < begin; ++i) apply(row[i]);
      apply(merged);
      for (size_t i = end; i < row.size(); ++i) apply(row[i]);
      EXPECT_EQ(known.gauges, apart.gauges) << begin << " to " << end;
      EXPECT_EQ(known.facts, apart.facts) << begin << " to " << end;
      EXPECT_EQ(known.complete, apart.complete) << begin << " to " << end;
      EXPECT_EQ(got, sums) << begin << " to " << end;
    }
  }
}

}  // namespace
}  // namespace swaplock
