#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Boots a real kernel, measures a workload on it with agent and server inside
# the guest, and checks what came out. The arguments say what must be true.
#
# usage: capture_test.sh KERNEL PREEMPT WORKLOAD TIER [EXPECTATION...]
#   PREEMPT      none, voluntary, full, lazy, or - for the kernel's own
#   WORKLOAD     zram or zswap
#   TIER         all; tracepoints (as where function hooks are refused); budget
#                (all, but little CPU, so that not every hold is timed)
#   EXPECTATION  model=MODEL       of the workload's lock
#                runnable=some     holds were preempted, the longest over 10 ms
#                runnable=none     no hold was
#                inversion=some    a nice -19 reader waited for a nice 19 writer
#                                  while a nice 0 hog ran, and a hold says so
#                smp=N             virtual CPUs of the guest
set -euo pipefail
kernel=$1 preempt=$2 workload=$3 tier=$4
shift 4
# shellcheck source=tests/lab/in_guest.sh
. tests/lab/in_guest.sh

options=(--kernel "$kernel" --timeout 420)
[[ $preempt = - ]] || options+=(--preempt "$preempt")
[[ $workload != zswap ]] || options+=(--memory 2560)
cpus=2
for expectation in "$@"; do
  [[ $expectation = smp=* ]] || continue
  cpus=${expectation#smp=}
  options+=(--smp "$cpus")
done
in_guest "${options[@]}" -- "$(bin tests/lab/guest_capture.sh)" "$out" \
  "$workload" "$tier" "${SWAPLOCK_LAB_SECONDS:-8}" \
  "$(bin agent/swaplock-agent)" "$(bin server/swaplock-server)" \
  "$(bin agent/capture/kernel_symbols_main)" "$(bin tests/lab/hold_oracle_main)" \
  "$(bin tests/lab/zswap_pageout)"

check() {  # TEXT JQ-CONDITION: over the array of all windows
  jq -se "$2" "$out/windows.jsonl" >/dev/null || fail "$1"
}
total() { jq -s "$1 // 0" "$out/windows.jsonl"; }

# The longest runnable part is preemption; a hold says who ran instead for most of
# it and where it was, and one says who waited. Who ran is asked of the longest
# where there is one CPU, else of some hold: one that another CPU took over is
# known to its first CPU only.
check_explained() {
  local longest='[.[] | .top_holds[]?] | max_by(.runnable_ns // 0 | tonumber)'
  local whose='.[] | .top_holds[]?'
  [[ $cpus != 1 ]] || whose=$longest
  check "the longest runnable part is not mostly preempted" \
    "$longest | (.preempted_ns // 0 | tonumber) > 0.9 * (.runnable_ns | tonumber)"
  check "no hold is explained by who ran instead" \
    "[$whose"'
      | (.preempted_ns // 0 | tonumber) as $preempted
      | select($preempted > 10000000 and $preempted > 0.9 * (.runnable_ns | tonumber))
      | select(([.preemptors[]?.ns | tonumber] | add // 0) > 0.5 * $preempted)
      | select((.switch_stack // []) | any(test("schedule")))] | length > 0'
  check "nobody is known to have waited" \
    '[.[] | .top_holds[]? | select(.waiters)] | length > 0'
  jq -rs "$longest | \"longest runnable part: \(.runnable_ns) ns; instead ran \([.preemptors[]? | \"\(.comm)[\(.pid)] \(.ns) ns\"] | join(\", \")); waited \([.waiters[]? | \"\(.comm)[\(.pid)] nice \(.nice // 0) \(.ns) ns\"] | join(\", \"))\"" "$out/windows.jsonl"
}

SUBSYSTEM=SUBSYSTEM_${workload^^}
# All cells of the workload's lock, numbers as numbers.
cells="[.[] | .cells[]? | select(.key.subsystem == \"$SUBSYSTEM\")]"
sum() { total "$cells | map($1 // 0 | tonumber) | add"; }

echo "kernel $(cat "$out/kernel.txt"), $workload, tier $tier"
head -n 4 "$out/plan.txt"
cat "$out/load.txt"
acquisitions=$(sum .acquisitions)
runnable=$(sum .runnable.sum_ns)
blocked=$(sum .blocked.sum_ns)
hold=$(sum .hold.sum_ns)
on_cpu=$(sum .on_cpu_ns)
unknown=$(sum .unknown_ns)
waits=$(sum .wait.count)
misses=$(total '[.[] | .losses[]? | select(.reason == "LOSS_REASON_RECURSION") | .events | tonumber] | add')
longest=$(total "[.[] | .top_holds[]? | .hold_ns | tonumber] | max")
echo "acquisitions $acquisitions, hold $hold ns = on-CPU $on_cpu + runnable $runnable + blocked $blocked + unknown $unknown; waits $waits; longest $longest ns; missed $misses"

# A guest permits everything, so what was refused is a mistake of ours.
if [[ $tier != tracepoints ]]; then
  refused=$(jq -rs '[.[].coverage.probes[]? | select(.state == "PROBE_STATE_REFUSED") | "\(.name): \(.reason)"] | unique[]' "$out/windows.jsonl")
  [[ -z $refused ]] || fail "$refused"
fi

# Every window obeys the schema (the replay parsed it), and the parts sum.
if [[ $tier != tracepoints ]]; then
  ((acquisitions > 100)) || fail "only $acquisitions acquisitions"
  ((on_cpu + runnable + blocked + unknown == hold)) || fail "the parts are not the holds"
  # The switch hook was there, so nothing is unknown.
  ((unknown == 0)) || fail "$unknown ns of hold are unknown"
  check "a top hold's parts do not sum" '[.[] | .top_holds[]? | ([.on_cpu_ns, .runnable_ns, .blocked_ns, .unknown_ns] | map(. // 0 | tonumber) | add) == (.hold_ns | tonumber)] | all'

  # Counted by kprobe events, which know nothing of us.
  case $workload in
    zram)
      hits=$(awk '$1 == "zcomp_stream_get" {print $2 + $3}' "$out/oracle.txt")
      echo "oracle: zcomp_stream_get $hits"
      missed=$(total '[.[] | .coverage.probes[]? | select(.name | test("zcomp_stream")) | .misses // 0 | tonumber] | add')
      ((acquisitions <= hits && acquisitions + missed >= hits)) ||
        fail "$acquisitions acquisitions, $missed missed, but the kernel counted $hits"
      reads=$(total "$cells | map(select(.key.operation == \"OPERATION_READ\") | .acquisitions // 0 | tonumber) | add")
      writes=$(total "$cells | map(select(.key.operation == \"OPERATION_WRITE\") | .acquisitions // 0 | tonumber) | add")
      echo "reads $reads, writes $writes"
      ((reads > 0 && writes > 0 && reads + writes + missed >= acquisitions)) ||
        fail "$((acquisitions - reads - writes)) acquisitions are neither reads nor writes"
      ;;
    zswap)
      stores=$(awk '/acomp_compress/ {print $2 + $3}' "$out/oracle.txt")
      loads=$(awk '$1 ~ /^zswap_/ {print $2 + $3}' "$out/oracle.txt")
      got_stores=$(total "$cells | map(select(.key.operation == \"OPERATION_STORE\") | .acquisitions // 0 | tonumber) | add")
      got_loads=$(total "$cells | map(select(.key.operation == \"OPERATION_LOAD\" or .key.operation == \"OPERATION_WRITEBACK\") | .acquisitions // 0 | tonumber) | add")
      echo "oracle: stores $stores, loads $loads; measured $got_stores, $got_loads"
      ((got_stores > 100 && got_loads > 100)) || fail "zswap was hardly used"
      ((got_stores <= stores && got_stores + misses >= stores)) ||
        fail "$got_stores stores, but the kernel counted $stores"
      ((got_loads <= loads && got_loads + misses >= loads)) ||
        fail "$got_loads loads, but the kernel counted $loads"
      # Since 6.18 zswap_pool points to its zsmalloc pool.
      [[ $kernel = 6.12 ]] || check "the locks of zswap's zsmalloc pool were not found" \
        '[.[] | .cells[]? | select(.key.subsystem == "SUBSYSTEM_ZSMALLOC" and .key.device == null)] | length > 0'
      ;;
  esac
fi

# The server's totals are those of the recorded windows.
recorded=$(total "[.[] | .cells[]? | .acquisitions // 0 | tonumber] | add")
served=$(jq '[.cohorts[]?.cells[]? | .acquisitions // 0 | tonumber] | add // 0' "$out/fleet.json")
((recorded == served)) || fail "recorded $recorded acquisitions, the server has $served"
recorded=$(total "[.[] | .cells[]? | .wait.sum_ns // 0 | tonumber] | add")
served=$(jq '[.cohorts[]?.cells[]? | .wait.sum_ns // 0 | tonumber] | add // 0' "$out/fleet.json")
((recorded == served)) || fail "recorded $recorded ns of waits, the server has $served"
windows=$(wc -l <"$out/windows.jsonl")
merged=$(awk '/^swaplock_windows_total\{.*result="merged"/ {print $2}' "$out/metrics.txt")
((merged == windows)) || fail "$windows windows were recorded, the server merged $merged"

# The two ways of measuring the runnable part agree.
if [[ -s $out/hold_oracle.json ]]; then
  cat "$out/hold_oracle.json"
  jq -e '((.switch_ns - .run_delay_ns) | fabs)
      <= 0.01 * ([.switch_ns, .run_delay_ns] | max) + 100000' \
    "$out/hold_oracle.json" >/dev/null ||
    fail "run_delay and context switches differ by more than 1 %"
fi

for expectation in "$@"; do
  case $expectation in
    model=*)
      check "not every lock has $expectation" "$cells | length > 0 and all(.lock_model == \"LOCK_MODEL_${expectation#model=}\")" ;;
    runnable=none)
      ((runnable == 0)) || fail "runnable part of $runnable ns where preemption is off" ;;
    runnable=some)
      # Of the holds with a runnable part the longest is over 10 ms, and most of
      # it is that part.
      check "the longest hold that waited for a CPU is not over 10 ms, or not mostly that" \
        '[.[] | .top_holds[]?] | max_by(.runnable_ns // 0 | tonumber)
          | (.hold_ns | tonumber) > 10000000
            and (.runnable_ns // 0 | tonumber) > 0.5 * (.hold_ns | tonumber)'
      if [[ $tier != tracepoints ]]; then
        check_explained
        preempted=$(sum .preempted_ns)
        ((preempted > runnable / 2 && preempted <= runnable)) ||
          fail "$preempted ns of the runnable part are said to be preempted"
      fi ;;
    inversion=some)
      check "no hold is reported as a priority inversion" \
        '[.[] | .top_holds[]? | select(.nice == 19 and (.inversion_ns // 0 | tonumber) > 1000000)
          | select(any(.waiters[]?; .inversion and .nice == -19) and any(.preemptors[]?; (.nice // 0) == 0))] | length > 0' ;;
    smp=*) ;;
    *) fail "unknown expectation $expectation" ;;
  esac
done
if [[ $tier = tracepoints ]]; then
  check "the tier is not owner_probe" "$cells | length > 0 and all(.hold_tier == \"TIER_OWNER_PROBE\")"
  check "the missing tier is not named" '.[0].coverage.not_measured | any(test("without fentry"))'
fi
if [[ $tier = budget ]]; then
  timed=$(sum .hold.count)
  echo "timed $timed of $acquisitions holds"
  ((timed > 0 && timed < acquisitions / 2)) ||
    fail "$timed of $acquisitions holds were timed"
  check "no window says that only some holds were timed" \
    '[.[] | .overhead.timing_shift // 0] | max > 0'
fi
[[ ! -s $out/dmesg.txt ]] || { cat "$out/dmesg.txt" >&2; fail "the kernel warned"; }
if [[ -s $out/progs.txt ]] && grep -q zram_get "$out/progs.txt"; then
  fail "programs were left behind"
fi
((failures == 0))
