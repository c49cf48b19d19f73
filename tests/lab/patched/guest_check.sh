#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In a lab guest: that a kernel with our edits (or, to compare, without) keeps
# data as it was written, takes the locks it should, and does not warn.
# usage: guest_check.sh split|single [SWAP_VERIFY]   (zram; with it zswap too)
#
# Prints "what: numbers" lines; exits 1 with what is wrong.
set -euo pipefail
shape=$1 swap_verify=${2:-}
# shellcheck source=tests/lab/patched/kprobe_counts.sh
. "$(dirname "$(realpath "$0")")/kprobe_counts.sh"

check_zram() {  # CODEC
  local zram=/sys/block/zram0 io
  echo 1 >$zram/reset
  echo "$1" >$zram/comp_algorithm
  echo 128M >$zram/disksize
  if [[ $shape == split ]]; then
    count cget zcomp_cstrm_get
    count cput zcomp_cstrm_put
    count dget zcomp_dstrm_get '$arg2:u32'
    count dput zcomp_dstrm_put \
      "+$(member_offset zcomp_dstrm.excl_locked)(\$arg1):u8"
  else
    count get zcomp_stream_get
    count put zcomp_stream_put
  fi
  # Each job writes its part, then reads it all back and compares; meanwhile
  # the others still write. One CPU goes and comes.
  (
    sleep 2
    echo 0 >/sys/devices/system/cpu/cpu1/online
    sleep 1
    echo 1 >/sys/devices/system/cpu/cpu1/online
  ) &
  io=(--filename=/dev/zram0 --direct=1 --bs=4k --ioengine=psync --thread
    --size=16M --offset_increment=16M --numjobs=4 --verify=crc32c
    --verify_fatal=1 --refill_buffers --buffer_compress_percentage=60)
  fio --name=verify --rw=randwrite "${io[@]}" --output=/run/fio.log ||
    { cat /run/fio.log; fail "$1: fio found wrong data"; }
  fio --name=mixed --rw=randrw "${io[@]}" --output=/run/fio.log ||
    { cat /run/fio.log; fail "$1: fio found wrong data in mixed I/O"; }
  wait $! || fail "CPU 1 could not be taken away and brought back"
  if [[ $shape == split ]]; then
    local gets puts inplace bounce shared exclusive
    gets=$(hits cget) puts=$(hits cput)
    inplace=$(hits dget 0) bounce=$(hits dget 1)
    shared=$(hits dput 0) exclusive=$(hits dput 1)
    echo "zram $1: cstrm get=$gets put=$puts; dstrm get inplace=$inplace" \
      "bounce=$bounce; dstrm put shared=$shared exclusive=$exclusive"
    ((gets > 1000 && gets == puts)) || fail "$1: cstrm gets and puts differ"
    ((inplace > 1000 && inplace + bounce == shared + exclusive)) ||
      fail "$1: dstrm gets and puts differ"
    case $1 in
      lz4) ((shared == inplace && exclusive == bounce)) ;;
      zstd) ((shared == 0)) ;;
    esac || fail "$1: wrong share of shared and exclusive"
  else
    echo "zram $1: stream get=$(hits get) put=$(hits put)"
    (($(hits get) > 2000 && $(hits get) == $(hits put))) ||
      fail "$1: gets and puts differ"
  fi
  forget
}

check_zswap() {  # CODEC
  local zswap=/sys/module/zswap/parameters stores loads
  echo "$1" >$zswap/compressor
  echo 50 >$zswap/max_pool_percent
  echo 0 >/proc/sys/vm/page-cluster
  echo Y >$zswap/enabled
  mkswap /dev/ram0 >/dev/null 2>&1
  swapon /dev/ram0
  count load zswap_decompress
  echo 'p:lab/lock mutex_lock' >>/sys/kernel/tracing/kprobe_events
  echo 'hist:keys=common_stacktrace:size=4096 if comm == "swap_verify"' \
    >$events/lock/trigger
  "$swap_verify" 4 16 3 || fail "$1: a page came back wrong"
  # Mutexes taken, by who took them.
  stores=$(locks_below zswap_store)
  loads=$(locks_below zswap_decompress)
  echo "zswap $1: loads=$(hits load); mutex_lock in stores=$stores in loads=$loads"
  (($(hits load) > 1000 && stores > 1000)) || fail "$1: zswap was hardly used"
  if [[ $shape == split ]]; then
    ((loads == 0)) || fail "$1: loads took $loads mutexes"
  else
    ((loads == $(hits load))) || fail "$1: not every load took its mutex"
  fi
  forget
  swapoff /dev/ram0
}

locks_below() {  # FUNCTION
  awk -v name="$1" '
    /common_stacktrace:/ { mine = 0 }
    index($0, " " name "+") { mine = 1 }
    /hitcount:/ { if (mine) n += $NF; mine = 0 }
    END { print n + 0 }' $events/lock/hist
}

for codec in lz4 zstd; do check_zram $codec; done
if [[ -n $swap_verify ]]; then
  for codec in lzo lz4 zstd; do check_zswap $codec; done
fi
if dmesg | grep -E 'WARNING|BUG|Oops|rror from zswap|hung'; then
  fail "the kernel warned"
fi
((failures == 0)) && echo "all well on $(uname -r)"
