#include "server/verdict/verdict_book_message.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "server/verdict/verdict_testing.h"

namespace swaplock {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Of the message and those in it, the fields that there are and those that have
// a value somewhere. What is inside a record is tested with verdict_message.
void Walk(const Message& message, std::set<std::string>* declared,
          std::set<std::string>* set) {
  const auto* descriptor = message.GetDescriptor();
  const auto* reflection = message.GetReflection();
  if (descriptor->name() == "VerdictRecord") return;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    declared->insert(field->full_name());
    const int count = field->is_repeated()
                          ? reflection->FieldSize(message, field)
                          : reflection->HasField(message, field);
    if (count > 0) set->insert(field->full_name());
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    for (int k = 0; k < count; ++k) {
      Walk(field->is_repeated()
               ? reflection->GetRepeatedMessage(message, field, k)
               : reflection->GetMessage(message, field),
           declared, set);
    }
  }
}

bool Same(const Message& a, const Message& b) {
  google::protobuf::util::MessageDifferencer differencer;
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&comparator);
  return differencer.Compare(a, b);
}

TEST(VerdictBookMessageTest, TheRoundTripKeepsEverything) {
  VerdictBook book = TestBook();
  book.remark = "The last evaluation failed.";
  book.self_test.missing = "there is no cohort of 16 hosts";
  book.verdicts[2].went_away = "The last three days no longer show it.";
  Incident closed = book.incidents[0];
  closed.id = 2;
  closed.closed = TestBookTime();
  book.incidents.push_back(closed);
  book.verdicts[0].record.change = ChangeDays{20'000, 19'998, 20'001};
  book.verdicts[0].record.treated.episodes_before = 12;
  book.verdicts[0].record.treated.episodes_after = 34;
  const v1::VerdictBook message = ToProto(book);
  const absl::StatusOr<VerdictBook> back = FromProto(message);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(Same(ToProto(*back), message));
  EXPECT_EQ(back->verdicts[0].record.change->first, 19'998);
  EXPECT_EQ(back->verdicts[0].record.treated.episodes_after, 34);
  // And the message has all that there is: a field that nobody sets is one that
  // somebody forgot.
  std::set<std::string> declared;
  std::set<std::string> set;
  Walk(message, &declared, &set);
  declared.erase("swaplock.v1.VerdictBook.replay");  // the service's to say
  EXPECT_EQ(set, declared);
}

TEST(VerdictBookMessageTest, TimesWithoutEndComeBackSo) {
  VerdictBook book = TestBook();
  const absl::StatusOr<VerdictBook> back = FromProto(ToProto(book));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->incidents[0].closed, absl::InfiniteFuture());
  EXPECT_EQ(back->verdicts[0].mark.until, absl::InfiniteFuture());
  EXPECT_EQ(back->verdicts[1].mark.until, TestBookTime() + absl::Hours(24 * 7));
  EXPECT_EQ(back->judged, TestBookTime());
  const absl::StatusOr<VerdictBook> empty = FromProto(ToProto(VerdictBook()));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->judged, absl::InfinitePast());
  EXPECT_EQ(empty->self_test.made, absl::InfinitePast());
}

TEST(VerdictBookMessageTest, NamesOfAnotherVersionAreRefused) {
  v1::VerdictBook message = ToProto(TestBook());
  message.mutable_self_test()->mutable_false_alarms(0)->set_outcome("tea");
  EXPECT_EQ(FromProto(message).status().message(),
            "the outcome \"tea\" is unknown to this version");
  message = ToProto(TestBook());
  message.mutable_verdicts(0)->mutable_record()->set_design("horoscope");
  EXPECT_EQ(FromProto(message).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(VerdictBookMessageTest, AComparisonGoesThereAndBack) {
  FakeDesk desk;
  const auto compared = desk.Compare({"6.12.57", "6.18.15"});
  ASSERT_TRUE(compared.ok());
  const v1::KernelComparison message = ToProto(*compared);
  EXPECT_EQ(message.verdicts_size(), 4);
  const auto back = FromProto(message);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(Same(ToProto(*back), message));
}

}  // namespace
}  // namespace swaplock
