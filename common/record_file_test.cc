#include "common/record_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing.h"

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

void Append(const std::string& path, const Window& window) {
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE((*writer)->Append(window).ok());
}

void Append(const std::string& path, uint64_t seq) {
  Append(path, MakeWindow("host-a", seq));
}

// Few bytes, for tests that try each of them.
Window SmallWindow(uint64_t seq) {
  Window window;
  window.key = {"a", std::string(16, 'b'), 1, seq};
  window.end_boottime_ns = 1;
  return window;
}

struct Content {
  std::vector<uint64_t> seqs;
  absl::Status end;
  bool torn = false;
};

Content Read(const std::string& path) {
  Content content;
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) {
    content.end = reader.status();
    return content;
  }
  while (true) {
    const absl::StatusOr<Window> window = (*reader)->Next();
    if (!window.ok()) {
      content.end = window.status();
      content.torn = (*reader)->torn();
      return content;
    }
    content.seqs.push_back(window->key.seq);
  }
}

TEST(RecordFileTest, ReturnsTheWindowsInOrderAndUnchanged) {
  const std::string path = Path("order");
  for (uint64_t seq = 1; seq <= 3; ++seq) Append(path, seq);
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (uint64_t seq = 1; seq <= 3; ++seq) {
    const absl::StatusOr<Window> window = (*reader)->Next();
    ASSERT_TRUE(window.ok()) << window.status();
    EXPECT_EQ(Serialize(*window), Serialize(MakeWindow("host-a", seq)));
  }
  EXPECT_TRUE(absl::IsOutOfRange((*reader)->Next().status()));
  EXPECT_FALSE((*reader)->torn());
}

TEST(RecordFileTest, NewerFormatIsNamed) {
  const std::string path = Path("newer");
  SetBytes(path, "swaplk3\n");
  const absl::Status status = RecordReader::Open(path).status();
  EXPECT_NE(status.message().find("its format is 3, this program reads and "
                                  "writes format 2"),
            std::string::npos)
      << status;
}

TEST(RecordFileTest, RunsStandBetweenWindowsAndWindowsCanBeReadAlone) {
  const std::string path = Path("runs");
  {
    std::unique_ptr<RecordWriter> writer = RecordWriter::Open(path).value();
    RunBegin begin;
    begin.id = "0123456789abcdef";
    begin.name = "mail 001";
    begin.boot_id = std::string(16, 'b');
    begin.command = {"fio", "--name=x"};
    RunEnd end;
    end.run_id = begin.id;
    end.exit_status = 3;
    ASSERT_TRUE(writer->Append(begin).ok());
    ASSERT_TRUE(writer->Append(MakeWindow("host-a", 1)).ok());
    ASSERT_TRUE(writer->Append(end).ok());
    ASSERT_TRUE(writer->Append(MakeWindow("host-a", 2)).ok());
  }
  EXPECT_EQ(Read(path).seqs, (std::vector<uint64_t>{1, 2}));
  std::unique_ptr<RecordReader> reader = RecordReader::Open(path).value();
  Record record = reader->NextRecord().value();
  EXPECT_EQ(std::get<RunBegin>(record).command[0], "fio");
  record = reader->NextRecord().value();
  EXPECT_EQ(std::get<Window>(record).key.seq, 1u);
  record = reader->NextRecord().value();
  EXPECT_EQ(std::get<RunEnd>(record).exit_status, 3u);
}

TEST(RecordFileTest, ReaderSeesWhatIsAppendedAfterItsEnd) {
  const std::string path = Path("follow");
  Append(path, 1);
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  ASSERT_TRUE(reader.ok() && (*reader)->Next().ok());
  EXPECT_TRUE(absl::IsOutOfRange((*reader)->Next().status()));
  Append(path, 2);
  const absl::StatusOr<Window> window = (*reader)->Next();
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window->key.seq, 2u);
}

