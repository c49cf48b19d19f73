#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What zram's locks did in the records of zram_split.sh and
# zram_shared_reads.sh, which it makes if they are not there: contended, waits,
# and how many acquisitions were shared, by role.
here=$(dirname "$(realpath "$0")")
for other in zram_split zram_shared_reads; do
  SWAPLOCK_REUSE=1 "$here/$other.sh" >/dev/null || exit
done
export SWAPLOCK_REUSE=1
# shellcheck source=tests/lab/experiment.sh
. "$here/../../tests/lab/experiment.sh"
experiment lock_waits "zram: contended, waits and shares by role"

for other in zram_split zram_shared_reads; do
  for kernel in plain patched; do
    heading "$other, $kernel"
    show report --lkml --holds 1 "$records/$other-$kernel.slk"
    kernels+="$(printf '%-8s %s' "$kernel" "$(<"$records/$other-$kernel.slk.kernel")")"$'\n'
  done
done

paragraph <<'END'
The quantities of the mail on Android: contended, total and longest wait, and
the shares of shared and exclusive acquisitions, by role, from the records of the
two other experiments. Pins of objects are not locks in these kernels (the edits
are of the second version of the series), so there is no row for them. How
large they are is the emulator's; that reads no longer wait for writes, and which
codec shares, is not.
END
