// Chaos: several agents and a server, and in each round some of them are
// killed, stopped for a while, restarted, measure without a server more than
// the spool holds, or their disk is full. After each round the server's totals
// equal the sum of what the agents recorded.
//
// All follows from a seed, which is printed; SWAPLOCK_SEED sets it. Where a
// process is when something happens to it also depends on the machine.
// SWAPLOCK_CHAOS_ROUNDS sets the number of rounds.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/end_to_end/random_life.h"
#include "tests/end_to_end/small_disk.h"
#include "tests/end_to_end/test_bed.h"

#ifndef SWAPLOCK_CHAOS_ROUNDS
#define SWAPLOCK_CHAOS_ROUNDS 5
#endif

namespace swaplock {
namespace {

int Rounds() {
  int rounds = SWAPLOCK_CHAOS_ROUNDS;
  const char* given = getenv("SWAPLOCK_CHAOS_ROUNDS");
  if (given != nullptr && !absl::SimpleAtoi(given, &rounds)) rounds = 0;
  return rounds;
}

// A spool that some dozen windows fill.
constexpr uint64_t kSpoolBytes = 64 << 10;
constexpr uint64_t kAgentDiskBytes = 256 << 10;
constexpr uint64_t kServerDiskBytes = 64 << 20;
constexpr uint64_t kWindowsOfALife = 30;
constexpr uint64_t kWindowsOfALifeAlone = 60;

struct Host {
  std::string name;
  uint64_t epoch = 0;
  std::string life;
  std::unique_ptr<ChildProcess> agent;
  bool alone = false;               // the agent was told of no server
  std::unique_ptr<SmallDisk> disk;  // none: its disk is never full

  bool Runs() const { return agent != nullptr && agent->Running(); }
};

class Chaos {
 public:
  explicit Chaos(uint64_t seed) : random_(seed) {
    const bool can_mount = CanMountSmallDisks();
    if (!can_mount) {
      std::puts("SKIPPED: full disks, because only root can mount small ones");
    }
    for (const char* name : {"host-a", "host-b", "host-c"}) {
      Host host;
      host.name = name;
      if (can_mount) {
        host.disk = std::make_unique<SmallDisk>(
            absl::StrCat(bed_.Path(name), ".state"), kAgentDiskBytes);
      }
      hosts_.push_back(std::move(host));
    }
    if (can_mount) {
      server_disk_ =
          std::make_unique<SmallDisk>(bed_.Path("data"), kServerDiskBytes);
    }
  }

  // Everything runs once undisturbed, so that spools and ledger are there.
  void Begin() {
    ASSERT_NO_FATAL_FAILURE(bed_.StartServer());
    for (Host& host : hosts_) StartAgent(&host, 2);
    ASSERT_NO_FATAL_FAILURE(ExpectAllArrives());
  }

  void Round() {
    for (Host& host : hosts_) {
      const uint64_t kind = Draw(&random_, 8);
      if (kind == 0) continue;
      if (kind == 1) {
        ++done_["lives without a server"];
        StartAgent(&host, kWindowsOfALifeAlone, {"--server="});
        host.alone = true;
      } else {
        StartAgent(&host, kWindowsOfALife);
      }
    }
    for (uint64_t i = 1 + Draw(&random_, 5); i > 0; --i) {
      Pause();
      ASSERT_NO_FATAL_FAILURE(Disturb());
    }
    ASSERT_NO_FATAL_FAILURE(Recover());
    ASSERT_NO_FATAL_FAILURE(ExpectAllArrives());
  }

  std::string Text() const {
    std::string text;
    for (const auto& [what, times] : done_) {
      absl::StrAppend(&text, what, " ", times, "; ");
    }
    const absl::StatusOr<Totals> recorded = bed_.Recorded();
    const absl::StatusOr<Totals> counted = bed_.Counted();
    if (!recorded.ok() || !counted.ok()) return text;
    return absl::StrCat(text, recorded->windows, " windows recorded, as ",
                        counted->windows, " counted");
  }

