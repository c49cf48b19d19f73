// SPDX-License-Identifier: Apache-2.0
//
// Checks that pages come back from swap as they went. Each of WORKERS processes
// fills MIB of memory, half of each page random so that it compresses to about
// half, and ROUNDS times pages it all out and compares every page with what was
// written. Pages are written anew between rounds. Exits 1 at the first
// difference.
//
// usage: swap_verify WORKERS MIB ROUNDS

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21  // Linux 5.4
#endif

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kWords = kPageBytes / sizeof(uint64_t);

uint64_t Scramble(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Random words in a share of the page that differs from page to page, so that
// compressed sizes, and with them zsmalloc's classes, vary.
void FillPage(uint64_t seed, uint64_t* page) {
  const size_t random_words = Scramble(seed) % (kWords + 1);
  for (size_t i = 0; i < kWords; ++i) {
    page[i] = i < random_words ? Scramble(seed + i * 0x10001) : seed;
  }
}

int Work(uint64_t worker, size_t pages, int rounds) {
  void* memory = mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("swap_verify: mmap");
    return 1;
  }
  auto* words = static_cast<uint64_t*>(memory);
  uint64_t expected[kWords];
  for (int round = 0; round < rounds; ++round) {
    const uint64_t base = (worker << 48) + (uint64_t{1} * round << 32);
    for (size_t p = 0; p < pages; ++p) FillPage(base + p, words + p * kWords);
    if (madvise(memory, pages * kPageBytes, MADV_PAGEOUT) != 0) {
      perror("swap_verify: madvise");
      return 1;
    }
    for (size_t p = 0; p < pages; ++p) {
      FillPage(base + p, expected);
      if (memcmp(words + p * kWords, expected, kPageBytes) != 0) {
        fprintf(stderr, "swap_verify: worker %lu round %d: page %zu differs\n",
                static_cast<unsigned long>(worker), round, p);
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: swap_verify WORKERS MIB ROUNDS\n");
    return 2;
  }
  const int workers = atoi(argv[1]);
  const size_t pages = strtoul(argv[2], nullptr, 10) * 256;
  const int rounds = atoi(argv[3]);
  for (int i = 0; i < workers; ++i) {
    const pid_t pid = fork();
    if (pid < 0) {
      perror("swap_verify: fork");
      return 1;
    }
    if (pid == 0) _exit(Work(i, pages, rounds));
  }
  int failed = 0;
  for (int status; wait(&status) > 0;) failed += status != 0;
  printf("verified pages=%zu failed_workers=%d\n", workers * pages * rounds,
         failed);
  return failed != 0;
}
