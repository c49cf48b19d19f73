#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zram with one stream a CPU for writes and reads against one for each: reads at
# nice -19 beside writes at nice 19. zstd, full preemption, 7.3 plain and with
# the edits of tests/lab/patched; the plain kernel twice, for a pair without any
# difference. About 3 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment zram_split "zram: one stream a CPU -> separate write and read streams"

seconds=${SWAPLOCK_SECONDS:-6}
for file in plain again patched; do
  kernel=${file/again/plain}
  record "$file" "$file" --kernel "$kernel-7.3" --preempt full --smp 2 -- \
    zram-inversion --codec zstd --low write --mib 16 --duration "${seconds}s"
done

heading "plain -> patched"
show compare --lkml "$(of plain)" -- "$(of patched)"
heading "the plain kernel against itself, another boot"
show compare --lkml "$(of plain)" -- "$(of again)"

paragraph <<'END'
Reproduces: in the plain kernel a reader at nice -19 finds the stream held by
a writer at nice 19 that a hog at nice 0 has preempted; waits are of hundreds of
milliseconds, and the holds runnable. With streams of their own, reads meet no
writer, and none of them waits. The second pair, the same kernel in another boot,
shows no difference; it does when the machine is otherwise idle. With other
builds and guests beside it, two boots of one kernel differed by a factor of 2.5 in
reads a second, and the comparison said so. Cannot: throughput. The mail's
readers never pause, and its 207k -> 1,150k reads a second are those of 24 real
CPUs; here readers pause for 1 ms, so that two emulated CPUs are shared at all.
END
