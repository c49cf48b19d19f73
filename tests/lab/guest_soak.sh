#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: the agent as it is by default, under full zram load for a while.
# Leaves in OUT, for soak: agent.slk and agent.jsonl (its windows), facts.txt,
# load.txt, dmesg.txt, kernel.txt.
# usage: guest_soak.sh OUT AGENT MINUTES
set -euo pipefail
out=$1 agent=$2 minutes=$3
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/lab/guest_agents.sh
. "$here/guest_agents.sh"

uname -r >"$out/kernel.txt"
modprobe zram
"$agent" --host_id soak --state_dir /run/agent --record "$out/agent.slk" \
  2>"$out/agent.log" &
pid=$!
await_agent agent
memory() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$pid/status"; }
await_windows agent 1
fact anon_kib_at_start "$(memory RssAnon)"
fact file_kib_at_start "$(memory RssFile)"

count_holds
"$here/workload_zram.sh" --codec lz4 --disksize 256 --writers 4 --readers 2 \
  --hogs 2 --seconds $((minutes * 60)) >"$out/load.txt" 2>&1 ||
  { cat "$out/load.txt" >&2; die "workload failed"; }
await_windows agent 2
fact hits "$(hits)"
fact anon_kib_at_end "$(memory RssAnon)"
fact file_kib_at_end "$(memory RssFile)"
fact rss_kib_most "$(memory VmHWM)"
if command -v bpftool >/dev/null; then
  # Nobody else has maps here.
  fact maps_locked_bytes "$(bpftool -j map show | jq '[.[].bytes_memlock // 0] | add // 0')"
fi
kill "$pid"
wait "$pid" || die "the agent exited with $?"
"$agent" --replay "$out/agent.slk" --print=json >"$out/agent.jsonl"
kernel_warnings
