// The subcommand as it is called, on files: exit statuses and messages.
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/compare/comparison_testing.h"
#include "common/record_file.h"

namespace swaplock {
namespace {

std::string Path(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/", name, ".slk");
}

std::string Bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void SetBytes(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct Outcome {
  int status = -1;
  std::string out;  // stdout and stderr
};

Outcome Compare(absl::string_view arguments) {
  const char* source = std::getenv("TEST_SRCDIR");
  const std::string command =
      absl::StrCat(source == nullptr ? "." : source,
                   "/swaplock/cli/swaplock compare ", arguments, " 2>&1");
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  size_t got = 0;
  while ((got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    outcome.out.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

// Records five runs, the slowest read of each so many milliseconds.
void Write(const std::string& path, TestRun what,
           const std::vector<double>& slowest_ms) {
  remove(path.c_str());
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (const double ms : slowest_ms) {
    what.slowest_ns = static_cast<uint64_t>(ms * 1e6);
    ASSERT_TRUE((*writer)->Append(BeginOf(what)).ok());
    ASSERT_TRUE((*writer)->Append(WindowOf(what)).ok());
    ASSERT_TRUE((*writer)->Append(EndOf(what)).ok());
    ++what.repetition;
  }
}

class CompareTest : public testing::Test {
 protected:
  CompareTest() {
    TestRun what;
    what.variant = "plain";
    Write(base_, what, {4.2, 3.9, 5.1, 4.4, 4.0});
    what.variant = "patched";
    what.kernel = "6.18.15";
    Write(newer_, what, {314, 97, 2542, 280, 401});
  }

  const std::string base_ = Path("base");
  const std::string newer_ = Path("new");
};

TEST_F(CompareTest, RegressionsFailOnlyWhenAsked) {
  const Outcome plain = Compare(absl::StrCat(base_, " -- ", newer_));
  EXPECT_EQ(plain.status, 0);
  EXPECT_TRUE(absl::StartsWith(
      plain.out, "worse: high_priority_read over 10 ms per million 0 -> 100"))
      << plain.out;
  for (const char* flag : {"--fail_on_regression", "--fail-on-regression"}) {
    EXPECT_EQ(Compare(absl::StrCat(flag, " ", base_, " -- ", newer_)).status,
              1);
    EXPECT_EQ(Compare(absl::StrCat(flag, " ", newer_, " -- ", base_)).status,
              0);
    EXPECT_EQ(Compare(absl::StrCat(flag, " ", base_, " -- ", base_)).status, 0);
  }
}

TEST_F(CompareTest, OneSetOfFilesMayHoldBothSides) {
  const Outcome there =
      Compare(absl::StrCat(newer_, " ", base_, " --base plain --new patched"));
  EXPECT_EQ(there.status, 0);
  EXPECT_EQ(there.out, Compare(absl::StrCat(base_, " -- ", newer_)).out);
  const std::string merged = Path("merged");
  SetBytes(merged, absl::StrCat(Bytes(newer_), Bytes(base_).substr(8)));
  EXPECT_EQ(Compare(absl::StrCat(merged, " --base=6.12 --new=kernel=6.18")).out,
            there.out);
  const Outcome unknown =
      Compare(absl::StrCat(merged, " --base=plain --new=6.6"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(absl::StrContains(unknown.out, "no run is of \"6.6\": there are"))
      << unknown.out;
}

TEST_F(CompareTest, UsageIsExplained) {
  for (const std::string& arguments :
       {std::string(), absl::StrCat(base_), absl::StrCat(base_, " -- "),
        absl::StrCat("-- ", base_), absl::StrCat(base_, " --base plain"),
        absl::StrCat("--lkml --output=csv ", base_, " -- ", newer_),
        absl::StrCat("--force --fail_on_regression ", base_, " -- ", newer_),
        absl::StrCat("--no_such_flag ", base_, " -- ", newer_)}) {
    const Outcome outcome = Compare(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_TRUE(absl::StrContains(outcome.out, "see swaplock compare --help"))
        << outcome.out;
  }
}

TEST_F(CompareTest, WhatIsNotComparableExitsWith78UnlessForced) {
  TestRun what;
  what.name = "zram-inversion";
  what.kernel = "6.18.15";
  const std::string other = Path("other");
  remove(other.c_str());
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(other);
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 5; ++i) {
    RunEnd end = EndOf(what);
    end.result.facts["workers"] = "48";
    ASSERT_TRUE((*writer)->Append(BeginOf(what)).ok());
    ASSERT_TRUE((*writer)->Append(WindowOf(what)).ok());
    ASSERT_TRUE((*writer)->Append(end).ok());
    ++what.repetition;
  }
  const Outcome refused = Compare(absl::StrCat(base_, " -- ", other));
  EXPECT_EQ(refused.status, 78);
  EXPECT_TRUE(
      absl::StartsWith(refused.out, "not comparable: workers: 4 and 48\n"))
      << refused.out;
  const Outcome forced =
      Compare(absl::StrCat("--force ", base_, " -- ", other));
  EXPECT_EQ(forced.status, 0);
  EXPECT_TRUE(absl::StrContains(forced.out, "operations/s")) << forced.out;
  EXPECT_EQ(
      Compare(absl::StrCat("--differ=workers ", base_, " -- ", other)).status,
      0);
}

TEST_F(CompareTest, BadFilesAreNamedAndWhatIsWholeIsUsed) {
  const std::string bad = Path("bad");
  const std::string whole = Bytes(newer_);
  const auto with = [&](absl::string_view bytes) {
    SetBytes(bad, bytes);
    return Compare(absl::StrCat(base_, " -- ", bad));
  };
  for (const std::string& bytes :
       {std::string(), std::string("swaplk2\n"), std::string("swaplk9\n"),
        std::string("#!/bin/sh\necho hello\n"), whole.substr(0, 5)}) {
    const Outcome outcome = with(bytes);
    EXPECT_EQ(outcome.status, 78) << outcome.out;
    EXPECT_TRUE(absl::StrContains(outcome.out, "bad.slk")) << outcome.out;
  }
  remove(bad.c_str());
  EXPECT_EQ(Compare(absl::StrCat(base_, " -- ", bad)).status, 78);

  const Outcome torn =
      with(absl::string_view(whole).substr(0, whole.size() - 9));
  EXPECT_EQ(torn.status, 0);
  EXPECT_TRUE(absl::StrContains(torn.out, "is left out: it was cut short"))
      << torn.out;
  EXPECT_TRUE(absl::StrContains(torn.out, "ends in the middle of a record"))
      << torn.out;
}

TEST_F(CompareTest, AFlippedBitNeverCrashesAndNeverGoesUnnoticed) {
  const std::string bad = Path("flipped");
  const std::string whole = Bytes(newer_);
  for (size_t i = 0; i < whole.size(); i += whole.size() / 25) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    SetBytes(bad, bytes);
    const Outcome outcome = Compare(absl::StrCat(base_, " -- ", bad));
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 78)
        << i << ": " << outcome.status;
    EXPECT_TRUE(absl::StrContains(outcome.out, "flipped.slk")) << outcome.out;
  }
}

TEST_F(CompareTest, PrintsJsonAndCsv) {
  const Outcome json =
      Compare(absl::StrCat("--output=json ", base_, " -- ", newer_));
  EXPECT_EQ(json.status, 0);
  EXPECT_TRUE(absl::StartsWith(json.out,
                               "{\"comparisons\":[{\"name\":\"zram-inversion\","
                               "\"finding\":\"worse\""))
      << json.out;
  const Outcome csv =
      Compare(absl::StrCat("--output=csv ", base_, " -- ", newer_));
  EXPECT_EQ(csv.status, 0);
  EXPECT_TRUE(absl::StartsWith(csv.out, "run,finding,kind,subject,metric,"))
      << csv.out;
}

}  // namespace
}  // namespace swaplock
