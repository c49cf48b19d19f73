#include "cli/top/fleet_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/top/host_fleet.h"
#include "common/testing.h"
#include "common/text_table.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

std::string Text(FleetView* view, size_t rows = 24, size_t columns = 200) {
  std::string out;
  for (const FleetView::Line& line : view->Draw(rows, columns)) {
    absl::StrAppend(&out, line.text, "\n");
  }
  return out;
}

// A view after two looks, a second apart, of a host that counted as much in
// both.
class FleetViewTest : public ::testing::Test {
 protected:
  FleetViewTest() {
    host_.Take(MakeWindow("a", 1));
    view_.Take(host_.ToFleet(), kStart);
    host_.Take(MakeWindow("a", 2));
    view_.Take(host_.ToFleet(), kStart + absl::Seconds(2));
  }

  HostFleet host_;
  FleetView view_{"here"};
};

TEST_F(FleetViewTest, NothingBeforeTheFirstLook) {
  FleetView view("here");
  EXPECT_THAT(Text(&view), HasSubstr("swaplock here  no answer yet"));
  view.Failed("nobody answers");
  EXPECT_THAT(Text(&view), HasSubstr("nobody answers"));
}

TEST_F(FleetViewTest, RatesAreDifferencesOfTwoLooks) {
  FleetView view("here");
  view.Take(host_.ToFleet(), kStart);
  EXPECT_THAT(Text(&view), HasSubstr("  -  "));  // no rate after one look
  const uint64_t taken = MakeWindow("a", 1).cells[0].acquisitions;
  EXPECT_THAT(Text(&view_),
              HasSubstr(absl::StrCat(static_cast<double>(taken) / 2)));
}

TEST_F(FleetViewTest, FitsItsScreen) {
  for (const size_t rows : {0, 1, 2, 5, 24}) {
    for (const size_t columns : {1, 20, 80, 300}) {
      for (const char page : {'1', '2', '3', '4', '?'}) {
        ASSERT_TRUE(view_.Press(static_cast<unsigned char>(page)));
        const auto lines = view_.Draw(rows, columns);
        EXPECT_EQ(lines.size(), rows);
        for (const FleetView::Line& line : lines) {
          EXPECT_LE(CharactersIn(line.text), columns);
        }
      }
      view_.Press(' ');  // leaves the help
    }
  }
}

TEST_F(FleetViewTest, KeysTurnPagesSortAndEnd) {
  view_.Press('3');
  EXPECT_THAT(Text(&view_), HasSubstr("hold*"));
  view_.Press('r');
  EXPECT_THAT(Text(&view_), HasSubstr("hold^"));
  view_.Press('>');
  EXPECT_THAT(Text(&view_), HasSubstr("on-CPU^"));
  for (int i = 0; i < 50; ++i) view_.Press('>');
  EXPECT_THAT(Text(&view_), HasSubstr("kernel^"));
  view_.Press('<');
  EXPECT_THAT(Text(&view_), HasSubstr("host^"));
  view_.Press('\t');
  EXPECT_THAT(Text(&view_), HasSubstr("windows"));
  view_.Press('k');
  EXPECT_THAT(Text(&view_), HasSubstr("kernel 6.18.15"));
  EXPECT_FALSE(view_.Press('q'));
}

TEST_F(FleetViewTest, APausedViewStays) {
  view_.Press('p');
  const std::string before = Text(&view_);
  EXPECT_THAT(before, HasSubstr("PAUSED"));
  view_.Take(host_.ToFleet(), kStart + absl::Hours(1));
  EXPECT_EQ(Text(&view_), before);
}

TEST_F(FleetViewTest, TheChosenHoldIsExplained) {
  Window window = MakeWindow("a", 3);
  window.top_holds[0].hold_ns += 5'000'000;
  window.top_holds[0].on_cpu_ns += 5'000'000;
  window.top_holds[0].preemptors = {{5, "hog\x1b[2J", 0, 0, 9'000'000, false}};
  host_.Take(window);
  view_.Take(host_.ToFleet(), kStart + absl::Seconds(3));
  view_.Press('3');
  std::string text = Text(&view_);
  EXPECT_THAT(text, HasSubstr("ran instead: hog?[2J[5] nice 0 9.00ms"));
  view_.Press(kKeyEnd);
  text = Text(&view_);
  EXPECT_THAT(text, Not(HasSubstr("ran instead")));
}

}  // namespace
}  // namespace swaplock
