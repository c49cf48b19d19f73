#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The positive control: on one kernel, holds that are made long by 100 ms on
# purpose. 6.18, lazy preemption. About 2 minutes.
# shellcheck source=tests/lab/experiment.sh
. "$(dirname "$(realpath "$0")")/../../tests/lab/experiment.sh"
experiment slow_holder "positive control: a holder that is kept from its CPU for 100 ms"

seconds=${SWAPLOCK_SECONDS:-6}
for file in plain delayed; do
  delay=()
  [[ $file = plain ]] || delay=(--slow_holder 100ms)
  # A single worker and no hogs: nothing else preempts a holder for long.
  record "$file" "$file" --kernel 6.18 --preempt lazy --smp 2 -- \
    zram-inversion --codec zstd --mib 16 --workers 1 --hogs 0 --duration "${seconds}s" \
    "${delay[@]}"
done

heading "plain -> delayed"
show compare --lkml "$(of plain)" -- "$(of delayed)"

paragraph <<'END'
The first worker, wherever it is, is moved to a CPU that a real-time task keeps
busy for 100 ms, some times a second; if it holds the stream of its first CPU then,
it goes on holding it. So as many holds of 100 ms, all of it runnable, must appear
as injected_delay counts, less those that found it outside the lock, and reads
must wait for them. They do. A kernel that cannot preempt a holder, as 6.12,
moves the worker after it has let go and shows none: not in this result.
END