// A crash may leave any beginning of the last record, and of the magic.
TEST(RecordFileTest, TornAtEveryByteReadsTheRestAndTakesAppends) {
  const std::string path = Path("torn");
  Append(path, SmallWindow(1));
  const size_t whole = Bytes(path).size();
  Append(path, SmallWindow(2));
  const std::string all = Bytes(path);
  for (size_t size = 0; size < all.size(); ++size) {
    SCOPED_TRACE(size);
    SetBytes(path, all.substr(0, size));
    const std::vector<uint64_t> left =
        size < whole ? std::vector<uint64_t>{} : std::vector<uint64_t>{1};
    const Content torn = Read(path);
    ASSERT_EQ(torn.seqs, left);
    ASSERT_TRUE(absl::IsOutOfRange(torn.end)) << torn.end;
    ASSERT_EQ(torn.torn, size != 0 && size != 8 && size != whole);

    std::vector<uint64_t> mended = left;
    mended.push_back(3);
    Append(path, SmallWindow(3));
    const Content after = Read(path);
    ASSERT_EQ(after.seqs, mended);
    ASSERT_FALSE(after.torn);
  }
}

TEST(RecordFileTest, WriterTellsTheLastWindowItFound) {
  const std::string path = Path("last");
  EXPECT_FALSE(RecordWriter::Open(path).value()->last_found().has_value());
  Append(path, 1);
  Append(path, 2);
  EXPECT_EQ(RecordWriter::Open(path).value()->last_found()->key.seq, 2u);
}

TEST(RecordFileTest, ZerosAtTheEndAreATornTail) {
  const std::string path = Path("zeros");
  Append(path, 1);
  SetBytes(path, Bytes(path) + std::string(5000, '\0'));
  const Content content = Read(path);
  EXPECT_EQ(content.seqs, std::vector<uint64_t>{1});
  EXPECT_TRUE(content.torn);
  Append(path, 2);
  EXPECT_EQ(Read(path).seqs, (std::vector<uint64_t>{1, 2}));
}

TEST(RecordFileTest, NoFlippedBitGoesUnnoticed) {
  const std::string path = Path("flipped");
  Append(path, 1);
  const size_t first_end = Bytes(path).size();
  Append(path, 2);
  const std::string good = Bytes(path);
  for (size_t bit = size_t{8} * 8; bit < first_end * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    SetBytes(path, bad);
    const Content content = Read(path);
    ASSERT_TRUE(content.seqs.empty()) << "bit " << bit;
    // A length that grew within bounds reaches past the end: a torn tail.
    ASSERT_TRUE(absl::IsDataLoss(content.end) || content.torn)
        << "bit " << bit << ": " << content.end;
  }
}

TEST(RecordFileTest, WriterLeavesADamagedFileUntouched) {
  const std::string path = Path("damaged");
  Append(path, 1);
  std::string bytes = Bytes(path);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  SetBytes(path, bytes);
  const absl::Status status = RecordWriter::Open(path).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("offset 8"), std::string::npos) << status;
  EXPECT_EQ(Bytes(path), bytes);
}

TEST(RecordFileTest, ForeignFileIsRefusedAndUntouched) {
  const std::string path = Path("foreign");
  for (const absl::string_view bytes : {"swaplk3\n", "#!/bin/sh\n", "x"}) {
    SetBytes(path, bytes);
    EXPECT_TRUE(absl::IsFailedPrecondition(RecordReader::Open(path).status()));
    EXPECT_TRUE(absl::IsFailedPrecondition(RecordWriter::Open(path).status()));
    EXPECT_EQ(Bytes(path), bytes);
  }
}

TEST(RecordFileTest, SecondWriterIsRefused) {
  const std::string path = Path("two_writers");
  absl::StatusOr<std::unique_ptr<RecordWriter>> first =
      RecordWriter::Open(path);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(RecordWriter::Open(path).status()));
}

TEST(RecordFileTest, WindowTooLargeIsRefusedAndNothingWritten) {
  const std::string path = Path("large");
  Append(path, 1);
  const std::string before = Bytes(path);
  Window window = MakeWindow("host-a", 2);
  window.environment.kernel_version = std::string(kMaxRecordBytes, 'x');
  absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
      RecordWriter::Open(path);
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(absl::IsInvalidArgument((*writer)->Append(window)));
  EXPECT_EQ(Bytes(path), before);
}

}  // namespace
}  // namespace swaplock
