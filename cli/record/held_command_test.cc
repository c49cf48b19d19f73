#include "cli/record/held_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

std::string TempPath(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/held_command_", getpid(), "_",
                      name);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::unique_ptr<HeldCommand> ForkOne(const std::vector<std::string>& words) {
  auto commands = HeldCommand::Fork(words, {{}});
  EXPECT_TRUE(commands.ok()) << commands.status();
  return std::move((*commands)[0]);
}

TEST(HeldCommandTest, ExitStatus) {
  auto command = ForkOne({"sh", "-c", "exit 7"});
  EXPECT_FALSE(command->Ended());  // it is held
  ASSERT_TRUE(command->Start().ok());
  command->Wait();
  EXPECT_EQ(command->exit_status(), 7u);
  EXPECT_EQ(command->signal(), 0u);
}

TEST(HeldCommandTest, Signal) {
  auto command = ForkOne({"sh", "-c", "kill -KILL $$"});
  ASSERT_TRUE(command->Start().ok());
  command->Wait();
  EXPECT_EQ(command->exit_status(), 0u);
  EXPECT_EQ(command->signal(), static_cast<uint32_t>(SIGKILL));
}

TEST(HeldCommandTest, EachHasItsEnvironmentAndBeginsWhenTold) {
  const std::string path = TempPath("order");
  setenv("SWAPLOCK_TEST_WORD", "inherited", 1);
  auto commands = HeldCommand::Fork(
      {"sh", "-c", absl::StrCat("echo $SWAPLOCK_TEST_WORD $KEPT >>", path)},
      {{"SWAPLOCK_TEST_WORD=one"}, {"SWAPLOCK_TEST_WORD=two"}, {"KEPT=yes"}});
  ASSERT_TRUE(commands.ok());
  for (const int i : {1, 0, 2}) {
    ASSERT_TRUE((*commands)[static_cast<size_t>(i)]->Start().ok());
    (*commands)[static_cast<size_t>(i)]->Wait();
  }
  EXPECT_EQ(Contents(path), "two\none\ninherited yes\n");
  unlink(path.c_str());
}

TEST(HeldCommandTest, OneThatIsNeverToldNeverBegins) {
  const std::string path = TempPath("never");
  { auto command = ForkOne({"touch", path}); }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(HeldCommandTest, OneThatRunsIsKilledAtTheEnd) {
  pid_t pid = 0;
  {
    auto command = ForkOne({"sleep", "1000"});
    ASSERT_TRUE(command->Start().ok());
    pid = command->pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(HeldCommandTest, WhatCannotBeExecutedIsSaid) {
  EXPECT_TRUE(FindCommand("sh").ok());
  EXPECT_TRUE(FindCommand("/bin/sh").ok());
  EXPECT_FALSE(FindCommand("").ok());

  const std::string missing = "swaplock-no-such-command";
  EXPECT_EQ(ExitStatusOfStart(FindCommand(missing)), 127);
  EXPECT_EQ(ExitStatusOfStart(ForkOne({missing})->Start()), 127);
  EXPECT_EQ(ExitStatusOfStart(FindCommand("/dev/null/x")), 127);

  EXPECT_EQ(ExitStatusOfStart(FindCommand("/")), 126);
  const std::string text = TempPath("text");
  std::ofstream(text) << "no program\n";
  EXPECT_EQ(ExitStatusOfStart(FindCommand(text)), 126);
  const absl::Status status = ForkOne({text})->Start();
  EXPECT_EQ(ExitStatusOfStart(status), 126);
  EXPECT_TRUE(absl::StrContains(status.message(), text)) << status;

  // An interpreter that is not there is found out by exec only.
  std::ofstream(text) << "#!/no/such/interpreter\n";
  chmod(text.c_str(), 0755);
  EXPECT_TRUE(FindCommand(text).ok());
  EXPECT_EQ(ExitStatusOfStart(ForkOne({text})->Start()), 127);
  unlink(text.c_str());
}

}  // namespace
}  // namespace swaplock
