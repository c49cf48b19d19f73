#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `swaplock workload zram-inversion` on this very machine: it measures for a
# second and leaves no device behind, also when it is ended early or cannot be
# set up. Needs root and zram, no BPF.
set -euo pipefail
swaplock=$PWD/cli/swaplock
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/workload.XXXXXX")
trap 'rm -rf "$work"' EXIT
skip() { echo "SKIPPED: $*"; exit 0; }
fail() { echo "FAILED: $*" >&2; exit 1; }

# A size that no other device here has, to know ours by.
mib=$((17 + $$ % 200))

left_behind() {
  local size
  for size in /sys/block/zram*/disksize; do
    [[ ! -e $size || $(<"$size") != $((mib << 20)) ]] || return 0
  done
  return 1
}

run() {  # EXPECTED-STATUS FLAG...
  local expected=$1 status=0
  shift
  "$swaplock" workload zram-inversion --mib "$mib" "$@" \
    >"$work/out" 2>"$work/err" || status=$?
  ((status == expected)) ||
    fail "exit status $status instead of $expected: $(cat "$work/err")"
  ! left_behind || fail "a device is left after $*"
}

((EUID == 0)) || skip "needs root"
[[ -w /sys/class/zram-control/hot_remove ]] ||
  skip "there is no /sys/class/zram-control"
[[ -d /run/udev || $(awk '$2 == "/dev" {print $3}' /proc/mounts) = *devtmpfs* ]] ||
  skip "no device nodes appear in /dev here"
command -v jq >/dev/null || skip "there is no jq"
! left_behind || skip "another device has $mib MiB"
# In a container root may lack what is needed.
[[ $(nice -n -40 nice 2>/dev/null) = -20 ]] || skip "may not have nice -19"

SWAPLOCK_RESULT_FILE=$work/result run 0 --duration 1s --workers 2 --readers 1 \
  --hogs 1
grep -q '^high_priority_read ' "$work/out" || fail "no table: $(cat "$work/out")"
jq -e '(.facts.workload == "zram-inversion") and (.facts.codec | length > 0) and
  ([.measurements[].name] | sort == ["high_priority_read", "low_priority_write"]) and
  all(.measurements[]; (.latency.sum_ns | tonumber) > 0 and .sum_of_squares_ns2 > 0) and
  any(.measurements[]; .nice == -19 and .threads == 1)' "$work/result" >/dev/null ||
  fail "unexpected result: $(cat "$work/result")"

# Low-priority readers; ended early by a signal, it tells what it has.
run_early() {
  local pid status=0
  "$swaplock" workload zram-inversion --mib "$mib" --low read --duration 1h \
    --workers 1 --readers 1 --hogs 0 >"$work/out" 2>"$work/err" &
  pid=$!
  # The device is there: from here on a signal must be undone for.
  while ! left_behind && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  kill -TERM "$pid"
  wait "$pid" || status=$?
  ((status == 143)) || fail "ended early with $status: $(cat "$work/err")"
  grep -q '^low_priority_read ' "$work/out" || fail "no table when ended early"
  ! left_behind || fail "a device is left when it was ended early"
}
run_early

# A set-up that fails half-way.
run 69 --codec no-such-codec
grep -q 'has no codec no-such-codec' "$work/err" || fail "it says: $(cat "$work/err")"
(($(wc -l <"$work/err") == 1)) || fail "more than a sentence: $(cat "$work/err")"

# What has to be said by one sentence, whatever the machine.
for arguments in "" "no-such" "zram-inversion again" "zram-inversion --readers 0" \
  "zram-inversion --low neither" "zram-inversion --setup" \
  "zswap-inversion --device zram0" "zswap-inversion --setup --swap_device /dev/sda"; do
  status=0
  # shellcheck disable=SC2086 # several words
  "$swaplock" workload $arguments >/dev/null 2>"$work/err" || status=$?
  ((status == 2)) || fail "swaplock workload $arguments exits with $status"
  (($(wc -l <"$work/err") == 1)) || fail "$arguments: $(cat "$work/err")"
done
echo "all well"
