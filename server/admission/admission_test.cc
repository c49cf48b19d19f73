#include "server/admission/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::UnixEpoch() + absl::Hours(1);

std::string ReasonOf(const std::optional<Admission::Refusal>& refusal) {
  return refusal.has_value() ? refusal->reason : "";
}

TEST(AdmissionTest, CountsStreamsInAllAndOfAHost) {
  AdmissionLimits limits;
  limits.streams = 3;
  limits.streams_per_host = 2;
  Admission admission(limits);
  EXPECT_EQ(ReasonOf(admission.OpenStream("a", true, 1)), "");
  EXPECT_EQ(ReasonOf(admission.OpenStream("a", true, 1)), "");
  const auto third = admission.OpenStream("a", true, 1);
  EXPECT_EQ(ReasonOf(third), "streams_of_host");
  EXPECT_THAT(third->sentence, HasSubstr("host a has 2 streams"));
  EXPECT_GT(third->retry_after, absl::ZeroDuration());
  EXPECT_EQ(ReasonOf(admission.OpenStream("b", true, 1)), "");
  EXPECT_EQ(ReasonOf(admission.OpenStream("c", true, 1)), "streams");
  admission.CloseStream("a", kNow);
  EXPECT_EQ(ReasonOf(admission.OpenStream("a", true, 1)), "");
  EXPECT_EQ(admission.streams(), 3u);
}

TEST(AdmissionTest, TakesNoNewHostAboveTheLimitButAnyOldOne) {
  AdmissionLimits limits;
  limits.hosts = 10;
  Admission admission(limits);
  EXPECT_EQ(ReasonOf(admission.OpenStream("new", false, 9)), "");
  // That one will be known, too.
  EXPECT_EQ(ReasonOf(admission.OpenStream("newer", false, 9)), "hosts");
  EXPECT_EQ(ReasonOf(admission.OpenStream("old", true, 9)), "");
  admission.CloseStream("new", kNow);
  EXPECT_EQ(ReasonOf(admission.OpenStream("newer", false, 9)), "");
}

TEST(AdmissionTest, AHostsRateOutlivesItsStream) {
  AdmissionLimits limits;
  limits.windows_per_second = 1;
  limits.windows_at_once = 2;
  Admission admission(limits);
  EXPECT_EQ(ReasonOf(admission.OpenStream("a", true, 1)), "");
  EXPECT_EQ(admission.TakeWindow("a", kNow), absl::ZeroDuration());
  EXPECT_EQ(admission.TakeWindow("a", kNow), absl::ZeroDuration());
  EXPECT_EQ(admission.TakeWindow("a", kNow), absl::Seconds(1));
  admission.CloseStream("a", kNow);
  EXPECT_EQ(ReasonOf(admission.OpenStream("a", true, 1)), "");
  EXPECT_GT(admission.TakeWindow("a", kNow), absl::ZeroDuration());
  EXPECT_EQ(ReasonOf(admission.OpenStream("b", true, 1)), "");
  EXPECT_EQ(admission.TakeWindow("b", kNow), absl::ZeroDuration());
}

TEST(AdmissionTest, ForgetsHostsThatCameAndWent) {
  Admission admission({});
  for (int i = 0; i < 20'000; ++i) {
    const std::string host = absl::StrCat("h", i);
    ASSERT_EQ(ReasonOf(admission.OpenStream(host, false, 0)), "");
    EXPECT_EQ(admission.TakeWindow(host, kNow), absl::ZeroDuration());
    admission.CloseStream(host, kNow);
  }
  EXPECT_EQ(admission.streams(), 0u);
}

// A server that speaks 3 to 5.
TEST(AdmissionTest, NegotiatesTheProtocol) {
  EXPECT_EQ(CommonProtocol(3, 5, 2), std::nullopt);
  EXPECT_EQ(CommonProtocol(3, 5, 3), 3u);
  EXPECT_EQ(CommonProtocol(3, 5, 4), 4u);
  EXPECT_EQ(CommonProtocol(3, 5, 5), 5u);
  EXPECT_EQ(CommonProtocol(3, 5, 6), 5u);
  EXPECT_EQ(CommonProtocol(1, 1, 0), std::nullopt);
}

}  // namespace
}  // namespace swaplock
