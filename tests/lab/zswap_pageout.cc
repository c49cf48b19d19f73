// SPDX-License-Identifier: Apache-2.0
//
// Puts pages through swap as fast as it can: each worker process fills a buffer
// with half-compressible data, then again and again pages it out with
// madvise(MADV_PAGEOUT) and touches every page. With zswap on, each touch is one
// decompression and each page-out one compression. Prints one line:
//   nice=19 workers=4 pages=123456 slowest_touch_us=789
//
// --workers=N --nice=N --mib=N (each worker's buffer) --seconds=N

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
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21  // Linux 5.4
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPageBytes = 4096;

// What a worker sends to its parent through a pipe.
struct Result {
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

Result Work(size_t bytes, Clock::duration duration) {
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) Die("mmap");
  // Huge pages would be split at the first page-out and blur what is measured.
  madvise(mapping, bytes, MADV_NOHUGEPAGE);
  auto* const buffer = static_cast<uint8_t*>(mapping);
  Fill(buffer, bytes);

  Result result = {};
  Clock::duration slowest = Clock::duration::zero();
  const Clock::time_point end = Clock::now() + duration;
  while (Clock::now() < end) {
    if (madvise(mapping, bytes, MADV_PAGEOUT) != 0) Die("madvise");
    Clock::time_point before = Clock::now();
    for (size_t page = 0; page < bytes && before < end; page += kPageBytes) {
      // A write, so that the copy in swap is dropped and the next page-out
      // compresses again.
      ++*const_cast<volatile uint8_t*>(buffer + page);
      const Clock::time_point after = Clock::now();
      slowest = std::max(slowest, after - before);
      before = after;
      ++result.pages_touched;
    }
  }
  result.slowest_touch_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(slowest).count());
  return result;
}

// Reads --name=NUMBER arguments over the defaults; false if one is not known.
bool ParseArguments(int argc, char** argv, std::map<std::string, long>* values) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    if (argument.substr(0, 2) != "--" || equals == std::string_view::npos) {
      return false;
    }
    const auto value =
        values->find(std::string(argument.substr(2, equals - 2)));
    if (value == values->end()) return false;
    value->second = std::strtol(argv[i] + equals + 1, nullptr, 10);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, long> flags = {
      {"workers", 2}, {"nice", 0}, {"mib", 32}, {"seconds", 5}};
  if (!ParseArguments(argc, argv, &flags)) {
    std::fprintf(stderr,
                 "usage: %s [--workers=N] [--nice=N] [--mib=N] [--seconds=N]\n",
                 argv[0]);
    return 2;
  }

  int pipe_fds[2];
  if (pipe(pipe_fds) != 0) Die("pipe");
  for (long i = 0; i < flags["workers"]; ++i) {
    const pid_t pid = fork();
    if (pid < 0) Die("fork");
    if (pid > 0) continue;
    if (setpriority(PRIO_PROCESS, 0, static_cast<int>(flags["nice"])) != 0) {
      Die("setpriority");
    }
    const Result result = Work(static_cast<size_t>(flags["mib"]) << 20,
                               std::chrono::seconds(flags["seconds"]));
    // Smaller than PIPE_BUF: written whole or not at all.
    if (write(pipe_fds[1], &result, sizeof(result)) != sizeof(result)) {
      Die("write");
    }
    _exit(0);
  }
  close(pipe_fds[1]);

  Result total = {};
  Result one;
  long workers = 0;
  while (read(pipe_fds[0], &one, sizeof(one)) == sizeof(one)) {
    ++workers;
    total.pages_touched += one.pages_touched;
    total.slowest_touch_us =
        std::max(total.slowest_touch_us, one.slowest_touch_us);
  }
  while (wait(nullptr) > 0) {
  }
  std::printf("nice=%ld workers=%ld pages=%llu slowest_touch_us=%llu\n",
              flags["nice"], workers,
              static_cast<unsigned long long>(total.pages_touched),
              static_cast<unsigned long long>(total.slowest_touch_us));
  return workers == flags["workers"] ? 0 : 1;
}
