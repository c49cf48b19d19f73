# SPDX-License-Identifier: Apache-2.0
# The table of soak, from the windows (-s) and the $facts of its guest.
include "soak_sums";
def mib: . / 1048576 * 100 | round / 100 | tostring + " MiB";
def seconds: ((.[-1].end_boottime_ns | tonumber) - (.[0].start_boottime_ns | tonumber)) / 1e9;
def rss: map(.overhead.rss_bytes | number);
def mean: add / length;
# The first window is that in which the agent starts.
.[1:] as $w | ($w | rss) as $rss | ($rss | length / 3 | floor) as $third
| sums as $s
| "| kernel \($kernel), preempt=\($preempt), \(length) windows in \(seconds / 60 * 10 | round / 10) minutes | |",
  "|---|--:|",
  "| holds counted | \($s.acquisitions) |",
  "| of them timed (CPU budget) | \($s.timed) |",
  "| entries of zcomp_stream_get, by a kprobe event | \($facts.hits) |",
  "| runs skipped of the programs that see it got or given, counted | \($s.missed) |",
  "| holds lost uncounted | \([0, $facts.hits - $s.acquisitions - $s.missed] | max) |",
  "| lost events by reason, counted | \(if $s.losses == {} then "none" else [$s.losses | to_entries[] | "\(.key) \(.value)"] | join(", ") end) |",
  "| resident: first, middle, last window | \($rss[0] | mib), \($rss[length / 2 | floor] | mib), \($rss[-1] | mib) |",
  "| resident, mean of the first and of the last third | \($rss[:$third] | mean | mib), \($rss[-$third:] | mean | mib) |",
  "| of it the agent's own memory, without files and maps: at the start, at the end | \($facts.anon_kib_at_start * 1024 | mib), \($facts.anon_kib_at_end * 1024 | mib) |",
  "| resident, the most ever (while it starts) | \($facts.rss_kib_most * 1024 | mib) |",
  "| maps, by size; as the kernel charges them | \($w[-1].overhead.map_bytes | number | mib); \(if $facts.maps_locked_bytes then $facts.maps_locked_bytes | mib else "not known" end) |",
  "| the agent's CPU time per window: mean, most | \($w | map(.overhead.agent_cpu_ns | number) | "\(mean / 1e6 * 10 | round / 10) ms, \(max / 1e6 * 10 | round / 10) ms") |"
