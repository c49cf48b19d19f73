// Whatever call of the disk fails, whenever power goes or the agent is killed,
// whichever bit flips: no window is counted twice, and none that was on disk is
// lost.
//
// A life of a spool is a list of steps that follows from a seed; it is lived
// once for each moment at which something can go wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/delivery/faulty_disk.h"
#include "agent/delivery/merged_window.h"
#include "agent/delivery/spool.h"

namespace swaplock {
namespace {

using Random = std::mt19937_64;

// The smallest there is: some twenty windows.
constexpr uint64_t kDiskBytes = 8192 + 4096;
constexpr uint64_t kServer = 7;

Window SmallWindow(uint64_t seq) {
  Window window;
  window.key = {"a", std::string(16, 'b'), 1, seq};
  window.start_boottime_ns = seq * 10'000'000'000;
  window.end_boottime_ns = (seq + 1) * 10'000'000'000;
  window.cells.emplace_back();
  window.cells[0].acquisitions = 1;
  return window;
}

// What a server counted. It knows which sequence numbers a merged window
// stands for, as the ledger does; `by_key_only` is one that does not.
struct Counted {
  std::map<uint64_t, int> times;  // by sequence number
  std::set<uint64_t> keys;
  std::map<uint64_t, int> times_by_key_only;
  uint64_t overlaps = 0;  // windows of which a part was known
  uint64_t acquisitions = 0;

  void Take(const Window& window) {
    const uint64_t seq = window.key.seq;
    uint64_t known = 0;
    for (uint64_t i = 0; i < WindowsIn(window); ++i) {
      known += times.count(seq - i);
    }
    const bool is_new_key = keys.insert(seq).second;
    for (uint64_t i = 0; i < WindowsIn(window); ++i) {
      if (known == 0) ++times[seq - i];
      if (is_new_key) ++times_by_key_only[seq - i];
    }
    if (known == 0) acquisitions += window.cells[0].acquisitions;
    if (known > 0 && known < WindowsIn(window)) ++overlaps;
  }
};

// One agent on one disk, over several lives.
class Life {
 public:
  explicit Life(Platter* platter) : platter_(platter) {}

  void Open() {
    spool_.reset();
    absl::StatusOr<std::unique_ptr<Spool>> spool =
        Spool::Open({"", kDiskBytes, platter_->Opener()});
    ASSERT_TRUE(spool.ok()) << spool.status();
    spool_ = *std::move(spool);
  }
  // It dies: what was in memory only is lost.
  void Close() {
    spool_.reset();
    appended = on_disk;
  }

  // Appends and sends at random, until `dead` says that the agent has died.
  template <typename Dead>
  void Live(uint64_t seed, int steps, const Dead& dead) {
    Random random(seed);
    for (int step = 0; step < steps && !dead(); ++step) {
      // The server is away for the first half, so that the spool fills up.
      const uint64_t kind = random() % (step < steps / 2 ? 12 : 24);
      if (kind < 11) {
        Append(dead);
      } else {
        Send(kind % 4, dead);
      }
    }
  }

  template <typename Dead>
  void Append(const Dead& dead) {
    const uint64_t seq = ++last_seq_;
    const absl::Status status = spool_->Append(SmallWindow(seq));
    if (dead()) return;
    if (status.ok()) appended.insert(seq);
    // What is on disk must never be lost.
    if (spool_->stats().only_in_memory == 0) on_disk = appended;
  }

  template <typename Dead>
  void Send(uint64_t luck, const Dead& dead) {
    const absl::StatusOr<Spool::Parcel> parcel =
        spool_->NextToSend("a", kServer);
    if (!parcel.ok() || dead()) return;
    if (luck == 0) return;  // it never arrives
    counted.Take(parcel->window);
    if (luck == 1) return;  // the answer never arrives
    spool_->Acknowledge(parcel->window.key);
  }

  // Sends all that waits, if the disk lets it.
  void Drain() {
    while (true) {
      const absl::StatusOr<Spool::Parcel> parcel =
          spool_->NextToSend("a", kServer);
      if (!parcel.ok()) break;
      counted.Take(parcel->window);
      spool_->Acknowledge(parcel->window.key);
    }
  }

  // Goes on where another one ended.
  void Follow(const Life& other) {
    counted = other.counted;
    appended = other.appended;
    last_seq_ = other.last_seq_;
  }

  Spool* spool() { return spool_.get(); }

  Counted counted;
  std::set<uint64_t> appended;  // those the spool took
  std::set<uint64_t> on_disk;   // of them, those that must survive a crash

