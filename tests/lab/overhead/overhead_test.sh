#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the agent adds to a zram I/O stays below a bound, in instructions, which
# do not depend on what else this machine does, and it counts every hold.
set -euo pipefail
root=$PWD
out=$(mktemp -d "${TEST_TMPDIR:-/tmp}/overhead_test.XXXXXX")
trap 'rm -rf "$out"' EXIT
status=0
"$root/tests/lab/overhead/measure" --rounds 1 --only nothing,hooks-all,agent \
  --load_seconds 1 --json "$out/results.json" >"$out/tables" 2>"$out/log" ||
  status=$?
if ((status == 77)); then
  echo "SKIPPED: $(tail -n 1 "$out/log")"
  exit 0
fi
cat "$out/log" >&2
cat "$out/tables"
((status == 0)) || exit 1

failed=
check() {  # TEXT CONDITION
  jq -e "$2" "$out/results.json" >/dev/null || { echo "FAILED: $1" >&2; failed=1; }
}
row() { echo "(.rows[] | select(.what == \"$1\"))"; }
check "holds were not counted" "$(row agent).holds_per_io == 1"
check "an I/O costs more than 2,200 instructions more" "$(row agent).added_per_io < 2200"
[[ -z $failed ]]
