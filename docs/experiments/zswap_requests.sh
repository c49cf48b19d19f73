#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zswap with one request for stores and loads against separate ones, where loads
# of software codecs take no lock: the slowest read per run by CPUs. 6.18, and
# 7.3 plain and with the edits of tests/lab/patched. About 8 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment zswap_requests "zswap: one request for stores and loads -> separate requests"

seconds=${SWAPLOCK_SECONDS:-12}
for cpus in 1 8; do
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
heading "8 CPUs, 6.18 -> 7.3 plain"
show compare --lkml "$(of 8-6.18)" -- "$(of 8-plain-7.3)"
heading "1 CPU, 6.18"
show report --lkml --holds 1 "$(of 1-6.18)"

paragraph <<'END'
Reproduces: with one mutex for both directions a worker at nice +10 that is
preempted in zswap_store() keeps the reader at nice -19 waiting while hogs at
nice 0 run; the hold is almost all runnable, and the longest holds name the hog.
With separate requests loads take no lock (model none), and nothing is left of
it in reads. What is left in the patched kernel's slowest reads is the reader's
own wait for an emulated CPU. Cannot: the milliseconds. They are the emulator's and
of a machine that did other work too, so do not compare with the mail's; nor do
the 8 CPUs, which two cores of the host emulate.
END
