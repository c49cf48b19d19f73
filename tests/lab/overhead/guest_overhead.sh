#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest whose clock counts instructions (lab --icount): the same fio run
# and the same context switches with nothing attached, with the agent and with
# others. Appends one JSON object a run to OUT/runs.jsonl and, of the agent at
# rest and under load, its windows to OUT/rest.jsonl and OUT/load.jsonl.
#
# usage: guest_overhead.sh OUT ROUNDS IOS LOAD_SECONDS
#        AGENT HOOK_FLOOR SWITCHES KLOCKSTAT|- HOLD_BENCHMARK [NAME,...]
set -euo pipefail
out=$1 rounds=$2 ios=$3 load_seconds=$4
agent=$5 hook_floor=$6 switches=$7 klockstat=$8 hold_benchmark=$9
only=${10:-}
device=/dev/zram0
run=/run/overhead
mkdir -p "$run"

die() { echo "guest_overhead: $*" >&2; exit 1; }

await() {  # WHAT COMMAND...: the limit only ends a broken run
  local what=$1
  shift
  for _ in {1..600}; do
    "$@" 2>/dev/null && return
    sleep 0.1
  done
  die "no $what"
}

echo lz4 >/sys/block/zram0/comp_algorithm
echo 128M >/sys/block/zram0/disksize
io=(--filename="$device" --ioengine=psync --direct=1 --size=128M
  --buffer_compress_percentage=50 --thread --randseed=1)
fio --name=fill --rw=write --bs=64k "${io[@]}" --refill_buffers=1 \
  --output="$run/fill"

# Instructions that all threads of a process have run, in ns of this clock.
cpu_ns() {  # PID
  local total=0 ns _
  for thread in "/proc/$1/task/"*; do
    read -r ns _ <"$thread/schedstat" && total=$((total + ns))
  done
  echo "$total"
}

zram_hooks=(get_nothing put_nothing compress_nothing bio_begin_nothing
  bio_end_nothing)
zsmalloc_hooks=(obj_write_nothing obj_read_begin_nothing obj_read_end_nothing)

links() { bpftool -j link show 2>/dev/null | jq length; }

# Starts what is to be attached. `pid` is its process, or empty; `warm_ios` how
# many I/Os it was given already.
attach() {  # WHAT
  local before
  pid='' warm_ios=0
  case $1 in
    nothing) ;;
    hooks-2) floor get_nothing put_nothing ;;
    hooks-zram) floor "${zram_hooks[@]}" ;;
    hooks-all) floor "${zram_hooks[@]}" "${zsmalloc_hooks[@]}" ;;
    clocks) floor get_clock put_clock ;;
    switch-hook) floor switch_nothing ;;
    agent) start_agent ;;
    agent-zswap)
      echo Y >/sys/module/zswap/parameters/enabled
      start_agent
      ;;
    agent-kprobes) start_agent --without=fentry ;;
    agent-tracepoints) start_agent --without=fentry,kprobe ;;
    agent-counting) start_counting_agent ;;
    klockstat)
      before=$(links)
      "$klockstat" >"$run/log" 2>&1 &
      pid=$!
      # It says nothing until the end, so wait for the last of its links.
      await "klockstat" more_links "$before"
      ;;
    *) die "what is $1?" ;;
  esac
}

floor() {  # PROGRAM...
  "$hook_floor" "$@" 2>"$run/log" &
  pid=$!
  await "hook_floor" grep -q ready "$run/log"
}

start_agent() {  # OPTION...
  rm -f "$run/w.slk"
  "$agent" --host_id lab --record "$run/w.slk" "$@" 2>"$run/log" &
  pid=$!
  # Its first window comes when all is attached.
  await "first window" test -s "$run/w.slk"
}

# An agent whose budget for timing holds is used up: it times next to none.
start_counting_agent() {
  local bytes
  start_agent --cpu_budget=0.000001 --interval 2s
  warm_ios=1000
  run_fio "$warm_ios"
  bytes=$(stat -c %s "$run/w.slk")
  await "window with holds" grown "$bytes"
}

grown() { (($(stat -c %s "$run/w.slk") > $1)); }

run_fio() {  # IOS
  fio --name=run --rw=randrw --bs=4k --norandommap --number_ios="$1" \
    "${io[@]}" --output-format=json --output="$run/fio.json" >"$run/fio.log" ||
    die "fio failed: $(tail -n 3 "$run/fio.log")"
}

# Links that grew in number and no longer do.
more_links() {  # BEFORE
  local now
  now=$(links)
  sleep 2
  ((now > $1 && now == $(links)))
}

detach() {
  [[ -n $pid ]] || return 0
  kill -INT "$pid"
  wait "$pid" || die "it exited with $?: $(tail -n 3 "$run/log")"
}

# What the agent recorded, so that it is known to have measured.
counted_holds() {
  "$agent" --replay "$run/w.slk" --print=json |
    jq -s '[.[].cells[]? | .acquisitions // 0 | tonumber] | add // 0'
}

measure() {  # ROUND WHAT
  local own=0 before ns_per_switch holds=0
  attach "$2"
  [[ -z $pid ]] || before=$(cpu_ns "$pid")
  run_fio "$ios"
  [[ -z $pid ]] || own=$(($(cpu_ns "$pid") - before))
  ns_per_switch=$("$switches" 20000)
  detach
  [[ $2 != agent-zswap ]] || echo N >/sys/module/zswap/parameters/enabled
  [[ $2 != agent* ]] || holds=$(($(counted_holds) - warm_ios))
  jq -c --arg what "$2" --argjson round "$1" --argjson own "$own" \
    --argjson switch "$ns_per_switch" --argjson holds "$holds" '.jobs[0] | {
      what: $what, round: $round,
      ios: (.read.total_ios + .write.total_ios),
      runtime_ms: .job_runtime,
      call_ns: (.read.total_ios * .read.clat_ns.mean
        + .write.total_ios * .write.clat_ns.mean),
      own_ns: $own, holds: $holds, switch_ns: $switch}' "$run/fio.json" >>"$out/runs.jsonl"
}

what=(nothing hooks-2 clocks hooks-zram)
# Functions that 6.16 and later have.
if grep -qw zs_obj_read_begin /proc/kallsyms; then what+=(hooks-all); fi
what+=(switch-hook agent agent-zswap agent-counting agent-kprobes agent-tracepoints)
[[ $klockstat = - ]] || what+=(klockstat)
[[ -z $only ]] || IFS=, read -ra what <<<"$only"
uname -r >"$out/kernel.txt"
for ((round = 1; round <= rounds; round++)); do
  for each in "${what[@]}"; do measure "$round" "$each"; done
done

"$hold_benchmark" 5 2000 >"$out/bodies"

# The agent's own time and memory by the window: at rest, then while fio runs.
# The window in which the agent starts is not among them.
windows() {  # NAME INTERVAL COMMAND...
  local name=$1
  start_agent --interval "$2"
  "${@:3}"
  detach
  "$agent" --replay "$run/w.slk" --print=json | tail -n +2 >"$out/$name.jsonl"
}
windows rest 10s sleep 31
windows load 2s fio --name=load --rw=randrw --bs=4k --norandommap --time_based \
  --runtime="$load_seconds" "${io[@]}" --output="$run/load"
