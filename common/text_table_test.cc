#include "common/text_table.h"

#include <gtest/gtest.h>

namespace swaplock {
namespace {

TEST(TextTableTest, AlignsColumnsAndLeavesOutEmptyOnes) {
  TextTable table;
  table.AddColumn("lock", TextTable::Align::kLeft);
  table.AddColumn("device", TextTable::Align::kLeft);
  table.AddColumn("n", TextTable::Align::kRight);
  table.AddRow({"zram", "", "7"});
  table.AddRow({"zsmalloc", "", "1234"});
  EXPECT_EQ(table.Render(">"),
            ">lock         n\n"
            ">zram         7\n"
            ">zsmalloc  1234\n");
}

TEST(TextTableTest, HostileTextStaysInItsCell) {
  TextTable table;
  table.AddColumn("comm", TextTable::Align::kLeft);
  table.AddRow({"a\nb\x1b[2Jc\td"});
  EXPECT_EQ(table.Render(), "comm\na?b?[2Jc?d\n");
}

TEST(TextTableTest, WidthCountsCharactersNotBytes) {
  TextTable table;
  table.AddColumn("a", TextTable::Align::kLeft);
  table.AddColumn("b", TextTable::Align::kLeft);
  table.AddRow({"é", "x"});
  table.AddRow({"ee", "x"});
  EXPECT_EQ(table.Render(), "a   b\né   x\nee  x\n");
}

TEST(FormatNsTest, ThreeDigitsAndUnitAtEveryEdge) {
  EXPECT_EQ(FormatNs(0), "0");
  EXPECT_EQ(FormatNs(999), "999ns");
  EXPECT_EQ(FormatNs(1000), "1.00us");
  EXPECT_EQ(FormatNs(9'999), "10.0us");
  EXPECT_EQ(FormatNs(99'960), "100us");
  EXPECT_EQ(FormatNs(999'499), "999us");
  EXPECT_EQ(FormatNs(999'500), "1.00ms");
  EXPECT_EQ(FormatNs(12'000'000), "12.0ms");
  EXPECT_EQ(FormatNs(3'210'000'000), "3.21s");
  EXPECT_EQ(FormatNs(1'234'000'000'000), "1234s");
}

TEST(TextTableTest, ANarrowTableDoesWithoutWhatMattersLeast) {
  TextTable table;
  table.AddColumn("lock", TextTable::Align::kLeft);
  table.AddColumn("model", TextTable::Align::kLeft, 2);
  table.AddColumn("wait", TextTable::Align::kRight, 1);
  table.AddColumn("hold", TextTable::Align::kRight);
  table.AddRow({"zram", "mutex", "12ms", "407ms"});
  EXPECT_EQ(table.Render("", 0), table.Render("", 24));
  EXPECT_EQ(table.Render("", 23),
            "lock  wait   hold\n"
            "zram  12ms  407ms\n");
  EXPECT_EQ(table.Render("", 5),  // what is needed stays
            "lock   hold\n"
            "zram  407ms\n");
}

TEST(TextTableTest, WrapsAtBlanks) {
  EXPECT_EQ(Wrapped("one two three", "a: ", "   ", 10),
            "a: one two\n   three\n");
  EXPECT_EQ(Wrapped("one two three", "a: ", "   ", 0), "a: one two three\n");
  EXPECT_EQ(Wrapped("overlong it", "", "  ", 4), "overlong\n  it\n");
  EXPECT_EQ(Wrapped("", "a:", "", 4), "a:\n");
}

}  // namespace
}  // namespace swaplock