 private:
  // A random moment: the experiment itself, nothing is waited for.
  void Pause() { absl::SleepFor(absl::Microseconds(Draw(&random_, 150'000))); }

  void StartAgent(Host* host, uint64_t windows,
                  std::vector<std::string> flags = {}) {
    host->alone = false;
    // Now and then a life repeats the one before: the same keys again.
    if (host->epoch == 0 || Draw(&random_, 5) != 0) {
      ++host->epoch;
      host->life =
          bed_.Path(absl::StrCat(host->name, ".life", host->epoch, ".slk"));
      WriteLife(host->life, host->name, host->epoch, windows, &random_);
    }
    flags.push_back(absl::StrCat("--spool_bytes=", kSpoolBytes));
    host->agent = bed_.StartAgent(host->life, flags, host->name);
  }

  void Disturb() {
    Host& host = hosts_[Draw(&random_, hosts_.size())];
    const uint64_t kind = Draw(&random_, 20);
    if (kind < 5) {
      if (!bed_.server()->Running()) return;
      ++done_["servers killed"];
      bed_.server()->Signal(SIGCONT);
      bed_.server()->Signal(SIGKILL);
      bed_.server()->Wait();
    } else if (kind < 10) {
      if (!host.Runs()) return;
      ++done_["agents killed"];
      host.agent->Signal(SIGKILL);
      host.agent->Wait();
    } else if (kind < 12) {
      if (host.Runs()) return;
      StartAgent(&host, kWindowsOfALife);
    } else if (kind < 14) {
      if (bed_.server()->Running() || full_server_) return;
      ASSERT_NO_FATAL_FAILURE(bed_.StartServer());
    } else if (kind < 15) {
      if (!bed_.server()->Running()) return;
      ++done_["servers stopped for a while"];
      bed_.server()->Signal(SIGSTOP);
    } else if (kind < 16) {
      if (!host.Runs()) return;
      ++done_["agents stopped for a while"];
      host.agent->Signal(SIGSTOP);
    } else if (kind < 17) {
      if (!bed_.server()->Running()) return;
      ++done_["servers ended"];
      bed_.server()->Signal(SIGCONT);
      bed_.server()->Signal(SIGTERM);
      ASSERT_EQ(bed_.server()->Wait(), 0) << bed_.Logs();
    } else if (kind < 19) {
      if (host.disk == nullptr) return;
      ++done_["agents' disks full"];
      host.disk->Fill();
    } else {
      // Windows are to come again after 5 s, so not in every round.
      if (server_disk_ == nullptr || Draw(&random_, 3) != 0) return;
      ++done_["servers' disks full"];
      server_disk_->Fill();
      full_server_ = true;
    }
  }

  void Recover() {
    if (server_disk_ != nullptr) server_disk_->Clear();
    full_server_ = false;
    bed_.server()->Signal(SIGCONT);
    if (!bed_.server()->Running()) {
      ASSERT_NO_FATAL_FAILURE(bed_.StartServer());
    }
    for (Host& host : hosts_) {
      if (host.agent != nullptr) host.agent->Signal(SIGCONT);
      if (host.alone) host.agent->Wait();
      // An agent that died left windows; the next one takes them along, also
      // when its disk is still full.
      if (!host.Runs()) StartAgent(&host, 1);
    }
  }

  // Every agent left alone ends by itself once all is delivered.
  void ExpectAllArrives() {
    for (Host& host : hosts_) {
      ASSERT_EQ(host.agent->Wait(), 0) << host.name << "\n" << bed_.Logs();
      if (host.disk != nullptr) host.disk->Clear();
    }
    const absl::StatusOr<Totals> recorded = bed_.Recorded();
    ASSERT_TRUE(recorded.ok()) << recorded.status();
    const absl::StatusOr<Totals> counted = bed_.Counted();
    ASSERT_TRUE(counted.ok()) << counted.status();
    ASSERT_EQ(counted->CellsText(), recorded->CellsText()) << bed_.Logs();
    ASSERT_LE(counted->windows, recorded->windows);
  }

  Random random_;
  TestBed bed_;
  std::vector<Host> hosts_;
  std::unique_ptr<SmallDisk> server_disk_;
  bool full_server_ = false;
  std::map<std::string, int> done_;
};

TEST(ChaosTest, TotalsAreThoseThatAgentsRecorded) {
  const uint64_t seed = ChooseSeed();
  Chaos chaos(seed);
  ASSERT_NO_FATAL_FAILURE(chaos.Begin());
  const int rounds = Rounds();
  for (int round = 1; round <= rounds; ++round) {
    SCOPED_TRACE(absl::StrCat("SWAPLOCK_SEED=", seed, ", round ", round));
    ASSERT_NO_FATAL_FAILURE(chaos.Round());
  }
  std::printf("%d rounds: %s; lost 0, doubled 0\n", rounds,
              chaos.Text().c_str());
}

}  // namespace
}  // namespace swaplock
