#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks what the lab promises. lab_selftest.sh [KERNEL]; exits 77 where the lab
# cannot run, with the lab's own sentence.

set -uo pipefail

here=$(dirname "$(realpath "$0")")
kernel=${1:-6.18}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
status=0

# Runs the lab with the status in $status and the output in $work/stdout, stderr.
run_lab() {
  "$here/lab" run --kernel "$kernel" --timeout 120 "$@" \
    >"$work/stdout" 2>"$work/stderr"
  status=$?
}

check() {  # NAME CONDITION...
  if "${@:2}"; then
    echo "ok      $1"
  else
    echo "FAILED  $1 (status $status)"
    sed 's/^/        | /' "$work/stdout" "$work/stderr"
    failures=$((failures + 1))
  fi
}

# Only the QEMUs that carry this test's own mark on their command line.
qemu_is_gone() { ! pgrep -f -- "selftest_mark=$$" >/dev/null; }
stdout_is() { [[ $(<"$work/stdout") == "$1" ]]; }
stderr_has() { grep -q -- "$1" "$work/stderr"; }
status_is() { [[ $status == "$1" ]]; }
no_temporary_files() { [[ -z $(ls -A "$work/tmp") ]]; }

mkdir "$work/tmp"
export TMPDIR=$work/tmp

run_lab -- true
if ((status == 77)); then
  cat "$work/stderr"
  exit 77
fi
check "status 0 comes through" status_is 0
check "no output means no output" stdout_is ''

run_lab --env 'GREETING=two  words' -- \
  bash -c 'printf "%s\n" "$GREETING" "$PWD" "$(nproc)"; exit 3'
check "status 3 comes through" status_is 3
check "output, --env, folder and CPUs come through" \
  stdout_is "two  words"$'\n'"$PWD"$'\n2'

# 1 MiB of bytes that a terminal would change.
head -c 1048576 /dev/urandom >"$work/tmp/bytes"
run_lab -- cat "$work/tmp/bytes"
check "output is passed byte for byte" cmp -s "$work/tmp/bytes" "$work/stdout"
rm "$work/tmp/bytes"

run_lab -- bash -c 'sleep 1000 & echo done'
check "a process left behind does not hold the run up" stdout_is 'done'

run_lab -- no-such-program
check "a missing program is 127" status_is 127

run_lab --out "$work/out" -- bash -c "echo result >$work/out/file"
check "--out brings files out" grep -qx result "$work/out/file"

run_lab -- touch "$here/written-by-selftest"
check "the host's files cannot be changed" \
  test ! -e "$here/written-by-selftest"

run_lab --timeout 25 --append "selftest_mark=$$" -- sleep 1000
check "a time-out is 124" status_is 124
check "a time-out says so" stderr_has 'timed out'
check "no QEMU is left after a time-out" qemu_is_gone

"$here/lab" run --kernel "$kernel" --append "selftest_mark=$$" -- sleep 1000 \
  >"$work/stdout" 2>"$work/stderr" &
lab_pid=$!
sleep 12
kill -TERM "$lab_pid"
wait "$lab_pid"
status=$?
check "a terminated lab ends with 143" status_is 143
check "no QEMU is left after that" qemu_is_gone

run_lab --console "$work/console" -- \
  bash -c 'echo c >/proc/sysrq-trigger; sleep 1000'
check "a panic is 125" status_is 125
check "a panic shows the console" stderr_has 'Kernel panic'
check "--console keeps it" grep -q 'Kernel panic' "$work/console"

"$here/lab" run --kernel 1.2 -- true >"$work/stdout" 2>"$work/stderr"
status=$?
check "an unknown kernel is 77" status_is 77
check "an unknown kernel is named" stderr_has '1\.2'

for mode in full lazy none; do
  run_lab --preempt "$mode" -- cat /sys/kernel/debug/sched/preempt
  if ((status == 77)); then
    check "preempt=$mode is refused in one sentence" \
      stderr_has "does not offer preempt=$mode"
  else
    check "preempt=$mode is in force" grep -qF "($mode)" "$work/stdout"
  fi
done

count() { "$here/lab" run --kernel "$kernel" --icount -- nproc; }
check "--icount has one CPU" test "$(count)" = 1

check "no temporary files are left" no_temporary_files

echo "$failures failures on kernel $kernel"
((failures == 0))