 private:
  Platter* const platter_;
  std::unique_ptr<Spool> spool_;
  uint64_t last_seq_ = 0;
};

// Nothing twice, not even for a server that knows no ranges; each of `must`
// once.
testing::AssertionResult IsExact(const Life& life,
                                 const std::set<uint64_t>& must,
                                 bool by_key_only = true) {
  const Counted& counted = life.counted;
  if (counted.overlaps > 0) {
    return testing::AssertionFailure() << counted.overlaps << " overlaps";
  }
  if (counted.acquisitions != counted.times.size()) {
    return testing::AssertionFailure()
           << counted.acquisitions << " acquisitions of "
           << counted.times.size() << " windows";
  }
  if (by_key_only) {
    for (const auto& [seq, times] : counted.times_by_key_only) {
      if (times > 1) {
        return testing::AssertionFailure()
               << "window " << seq << " was counted " << times << " times";
      }
    }
  }
  for (const uint64_t seq : must) {
    if (counted.times.count(seq) == 0) {
      return testing::AssertionFailure() << "window " << seq << " is lost";
    }
  }
  return testing::AssertionSuccess();
}

bool Never() { return false; }

constexpr int kSteps = 70;

uint64_t CallsOfALife(uint64_t seed) {
  Platter platter(kDiskBytes);
  Life life(&platter);
  life.Open();
  life.Live(seed, kSteps, Never);
  // The seeds are chosen so that everything happens.
  EXPECT_GT(life.spool()->stats().merged, 0u);
  life.Drain();
  EXPECT_TRUE(IsExact(life, life.appended));
  EXPECT_EQ(life.counted.times.size(), life.appended.size());
  return platter.calls;
}

enum class Death { kKill, kPower, kTornPower };

// Dies at each call of the disk, in each way; then lives on.
void DieAtEachCall(uint64_t seed, Death death) {
  const uint64_t calls = CallsOfALife(seed);
  for (uint64_t moment = 0; moment < calls; ++moment) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", call ", moment));
    Random random(seed + moment);
    Platter platter(kDiskBytes);
    bool is_dead = false;
    platter.fault = [&](DiskCall, uint64_t call) {
      is_dead = is_dead || call >= moment;
      if (!is_dead) return absl::OkStatus();
      platter.torn = call == moment ? random() % 200 : 0;
      return absl::UnavailableError("dead");
    };
    const auto dead = [&is_dead] { return is_dead; };
    Life life(&platter);
    life.Open();
    life.Live(seed, kSteps, dead);
    life.Close();
    platter.fault = nullptr;
    if (death != Death::kKill) {
      platter.LosePower(&random, death == Death::kPower ? 512 : 1);
    }
    life.Open();
    // Fills the spool again: what is in doubt must not be merged.
    for (int i = 0; i < 8; ++i) life.Append(Never);
    life.Drain();
    ASSERT_TRUE(IsExact(life, life.on_disk));
  }
}

TEST(SpoolFaultsTest, KilledAtEachCall) { DieAtEachCall(1, Death::kKill); }

TEST(SpoolFaultsTest, PowerLostAtEachCall) { DieAtEachCall(2, Death::kPower); }

TEST(SpoolFaultsTest, PowerLostAtEachCallWithTornSectors) {
  DieAtEachCall(3, Death::kTornPower);
}

TEST(SpoolFaultsTest, DiesAgainAndAgain) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    Platter platter(kDiskBytes);
    Life life(&platter);
    for (int lives = 0; lives < 6; ++lives) {
      const uint64_t moment = platter.calls + random() % 200;
      bool is_dead = false;
      platter.fault = [&](DiskCall, uint64_t call) {
        is_dead = is_dead || call >= moment;
        return is_dead ? absl::UnavailableError("dead") : absl::OkStatus();
      };
      life.Open();
      life.Live(random(), kSteps, [&is_dead] { return is_dead; });
      life.Close();
      platter.fault = nullptr;
      if (random() % 2 == 0) platter.LosePower(&random, 512);
    }
    life.Open();
    life.Drain();
    ASSERT_TRUE(IsExact(life, life.on_disk));
  }
}

// EIO, ENOSPC, EROFS and short writes, of one call or of all for a while: the
// agent goes on, loses nothing, and has all on disk again soon after.
void FailAtCalls(uint64_t seed, uint64_t failing_calls, bool also_reads,
                 uint64_t apart) {
  const uint64_t calls = CallsOfALife(seed);
  for (uint64_t moment = 0; moment < calls; moment += apart) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", call ", moment));
    Random random(seed + moment);
    Platter platter(kDiskBytes);
    platter.failed_sync_drops = true;
    platter.fault = [&](DiskCall kind, uint64_t call) {
      if (call < moment || call >= moment + failing_calls) {
        return absl::OkStatus();
      }
      if (kind == DiskCall::kRead && !also_reads) return absl::OkStatus();
      platter.torn = random() % 200;
      return absl::ErrnoToStatus(random() % 2 == 0 ? EIO : ENOSPC, "injected");
    };
    Life life(&platter);
    life.Open();
    life.Live(seed, kSteps, Never);
    // However long it failed, it works now.
    platter.calls = std::max(platter.calls, moment + failing_calls);
    life.Append(Never);
    ASSERT_EQ(life.spool()->stats().only_in_memory, 0u);
    ASSERT_EQ(life.spool()->stats().refused, 0u);
    ASSERT_EQ(life.appended, life.on_disk);
    // A power failure now finds everything.
    life.Close();
    platter.LosePower(&random, 512);
    life.Open();
    life.Drain();
    ASSERT_TRUE(IsExact(life, life.appended));
    ASSERT_TRUE(life.spool()->Empty());
  }
}

