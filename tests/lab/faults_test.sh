#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Boots a real kernel, lets things happen to it under a running agent, and checks
# that no hold is invented or lost without being counted as lost.
#
# usage: faults_test.sh KERNEL PREEMPT SCENARIO...
#   SCENARIO  a function of guest_faults.sh; each has its checks here
set -euo pipefail
kernel=$1 preempt=$2
shift 2
# shellcheck source=tests/lab/in_guest.sh
. tests/lab/in_guest.sh

in_guest --kernel "$kernel" --preempt "$preempt" --timeout 700 -- \
  "$(bin tests/lab/guest_faults.sh)" "$out" "$(bin agent/swaplock-agent)" \
  "$(bin tests/lab/zswap_pageout)" "$@"
sum_phases

check() {  # TEXT RUN PHASE JQ-CONDITION
  jq -se --arg name "$3" \
    "[.[] | select(.name == \$name)] | length == 1 and (.[0] | $4)" \
    "$out/$2.sums" >/dev/null && return
  fail "$1"
  jq -c --arg name "$3" 'select(.name == $name)' "$out/$2.sums" >&2
}
# All holds were counted, but for the missed events; with STREAM, on no other.
check_counts() {  # RUN PHASE [STREAM]
  check "$2: acquisitions are not what the kernel counted" "$1" "$2" \
    '([.streams[].acquisitions] | add) as $n
      | .hits > 100 and $n <= .hits and $n + .missed >= .hits'
  check "$2: the parts are not the holds" "$1" "$2" \
    '.streams | all(.on_cpu + .runnable + .blocked + .unknown == .hold)'
  [[ -z ${3:-} ]] ||
    check "$2: holds are not all of $3" "$1" "$2" \
      ".streams | to_entries | all(.value.acquisitions == 0 or .key == \"$3\")"
}

check_devices() {
  check "a window without the module does not say so" main loading \
    '.not_measured | any(test("^zram: its module is not loaded"))'
  check_counts main late "zram1 zstd"
  check_counts main again "zram1 lz4"
  check_counts main quick  # until it looks again, of no device
}

check_hotplug() {
  check_counts main hotplug
  [[ $(fact hotplug_cycles) = 3 ]] || fail "not 3 cycles of hotplug"
}

check_killed() {
  check_counts main killed "zram1 lz4"
  check "killed: a hold did not end" main killed '.in_progress == 0'
  echo "killed: $(fact killed_holders) in the lock, $(fact killed_waiters) waiting for it"
}

check_restart() {
  local hits_idle hits_begun n missed
  # What the first one recorded until it was killed.
  check "restart: holds were invented before the kill" main restart \
    "([.streams[].acquisitions] | add // 0) <= $(fact hits_before_second)
      - $(awk '$1 == "restart" { print $3 }' "$out/main.phases")"
  hits_begun=$(awk '$1 == "begun" { print $3 }' "$out/second.phases")
  hits_idle=$(awk '$1 == "idle" { print $3 }' "$out/second.phases")
  n=$(jq -s '[.[] | .cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM") | .acquisitions // 0 | tonumber] | add' "$out/second.jsonl")
  n=$((n - $(jq -s '[.[] | select(.name == "idle" or .name == "refused") | .streams[].acquisitions] | add' "$out/second.sums")))
  missed=$(jq -s '[.[] | .losses[]? | select(.reason == "LOSS_REASON_RECURSION") | .events | tonumber] | add // 0' "$out/second.jsonl")
  echo "restart: $n acquisitions from the start on, $missed missed; the kernel counted $((hits_idle - hits_begun)) to $((hits_idle - $(fact hits_before_second)))"
  ((n <= hits_idle - $(fact hits_before_second))) ||
    fail "restart: holds were invented"
  ((n + missed >= hits_idle - hits_begun)) || fail "restart: holds were lost"
  jq -r 'select(.name == "begun") | "restart: losses \(.losses)"' "$out/second.sums"
}

check_module() {
  (($(fact references_hooked) > 0)) || fail "hooks do not hold the module"
  # Refused, it is as if nothing had been asked.
  check_counts second refused "zram1 lz4"
  check "absent: not said" owner absent \
    '(.streams | length) == 0
      and (.not_measured | any(test("^zram: its module is not loaded")))'
  check "back: no preempted owner was found" owner back \
    '.streams["zram1 zstd"] | .runnable_count > 0
      and .tiers == ["TIER_OWNER_PROBE"]'
  check "back: said to be absent" owner back \
    '.not_measured | all(test("^zram: its module is not loaded") | not)'
}

# Counted as the kernel counts while it is on; nothing said of it while it is off.
check_zswap_switched() {
  local phase
  for phase in off off_again; do
    check "$phase: zswap is not said to be off" switched $phase \
      '.zswap.tiers == [] and (.not_measured | any(test("^zswap: it is off")))'
  done
  for phase in on on_again; do
    check "$phase: zswap's holds are not what the kernel counted" switched $phase \
      ".zswap.acquisitions as \$n | $(fact zswap_hits_$phase) as \$hits
        | \$hits > 200 and \$n <= \$hits and \$n + .missed >= \$hits"
    check "$phase: zswap is said to be off" switched $phase \
      '.not_measured | all(test("^zswap: it is off") | not)'
    check "$phase: the parts are not the holds" switched $phase \
      '.zswap | .on_cpu + .runnable + .blocked + .unknown == .hold'
    echo "zswap_switched: the kernel counted $(fact zswap_hits_$phase)"
  done
}

check_throttled_zswap() {
  check "no holder was throttled" zswap begun '.zswap.throttled > 0'
  check "a part is longer than the whole" zswap begun \
    '.zswap | .throttled <= .preempted and .preempted <= .runnable'
  echo "throttled_zswap: group throttled $(fact throttlings_alone) times"
}

echo "kernel $(cat "$out/kernel.txt"), preempt=$preempt: $*"
for scenario in "$@"; do "check_$scenario"; done
for sums in "$out"/*.sums; do
  echo "run $(basename "$sums" .sums)"
  jq -r '"  \(.name): hits \(.hits), missed \(.missed)"
    + ([.streams | to_entries[] | "; \(.key): \(.value | "\(.acquisitions) holds, runnable \(.runnable_count) \(.runnable) ns, blocked \(.blocked) ns")"] | add // "")
    + (if .zswap.acquisitions > 0 then "; zswap: \(.zswap | "\(.acquisitions) holds, runnable \(.runnable) ns, preempted \(.preempted) ns, throttled \(.throttled) ns")" else "" end)
    + (if .losses != {} then "; losses \(.losses)" else "" end)' "$sums"
done
[[ ! -s $out/dmesg.txt ]] || { cat "$out/dmesg.txt" >&2; fail "the kernel warned"; }
((failures == 0))
