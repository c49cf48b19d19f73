# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The host side of a test that boots a kernel. Sourced, with the runfiles' root as
# the current folder; makes the folder $out, which goes when the test ends.

root=$PWD
lab=$root/tests/lab
out=$(mktemp -d "${TEST_TMPDIR:-/tmp}/lab.XXXXXX")
trap 'rm -rf "$out"' EXIT
failures=0

bin() { realpath "$root/$1"; }
fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }

# Runs a command in a guest that may write to $out. Where no guest can be had the
# test is skipped, and says why; where the command fails, so does the test.
in_guest() {  # LAB-OPTION... -- COMMAND...
  local status=0
  "$lab/lab" run --out "$out" --console "$out/console" "$@" \
    2>"$out/lab.err" || status=$?
  if ((status == 77)); then
    echo "SKIPPED: $(tail -n 1 "$out/lab.err")"
    exit 0
  fi
  cat "$out/lab.err" >&2
  if ((status)); then
    echo "FAILED: the guest's command exited with $status" >&2
    tail -n 20 "$out"/*.log "$out"/*.phases >&2 || true
    exit 1
  fi
}

# What guest_agents.sh left, for the tests that go through phases: each agent's
# numbers by phase in NAME.sums, and single facts.
sum_phases() {
  local run name
  for run in "$out"/*.phases; do
    name=$(basename "$run" .phases)
    jq -cs --rawfile phases "$run" -f "$(bin tests/lab/phases.jq)" \
      "$out/$name.jsonl" >"$out/$name.sums"
  done
}
fact() { awk -v name="$1" '$1 == name { print $2 }' "$out/facts.txt"; }
