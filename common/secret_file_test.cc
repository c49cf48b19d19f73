#include "common/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace swaplock {
namespace {

std::string NewFolder() {
  std::string pattern = ::testing::TempDir() + "/secret.XXXXXX";
  return mkdtemp(pattern.data());
}

mode_t ModeOf(const std::string& path) {
  struct stat entry = {};
  EXPECT_EQ(stat(path.c_str(), &entry), 0);
  return entry.st_mode & 07777;
}

TEST(SecretFileTest, ReplacesInOneStepWithTheModeAsked) {
  const std::string path = NewFolder() + "/key";
  const FileStamp none = FileStamp::Of(path);
  EXPECT_EQ(none, FileStamp());
  ASSERT_TRUE(ReplaceFile(path, "one", 0600).ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  const FileStamp first = FileStamp::Of(path);
  EXPECT_NE(first, none);
  EXPECT_EQ(first, FileStamp::Of(path));
  ASSERT_TRUE(ReplaceFile(path, "two", 0644).ok());
  EXPECT_EQ(ModeOf(path), 0644u);
  EXPECT_NE(FileStamp::Of(path), first);
  EXPECT_EQ(*ReadSmallFile(path), "two");
  EXPECT_NE(access((path + ".new").c_str(), F_OK), 0);
}

TEST(SecretFileTest, RefusesSecretsThatOthersCanRead) {
  const std::string path = NewFolder() + "/key";
  ASSERT_TRUE(ReplaceFile(path, "s", 0600).ok());
  for (const mode_t mode : {0600u, 0400u, 0640u, 0440u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_TRUE(ReadSecretFile(path).ok()) << mode;
  }
  for (const mode_t mode : {0644u, 0604u, 0660u, 0601u, 0777u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const auto read = ReadSecretFile(path);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(read.status().message().find(path), std::string::npos);
  }
}

TEST(SecretFileTest, SaysWhatCannotBeRead) {
  const std::string folder = NewFolder();
  EXPECT_EQ(ReadSmallFile(folder + "/none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadSmallFile(folder).ok());
  EXPECT_FALSE(ReadSmallFile("/dev/zero").ok());
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(ReadSmallFile(pipe).ok());
  ASSERT_TRUE(
      ReplaceFile(folder + "/big", std::string((1 << 20) + 1, 'x'), 0600).ok());
  EXPECT_FALSE(ReadSmallFile(folder + "/big").ok());
  EXPECT_FALSE(ReplaceFile(folder + "/none/x", "", 0600).ok());
}

}  // namespace
}  // namespace swaplock
