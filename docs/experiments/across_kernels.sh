#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# zram across Debian's kernels: 6.12, whose stream is a local_lock that switches
# preemption off, 6.18 and 7.3, where it is a mutex; under lazy (6.12:
# voluntary) and full preemption. About 6 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment across_kernels "zram across kernels: 6.12 -> 6.18 -> 7.3"

seconds=${SWAPLOCK_SECONDS:-6}
for mode in full lazy; do
  for kernel in 6.12 6.18 7.3; do
    preempt=$mode
    [[ $kernel-$mode != 6.12-lazy ]] || preempt=voluntary
    record "$kernel-$mode" "$kernel" --kernel "$kernel" --preempt "$preempt" \
      --smp 2 -- zram-inversion --codec zstd --low write --mib 16 \
      --duration "${seconds}s"
  done
done

for mode in full lazy; do
  heading "6.12 -> 6.18, $mode"
  show compare --lkml "$(of "6.12-$mode")" -- "$(of "6.18-$mode")"
  heading "6.18 -> 7.3, $mode"
  show compare --lkml "$(of "6.18-$mode")" -- "$(of "7.3-$mode")"
done

paragraph <<'END'
Reproduces: 6.12 holds its stream with preemption off, so no hold has a
runnable part and nobody waits for a holder that does not run. From 6.18 on the
stream is a mutex, holders are preempted, and reads at nice -19 wait for them: worse
under full and under lazy preemption, and the cause named is the runnable part.
7.3 is like 6.18. 6.12 has no lazy preemption, so its voluntary mode stands
against lazy. Cannot: the ratio as such. A wait behind a preempted holder is
made of scheduler slices and may be compared; what it is compared with, reads of a
fraction of a millisecond, is emulated decompression.
END
