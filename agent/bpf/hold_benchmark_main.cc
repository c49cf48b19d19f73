// What the programs cost per hold on this machine, by running
// hold_benchmark.bpf.c with bpf_prog_test_run: no lock is taken and no function
// hooked, so it works where function hooks are refused. Prints a table in
// Markdown. Other work on the machine shows in the median; what a body costs
// undisturbed, and so the ratios, are of the fastest round.
//
// Exit status: 0; 1 a program failed or holds were not counted; 77 this process
// may not load BPF programs.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "agent/bpf/hold_record.h"
// The skeleton uses those types.
#include "agent/bpf/hold_benchmark_programs.skel.h"

namespace {

constexpr uint32_t kCellsPerCpu = SL_OPS;

struct Body {
  const char* what;
  bpf_program* program;
  std::vector<double> ns;  // per hold, one a round
};

double NowNs() {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// A clock is read and the storage found on one CPU, whose caches are warm.
void StayOnThisCpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Minimum(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// Sums over all cells, which only the hold body writes.
void ReadHolds(const hold_benchmark_programs& s, uint64_t* holds,
               uint64_t* hold_ns) {
  const int fd = bpf_map__fd(s.maps.cells);
  for (uint32_t at = 0; at < bpf_map__max_entries(s.maps.cells); ++at) {
    sl_cell cell = {};
    if (bpf_map_lookup_elem(fd, &at, &cell) != 0) continue;
    for (const uint32_t slot : cell.hold.slot) *holds += slot;
    *hold_ns += cell.hold.sum_ns;
  }
}

bool RunOnce(const Body& body) {
  LIBBPF_OPTS(bpf_test_run_opts, options);
  return bpf_prog_test_run_opts(bpf_program__fd(body.program), &options) == 0;
}

int Silent(libbpf_print_level, const char*, va_list) { return 0; }

int Run(int rounds, uint32_t holds) {
  libbpf_set_print(Silent);
  hold_benchmark_programs* s = hold_benchmark_programs__open();
  if (s == nullptr) return 1;
  const auto cpus = static_cast<uint32_t>(libbpf_num_possible_cpus());
  s->rodata->cells_per_cpu = kCellsPerCpu;
  bpf_map__set_max_entries(s->maps.cells, cpus * kCellsPerCpu);
  bpf_map__set_max_entries(s->maps.latencies, cpus * SL_LATENCIES);
  bpf_map__set_max_entries(s->maps.cpus, cpus);
  const int error = hold_benchmark_programs__load(s);
  if (error == -EPERM || error == -EACCES) {
    std::printf("SKIPPED: this process may not load BPF programs\n");
    return 77;
  }
  if (error != 0) {
    std::fprintf(stderr, "hold_benchmark: load: %s\n", strerror(-error));
    return 1;
  }
  s->bss->armed_ns[SL_CLASS_ZRAM] = 1;
  s->bss->loops = holds;

  Body empty = {"empty loop", s->progs.empty, {}};
  std::vector<Body> bodies = {
      {"clock twice: the floor", s->progs.two_clocks, {}},
      {"task storage twice", s->progs.two_task_lookups, {}},
      {"clock and task storage, twice", s->progs.two_clocks_two_lookups, {}},
      {"hash-keyed stamps, as klockstat", s->progs.hash_keyed, {}},
      {"swaplock: acquisition", s->progs.acquired, {}},
      {"swaplock: acquisition and release", s->progs.hold, {}},
      {"swaplock: operation, begin and end", s->progs.operation, {}},
  };
  StayOnThisCpu();
  // In turns, so that what else the machine does meets all of them.
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i <= bodies.size(); ++i) {
      Body& body = i == bodies.size() ? empty : bodies[i];
      const double begin = NowNs();
      if (!RunOnce(body)) {
        std::fprintf(stderr, "hold_benchmark: run %s: %s\n", body.what,
                     strerror(errno));
        return 1;
      }
      if (round < 0) continue;  // the first time allocates and warms up
      body.ns.push_back((NowNs() - begin) / holds);
    }
  }

  uint64_t counted = 0, hold_ns = 0;
  ReadHolds(*s, &counted, &hold_ns);
  const uint64_t made = static_cast<uint64_t>(rounds + 1) * holds;
  const double loop = Median(empty.ns);
  const double floor = Minimum(bodies[0].ns) - Minimum(empty.ns);
  std::printf("| per hold | median ns | least ns | times the floor |\n");
  std::printf("|---|--:|--:|--:|\n");
  for (const Body& body : bodies) {
    const double least = Minimum(body.ns) - Minimum(empty.ns);
    std::printf("| %s | %.1f | %.1f | %.2f |\n", body.what,
                Median(body.ns) - loop, least, least / floor);
  }
  std::printf(
      "\n%d rounds of %u; the empty loop's %.1f ns are subtracted. Of %" PRIu64
      " holds %" PRIu64
      " were counted; a lock held for nothing measures %.1f ns on average.\n",
      rounds, holds, loop, made, counted,
      static_cast<double>(hold_ns) / static_cast<double>(counted));
  hold_benchmark_programs__destroy(s);
  if (counted == made) return 0;
  std::fprintf(stderr, "hold_benchmark: holds were not counted\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1001;
  const int holds = argc > 2 ? atoi(argv[2]) : 2000;
  if (argc > 3 || rounds < 1 || holds < 1 || holds > (1 << 23)) {
    std::fprintf(stderr, "usage: hold_benchmark [ROUNDS [HOLDS]]\n");
    return 2;
  }
  return Run(rounds, static_cast<uint32_t>(holds));
}
