#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: agent and server together, one workload, and beside them a
# count of the same events that has nothing to do with BPF. Leaves in OUT:
#   windows.slk windows.jsonl   what the agent recorded
#   fleet.json metrics.txt      what the server says
#   oracle.txt                  "FUNCTION HITS MISSED" by kprobe events
#   hold_oracle.json            zram: off-CPU time in two ways (hold_oracle)
#   kernel.txt plan.txt load.txt
# usage: guest_capture.sh OUT WORKLOAD TIER SECONDS
#        AGENT SERVER KERNEL_SYMBOLS HOLD_ORACLE PAGEOUT
set -euo pipefail
out=$1 workload=$2 tier=$3 seconds=$4
agent=$5 server=$6 kernel_symbols=$7 hold_oracle=$8 pageout=$9
here=$(dirname "$(realpath "$0")")
tracing=/sys/kernel/tracing

die() { echo "guest_capture: $*" >&2; exit 1; }

# Waits until a command succeeds; the limit only ends a broken test.
await() {  # WHAT COMMAND...
  local what=$1
  shift
  for _ in {1..600}; do
    "$@" 2>/dev/null && return
    sleep 0.1
  done
  die "no $what"
}

uname -r >"$out/kernel.txt"
modprobe zram 2>/dev/null || true
"$kernel_symbols" --plan >"$out/plan.txt"

"$server" --data_dir /run/ledger --grpc_listen 127.0.0.1:0 \
  --http_listen 127.0.0.1:0 --port_file /run/ports 2>"$out/server.log" &
server_pid=$!
await "server" test -s /run/ports
grpc=127.0.0.1:$(sed -n "s/.*grpc=\([0-9]*\).*/\1/p" /run/ports)
http=127.0.0.1:$(sed -n "s/.*http=\([0-9]*\).*/\1/p" /run/ports)

# Before the agent: at a context switch its program then runs first, or it would
# count the time of the agent's own as less off-CPU time.
oracle_pid=
if [[ $workload = zram && $tier != tracepoints ]]; then
  "$hold_oracle" >"$out/hold_oracle.json" 2>/run/oracle.log &
  oracle_pid=$!
  await "hold oracle" grep -q ready /run/oracle.log
fi

# Before the agent, which attaches zswap's hooks only while it is on: a moment after
# it was switched on is too late for a count.
if [[ $workload = zswap ]]; then
  zswap=/sys/module/zswap/parameters
  modprobe -q lzo || true
  modprobe -q zsmalloc || true
  echo lzo >$zswap/compressor
  [[ ! -e $zswap/zpool ]] || echo zsmalloc >$zswap/zpool
  echo Y >$zswap/enabled
fi

case $tier in
  tracepoints) option=--without=fentry,kprobe ;;
  budget) option=--cpu_budget=0.001 ;;
  *) option= ;;
esac
"$agent" --server "$grpc" --state_dir /run/agent --host_id lab \
  --record "$out/windows.slk" --interval 2s $option 2>"$out/agent.log" &
agent_pid=$!
# Its first window says that all probes are attached.
await "first window" test -s "$out/windows.slk"

# Which function is entered once per hold.
oracles() {
  case $workload in
    zram) echo zcomp_stream_get ;;
    zswap)
      for f in crypto_acomp_compress scomp_acomp_compress; do
        if grep -qw "$f" /proc/kallsyms; then echo "$f"; break; fi
      done
      for f in zswap_decompress zswap_frontswap_load; do
        if grep -qw "$f" /proc/kallsyms; then echo "$f"; break; fi
      done
      ;;
  esac
}
for f in $(oracles); do
  echo "p:swaplock_$f $f" >>"$tracing/kprobe_events"
  echo 1 >"$tracing/events/kprobes/swaplock_$f/enable"
done

case $workload in
  # Two hogs a CPU: with one, the load balancer may leave a CPU without any.
  zram) "$here/workload_zram.sh" --codec zstd --seconds "$seconds" \
    --pause_us 20000 --hogs $((2 * $(nproc))) ;;
  zswap) "$here/workload_zswap.sh" --codec lzo --seconds "$seconds" "$pageout" ;;
esac >"$out/load.txt" 2>&1 || { cat "$out/load.txt" >&2; die "workload failed"; }

sed 's/^ *swaplock_//' "$tracing/kprobe_profile" >"$out/oracle.txt"
for f in $(oracles); do
  echo 0 >"$tracing/events/kprobes/swaplock_$f/enable"
done
if [[ -n $oracle_pid ]]; then
  kill "$oracle_pid"
  wait "$oracle_pid"
fi

kill "$agent_pid"
wait "$agent_pid" || die "agent exited with $?"
curl -fsS "http://$http/api/v1/fleet" >"$out/fleet.json"
curl -fsS "http://$http/metrics" >"$out/metrics.txt"
kill "$server_pid"
wait "$server_pid" || die "server exited with $?"
"$agent" --replay "$out/windows.slk" --print=json >"$out/windows.jsonl"
# A guest that its host does not run for half a minute sees soft lockups.
dmesg | grep -E 'WARNING|BUG:|Oops' |
  grep -v 'soft lockup' >"$out/dmesg.txt" || true
# Nothing of ours is left in the kernel.
if command -v bpftool >/dev/null; then bpftool prog show >"$out/progs.txt"; fi
