#include "agent/cut_event.h"

#include <gtest/gtest.h>

#include "agent/stop_event.h"

namespace swaplock {
namespace {

TEST(CutEventTest, RequestsAreTakenOnce) {
  const auto cut = CutEvent::Create();
  ASSERT_TRUE(cut.ok());
  EXPECT_FALSE((*cut)->Take());
  (*cut)->Request();
  (*cut)->Request();
  EXPECT_TRUE((*cut)->Take());
  EXPECT_FALSE((*cut)->Take());
}

TEST(CutEventTest, EndsAWaitWithoutStopping) {
  const auto cut = CutEvent::Create();
  const auto stop = StopEvent::Create();
  ASSERT_TRUE(cut.ok() && stop.ok());
  (*cut)->Request();
  // Would wait for ever otherwise.
  EXPECT_FALSE((*stop)->WaitFor(absl::InfiniteDuration(), (*cut)->fd()));
  (*stop)->Raise();
  EXPECT_TRUE((*stop)->WaitFor(absl::InfiniteDuration(), (*cut)->fd()));
}

}  // namespace
}  // namespace swaplock
