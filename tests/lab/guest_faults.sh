#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: what may happen to a host under a running agent, one scenario
# after the other. faults_test.sh checks what came out. Leaves in OUT, beside
# the runs of guest_agents.sh:
#   facts.txt   "NAME VALUE", what the scenarios found
#   dmesg.txt   warnings of the kernel
# usage: guest_faults.sh OUT AGENT PAGEOUT SCENARIO...
set -euo pipefail
out=$1 agent=$2 pageout=$3
shift 3
here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/lab/guest_agents.sh
. "$here/guest_agents.sh"

# A dd of group `writers` whose stack has FUNCTION; sets found. No forks, so
# that the task is still there when it is used.
found=
find_inside() {  # FUNCTION
  local pid comm stack pids
  mapfile -t pids <"$cgroups/writers/cgroup.procs"
  for pid in "${pids[@]}"; do
    read -r comm <"/proc/$pid/comm" && [[ $comm = dd ]] || continue
    stack=
    IFS= read -r -d '' stack <"/proc/$pid/stack" || true
    [[ $stack == *" $1+"* || $stack == *" $1 "* ]] || continue
    found=$pid
    return
  done 2>/dev/null
  return 1
}

# Writers at nice 19, each on one CPU, and hogs.
begin_preempted_writers() {
  local cpu
  new_group writers
  for cpu in 0 1 0 1; do
    # shellcheck disable=SC2046 # words
    writer zram1 $(in_group writers) nice -n 19 taskset -c "$cpu"
  done
  hogs 4
}

# --- zram comes late, its device is reset and set up again ---------------------

devices() {
  rmmod zram
  begin_agent main
  # For the scenario `module`; two start as fast as one.
  begin_agent owner --without=fentry,kprobe
  await_agent main
  await_agent owner
  await_windows main 1
  phase main loading
  modprobe zram num_devices=1
  await_windows main 2
  [[ $(add_device) = 1 ]] || die "the new device is not zram1"
  set_up zram1 zstd 128
  await_windows main 2
  phase main late
  write_data zram1
  await_windows main 2

  phase main other
  reset_device zram1
  await_windows main 2
  set_up zram1 lz4 64
  await_windows main 2
  phase main again
  write_data zram1
  await_windows main 2

  # Between two looks of the agent, so that it sees no difference. It looks again
  # when there are holds that are nobody's, at most every 5 s.
  phase main quick
  reset_device zram1
  set_up zram1 lz4 64
  write_data zram1
  await_windows main 2
}

# --- a CPU goes and comes ---------------------------------------------------------

hotplug() {
  local n online=/sys/devices/system/cpu/cpu1/online
  phase main hotplug
  for n in {1..4}; do writer zram1; done
  for n in {1..3}; do
    echo 0 >$online
    await_windows main 2
    echo 1 >$online
    await_windows main 2
  done
  end_load
  await_windows main 2
  fact hotplug_cycles "$n"
}

# --- tasks are killed while they hold or wait ---------------------------------------

killed() {
  local n holders=0 waiters=0
  phase main killed
  begin_preempted_writers
  for n in {1..4}; do
    await "holder" find_inside zcomp_compress
    kill -9 "$found" && holders=$((holders + 1))
    for _ in {1..20}; do
      find_inside zcomp_stream_get || continue
      kill -9 "$found" && waiters=$((waiters + 1))
      break
    done
  done
  end_load
  await_windows main 2
  fact killed_holders "$holders"
  fact killed_waiters "$waiters"
}

# --- the agent is killed in mid-hold and started again ---------------------------------------

restart() {
  phase main restart
  begin_preempted_writers
  await "holder" find_inside zcomp_compress
  kill_agent main
  # Under emulation the next one would take minutes to start beside all of them.
  end_load
  fact hits_before_second "$(hits)"
  writer zram1 taskset -c 1 nice -n 19
  begin_agent second
  await_agent second
  phase second begun
  await_windows second 2
  end_load
  await_windows second 2
  phase second idle
}

# --- the module goes and comes -----------------------------------------------------------------

