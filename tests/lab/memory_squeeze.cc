// SPDX-License-Identifier: Apache-2.0
//
// Makes the kernel believe for a moment that it is short of memory, so that an
// allocation that may neither do I/O nor enter a file system sleeps: raises
// vm.min_free_kbytes far above what is free, and puts it back.
//
// throttle_direct_reclaim() (mm/vmscan.c, 6.18) lets such a task sleep while
// less than half of the minimum watermark is free. An atomic allocation may go
// down to three eighths of it and still succeeds: so the minimum becomes 2.3
// times what is free. All other allocations wait meanwhile; this program is
// locked in memory and needs none.
//
// usage: memory_squeeze MILLISECONDS

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr const char* kMinimum = "/proc/sys/vm/min_free_kbytes";

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
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

}  // namespace

int main(int argc, char** argv) {
  const long milliseconds = argc == 2 ? std::atol(argv[1]) : 0;
  if (milliseconds <= 0) {
    std::fprintf(stderr, "usage: %s MILLISECONDS\n", argv[0]);
    return 2;
  }
  char before[32];
  char squeezed[32];
  std::snprintf(before, sizeof(before), "%ld\n", ReadNumber(kMinimum, "%ld"));
  const int fd = open(kMinimum, O_WRONLY | O_CLOEXEC);
  if (fd < 0) Die(kMinimum);
  const sched_param priority = {.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) Die("SCHED_FIFO");
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) Die("mlockall");
  const long free_kib = ReadNumber("/proc/meminfo", "MemFree: %ld kB");
  std::snprintf(squeezed, sizeof(squeezed), "%ld\n", free_kib * 23 / 10);

  const timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  if (pwrite(fd, squeezed, std::strlen(squeezed), 0) < 0) Die("squeeze");
  nanosleep(&wait, nullptr);
  if (pwrite(fd, before, std::strlen(before), 0) < 0) Die("restore");
  return 0;
}
