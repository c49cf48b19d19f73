#include "server/admission/cardinality.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

const absl::Time kNow = absl::FromUnixNanos(kTestUnixNs);

TEST(CardinalityTest, OrdinaryWindowsStayAsTheyAre) {
  Cardinality cardinality({}, {});
  Window window = MakeWindow("a", 1);
  const std::string before = Serialize(window);
  for (int i = 0; i < 3; ++i) cardinality.Fit(&window, kNow);
  EXPECT_EQ(Serialize(window), before);
  EXPECT_EQ(cardinality.overflow().kernels, 0u);
}

TEST(CardinalityTest, OneHostMakesFewKernels) {
  Cardinality cardinality({}, {});
  std::set<std::string> kernels;
  for (int i = 0; i < 1000; ++i) {
    Window window = MakeWindow("a", 1, absl::StrCat("6.1.", i));
    cardinality.Fit(&window, kNow);
    kernels.insert(window.environment.kernel_release);
  }
  EXPECT_EQ(kernels.size(), 5u);
  EXPECT_EQ(kernels.count("other"), 1u);
  EXPECT_EQ(cardinality.overflow().kernels, 996u);
  // Another host is not affected, and the next day it may again.
  Window window = MakeWindow("b", 1, "6.18.15");
  cardinality.Fit(&window, kNow);
  EXPECT_EQ(window.environment.kernel_release, "6.18.15");
  window = MakeWindow("a", 1, "6.18.16");
  cardinality.Fit(&window, kNow + absl::Hours(24));
  EXPECT_EQ(window.environment.kernel_release, "6.18.16");
}

TEST(CardinalityTest, ManyHostsMakeNoMoreCohortsThanTheLimit) {
  CardinalityLimits limits;
  limits.cohorts = 10;
  FleetState loaded;
  loaded.cohorts[{"6.18.15", MakeWindow("a", 1).environment.preempt}];
  Cardinality cardinality(loaded, limits);
  std::set<std::string> kernels;
  for (int i = 0; i < 1000; ++i) {
    Window window =
        MakeWindow(absl::StrCat("h", i), 1, absl::StrCat("6.1.", i));
    cardinality.Fit(&window, kNow);
    kernels.insert(window.environment.kernel_release);
  }
  EXPECT_EQ(kernels.size(), 10u);  // nine, and "other"
  // What was there stays there.
  Window window = MakeWindow("a", 1);
  cardinality.Fit(&window, kNow);
  EXPECT_EQ(window.environment.kernel_release, "6.18.15");
}

TEST(CardinalityTest, AlgorithmsBecomeOtherAndTooManyCellsAreLeftOut) {
  CardinalityLimits limits;
  limits.cells_of_cohort = 4;
  limits.cells = 100;
  Cardinality cardinality({}, limits);
  Window window = MakeWindow("a", 1);
  cardinality.Fit(&window, kNow);  // takes two
  std::set<std::string> algorithms;
  for (int i = 0; i < 100; ++i) {
    window = MakeWindow("a", 2);
    window.cells[0].key.algorithm = absl::StrCat("x", i);
    cardinality.Fit(&window, kNow);
    ASSERT_EQ(window.cells.size(), 2u);
    algorithms.insert(window.cells[0].key.algorithm);
  }
  EXPECT_EQ(algorithms, (std::set<std::string>{"other", "x0", "x1"}));
  EXPECT_EQ(cardinality.overflow().algorithms, 98u);
  EXPECT_EQ(cardinality.overflow().cells, 0u);

  // Other kinds of cells, until nothing fits.
  for (const Role role : {Role::kPin, Role::kPool, Role::kSizeClass,
                          Role::kCompressStream, Role::kDecompressStream}) {
    window = MakeWindow("a", 3);
    window.cells[0].key.role = role;
    cardinality.Fit(&window, kNow);
  }
  EXPECT_EQ(cardinality.overflow().cells, 2u);
  ASSERT_EQ(window.cells.size(), 1u);
  EXPECT_EQ(window.cells[0].key.operation, Operation::kRead);
  EXPECT_TRUE(window.top_holds.empty()) << "it was of the cell left out";
}

}  // namespace
}  // namespace swaplock