TEST(SpoolFaultsTest, OneCallFails) { FailAtCalls(4, 1, true, 1); }

TEST(SpoolFaultsTest, WritingFailsForAWhile) { FailAtCalls(5, 25, false, 3); }

TEST(SpoolFaultsTest, TheDiskIsGoneForAWhile) { FailAtCalls(6, 40, true, 6); }

// Killed while the disk fails: what was in memory is lost, but nothing that was
// on disk, and nothing is counted twice.
TEST(SpoolFaultsTest, KilledWhileTheDiskFails) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    Platter platter(kDiskBytes);
    platter.failed_sync_drops = random() % 2 == 0;
    Life life(&platter);
    for (int lives = 0; lives < 3; ++lives) {
      const uint64_t first = platter.calls + random() % 200;
      const uint64_t last = first + 1 + random() % 60;
      const uint64_t only_syncs = random() % 3;
      platter.fault = [&, first, last, only_syncs](DiskCall kind,
                                                   uint64_t call) {
        if (call < first || call >= last || kind == DiskCall::kRead ||
            (only_syncs == 0 && kind != DiskCall::kSync)) {
          return absl::OkStatus();
        }
        platter.torn = random() % 200;
        return absl::ErrnoToStatus(EIO, "injected");
      };
      life.Open();
      life.Live(random(), 20 + static_cast<int>(random() % 40), Never);
      life.Close();
      if (random() % 2 == 0) platter.LosePower(&random, 512);
    }
    platter.fault = nullptr;
    life.Open();
    life.Drain();
    ASSERT_TRUE(IsExact(life, life.on_disk));
  }
}

// A spool as an earlier life left it: some windows gone, some sent, some
// merged, some alone.
class LeftBehind {
 public:
  LeftBehind() {
    life_.Open();
    life_.Live(8, 90, Never);
    EXPECT_GT(life_.spool()->stats().merged, 0u);
    EXPECT_GT(life_.spool()->stats().pending, 10u);
    life_.Close();
  }
  const Platter& platter() const { return platter_; }
  const Life& life() const { return life_; }

 private:
  Platter platter_{kDiskBytes};
  Life life_{&platter_};
};

// One record at most is lost, and said to be so.
void ExpectLittleLost(Life* life, absl::string_view what) {
  SCOPED_TRACE(what);
  life->Open();
  // The server is away, and the spool fills up.
  life->Drain();
  ASSERT_TRUE(IsExact(*life, {}, /*by_key_only=*/false));
  uint64_t lost = 0;
  for (const uint64_t seq : life->appended) {
    lost += life->counted.times.count(seq) == 0 ? 1 : 0;
  }
  if (lost > 0) {
    ASSERT_GT(life->spool()->stats().damaged, 0u) << lost;
  }
  ASSERT_LE(lost, 16u);
}

TEST(SpoolFaultsTest, ABitFlipsAnywhere) {
  const LeftBehind before;
  for (size_t at = 0; at < kDiskBytes; ++at) {
    if (before.platter().cached[at] == 0 && at % 16 != 0) continue;
    Platter platter = before.platter();
    Life life(&platter);
    life.Follow(before.life());
    platter.cached[at] =
        static_cast<char>(platter.cached[at] ^ (1 << (at % 8)));
    ASSERT_NO_FATAL_FAILURE(ExpectLittleLost(&life, absl::StrCat("byte ", at)));
  }
}

// All of a piece, as a disk loses it.
TEST(SpoolFaultsTest, ASectorIsZero) {
  const LeftBehind before;
  for (size_t at = 0; at < kDiskBytes; at += 512) {
    Platter platter = before.platter();
    Life life(&platter);
    life.Follow(before.life());
    platter.cached.replace(at, 512, 512, '\0');
    life.Open();
    life.Drain();
    ASSERT_TRUE(IsExact(life, {}, /*by_key_only=*/false)) << at;
  }
}

TEST(SpoolFaultsTest, CutOffAnywhere) {
  const LeftBehind before;
  for (size_t size = 0; size < kDiskBytes; size += 61) {
    Platter platter = before.platter();
    Life life(&platter);
    life.Follow(before.life());
    std::fill(platter.cached.begin() + static_cast<ptrdiff_t>(size),
              platter.cached.end(), '\0');
    life.Open();
    life.Append(Never);
    life.Drain();
    ASSERT_TRUE(IsExact(life, {}, /*by_key_only=*/false)) << size;
    ASSERT_TRUE(life.spool()->Empty()) << size;
  }
}

TEST(SpoolFaultsTest, RandomBytesAreNoSpoolAndNoReasonNotToStart) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Platter platter(kDiskBytes);
    for (char& byte : platter.cached) byte = static_cast<char>(random());
    Life life(&platter);
    life.Open();
    for (int i = 0; i < 40; ++i) life.Append(Never);
    life.Close();
    life.Open();
    life.Drain();
    ASSERT_TRUE(IsExact(life, life.appended)) << seed;
  }
}

}  // namespace
}  // namespace swaplock
