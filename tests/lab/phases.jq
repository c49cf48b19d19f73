# SPDX-License-Identifier: Apache-2.0
#
# The windows of a run (guest_agents.sh), summed up by its phases. A window
# belongs to the phase in which it ended. Called with -s and the phases as $phases;
# prints one object a phase:
#   name hits           the phase, and what the kernel counted in it
#   streams             zram's stream locks, by "DEVICE ALGORITHM"
#   zswap               zswap's lock
#   missed losses       events
#   not_measured        sentences, of all its windows
#   in_progress         holds that last at its end
def number: . // 0 | tonumber;
def total(f): map(f | number) | add // 0;
# Sums of some cells of one lock.
def sums: {
  tiers: (map(.hold_tier) | unique),
  acquisitions: total(.acquisitions),
  hold: total(.hold.sum_ns),
  on_cpu: total(.on_cpu_ns),
  runnable: total(.runnable.sum_ns),
  runnable_count: total(.runnable.count),
  blocked: total(.blocked.sum_ns),
  blocked_count: total(.blocked.count),
  longest_blocked: (map(.blocked.max_ns | number) | max),
  unknown: total(.unknown_ns),
  preempted: total(.preempted_ns),
  throttled: total(.throttled_ns),
};

. as $windows
| [$phases | split("\n")[] | select(. != "") | split(" ")
   | {name: .[0], start: (.[1] | tonumber), hits: (.[2] | tonumber)}] as $p
| range($p | length) as $i
| $p[$i].start as $start
| ($p[$i + 1].start // infinite) as $until
| [$windows[] | (.end_boottime_ns | tonumber) as $at
   | select($at > $start and $at <= $until)] as $w
| [$w[] | .cells[]?] as $cells
| {
    name: $p[$i].name,
    hits: (if $p[$i + 1] then $p[$i + 1].hits - $p[$i].hits else null end),
    windows: ($w | length),
    streams: ([$cells[]
        | select(.key.subsystem == "SUBSYSTEM_ZRAM")
        | .stream = "\(.key.device // "") \(.key.algorithm // "")"]
      | group_by(.stream) | map({key: .[0].stream, value: sums}) | from_entries),
    zswap: ([$cells[] | select(.key.subsystem == "SUBSYSTEM_ZSWAP")] | sums),
    losses: ([$w[] | .losses[]?] | group_by(.reason)
      | map({key: .[0].reason, value: total(.events)}) | from_entries),
    not_measured: ([$w[] | .coverage.not_measured[]?] | unique),
    in_progress: ($w[-1].holds_in_progress // [] | length),
  }
| .missed = (.losses.LOSS_REASON_RECURSION // 0)
