#include "common/durable_file.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

std::string Path(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

// RFC 3720, B.4, and the check value of the CRC catalogues.
TEST(Crc32cTest, KnownVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Fixed32Test, IsLittleEndian) {
  EXPECT_EQ(EncodeFixed32(0x80020103), std::string("\x03\x01\x02\x80", 4));
  EXPECT_EQ(DecodeFixed32(EncodeFixed32(0x80020103)), 0x80020103u);
  EXPECT_EQ(EncodeFixed64(0x8002010300000004),
            std::string("\x04\0\0\0\x03\x01\x02\x80", 8));
  EXPECT_EQ(DecodeFixed64(EncodeFixed64(0x8002010300000004)),
            0x8002010300000004u);
}

TEST(DurableFileTest, ReadsFewerBytesOnlyAtTheEnd) {
  absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(Path("short"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->WriteAt(0, "abcdef").ok());
  EXPECT_EQ(*file->ReadAt(2, 3), "cde");
  EXPECT_EQ(*file->ReadAt(4, 99), "ef");
  EXPECT_EQ(*file->ReadAt(6, 1), "");
}

TEST(DurableFileTest, AllocatedBytesAreZeros) {
  absl::StatusOr<DurableFile> file =
      DurableFile::OpenToWrite(Path("allocated"));
  ASSERT_TRUE(file.ok() && file->WriteAt(0, "ab").ok());
  ASSERT_TRUE(file->Allocate(8).ok());
  EXPECT_EQ(*file->Size(), 8u);
  EXPECT_EQ(*file->ReadAt(0, 8), std::string("ab\0\0\0\0\0\0", 8));
  ASSERT_TRUE(file->Allocate(4).ok());  // never shorter
  EXPECT_EQ(*file->Size(), 8u);
}

TEST(DurableFileTest, SecondLockIsRefusedUntilTheFirstIsGone) {
  const std::string path = Path("locked");
  {
    absl::StatusOr<DurableFile> first = DurableFile::OpenToWrite(path);
    ASSERT_TRUE(first.ok() && first->LockForThisProcess().ok());
    absl::StatusOr<DurableFile> second = DurableFile::OpenToWrite(path);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->LockForThisProcess().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  absl::StatusOr<DurableFile> third = DurableFile::OpenToWrite(path);
  EXPECT_TRUE(third->LockForThisProcess().ok());
}

TEST(DurableFileTest, ErrorsNameOperationAndPath) {
  const absl::Status status =
      DurableFile::OpenToRead(Path("nowhere/file")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("open"), std::string::npos);
  EXPECT_NE(status.message().find("nowhere/file"), std::string::npos);
}

}  // namespace
}  // namespace swaplock
