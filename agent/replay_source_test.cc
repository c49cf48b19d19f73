#include "agent/replay_source.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

namespace swaplock {
namespace {

class ReplaySourceTest : public testing::Test {
 protected:
  ReplaySourceTest()
      : path_(absl::StrCat(
            testing::TempDir(), "/",
            testing::UnitTest::GetInstance()->current_test_info()->name(),
            ".slk")),
        stop_(StopEvent::Create().value()) {
    std::unique_ptr<RecordWriter> writer = RecordWriter::Open(path_).value();
    for (uint64_t seq = 1; seq <= 2; ++seq) {
      EXPECT_TRUE(writer->Append(MakeWindow("host-a", seq)).ok());
    }
  }

  const std::string path_;
  const std::unique_ptr<StopEvent> stop_;
};

TEST_F(ReplaySourceTest, WindowsKeepTheirKeysAndThenItEnds) {
  auto source = ReplaySource::Open(path_, 0, *stop_).value();
  EXPECT_EQ(source->Next()->key, MakeWindow("host-a", 1).key);
  EXPECT_EQ(source->Next()->key, MakeWindow("host-a", 2).key);
  EXPECT_TRUE(absl::IsOutOfRange(source->Next().status()));
  EXPECT_TRUE(absl::IsOutOfRange(source->Next().status()));
}

TEST_F(ReplaySourceTest, StopEndsItBeforeTheFileDoes) {
  auto source = ReplaySource::Open(path_, 0, *stop_).value();
  ASSERT_TRUE(source->Next().ok());
  stop_->Raise();
  EXPECT_TRUE(absl::IsOutOfRange(source->Next().status()));
}

// At this speed the second window is a year away.
TEST_F(ReplaySourceTest, StopInterruptsAWaitForTheNextWindow) {
  auto source = ReplaySource::Open(path_, 10.0 / (365 * 86400), *stop_).value();
  ASSERT_TRUE(source->Next().ok());
  std::thread stopper([this] { stop_->Raise(); });
  EXPECT_TRUE(absl::IsOutOfRange(source->Next().status()));
  stopper.join();
}

TEST_F(ReplaySourceTest, RefusesNegativeSpeedAndMissingFiles) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(ReplaySource::Open(path_, -1, *stop_).status()));
  EXPECT_TRUE(
      absl::IsNotFound(ReplaySource::Open(path_ + ".not", 0, *stop_).status()));
}

}  // namespace
}  // namespace swaplock
