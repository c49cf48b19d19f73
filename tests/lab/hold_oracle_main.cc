// Test-only: runs hold_oracle.bpf.c until SIGTERM, then prints one JSON object.
// Writes "ready" to stderr once attached.
#include <signal.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "tests/lab/hold_oracle.skel.h"

int main() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  hold_oracle* s = hold_oracle__open_and_load();
  if (s == nullptr || hold_oracle__attach(s) != 0) {
    fprintf(stderr, "hold_oracle: cannot load or attach\n");
    return 1;
  }
  fprintf(stderr, "ready\n");
  int signal = 0;
  sigwait(&set, &signal);
  const auto* b = s->bss;
  printf("{\"holds\": %" PRIu64 ", \"hold_ns\": %" PRIu64
         ", \"switch_ns\": %" PRIu64 ", \"run_delay_ns\": %" PRIu64
         ", \"off_cpu_holds\": %" PRIu64 ", \"longest_ns\": %" PRIu64
         ", \"longest_switch_ns\": %" PRIu64
         ", \"longest_run_delay_ns\": %" PRIu64 "}\n",
         static_cast<uint64_t>(b->hold_count),
         static_cast<uint64_t>(b->hold_ns), static_cast<uint64_t>(b->switch_ns),
         static_cast<uint64_t>(b->run_delay_ns),
         static_cast<uint64_t>(b->off_cpu_holds),
         static_cast<uint64_t>(b->longest_ns),
         static_cast<uint64_t>(b->longest_switch_ns),
         static_cast<uint64_t>(b->longest_run_delay_ns));
  hold_oracle__destroy(s);
  return 0;
}
