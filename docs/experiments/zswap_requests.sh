#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zswap with one request for stores and loads against separate ones, where loads
# of software codecs take no lock: the slowest read per run by CPUs. 6.18, and
# 7.3 plain and with the edits of tests/lab/patched. About 11 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment zswap_requests "zswap: one request for stores and loads -> separate requests"

seconds=${SWAPLOCK_SECONDS:-12}
for cpus in 1 8; do
  # Eight are so noisy that one outcome of eleven needs more than five runs.
  ((cpus == 1)) || repeat=${SWAPLOCK_REPEAT:-7}
  for kernel in 6.18 plain-7.3 patched-7.3; do
    record "$cpus-$kernel" "${kernel%-7.3}" --kernel "$kernel" --preempt lazy \
      --smp "$cpus" --memory 2560 -- zswap-inversion \
      --duration "${seconds}s" --mib 8
  done
done

for cpus in 1 8; do
  heading "$cpus CPUs, 7.3 plain -> patched"
  show compare --lkml "$(of "$cpus-plain-7.3")" -- "$(of "$cpus-patched-7.3")"
done
# Not against 7.3: that is no Debian kernel, and differs in its configuration.
for cpus in 1 8; do
  heading "$cpus CPUs, 6.18"
  show report --lkml --holds 1 "$(of "$cpus-6.18")"
done

paragraph <<'END'
Reproduces, on one CPU in full: with one mutex for both directions a worker at
nice +10 that is preempted in zswap_store() keeps the reader at nice -19 waiting
while hogs at nice 0 run, and the hold is almost all runnable; with separate
requests loads take no lock, and slow reads are gone. The verdict is "mixed",
and rightly: the reader's own page-outs are stores, which still share a mutex with the
workers', and as they are no longer held up by slow reads they meet that more
often. Whoever pages out at high priority still waits. Cannot: the milliseconds,
which are the emulator's, and what eight CPUs do. Two cores of the host emulate the
eight, so a reader also waits for a CPU that stands still, with a lock or without,
and some 100 ms of the slowest read stay; the waits for loads' lock go to none there
too.
END
