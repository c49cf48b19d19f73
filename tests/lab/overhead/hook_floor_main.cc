// Test-only: attaches the programs of hook_floor.bpf.c that are named on the
// command line and waits for SIGTERM. Writes "ready" to stderr once attached.
#include <bpf/libbpf.h>
#include <signal.h>
#include <string.h>

#include <cstdio>

#include "tests/lab/overhead/hook_floor.skel.h"

namespace {

bool Named(const char* name, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  hook_floor* s = hook_floor__open();
  if (s == nullptr) return 1;
  int wanted = 0;
  bpf_program* program;
  bpf_object__for_each_program(program, s->obj) {
    const bool named = Named(bpf_program__name(program), argc, argv);
    bpf_program__set_autoload(program, named);
    if (named) ++wanted;
  }
  if (wanted != argc - 1) {
    fprintf(stderr, "hook_floor: a program of that name does not exist\n");
    return 2;
  }
  if (hook_floor__load(s) != 0 || hook_floor__attach(s) != 0) {
    fprintf(stderr, "hook_floor: cannot load or attach\n");
    return 1;
  }
  fprintf(stderr, "ready\n");
  int signal = 0;
  sigwait(&set, &signal);
  hook_floor__destroy(s);
  return 0;
}