unreferenced() { (($(cat /sys/module/zram/refcnt) == 0)); }
unload() { rmmod zram 2>>"$out/rmmod.txt"; }

module() {
  # Hooks on its functions hold the module.
  fact references_hooked "$(cat /sys/module/zram/refcnt)"
  if unload; then die "zram was removed under its hooks"; fi
  phase second refused
  write_data zram1
  await_windows second 2
  end_agent second

  # Tracepoints do not.
  await "release of the module" unreferenced
  unload || die "zram cannot be removed"
  await_windows owner 2
  phase owner absent
  await_windows owner 1
  phase owner loading
  modprobe zram num_devices=1
  [[ $(add_device) = 1 ]] || die "the new device is not zram1"
  set_up zram1 zstd 128
  await_windows owner 2
  phase owner back
  begin_preempted_writers
  await_windows owner 3
  await "holder" find_inside zcomp_compress
  end_load
  await_windows owner 2
  end_agent owner
}

# --- zswap is switched on and off -----------------------------------------------

zswap=/sys/module/zswap/parameters
zswap_hits() {  # of its lock
  awk '$1 ~ /^swaplock_zswap/ { n += $2 + $3 } END { print n + 0 }' \
    "$tracing/kprobe_profile"
}

# Leaves zswap as it was: on, and without pages.
load_zswap() {  # NAME
  local before
  before=$(zswap_hits)
  "$here/workload_zswap.sh" --codec lzo --hogs 0 --mib 8 --seconds 4 "$pageout" \
    >>"$out/load.txt" 2>&1 || die "zswap's workload failed"
  fact "$1" $(($(zswap_hits) - before))
}

switch_zswap() {  # Y|N
  echo "$1" >$zswap/enabled
  # It looks each second, and twice before zswap counts as off.
  await_windows switched 6
}

zswap_switched() {
  local f
  for f in crypto_acomp_compress zswap_decompress; do
    echo "p:swaplock_zswap_$f $f" >>"$tracing/kprobe_events"
    echo 1 >"$tracing/events/kprobes/swaplock_zswap_$f/enable"
  done
  modprobe -q lzo || true
  echo lzo >$zswap/compressor
  [[ $(cat $zswap/enabled) = N ]] || die "zswap is on from the start"
  begin_agent switched
  await_agent switched
  phase switched off
  await_windows switched 2
  phase switched switching
  switch_zswap Y
  phase switched on
  load_zswap zswap_hits_on
  await_windows switched 2
  phase switched switching_off
  switch_zswap N
  phase switched off_again
  await_windows switched 2
  phase switched switching_again
  switch_zswap Y
  phase switched on_again
  load_zswap zswap_hits_on_again
  await_windows switched 2
  end_agent switched
  echo N >$zswap/enabled
}

# --- zswap, 6.12: a holder is throttled inside its mutex ---------------------------------------------

throttled_zswap() {
  local load
  begin_agent zswap
  await_agent zswap
  phase zswap begun
  new_group alone
  # shellcheck disable=SC2046 # words
  $(in_group alone) "$here/workload_zswap.sh" --codec zstd --low 2 --high 0 \
    --hogs 0 --mib 4 --seconds 300 "$pageout" >"$out/load.txt" 2>&1 &
  load=$!
  swapped_out() { awk '$1 == "zswpout" { n = $2 } END { exit n == 0 }' /proc/vmstat; }
  await "page in zswap" swapped_out
  echo "10000 100000" >"$cgroups/alone/cpu.max"
  await "throttling" throttled_times alone 60
  echo max >"$cgroups/alone/cpu.max"
  fact throttlings_alone "$(throttlings alone)"
  kill "$load"
  wait "$load" || true
  await_windows zswap 2
  end_agent zswap
}

uname -r >"$out/kernel.txt"
modprobe zram
echo +cpu >"$cgroups/cgroup.subtree_control"
make_data
count_holds
for scenario in "$@"; do
  started=$SECONDS
  "$scenario"
  echo "$scenario took $((SECONDS - started)) s"
done
kernel_warnings
