#include "cli/record/merged_records.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/record/record_json.h"
#include "common/record_file.h"
#include "common/testing.h"

namespace swaplock {
namespace {

RunBegin Begin(const std::string& id) {
  RunBegin begin;
  begin.id = id;
  begin.name = "fio";
  begin.repetition = 1;
  begin.command = {"fio", "job"};
  begin.labels["codec"] = "zstd";
  const Window window = MakeWindow("here", 1);
  begin.host_id = window.key.host_id;
  begin.boot_id = window.key.boot_id;
  begin.environment = window.environment;
  begin.begin_boottime_ns = 5;
  return begin;
}

RunEnd End(const std::string& id) {
  RunEnd end;
  end.run_id = id;
  end.exit_status = 3;
  Measurement read;
  read.name = "read";
  read.Add(1'000);
  end.result.measurements.push_back(read);
  end.result.facts["writers"] = "4";
  return end;
}

class MergedRecordsTest : public testing::Test {
 protected:
  MergedRecordsTest()
      : folder_(
            absl::StrCat(testing::TempDir(), "/merged_records_", getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~MergedRecordsTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }
  std::string Write(const std::string& name,
                    const std::vector<Record>& records) const {
    auto writer = RecordWriter::Open(Path(name));
    EXPECT_TRUE(writer.ok());
    for (const Record& record : records) {
      EXPECT_TRUE(
          std::visit([&](const auto& r) { return (*writer)->Append(r); },
                     record)
              .ok());
    }
    return Path(name);
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  // What the file has, a line a record.
  static std::vector<std::string> Lines(const std::string& path) {
    std::vector<std::string> out;
    auto reader = RecordReader::Open(path);
    EXPECT_TRUE(reader.ok()) << reader.status();
    auto record = (*reader)->NextRecord();
    for (; record.ok(); record = (*reader)->NextRecord()) {
      out.push_back(*RecordJson(*record));
    }
    EXPECT_TRUE(absl::IsOutOfRange(record.status())) << record.status();
    return out;
  }
  // Nothing but the inputs is in the folder.
  void ExpectNoOutput() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_FALSE(absl::StrContains(entry.path().string(), "out")) << entry;
    }
  }

  const std::string folder_;
};

TEST_F(MergedRecordsTest, EachRecordOnce) {
  const Record w1 = MakeWindow("here", 1);
  const Record w2 = MakeWindow("here", 2);
  const Record w3 = MakeWindow("there", 1);
  const std::string a = Write("a", {Begin("r1"), w1, w2, End("r1")});
  const std::string b = Write("b", {w3});
  // A copy that was made while it was recorded.
  const std::string c = Write("c", {Begin("r1"), w1});
  const auto result = MergeRecordFiles({c, a, b}, Path("out"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->records, 5u);
  EXPECT_EQ(result->duplicates, 2u);
  EXPECT_TRUE(result->remarks.empty());
  EXPECT_EQ(Bytes(Path("out")),
            Bytes(Write("all", {Begin("r1"), w1, w2, End("r1"), w3})));
}

TEST_F(MergedRecordsTest, NothingBecomesPartOfARunThatWasCutShort) {
  const Record w1 = MakeWindow("here", 1);
  const Record w2 = MakeWindow("here", 2);
  const std::string cut = Write("cut", {Begin("r1"), w1});
  const std::string other = Write("other", {w2});
  ASSERT_TRUE(MergeRecordFiles({cut, other}, Path("out")).ok());
  EXPECT_EQ(Bytes(Path("out")), Bytes(Write("all", {w2, Begin("r1"), w1})));
}

TEST_F(MergedRecordsTest, ATornTailIsSaid) {
  const std::string a =
      Write("a", {MakeWindow("here", 1), MakeWindow("here", 2)});
  std::filesystem::resize_file(a, std::filesystem::file_size(a) - 1);
  const auto result = MergeRecordFiles({a}, Path("out"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->records, 1u);
  ASSERT_EQ(result->remarks.size(), 1u);
  EXPECT_TRUE(absl::StrContains(result->remarks[0], "cut short"));
}

TEST_F(MergedRecordsTest, BadFilesAreRefusedWithASentence) {
  const std::string good = Write("good", {MakeWindow("here", 1)});
  std::string flipped = Bytes(good);
  flipped[flipped.size() / 2] ^= 1;
  std::ofstream(Path("flipped")) << flipped;
  std::ofstream(Path("empty")).flush();
  std::ofstream(Path("foreign")) << "#!/bin/sh\necho hello\n";
  std::ofstream(Path("newer")) << "swaplk9\nsomething";
  for (const auto& [name, words] :
       std::vector<std::pair<std::string, std::string>>{
           {"flipped", "fails its checksum"},
           {"empty", "it is empty"},
           {"foreign", "it is no record file"},
           {"newer", "its format is 9"},
           {"missing", "missing"}}) {
    const auto result = MergeRecordFiles({good, Path(name)}, Path("out"));
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_TRUE(absl::StrContains(result.status().message(), words))
        << result.status();
    EXPECT_TRUE(absl::StrContains(result.status().message(), Path(name)))
        << result.status();
    ExpectNoOutput();
  }
}

TEST_F(MergedRecordsTest, AnInputIsNeverWritten) {
  const std::string a = Write("a", {MakeWindow("here", 1)});
  const std::string before = Bytes(a);
  std::filesystem::create_symlink(a, Path("link"));
  for (const std::string& output : {a, Path("link"), folder_}) {
    EXPECT_TRUE(
        absl::IsFailedPrecondition(MergeRecordFiles({a}, output).status()));
  }
  EXPECT_FALSE(MergeRecordFiles({a}, "/no/such/folder/out").ok());
  EXPECT_EQ(Bytes(a), before);
}

TEST_F(MergedRecordsTest, JsonAndBackIsTheSameFile) {
  const std::string a = Write("a", {Begin("r1"), MakeWindow("here", 1),
                                    MakeWindow("here", 2), End("r1")});
  std::ofstream json(Path("json"));
  for (const std::string& line : Lines(a)) json << line << "\n\n";
  json.close();
  const auto result = ImportJson({Path("json")}, Path("out"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->records, 4u);
  EXPECT_EQ(Bytes(Path("out")), Bytes(a));
}

TEST_F(MergedRecordsTest, WindowsAsTheAgentPrintsThem) {
  // As `swaplock-agent --print=json`: the window without a record around it.
  const std::string record = *RecordJson(MakeWindow("here", 1));
  const std::string window =
      record.substr(record.find(':') + 1, record.size() - record.find(':') - 2);
  std::ofstream(Path("json")) << window << "\n";
  const auto result = ImportJson({Path("json")}, Path("out"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Lines(Path("out")), std::vector<std::string>{record});
}

TEST_F(MergedRecordsTest, JsonThatIsNoRecordNamesItsLine) {
  for (const std::string line :
       {"hello", "{\"window\":{}}", "{\"no_such_field\":1}", "[]",
        "{\"window\":{\"host_id\":\"\xff\"}}", "{\"run_begin\":{}}"}) {
    std::ofstream(Path("json")) << *RecordJson(MakeWindow("here", 1)) << "\n"
                                << line << "\n";
    const auto result = ImportJson({Path("json")}, Path("out"));
    ASSERT_FALSE(result.ok()) << line;
    EXPECT_TRUE(absl::StrContains(result.status().message(), "line 2"))
        << result.status();
    ExpectNoOutput();
  }
  EXPECT_FALSE(ImportJson({Path("missing")}, Path("out")).ok());
}

}  // namespace
}  // namespace swaplock
