#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `swaplock doctor` on the kernel of this very machine, whatever that is: its
# exit status says what its report says, what is missing has a cause and a
# remedy, and it leaves nothing behind. Then as nobody, who may use no BPF.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/doctor.XXXXXX")
trap 'rm -rf "$work"' EXIT
skip() { echo "SKIPPED: $*"; exit 0; }
fail() { echo "FAILED: $*" >&2; exit 1; }

((EUID == 0)) || skip "needs root"
for tool in jq setpriv; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done
# Where nobody may run it, too.
install -m 755 cli/swaplock "$work/swaplock"
chmod 755 "$work"

doctor() {  # NAME [COMMAND...]: leaves NAME.json, NAME.txt and the status
  local name=$1
  shift
  status=0
  "$@" "$work/swaplock" doctor --output=json >"$work/$name.json" || status=$?
  local text_status=0
  "$@" "$work/swaplock" doctor >"$work/$name.txt" || text_status=$?
  ((status == text_status)) || fail "$name: $status as JSON, $text_status as text"
}
check() {  # NAME WHAT FILTER
  jq -e "$3" "$work/$1.json" >/dev/null || {
    cat "$work/$1.txt"
    fail "$1: $2"
  }
}

consistent() {  # NAME
  check "$1" "its exit status is $status, not what it says" \
    ".exit_status == $status and .verdict == {\"0\": \"HOLDS\", \"1\": \"PART\", \"69\": \"NOTHING\"}[\"$status\"]"
  check "$1" "holds are measured, but not all locks" \
    '.verdict != "HOLDS" or all(.locks[]; .complete)'
  check "$1" "a lock that lacks something is not in the summary" \
    '.verdict != "PART" or (.summary as $s | all(.locks[] | select(.complete | not); .name as $n | $s | contains($n)))'
  check "$1" "something is missing without a cause and a remedy" \
    '.verdict == "HOLDS" or any(.problems[]; .costs_holds and .what != "" and .remedy != "")'
  check "$1" "a tier is missing and no sentence says so" \
    'all(.locks[] | select(.name == "zswap" or .name == "zram stream"); .hold_tier == "TIER_EXACT" or .hold_tier == "TIER_BRACKET") or (.not_measured | length > 0)'
  check "$1" "a probe has no verdict, or no reason" \
    'all(.probes[]; .state == "PROBE_STATE_ATTACHED" or (.reason != "" and .state != "PROBE_STATE_UNSPECIFIED"))'
  check "$1" "a number that is there is not above 0" \
    '.cost | .clock_read_ns > 0 and all(.locks[]; (has("ns_per_hold") | not) or .ns_per_hold > 0)'
  # The text says the same.
  [[ $(head -n 1 "$work/$1.txt") = "$(jq -r .summary "$work/$1.json")" ]] ||
    fail "$1: the text does not begin with the summary"
  while IFS= read -r line; do
    grep -qF -- "$line" "$work/$1.txt" || fail "$1: not in the text: $line"
  done < <(jq -r '.problems[] | .what, .remedy' "$work/$1.json")
}

doctor root
jq -r '.summary, (.problems[] | select(.costs_holds) | "\(.what) -> \(.remedy)")' "$work/root.json"
consistent root
if [[ -r /sys/kernel/btf/vmlinux ]]; then
  check root "the clock was not read in a BPF program" '.cost.clock | contains("bpf_ktime_get_ns")'
  check root "no tracepoint works" \
    'any(.probes[]; .state == "PROBE_STATE_ATTACHED" and (.name | startswith("tp_btf/")))'
fi

doctor nobody setpriv --reuid=65534 --regid=65534 --clear-groups
consistent nobody
((status == 69)) || fail "nobody measures something: status $status"
[[ ! -r /sys/kernel/btf/vmlinux ]] ||
  check nobody "it does not name what nobody lacks" \
    'any(.problems[]; .costs_holds and (.what | test("CAP_BPF and CAP_PERFMON|user namespace")))'

for arguments in "doctor again" "doctor --output=xml" "doctor --no_such_flag"; do
  status=0
  # shellcheck disable=SC2086 # several words
  "$work/swaplock" $arguments >/dev/null 2>&1 || status=$?
  ((status == 2)) || fail "swaplock $arguments exits with $status"
done

if command -v bpftool >/dev/null; then
  left=$(bpftool -j prog show |
    jq -r '.[] | select(.name // "" | startswith("swaplock_")) | .name')
  [[ -z $left ]] || fail "programs were left behind: $left"
fi
