#include "cli/report/printed_number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swaplock {
namespace {

TEST(PrintedNumberTest, SeparatesThousands) {
  EXPECT_EQ(WithSeparators(0), "0");
  EXPECT_EQ(WithSeparators(999), "999");
  EXPECT_EQ(WithSeparators(1'000), "1,000");
  EXPECT_EQ(WithSeparators(1'150'000), "1,150,000");
  EXPECT_EQ(WithSeparators(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(PrintedNumberTest, KeepsThreeSignificantDigits) {
  EXPECT_EQ(Significant(0), "0");
  EXPECT_EQ(Significant(0.0123), "0.012");
  EXPECT_EQ(Significant(0.72), "0.72");
  EXPECT_EQ(Significant(0.9949), "0.99");
  EXPECT_EQ(Significant(0.996), "1.00");
  EXPECT_EQ(Significant(1.4), "1.40");
  EXPECT_EQ(Significant(9.996), "10.0");
  EXPECT_EQ(Significant(22.34), "22.3");
  EXPECT_EQ(Significant(99.96), "100");
  EXPECT_EQ(Significant(314.4), "314");
  EXPECT_EQ(Significant(999.6), "1,000");
  EXPECT_EQ(Significant(258'998), "258,998");
  EXPECT_EQ(Significant(1e-30), "0.000000000");
}

TEST(PrintedNumberTest, PrintsOneNumberWithItsUnit) {
  EXPECT_EQ(Printed(24'749, Unit::kCount), "24,749");
  EXPECT_EQ(Printed(2.5, Unit::kCount), "2.5");
  EXPECT_EQ(Printed(207'123.4, Unit::kPerSecond), "207,123");
  EXPECT_EQ(Printed(12.34, Unit::kPerSecond), "12.3");
  EXPECT_EQ(Printed(0, Unit::kNanoseconds), "0");
  EXPECT_EQ(Printed(812, Unit::kNanoseconds), "812 ns");
  EXPECT_EQ(Printed(8, Unit::kNanoseconds), "8 ns");
  EXPECT_EQ(Printed(999.6, Unit::kNanoseconds), "1.00 us");
  EXPECT_EQ(Printed(22'300'000, Unit::kNanoseconds), "22.3 ms");
  EXPECT_EQ(Printed(137e9, Unit::kNanoseconds), "137 s");
  EXPECT_EQ(Printed(5e12, Unit::kNanoseconds), "5,000 s");
  EXPECT_EQ(Printed(0.767, Unit::kShare), "76.7%");
  EXPECT_EQ(Printed(0, Unit::kShare), "0%");
  EXPECT_EQ(Printed(1, Unit::kShare), "100%");
}

TEST(PrintedNumberTest, NeverCallsAPartAll) {
  EXPECT_EQ(Printed(0.99999, Unit::kShare), ">99.9%");
  EXPECT_EQ(Printed(0.00001, Unit::kShare), "0.0010%");
}

TEST(PrintedNumberTest, TheMedianOfOneToFiveIsThree) {
  const std::optional<Spread> spread = SpreadOf({5, 1, 4, 2, 3});
  ASSERT_TRUE(spread.has_value());
  EXPECT_EQ(spread->median, 3);
  EXPECT_EQ(spread->min, 1);
  EXPECT_EQ(spread->max, 5);
  EXPECT_EQ(spread->runs, 5);
  EXPECT_EQ(SpreadOf({4, 1, 3, 2})->median, 2.5);
  EXPECT_EQ(SpreadOf({7})->median, 7);
  EXPECT_FALSE(SpreadOf({}).has_value());
}

TEST(PrintedNumberTest, PrintsTheSpreadInTheUnitOfTheMedian) {
  EXPECT_EQ(Printed({314e6, 97e6, 2'542e6, 5}, Unit::kNanoseconds),
            "314 (97.0-2,542) ms");
  EXPECT_EQ(Printed({0, 0, 5'200'000, 5}, Unit::kNanoseconds), "0 (0-5.20) ms");
  EXPECT_EQ(Printed({30, 26, 35, 5}, Unit::kCount), "30 (26-35)");
  EXPECT_EQ(Printed({0.1234, 0.11, 0.134, 5}, Unit::kShare),
            "12.3 (11.0-13.4) %");
  EXPECT_EQ(Printed({1'150'000, 1e6, 1.2e6, 5}, Unit::kPerSecond),
            "1,150,000 (1,000,000-1,200,000)");
}

TEST(PrintedNumberTest, ASpreadOfEqualNumbersIsOneNumber) {
  EXPECT_EQ(Printed({0, 0, 0, 5}, Unit::kCount), "0");
  EXPECT_EQ(Printed({22.3e6, 22.3e6, 22.3e6, 1}, Unit::kNanoseconds),
            "22.3 ms");
}

TEST(PrintedNumberTest, ChangesArePercentBelowTwoAndRatiosAbove) {
  EXPECT_EQ(PrintedChange(473, 680), "+43.8%");
  EXPECT_EQ(PrintedChange(2'005'100, 1'614'300), "-19.5%");
  EXPECT_EQ(PrintedChange(207, 1'150), "+5.6x");
  EXPECT_EQ(PrintedChange(101.50, 7.76), "-13.1x");
  EXPECT_EQ(PrintedChange(258'998, 111.10), "-2,331x");
  EXPECT_EQ(PrintedChange(5'615.90, 30.78), "-182x");
  EXPECT_EQ(PrintedChange(1, 2), "+2.0x");
  EXPECT_EQ(PrintedChange(2, 1), "-2.0x");
}

TEST(PrintedNumberTest, ChangesFromAndToNothing) {
  EXPECT_EQ(PrintedChange(0, 0), "same");
  EXPECT_EQ(PrintedChange(7, 7), "same");
  EXPECT_EQ(PrintedChange(0, 7), "from 0");
  EXPECT_EQ(PrintedChange(24'749, 0), "-100%");
  EXPECT_EQ(PrintedChange(1e-300, 1e300), "+infx");
}

}  // namespace
}  // namespace swaplock
