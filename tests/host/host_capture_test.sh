#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The agent on the kernel of this very machine, whatever that lets it attach:
# measures a load on a zram device of its own, says what it could not measure,
# and leaves nothing behind.
set -euo pipefail
root=$PWD
agent=$root/agent/swaplock-agent
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/host.XXXXXX")
load_pid=
agent_pid=
finish() {
  if [[ -n $agent_pid ]]; then
    kill "$agent_pid" 2>/dev/null || true
    wait "$agent_pid" 2>/dev/null || true
  fi
  if [[ -n $load_pid ]]; then
    kill "$load_pid" 2>/dev/null || true
    wait "$load_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT
skip() { echo "SKIPPED: $*"; exit 0; }
fail() { echo "FAILED: $*" >&2; exit 1; }

((EUID == 0)) || skip "needs root"
[[ -r /sys/kernel/btf/vmlinux ]] || skip "this kernel has no BTF"
[[ -d /sys/class/zram-control ]] || skip "this kernel has no zram"
for tool in fio jq; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done

devices() { find /sys/block -maxdepth 1 -name 'zram*' | sort; }
before=$(devices)
"$root/tests/lab/workload_zram.sh" --codec lz4 --disksize 128 --writers 6 \
  --readers 2 --hogs 0 --seconds 8 >"$work/load" 2>&1 &
load_pid=$!
# A server that is not there, so that threads of its own run too.
"$agent" --host_id here --interval 1s --seconds 8 --record "$work/w.slk" \
  --state_dir "$work/state" --server 127.0.0.1:1 --drain 0s \
  2>"$work/agent.log" &
agent_pid=$!
# With its first window it has what it will have.
for _ in {1..600}; do
  [[ -s $work/w.slk ]] && break
  sleep 0.1
done
# cap_dac_override, cap_dac_read_search, cap_sys_admin, cap_syslog, cap_perfmon,
# cap_bpf; none in any thread beyond them.
allowed=$((1 << 1 | 1 << 2 | 1 << 21 | 1 << 34 | 1 << 38 | 1 << 39))
while read -r _ mask; do
  (((16#$mask & ~allowed) == 0)) || fail "a thread of the agent may still do $mask"
done < <(cat /proc/"$agent_pid"/task/*/status | grep -E '^Cap(Prm|Eff|Inh|Amb):')
status=0
wait "$agent_pid" || status=$?
agent_pid=
((status == 0)) || fail "the agent exited with $status: $(tail -n 1 "$work/agent.log")"
status=0
wait "$load_pid" || status=$?
load_pid=
((status != 77)) || skip "$(tail -n 1 "$work/load")"
((status == 0)) || fail "the workload: $(tail -n 1 "$work/load")"

"$agent" --replay "$work/w.slk" --print=json >"$work/w.jsonl"
jq -rs '
  "kernel \(.[0].environment.kernel_release), \(length) windows, probes attached \([.[0].coverage.probes[] | select(.state == "PROBE_STATE_ATTACHED")] | length)",
  ([.[].cells[]? | select(.key.device != null) | {k: "\(.key.subsystem) \(.key.role) \(.hold_tier // "-") \(.wait_tier // "-")", a: (.acquisitions // 0 | tonumber), c: (.contended // 0 | tonumber)}]
   | group_by(.k)[] | "\(.[0].k): acquisitions \(map(.a) | add), contended \(map(.c) | add)"),
  (.[-1].coverage.not_measured[]? | "not measured: \(.)")' "$work/w.jsonl"

check() { jq -se "$2" "$work/w.jsonl" >/dev/null || fail "$1"; }
check "no tracepoint could be attached" \
  '[.[].coverage.probes[] | select(.state == "PROBE_STATE_ATTACHED" and .name == "tp_btf/contention_begin")] | length > 0'
check "the device of the workload was not found" \
  '[.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM" and .key.algorithm == "lz4")] | length > 0'
check "nobody contended for zsmalloc" \
  '[.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZSMALLOC") | .contended // 0 | tonumber] | add > 0'
# Where hold hooks are refused, the coverage names what is missing and why.
check "neither holds nor a reason for their absence" \
  '[.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM") | .acquisitions // 0 | tonumber] as $a
   | ($a | add) > 0 or ([.[-1].coverage.not_measured[]? | select(startswith("zram stream lock"))] | length > 0)'

[[ $(devices) = "$before" ]] || fail "zram devices were left behind"
if command -v bpftool >/dev/null; then
  left=$(bpftool -j prog show |
    jq -r '.[] | select(.name // "" | test("^(contention_(begin|end)|owner_switch|owner_wakeup|switch_hook|zram_|zswap_)")) | .name')
  [[ -z $left ]] || fail "programs were left behind: $left"
fi
