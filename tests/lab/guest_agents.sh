# SPDX-License-Identifier: Apache-2.0
#
# For scripts that run agents in a lab guest; sourced. The caller sets out (its
# result folder) and agent (the binary) and has set -euo pipefail.
#
# A run is one agent: OUT/NAME.slk is what it recorded, OUT/NAME.jsonl the same
# as JSON, OUT/NAME.phases its phases, one a line: "PHASE BOOTTIME_NS HITS",
# with the hits so far of the kprobe event on zcomp_stream_get. A phase ends where
# the next begins.

tracing=/sys/kernel/tracing
declare -A agent_pids=()

die() { echo "$(basename "$0"): $*" >&2; exit 1; }

# Waits until a command succeeds; the limit only ends a broken test.
await() {  # WHAT COMMAND...
  local what=$1 try
  shift
  for try in {1..3000}; do
    "$@" 2>/dev/null && return
    ((try % 300)) || echo "still waiting for $what" >&2
    sleep 0.1
  done
  die "no $what"
}

# Without stacks: a new one costs a pass over the kernel's symbols, which takes
# seconds under emulation. Ahead of the load, or it would not come to its windows.
# Every hold is timed, whatever it costs.
begin_agent() {  # NAME [OPTION...]
  nice -n -10 "$agent" --record "$out/$1.slk" --host_id "$1" \
    --interval 500ms --top_k 0 --cpu_budget 0 "${@:2}" 2>"$out/$1.log" &
  agent_pids[$1]=$!
  : >>"$out/$1.phases"
}

# The first window says that all probes are attached.
await_agent() { await "first window of $1" test -s "$out/$1.slk"; }  # NAME

fact() { echo "$*" >>"$out/facts.txt"; }

# A guest that its host does not run for half a minute sees soft lockups.
kernel_warnings() {
  dmesg | grep -E 'WARNING|BUG:|Oops' |
    grep -v 'soft lockup' >"$out/dmesg.txt" || true
}

record_bytes() { stat -c %s "$out/$1.slk"; }  # NAME
has_grown() { (($(record_bytes "$1") > $2)); }  # NAME BYTES

# After N more windows. The second one began after this was called, and what it
# changed on the host was looked at within it, before it was recorded.
await_windows() {  # NAME N
  local bytes n
  for ((n = 0; n < $2; n++)); do
    bytes=$(record_bytes "$1")
    await "window of $1" has_grown "$1" "$bytes"
  done
}

end_agent() {  # NAME; fails if it does not end well
  phase "$1" end
  kill "${agent_pids[$1]}"
  wait "${agent_pids[$1]}" || die "agent $1 exited with $?"
  unset "agent_pids[$1]"
  "$agent" --replay "$out/$1.slk" --print=json >"$out/$1.jsonl"
}

kill_agent() {  # NAME; at once, whatever it does
  kill -9 "${agent_pids[$1]}"
  wait "${agent_pids[$1]}" 2>/dev/null || true
  unset "agent_pids[$1]"
  "$agent" --replay "$out/$1.slk" --print=json >"$out/$1.jsonl"
}

# --- what the kernel counts --------------------------------------------------

count_holds() {
  # With the module's name it outlives the module.
  echo "p:swaplock_get zram:zcomp_stream_get" >>"$tracing/kprobe_events"
  echo 1 >"$tracing/events/kprobes/swaplock_get/enable"
}

hits() {
  awk '$1 == "swaplock_get" { print $2 + $3 }' "$tracing/kprobe_profile"
}

phase() {  # RUN NAME; called when nothing is under way
  local uptime
  read -r uptime _ </proc/uptime
  echo "$2 ${uptime/./}0000000 $(hits)" >>"$out/$1.phases"
}

# --- zram devices ------------------------------------------------------------

add_device() { cat /sys/class/zram-control/hot_add; }  # prints its index

set_up() {  # DEVICE ALGORITHM MIB
  echo "$2" >"/sys/block/$1/comp_algorithm"
  echo "${3}M" >"/sys/block/$1/disksize"
  await "/dev/$1" test -b "/dev/$1"
}

reset_device() { echo 1 >"/sys/block/$1/reset"; }  # DEVICE

# 16 MiB that a codec halves. Not from the first page on: the agent reads that
# one to find the device, which is no hold as long as it is empty.
readonly data=/run/data
make_data() {
  fio --name=data --filename="$data" --rw=write --bs=64k --size=16m \
    --buffer_compress_percentage=50 --refill_buffers=1 --output=/run/data.log
}

write_data() {  # DEVICE
  dd if="$data" of="/dev/$1" bs=256k seek=1 oflag=direct conv=notrunc \
    status=none
}

# --- load in the background ----------------------------------------------------

hog_pids=() writer_pids=()

hogs() {  # N [COMMAND...]: a prefix such as taskset -c 0; at nice 0
  local n
  for ((n = 0; n < $1; n++)); do
    "${@:2}" bash -c 'while :; do :; done' &
    hog_pids+=($!)
  done
}

# Writes all the time; each dd is a process of its own and may be killed.
writer() {  # DEVICE [COMMAND...]: a prefix such as nice -n 19
  (
    trap 'exit 0' TERM
    while :; do
      "${@:2}" dd if="$data" of="/dev/$1" bs=256k seek=1 oflag=direct \
        conv=notrunc status=none || true
    done
  ) 2>/dev/null &
  writer_pids+=($!)
}

end_pids() {  # PID...; what they say of their end is no news
  ((${#@})) || return 0
  kill "$@" 2>/dev/null || true
  wait "$@" 2>/dev/null || true
}

end_hogs() {
  end_pids "${hog_pids[@]}"
  hog_pids=()
}

end_load() {
  end_hogs
  end_pids "${writer_pids[@]}"
  writer_pids=()
}

# --- cgroups --------------------------------------------------------------------

cgroups=/sys/fs/cgroup

new_group() {  # NAME [CPU.MAX]
  mkdir -p "$cgroups/$1"
  [[ -z ${2:-} ]] || echo "$2" >"$cgroups/$1/cpu.max"
}

# A prefix of a command that makes it run in a group, to be split into words.
in_group() { echo "$here/guest_join.sh $cgroups/$1"; }

throttlings() { awk '$1 == "nr_throttled" { print $2 }' "$cgroups/$1/cpu.stat"; }
throttled_times() { (($(throttlings "$1") >= $2)); }  # GROUP N
