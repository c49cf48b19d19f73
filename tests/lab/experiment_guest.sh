#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: records runs of a workload. Leaves OUT/windows.slk and
# OUT/kernel.txt.
# usage: experiment_guest.sh SWAPLOCK OUT RUN VARIANT REPEAT WORKLOAD-ARGUMENT...
set -euo pipefail
swaplock=$1 out=$2 run=$3 variant=$4 repeat=$5
shift 5

# Before it is recorded, so that the record's environment has it: what
# `workload zswap-inversion --setup --codec zstd` does for its run.
swap_on() {
  local zswap=/sys/module/zswap/parameters
  echo zstd >$zswap/compressor
  [[ ! -e $zswap/zpool ]] || echo zsmalloc >$zswap/zpool
  echo 50 >$zswap/max_pool_percent
  echo 0 >/proc/sys/vm/page-cluster
  echo Y >$zswap/enabled
  mkswap /dev/ram0 >/dev/null 2>&1
  swapon /dev/ram0
}

echo "$(uname -r), $(uname -v), recorded $(date -u +%F)" >"$out/kernel.txt"
[[ $1 != zswap-inversion ]] || swap_on
# The record names the command, which is no place on a disk.
PATH=$(dirname "$swaplock"):$PATH
# To the guest's RAM first: a share is slow to sync to. Every hold is timed. Few
# windows with few stacks: to name what is in one takes long under emulation.
swaplock record -o /run/windows.slk --run "$run" --variant "$variant" \
  --host_id lab --repeat "$repeat" --interval 10s --top_k 3 --cpu_budget 0 -- \
  swaplock workload "$@"
cp /run/windows.slk "$out/windows.slk"
