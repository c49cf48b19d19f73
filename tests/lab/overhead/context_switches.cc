// Test-only: two processes hand one byte to and fro through pipes, so that on
// one CPU each handing over is a context switch. Prints nanoseconds per switch.
//
// usage: context_switches SWITCHES
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

namespace {

double NowNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

bool Move(int from, int to) {
  char byte = 0;
  return read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? atoi(argv[1]) / 2 : 0;
  int there[2], back[2];
  if (rounds < 1 || pipe(there) != 0 || pipe(back) != 0) {
    fprintf(stderr, "usage: context_switches SWITCHES\n");
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < rounds; ++i) {
      if (!Move(there[0], back[1])) _exit(1);
    }
    _exit(0);
  }
  const double begin = NowNs();
  if (write(there[1], "x", 1) != 1) return 1;
  for (int i = 1; i < rounds; ++i) {
    if (!Move(back[0], there[1])) return 1;
  }
  char byte;
  if (read(back[0], &byte, 1) != 1) return 1;
  printf("%.1f\n", (NowNs() - begin) / (2.0 * rounds));
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
