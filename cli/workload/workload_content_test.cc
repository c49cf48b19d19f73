#include "cli/workload/workload_content.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <set>
#include <vector>

namespace swaplock {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kPages = 64;

std::vector<uint8_t> Pages(uint64_t seed, uint64_t stream, double ratio) {
  std::vector<uint8_t> pages(kPages * kPage, 0xff);
  FillPages(seed, stream, ratio, absl::MakeSpan(pages));
  return pages;
}

// How much smaller zlib makes them, page by page.
double CompressedRatio(const std::vector<uint8_t>& pages) {
  size_t total = 0;
  for (size_t at = 0; at < pages.size(); at += kPage) {
    std::vector<uint8_t> out(compressBound(kPage));
    uLongf size = out.size();
    EXPECT_EQ(compress(out.data(), &size, &pages[at], kPage), Z_OK);
    total += size;
  }
  return static_cast<double>(pages.size()) / static_cast<double>(total);
}

TEST(WorkloadContent, DependsOnSeedAndStreamAlone) {
  EXPECT_EQ(Pages(1, 2, 2), Pages(1, 2, 2));
  EXPECT_NE(Pages(1, 2, 2), Pages(2, 2, 2));
  EXPECT_NE(Pages(1, 2, 2), Pages(1, 3, 2));
  EXPECT_NE(Pages(1, 2, 2), Pages(2, 1, 2));
}

// So that a recorded seed means the same pages in every later version.
TEST(WorkloadContent, NumbersAreTheseForEver) {
  SeededNumbers numbers(1, 0);
  EXPECT_EQ(numbers.Next(), 6366115181607701404u);
}

TEST(WorkloadContent, NoTwoPagesAreEqualAndNoneIsOfOneValue) {
  const std::vector<uint8_t> pages = Pages(7, 0, 8);
  std::set<std::vector<uint8_t>> seen;
  for (size_t at = 0; at < pages.size(); at += kPage) {
    const std::vector<uint8_t> page(
        pages.begin() + static_cast<long>(at),
        pages.begin() + static_cast<long>(at + kPage));
    EXPECT_GT(std::set<uint8_t>(page.begin(), page.end()).size(), 100u);
    EXPECT_TRUE(seen.insert(page).second);
  }
}

TEST(WorkloadContent, CompressesToTheSetRatio) {
  EXPECT_LT(CompressedRatio(Pages(1, 0, 1)), 1.01);
  for (const double ratio : {1.5, 2.0, 3.0, 4.0}) {
    const double reached = CompressedRatio(Pages(1, 0, ratio));
    EXPECT_GT(reached, 0.85 * ratio);
    EXPECT_LE(reached, 1.02 * ratio);
  }
}

TEST(WorkloadContent, FillsEveryByteOfAnySize) {
  std::vector<uint8_t> odd(1000, 0xff);
  FillPages(1, 0, 1, absl::MakeSpan(odd));
  std::vector<uint8_t> again(1000, 0x11);
  FillPages(1, 0, 1, absl::MakeSpan(again));
  EXPECT_EQ(odd, again);
  FillPages(1, 0, 1, {});
}

TEST(WorkloadContent, NumbersStayBelowTheirLimit) {
  SeededNumbers numbers(3, 4);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(numbers.Below(7), 7u);
  EXPECT_EQ(numbers.Below(1), 0u);
}

}  // namespace
}  // namespace swaplock
