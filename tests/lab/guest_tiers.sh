#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: several agents at once on one load, each with its own means.
# tiers_test.sh compares them. Leaves in OUT the runs of guest_agents.sh, one a
# tier, and facts.txt, dmesg.txt as guest_faults.sh does.
# usage: guest_tiers.sh OUT AGENT MEMORY_SQUEEZE SECONDS
set -euo pipefail
out=$1 agent=$2 squeeze=$3 seconds=$4
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/lab/guest_agents.sh
. "$here/guest_agents.sh"

# What each does without.
declare -A tiers=(
  [exact]=none
  [owner]="fentry,kprobe"
  [kprobe]=fentry
)

all_windows() {  # N
  local tier
  for tier in "${!tiers[@]}"; do await_windows "$tier" "$1"; done
}

all_phases() {  # NAME
  local tier
  for tier in "${!tiers[@]}"; do phase "$tier" "$1"; done
}

uname -r >"$out/kernel.txt"
modprobe zram
echo +cpu >"$cgroups/cgroup.subtree_control"
[[ $(add_device) = 1 ]] || die "the new device is not zram1"
set_up zram1 zstd 768
# As many of the longest as there can be with two CPUs: SL_TOP for each.
for tier in "${!tiers[@]}"; do
  begin_agent "$tier" --top_k 32 --without="${tiers[$tier]}"
done
make_data
count_holds
for tier in "${!tiers[@]}"; do await_agent "$tier"; done
# The names of functions are not looked at here, and learning those of a new stack
# takes seconds under emulation.
mount --bind /dev/null /proc/kallsyms
all_windows 1

# Pinned: a task that waits for the stream of one CPU and gets it on another is
# preempted there, where the owner probe does not look for that stream's owner.
all_phases preempted
"$here/workload_zram.sh" --device zram1 --disksize 64 --pin --hogs 4 \
  --seconds "$seconds" --pause_us 20000 >"$out/load.txt" 2>&1 ||
  { cat "$out/load.txt" >&2; die "workload failed"; }
all_windows 2

# A holder sleeps: its allocation waits for memory.
all_phases blocked
"$squeeze" /dev/zram1 64 768 5 "${agent_pids[@]}" >"$out/squeeze.txt"
all_windows 2

# The holder's group has used up its time. It is alone in it: when the group is
# throttled, so is the task.
all_phases alone
new_group alone "10000 100000"
# shellcheck disable=SC2046 # words
writer zram1 $(in_group alone) taskset -c 0
hogs 2 taskset -c 0
await "throttling" throttled_times alone 10
echo max >"$cgroups/alone/cpu.max"
end_load
fact throttlings_alone "$(throttlings alone)"
all_windows 2

# One of a group is throttled while another one, in the lock, is preempted.
all_phases group
new_group group "20000 100000"
for _ in {1..4}; do
  # shellcheck disable=SC2046 # words
  writer zram1 $(in_group group)
done
hogs 4
await "throttling" throttled_times group 10
echo max >"$cgroups/group/cpu.max"
end_load
fact throttlings_group "$(throttlings group)"
all_windows 2

for tier in "${!tiers[@]}"; do end_agent "$tier"; done
kernel_warnings
