#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zram reads with a lock that readers share: reads at nice -19 beside reads at
# nice 19. lz4, full preemption, 7.3 plain and with the edits of
# tests/lab/patched. About 2 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment zram_shared_reads "zram: mutex -> rw_semaphore for decompression"

seconds=${SWAPLOCK_SECONDS:-6}
for kernel in plain patched; do
  record "$kernel" "$kernel" --kernel "$kernel-7.3" --preempt full --smp 2 -- \
    zram-inversion --codec lz4 --low read --mib 16 --duration "${seconds}s"
done

heading "plain -> patched"
show compare --lkml "$(of plain)" -- "$(of patched)"

paragraph <<'END'
Reproduces: readers of both priorities take one lock; in the plain kernel one
at a time, in the patched one lz4 reads whose object lies in one page together
(mode shared), the rest alone. Cannot: the size of the gain. The mail's 44 % is
of 24 CPUs that read all the time; on two emulated CPUs two readers seldom meet,
and what is slow is a low-priority holder that was preempted, which an
rw_semaphore does not end for the reads that take it alone.
END
