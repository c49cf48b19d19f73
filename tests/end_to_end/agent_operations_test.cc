// An agent under the circumstances that operators give it.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/end_to_end/random_life.h"
#include "tests/end_to_end/test_bed.h"

namespace swaplock {
namespace {

class AgentOperationsTest : public testing::Test {
 protected:
  void SetUp() override {
    Random random(4);
    ASSERT_NO_FATAL_FAILURE(bed_.StartServer());
    life_ = bed_.Path("life.slk");
    WriteLife(life_, "host-a", 1, 3, &random);
  }

  // Runs the agent by a shell: `script` ends with exec "$@".
  std::unique_ptr<ChildProcess> StartBy(
      const std::string& script, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"/bin/sh", "-c", script, "sh"};
    for (const std::string& word : bed_.AgentWords(life_, more, "host-a")) {
      words.push_back(word);
    }
    return std::make_unique<ChildProcess>(words, bed_.Path("agent.log"));
  }

  bool AllIsRecorded() const {
    return Eventually([this] {
      const absl::StatusOr<Totals> recorded = bed_.Recorded();
      return recorded.ok() && recorded->windows == 3;
    });
  }

  void ExpectAllArrived() const {
    const absl::StatusOr<Totals> recorded = bed_.Recorded();
    const absl::StatusOr<Totals> counted = bed_.Counted();
    ASSERT_TRUE(recorded.ok() && counted.ok()) << bed_.Logs();
    EXPECT_EQ(counted->Text(), recorded->Text()) << bed_.Logs();
    EXPECT_EQ(recorded->windows, 3u);
  }

  TestBed bed_;
  std::string life_;
};

TEST_F(AgentOperationsTest, SixtyFourFileDescriptorsAreEnough) {
  EXPECT_EQ(StartBy("ulimit -n 64; exec \"$@\"")->Wait(), 0) << bed_.Logs();
  ExpectAllArrived();
}

TEST_F(AgentOperationsTest, LocaleAndTimeZoneChangeNothing) {
  EXPECT_EQ(StartBy("LC_ALL=de_DE.UTF-8 TZ=Pacific/Kiritimati; "
                    "export LC_ALL TZ; exec \"$@\"",
                    {"--print=json"})
                ->Wait(),
            0)
      << bed_.Logs();
  ExpectAllArrived();
}

TEST_F(AgentOperationsTest, StdoutThatIsClosedStopsOnlyThePrinting) {
  EXPECT_EQ(StartBy("exec \"$@\" >&-", {"--print=text"})->Wait(), 0)
      << bed_.Logs();
  ExpectAllArrived();
}

TEST_F(AgentOperationsTest, ASecondTerminationDoesNotWaitAndLosesNothing) {
  // The server does not answer, so the first termination waits for it.
  bed_.server()->Signal(SIGSTOP);
  const std::unique_ptr<ChildProcess> agent = bed_.StartAgent(life_);
  ASSERT_TRUE(AllIsRecorded()) << bed_.Logs();
  EXPECT_TRUE(Eventually([&agent] {
    agent->Signal(SIGTERM);
    return !agent->Running();
  }));
  EXPECT_EQ(agent->Wait(), 128 + SIGTERM) << bed_.Logs();
  bed_.server()->Signal(SIGCONT);
  EXPECT_EQ(bed_.StartAgent(life_)->Wait(), 0) << bed_.Logs();
  ExpectAllArrived();
}

TEST_F(AgentOperationsTest, ASecondAgentOnTheFolderIsRefusedInOneSentence) {
  bed_.server()->Signal(SIGSTOP);
  const std::unique_ptr<ChildProcess> agent = bed_.StartAgent(life_);
  ASSERT_TRUE(AllIsRecorded()) << bed_.Logs();
  EXPECT_EQ(bed_.StartAgent(life_, {"--record="})->Wait(), 78);
  EXPECT_NE(bed_.Logs().find("another process has it"), std::string::npos)
      << bed_.Logs();
  bed_.server()->Signal(SIGCONT);
  EXPECT_EQ(agent->Wait(), 0) << bed_.Logs();
  ExpectAllArrived();
}

}  // namespace
}  // namespace swaplock
