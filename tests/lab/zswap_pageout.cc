// SPDX-License-Identifier: Apache-2.0
//
// Puts pages through swap as fast as it can. Each worker process fills a buffer
// with half-compressible data, then slice by slice pages it out with
// madvise(MADV_PAGEOUT) and touches every page: with zswap on, each page-out is
// one compression and each touch one decompression. Groups of workers run at
// their own nice values beside hogs that only burn CPU at nice 0; all start
// together when the last buffer is filled. Prints one line a group:
//   nice=19 workers=4 pages=123456 slowest_touch_us=789
//
// --workers=COUNT@NICE[/PAUSE_US] (repeatable; PAUSE_US of sleep after each
// slice)
// --hogs=COUNT --mib=N (each worker's buffer) --seconds=N

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21  // Linux 5.4
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPageBytes = 4096;
// Small, so that a worker that gets little CPU still comes to its touches.
constexpr size_t kSliceBytes = 64 * kPageBytes;

struct Group {
  long count = 0;
  long nice = 0;
  long pause_us = 0;
};

struct Options {
  std::vector<Group> groups;
  long hogs = 0;
  long mib = 32;
  long seconds = 5;
};

// What a worker sends to its parent through a pipe.
struct Result {
  uint64_t group;
  uint64_t pages_touched;
  uint64_t slowest_touch_us;
};

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The first half of every page is random, the second half zero: any codec
// stores it in about half a page. No two pages are equal.
void Fill(uint8_t* buffer, size_t bytes) {
  std::mt19937_64 random(static_cast<uint64_t>(getpid()));
  for (size_t page = 0; page < bytes; page += kPageBytes) {
    for (size_t i = 0; i < kPageBytes / 2; i += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(buffer + page + i, &word, sizeof(word));
    }
  }
}

uint8_t* NewBuffer(size_t bytes) {
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) Die("mmap");
  // Huge pages would be split at the first page-out and blur what is measured.
  madvise(mapping, bytes, MADV_NOHUGEPAGE);
  auto* const buffer = static_cast<uint8_t*>(mapping);
  Fill(buffer, bytes);
  return buffer;
}

Result Work(uint8_t* buffer, size_t bytes, long pause_us,
            Clock::time_point end) {
  Result result = {};
  Clock::duration slowest = Clock::duration::zero();
  for (size_t slice = 0; Clock::now() < end;
       slice = (slice + kSliceBytes) % bytes) {
    if (madvise(buffer + slice, kSliceBytes, MADV_PAGEOUT) != 0) Die("madvise");
    Clock::time_point before = Clock::now();
    for (size_t page = slice; page < slice + kSliceBytes; page += kPageBytes) {
      // A write, so that the copy in swap is dropped and the next page-out
      // compresses again.
      auto* const byte = const_cast<volatile uint8_t*>(buffer + page);
      *byte = static_cast<uint8_t>(*byte + 1);
      const Clock::time_point after = Clock::now();
      slowest = std::max(slowest, after - before);
      before = after;
      ++result.pages_touched;
    }
    if (pause_us > 0) usleep(static_cast<useconds_t>(pause_us));
  }
  result.slowest_touch_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(slowest).count());
  return result;
}

// The start line: a child says that it is ready by closing its end of one pipe
// and waits for the other to be closed.
struct StartLine {
  int ready[2];
  int go[2];

  StartLine() {
    if (pipe(ready) != 0 || pipe(go) != 0) Die("pipe");
  }
  void WaitInChild() {
    close(ready[0]);
    close(ready[1]);
    close(go[1]);
    char unused;
    if (read(go[0], &unused, 1) < 0) Die("read");
  }
  void ReleaseFromParent() {
    close(ready[1]);
    char unused;
    if (read(ready[0], &unused, 1) < 0) Die("read");
    close(go[1]);
  }
};

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    Group group;
    if (std::sscanf(argv[i], "--workers=%ld@%ld/%ld", &group.count, &group.nice,
                    &group.pause_us) >= 2) {
      options->groups.push_back(group);
    } else if (std::sscanf(argv[i], "--hogs=%ld", &options->hogs) != 1 &&
               std::sscanf(argv[i], "--mib=%ld", &options->mib) != 1 &&
               std::sscanf(argv[i], "--seconds=%ld", &options->seconds) != 1) {
      return false;
    }
  }
  return !options->groups.empty() && options->mib > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: %s --workers=COUNT@NICE[/PAUSE_US]... [--hogs=COUNT] "
                 "[--mib=N] [--seconds=N]\n",
                 argv[0]);
    return 2;
  }
  const auto duration = std::chrono::seconds(options.seconds);
  const size_t bytes = static_cast<size_t>(options.mib) << 20;

  int results[2];
  if (pipe(results) != 0) Die("pipe");
  StartLine start;
  for (size_t i = 0; i < options.groups.size(); ++i) {
    const Group& group = options.groups[i];
    for (long worker = 0; worker < group.count; ++worker) {
      const pid_t pid = fork();
      if (pid < 0) Die("fork");
      if (pid > 0) continue;
      uint8_t* const buffer = NewBuffer(bytes);
      start.WaitInChild();
      const Clock::time_point end = Clock::now() + duration;
      if (setpriority(PRIO_PROCESS, 0, static_cast<int>(group.nice)) != 0) {
        Die("setpriority");
      }
      Result result = Work(buffer, bytes, group.pause_us, end);
      result.group = i;
      // Smaller than PIPE_BUF: written whole or not at all.
      if (write(results[1], &result, sizeof(result)) != sizeof(result)) {
        Die("write");
      }
      _exit(0);
    }
  }
  for (long hog = 0; hog < options.hogs; ++hog) {
    const pid_t pid = fork();
    if (pid < 0) Die("fork");
    if (pid > 0) continue;
    start.WaitInChild();
    const Clock::time_point end = Clock::now() + duration;
    while (Clock::now() < end) {
    }
    _exit(0);
  }
  start.ReleaseFromParent();
  close(results[1]);

  std::vector<Result> totals(options.groups.size());
  std::vector<long> finished(options.groups.size());
  Result one;
  while (read(results[0], &one, sizeof(one)) == sizeof(one)) {
    Result& total = totals[one.group];
    ++finished[one.group];
    total.pages_touched += one.pages_touched;
    total.slowest_touch_us =
        std::max(total.slowest_touch_us, one.slowest_touch_us);
  }
  while (wait(nullptr) > 0) {
  }
  bool all_finished = true;
  for (size_t i = 0; i < totals.size(); ++i) {
    std::printf("nice=%ld workers=%ld pages=%llu slowest_touch_us=%llu\n",
                options.groups[i].nice, finished[i],
                static_cast<unsigned long long>(totals[i].pages_touched),
                static_cast<unsigned long long>(totals[i].slowest_touch_us));
    all_finished &= finished[i] == options.groups[i].count;
  }
  return all_finished ? 0 : 1;
}
