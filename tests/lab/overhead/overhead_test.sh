#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the agent adds to a zram I/O stays below a bound, in instructions, which
# do not depend on what else this machine does.
set -euo pipefail
root=$PWD
out=$(mktemp -d "${TEST_TMPDIR:-/tmp}/overhead_test.XXXXXX")
trap 'rm -rf "$out"' EXIT
status=0
"$root/tests/lab/overhead/measure" --rounds 2 --ios 20000 --load_seconds 5 \
  --json "$out/results.json" >"$out/tables" 2>"$out/log" || status=$?
if ((status == 77)); then
  echo "SKIPPED: $(tail -n 1 "$out/log")"
  exit 0
fi
cat "$out/log" >&2
cat "$out/tables"
((status == 0)) || exit 1

check() {  # TEXT CONDITION
  jq -e "$2" "$out/results.json" >/dev/null || { echo "FAILED: $1" >&2; failed=1; }
}
failed=
agent='(.rows[] | select(.what == "agent"))'
check "the agent takes more than 6 % of the throughput" "$agent.throughput > -0.06"
[[ -z $failed ]]
