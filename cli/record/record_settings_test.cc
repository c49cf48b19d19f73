#include "cli/record/record_settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/record_file.h"
#include "common/testing.h"

namespace swaplock {
namespace {

TEST(MakeRunBeginTest, NamesFromTheCommand) {
  const auto begin = MakeRunBegin({}, {"/usr/bin/fio", "job.fio"});
  ASSERT_TRUE(begin.ok()) << begin.status();
  EXPECT_EQ(begin->name, "fio");
  EXPECT_EQ(begin->variant, "");
  EXPECT_EQ(begin->command,
            (std::vector<std::string>{"/usr/bin/fio", "job.fio"}));
  EXPECT_EQ(begin->id.size(), 16u);
  EXPECT_EQ(begin->id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(begin->id, MakeRunBegin({}, {"fio"})->id);
  EXPECT_EQ(MakeRunBegin({}, {"./dir/"})->name, "dir");
  EXPECT_FALSE(MakeRunBegin({}, {"/"}).ok());
}

TEST(MakeRunBeginTest, Labels) {
  const auto begin =
      MakeRunBegin({"a", "b", {"codec=zstd", "empty=", "math=1=1"}}, {"fio"});
  ASSERT_TRUE(begin.ok());
  EXPECT_EQ(begin->name, "a");
  EXPECT_EQ(begin->variant, "b");
  EXPECT_EQ(begin->labels.at("codec"), "zstd");
  EXPECT_EQ(begin->labels.at("empty"), "");
  EXPECT_EQ(begin->labels.at("math"), "1=1");
}

TEST(MakeRunBeginTest, WhatNoRecordMayHave) {
  for (const RunNames& names : std::vector<RunNames>{
           {"two\nlines", "", {}},
           {"\xff", "", {}},
           {std::string(129, 'x'), "", {}},
           {"", "\x1b[2J", {}},
           {"", "", {"codec"}},
           {"", "", {"=zstd"}},
           {"", "", {absl::StrCat("a=", std::string(257, 'x'))}},
       }) {
    EXPECT_FALSE(MakeRunBegin(names, {"fio"}).ok())
        << names.run << names.variant;
  }
}

TEST(MakeRunBeginTest, ACommandOfAnyBytesFitsARecord) {
  const auto begin = MakeRunBegin({}, {"a\xff\nb", std::string(1 << 20, 'x')});
  ASSERT_TRUE(begin.ok());
  EXPECT_EQ(begin->name, "a??b");
  EXPECT_EQ(begin->command, (std::vector<std::string>{"a??b", "..."}));
}

TEST(RunsOfTest, CountsNameAndVariant) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/runs_of_", getpid(), ".slk");
  unlink(path.c_str());
  RunBegin run = *MakeRunBegin({"a", "x", {}}, {"fio"});
  EXPECT_EQ(*RunsOf(path, run), 0u);
  {
    auto writer = RecordWriter::Open(path);
    ASSERT_TRUE(writer.ok());
    for (const auto& [name, variant] :
         std::vector<std::pair<std::string, std::string>>{
             {"a", "x"}, {"a", ""}, {"b", "x"}, {"a", "x"}}) {
      RunBegin other = *MakeRunBegin({name, variant, {}}, {"fio"});
      other.boot_id = std::string(16, 'b');
      other.repetition = 1;
      ASSERT_TRUE((*writer)->Append(other).ok());
      ASSERT_TRUE((*writer)->Append(MakeWindow("here", 1)).ok());
    }
  }
  EXPECT_EQ(*RunsOf(path, run), 2u);
  run.variant = "y";
  EXPECT_EQ(*RunsOf(path, run), 0u);
  EXPECT_FALSE(RunsOf("/dev/null/x", run).ok());
  unlink(path.c_str());
}

}  // namespace
}  // namespace swaplock
