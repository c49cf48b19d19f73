#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest whose zram streams are split: that the agent sees roles, modes and
# loads without a lock for what they are, and counts each as kprobe events do.
# usage: guest_agent.sh AGENT OUT [SWAP_VERIFY]   (with it zswap too)
#
# Prints "what: numbers" lines; exits 1 with what is wrong.
set -euo pipefail
agent=$1 out=$2 swap_verify=${3:-}
# shellcheck source=tests/lab/patched/kprobe_counts.sh
. "$(dirname "$(realpath "$0")")/kprobe_counts.sh"

# The number of something over all windows.
total() {  # FIELD JQ-CONDITION
  jq -s "[.[].cells[]? | select($2) | .$1 // 0 | tonumber] | add // 0" \
    "$out/windows.jsonl"
}

# Events that the kernel did not give to the programs on a function.
missed() {  # FUNCTION
  jq -s --arg name "/$1" '[.[].coverage.probes[]? | select(.name | endswith($name))
    | .misses // 0 | tonumber] | add // 0' "$out/windows.jsonl"
}

counted() {  # WHAT COUNT OF MISSED
  (($2 <= $3 && $2 + $4 >= $3)) || fail "$1: $2 of $3, $4 missed"
}

start_agent() {
  rm -f "$out/windows.slk"
  "$agent" --host_id lab --state_dir /run/agent --record "$out/windows.slk" \
    --interval 2s 2>"$out/agent.log" &
  pid=$!
  for _ in {1..600}; do
    [[ -s $out/windows.slk ]] && return
    sleep 0.1
  done
  fail "no first window"
}

stop_agent() {
  kill "$pid"
  wait "$pid" || fail "the agent exited with $?"
  "$agent" --replay "$out/windows.slk" --print=json >"$out/windows.jsonl"
}

check_zram() {  # CODEC
  local zram=/sys/block/zram0 io written alone shared models
  echo 1 >$zram/reset
  echo "$1" >$zram/comp_algorithm
  echo 64M >$zram/disksize
  start_agent
  count cget zcomp_cstrm_get
  count dput zcomp_dstrm_put "+$(member_offset zcomp_dstrm.excl_locked)(\$arg1):u8"
  io=(--filename=/dev/zram0 --direct=1 --bs=4k --ioengine=psync --thread
    --size=16M --offset_increment=16M --numjobs=4 --verify=crc32c
    --verify_fatal=1 --refill_buffers --buffer_compress_percentage=60)
  fio --name=verify --rw=randwrite "${io[@]}" --output=/run/fio.log ||
    { cat /run/fio.log; fail "$1: fio found wrong data"; }
  stop_agent
  written=$(total acquisitions '.key.role == "ROLE_COMPRESS_STREAM"')
  alone=$(total acquisitions '.key.role == "ROLE_DECOMPRESS_STREAM"
    and .key.mode == "MODE_EXCLUSIVE"')
  shared=$(total acquisitions '.key.role == "ROLE_DECOMPRESS_STREAM"
    and .key.mode == "MODE_SHARED"')
  echo "zram $1: writes $written of $(hits cget), reads alone $alone of" \
    "$(hits dput 1), shared $shared of $(hits dput 0)"
  counted "$1 writes" "$written" "$(hits cget)" \
    $(($(missed zcomp_cstrm_get) + $(missed zcomp_cstrm_put)))
  counted "$1 reads" $((alone + shared)) "$(hits dput)" \
    $(($(missed zcomp_dstrm_get) + $(missed zcomp_dstrm_put)))
  ((alone <= $(hits dput 1) && shared <= $(hits dput 0))) ||
    fail "$1: reads in the wrong mode"
  case $1 in
    lz4) ((shared > 1000)) || fail "$1: hardly a read was shared" ;;
    zstd) ((shared == 0 && alone > 1000)) || fail "$1: a read was shared" ;;
  esac
  models=$(jq -rs '[.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM"
    and .key.role) | .lock_model] | unique | join(" ")' "$out/windows.jsonl")
  [[ $models = "LOCK_MODEL_RWSEM_EXCLUSIVE LOCK_MODEL_RWSEM_SHARED LOCK_MODEL_SPLIT_MUTEX" ]] ||
    fail "$1: models $models"
  forget
}

check_zswap() {  # CODEC
  local zswap=/sys/module/zswap/parameters free stores locked
  echo "$1" >$zswap/compressor
  echo 50 >$zswap/max_pool_percent
  echo 0 >/proc/sys/vm/page-cluster
  echo Y >$zswap/enabled
  mkswap /dev/ram0 >/dev/null 2>&1
  swapon /dev/ram0
  start_agent
  count load zswap_decompress
  "$swap_verify" 4 16 2 || fail "$1: a page came back wrong"
  stop_agent
  free=$(total latency.count '.key.subsystem == "SUBSYSTEM_ZSWAP"
    and .key.operation == "OPERATION_LOAD" and .lock_model == "LOCK_MODEL_NONE"')
  locked=$(total acquisitions '.key.subsystem == "SUBSYSTEM_ZSWAP"
    and .key.role == "ROLE_DECOMPRESS_STREAM"')
  stores=$(total acquisitions '.key.subsystem == "SUBSYSTEM_ZSWAP"
    and .key.role == "ROLE_COMPRESS_STREAM"')
  echo "zswap $1: loads without a lock $free of $(hits load), with $locked;" \
    "stores with a lock of their own $stores"
  ((free > 1000)) || fail "$1: hardly a load without a lock"
  counted "$1 loads" "$free" "$(hits load)" "$(missed zswap_decompress)"
  ((locked == 0)) || fail "$1: $locked loads are said to take a lock"
  ((stores > 1000)) || fail "$1: zswap was hardly used"
  forget
  swapoff /dev/ram0
}

for codec in lz4 zstd; do check_zram $codec; done
if [[ -n $swap_verify ]]; then check_zswap lzo; fi
if dmesg | grep -E 'WARNING|BUG|Oops|hung'; then fail "the kernel warned"; fi
((failures == 0)) && echo "all well on $(uname -r)"
