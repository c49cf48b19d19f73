#include "cli/report/plain_record.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/plain_text.h"
#include "common/testing.h"

namespace swaplock {
namespace {

// An escape sequence, a control character of two bytes, a new line.
constexpr absl::string_view kHostile =
    "\x1b[2J\xc2\x9b"
    "31m\nname";
constexpr absl::string_view kHarmless = "?[2J?31m?name";

TEST(PlainRecordTest, TextsOfAWindow) {
  Window window = MakeWindow("a", 1);
  const std::string hostile(kHostile);
  window.environment.preempt = hostile;
  window.environment.labels[hostile] = hostile;
  window.cells[0].key.device = hostile;
  window.top_holds[0].comm = std::string(1'000'000, 'x');
  window.top_holds[0].preemptors.push_back({});
  window.top_holds[0].preemptors[0].comm = hostile;
  window.top_holds[0].switch_stack = {hostile};
  window.coverage.not_measured = {hostile};
  window.context.facts[hostile] = hostile;
  Record record = window;
  MakePlain(&record);
  const Window& plain = std::get<Window>(record);
  EXPECT_EQ(plain.environment.preempt, kHarmless);
  EXPECT_EQ(plain.environment.labels.at(std::string(kHarmless)), kHarmless);
  EXPECT_EQ(plain.cells[0].key.device, kHarmless);
  EXPECT_EQ(plain.top_holds[0].comm.size(), kLongestName);
  EXPECT_EQ(plain.top_holds[0].preemptors[0].comm, kHarmless);
  EXPECT_EQ(plain.top_holds[0].switch_stack[0], kHarmless);
  EXPECT_EQ(plain.coverage.not_measured[0], kHarmless);
  EXPECT_EQ(plain.context.facts.at(std::string(kHarmless)), kHarmless);
}

TEST(PlainRecordTest, TextsOfARun) {
  const std::string hostile(kHostile);
  RunBegin begin;
  begin.id = hostile;
  begin.name = hostile;
  begin.command = {hostile, std::string(5'000, 'y')};
  begin.labels[hostile] = hostile;
  Record record = begin;
  MakePlain(&record);
  EXPECT_EQ(std::get<RunBegin>(record).name, kHarmless);
  EXPECT_EQ(std::get<RunBegin>(record).command[0], kHarmless);
  EXPECT_EQ(std::get<RunBegin>(record).command[1].size(), kLongestSentence);

  RunEnd end;
  end.run_id = hostile;
  end.error = hostile;
  end.result.measurements.emplace_back();
  end.result.measurements[0].name = hostile;
  end.result.facts[hostile] = hostile;
  Record last = end;
  MakePlain(&last);
  EXPECT_EQ(std::get<RunEnd>(last).run_id, std::get<RunBegin>(record).id);
  EXPECT_EQ(std::get<RunEnd>(last).error, kHarmless);
  EXPECT_EQ(std::get<RunEnd>(last).result.measurements[0].name, kHarmless);
}

TEST(PlainRecordTest, WhatIsPlainStays) {
  const Window window = MakeWindow("a", 1);
  Record record = window;
  MakePlain(&record);
  EXPECT_EQ(Serialize(std::get<Window>(record)), Serialize(window));
}

}  // namespace
}  // namespace swaplock
