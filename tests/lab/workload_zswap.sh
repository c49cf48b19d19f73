#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Loads zswap: workers at nice 19 page their own memory out and touch it again,
# hogs burn CPU at nice 0, and workers at nice -19 do the same as the first with
# pauses, so that all get some CPU. Swap lies on /dev/ram0 (brd), so nothing but zswap takes time. Changes the
# kernel's swap settings: for a lab guest, not for a host. Needs root.

set -euo pipefail

usage() {
  cat <<'END'
usage: workload_zswap.sh [--codec zstd|lzo|lz4|...] [--low N] [--high N]
                         [--hogs N] [--mib N] [--seconds N]
                         [--pause_us N] PAGEOUT_BINARY
PAGEOUT_BINARY is the built //tests/lab:zswap_pageout.
END
}

codec=zstd low=4 high=1 hogs=2 mib=16 seconds=10 pause_us=2000 binary=
while (($#)); do
  case $1 in
    --codec | --low | --high | --hogs | --mib | --seconds | --pause_us)
      (($# >= 2)) || { usage >&2; exit 2; }
      declare "${1#--}=$2"
      shift 2
      ;;
    --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) binary=$1; shift ;;
  esac
done
[[ -x $binary ]] || { usage >&2; exit 2; }

say() { echo "workload_zswap: $*" >&2; }

skip() {
  say "skipped: $*"
  exit 77
}

zswap=/sys/module/zswap/parameters
swap_device=/dev/ram0
worker_pid=
swap_is_on=
old_settings=()  # "FILE VALUE", put back in reverse order

clean_up() {
  local i
  if [[ -n $worker_pid ]]; then
    # Its children too: it leads a process group of its own.
    kill -- "-$worker_pid" 2>/dev/null || true
    wait "$worker_pid" 2>/dev/null || true
  fi
  [[ -z $swap_is_on ]] || swapoff "$swap_device" || say "cannot swapoff"
  for ((i = ${#old_settings[@]} - 1; i >= 0; i--)); do
    echo "${old_settings[i]#* }" 2>/dev/null >"${old_settings[i]%% *}" || true
  done
}
trap clean_up EXIT
trap 'exit 143' INT TERM HUP

# Fails if the kernel refuses the value.
set_value() {  # FILE VALUE
  local old
  old=$(cat "$1")
  echo "$2" 2>/dev/null >"$1" || return 1
  old_settings+=("$1 $old")
}

((EUID == 0)) || skip "needs root"
[[ -d $zswap ]] || skip "this kernel has no zswap"
[[ -b $swap_device ]] || modprobe brd rd_nr=1 rd_size=1048576 2>/dev/null ||
  skip "there is no $swap_device (brd)"

modprobe -q "$codec" 2>/dev/null || true
modprobe -q zsmalloc 2>/dev/null || true
set_value "$zswap/compressor" "$codec" || skip "zswap here has no $codec"
# Up to 6.17 there is a choice of allocators: use the one that later kernels
# always use. Older zswap refuses nothing before it is enabled, so read back.
if [[ -e $zswap/zpool ]]; then
  set_value "$zswap/zpool" zsmalloc || skip "zswap here has no zsmalloc"
fi
set_value "$zswap/max_pool_percent" 50
[[ ! -e $zswap/shrinker_enabled ]] || set_value "$zswap/shrinker_enabled" N
set_value /proc/sys/vm/page-cluster 0
set_value "$zswap/enabled" Y || skip "zswap cannot be enabled"
[[ $(cat "$zswap/compressor") == "$codec" ]] || skip "zswap here has no $codec"

mkswap "$swap_device" >/dev/null 2>&1
swapon "$swap_device"
swap_is_on=1

vmstat_value() {  # NAME; 0 where the kernel does not count it
  awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' /proc/vmstat
}
out_before=$(vmstat_value zswpout) in_before=$(vmstat_value zswpin)

echo "kernel=$(uname -r) codec=$codec low=$low high=$high hogs=$hogs mib=$mib seconds=$seconds"
set -m
"$binary" --workers="$low@19" --workers="$high@-19/$pause_us" --hogs="$hogs" \
  --mib="$mib" --seconds="$seconds" &
worker_pid=$!
set +m
wait "$worker_pid" || { say "a worker failed"; exit 1; }
worker_pid=
stored=$(($(vmstat_value zswpout) - out_before))
echo "zswap stored_pages=$stored loaded_pages=$(($(vmstat_value zswpin) - in_before))"
((stored > 0)) || { say "nothing went through zswap"; exit 1; }
