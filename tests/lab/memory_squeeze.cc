// SPDX-License-Identifier: Apache-2.0
//
// Makes a writer to a zram device sleep inside the stream's lock, as often as
// asked: raises vm.min_free_kbytes far above what is free for 100 ms, while the
// writer fills new pages, for which zsmalloc needs memory.
//
// throttle_direct_reclaim() (mm/vmscan.c, 6.18) lets an allocation that may
// neither do I/O nor enter a file system sleep while less than half of the
// minimum watermark is free. An atomic allocation may go down to three eighths
// of it and still succeeds: so the minimum becomes 2.5 times what is free.
// Clean pages of a RAM disk keep kswapd busy, or it would give up and nobody
// wait.
//
// Other allocations would end in the killing of processes. So the processes
// named are stopped meanwhile, and this one is locked in memory and needs none.
//
// usage: memory_squeeze DEVICE FROM_MIB TO_MIB SLEEPS [PID...]

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr const char* kMinimum = "/proc/sys/vm/min_free_kbytes";
constexpr size_t kPageBytes = 4096;
constexpr size_t kCallBytes = 64 * kPageBytes;
constexpr size_t kCacheBytes = 64 << 20;
constexpr int kTries = 100;

std::vector<pid_t> stopped;

void SignalAll(int number) {
  for (const pid_t pid : stopped) kill(pid, number);
}

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  SignalAll(SIGCONT);
  std::exit(1);
}

void Sleep(long milliseconds) {
  const timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&wait, nullptr);
}

long ReadNumber(const char* path, const char* format) {
  FILE* const file = std::fopen(path, "re");
  if (file == nullptr) Die(path);
  char line[256];
  long number = -1;
  while (number < 0 && std::fgets(line, sizeof(line), file) != nullptr) {
    std::sscanf(line, format, &number);
  }
  std::fclose(file);
  if (number < 0) Die(path);
  return number;
}

char* NewBuffer() {
  void* const buffer = mmap(nullptr, kCallBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED) Die("mmap");
  return static_cast<char*>(buffer);
}

// Writes half-compressible pages, round and round.
class Writer {
 public:
  Writer(int fd, off_t from, off_t to) : fd_(fd), from_(from), to_(to) {
    std::mt19937_64 random(1);
    for (size_t page = 0; page < kCallBytes; page += kPageBytes) {
      for (size_t i = 0; i < kPageBytes / 2; i += sizeof(uint64_t)) {
        const uint64_t word = random();
        std::memcpy(buffer_ + page + i, &word, sizeof(word));
      }
    }
  }

  void Run() {
    off_t at = from_;
    while (!stop) {
      // It may fail for lack of memory; the next one will not.
      if (pwrite(fd_, buffer_, kCallBytes, at) < 0) ++errors;
      rusage usage = {};
      getrusage(RUSAGE_THREAD, &usage);
      sleeps = usage.ru_nvcsw;
      ++calls;
      at += kCallBytes;
      if (at + static_cast<off_t>(kCallBytes) > to_) at = from_;
    }
  }

  std::atomic<bool> stop{false};
  std::atomic<long> calls{0};
  std::atomic<long> errors{0};
  std::atomic<long> sleeps{0};  // voluntary context switches

 private:
  const int fd_;
  const off_t from_;
  const off_t to_;
  char* const buffer_ = NewBuffer();
};

void AwaitCall(const Writer& writer) {
  const long calls = writer.calls;
  while (writer.calls == calls) Sleep(1);
}

void FillPageCache(int fd, char* buffer) {
  for (size_t at = 0; at < kCacheBytes; at += kCallBytes) {
    if (pread(fd, buffer, kCallBytes, static_cast<off_t>(at)) < 0) {
      Die("/dev/ram0");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s DEVICE FROM_MIB TO_MIB SLEEPS [PID...]\n",
                 argv[0]);
    return 2;
  }
  const off_t from = std::atol(argv[2]) << 20;
  const off_t to = std::atol(argv[3]) << 20;
  const long wanted = std::atol(argv[4]);
  for (int i = 5; i < argc; ++i) stopped.push_back(std::atoi(argv[i]));

  char before[32];
  char squeezed[32];
  std::snprintf(before, sizeof(before), "%ld\n", ReadNumber(kMinimum, "%ld"));
  const int minimum = open(kMinimum, O_WRONLY | O_CLOEXEC);
  if (minimum < 0) Die(kMinimum);
  const int ram = open("/dev/ram0", O_RDONLY | O_CLOEXEC);
  if (ram < 0) Die("/dev/ram0");
  const int device = open(argv[1], O_WRONLY | O_DIRECT | O_CLOEXEC);
  if (device < 0) Die(argv[1]);
  char* const buffer = NewBuffer();
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) Die("mlockall");
  Writer writer(device, from, to);
  SignalAll(SIGSTOP);
  std::thread thread([&writer] { writer.Run(); });
  const sched_param priority = {.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) Die("SCHED_FIFO");

  AwaitCall(writer);
  const long sleeps = writer.sleeps;
  int tries = 0;
  while (writer.sleeps < sleeps + wanted && tries++ < kTries) {
    FillPageCache(ram, buffer);
    const long free_kib = ReadNumber("/proc/meminfo", "MemFree: %ld kB");
    std::snprintf(squeezed, sizeof(squeezed), "%ld\n", free_kib * 5 / 2);
    if (pwrite(minimum, squeezed, std::strlen(squeezed), 0) < 0) Die("squeeze");
    Sleep(100);
    if (pwrite(minimum, before, std::strlen(before), 0) < 0) Die("restore");
    AwaitCall(writer);
  }
  writer.stop = true;
  thread.join();
  SignalAll(SIGCONT);
  std::printf("%ld sleeps in %d squeezes, %ld writes of %ld failed\n",
              writer.sleeps - sleeps, tries, writer.errors.load(),
              writer.calls.load());
  return writer.sleeps >= sleeps + wanted ? 0 : 1;
}
