#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Loads a zram device so that low-priority writers are preempted while they
# compress: writers at nice 19, hogs that only burn CPU at nice 0, readers at
# nice -19 that pause after each read, so that the others run at all. Prints the readers' latency and the writers' rate. Uses a device of
# its own, made by hot_add and removed at the end, so it is safe on a host too.
# Needs root and fio.

set -euo pipefail

usage() {
  cat <<'END'
usage: workload_zram.sh [--codec zstd|lz4|lzo-rle|...] [--disksize MIB]
                        [--writers N] [--hogs N] [--readers N] [--seconds N]
                        [--pause_us N] [--level N] [--device zramN] [--pin]
  --device  use this one, already set up, and leave it; its first MIB are written
  --pin     each task to one CPU, in turn
END
}

codec=zstd disksize=256 writers=4 hogs=2 readers=2 seconds=10 pause_us=1000 level=
name='' pin=()
while (($#)); do
  case $1 in
    --codec | --disksize | --writers | --hogs | --readers | --seconds | --pause_us | --level)
      (($# >= 2)) || { usage >&2; exit 2; }
      declare "${1#--}=$2"
      shift 2
      ;;
    --device)
      (($# >= 2)) || { usage >&2; exit 2; }
      name=$2
      shift 2
      ;;
    --pin)
      pin=(--cpus_allowed="0-$(($(nproc) - 1))" --cpus_allowed_policy=split)
      shift
      ;;
    --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

say() { echo "workload_zram: $*" >&2; }

skip() {
  say "skipped: $*"
  exit 77
}

fio_pid=
index=
work=$(mktemp -d)

clean_up() {
  local try
  if [[ -n $fio_pid ]]; then
    kill "$fio_pid" 2>/dev/null || true
    wait "$fio_pid" 2>/dev/null || true
  fi
  # udev may still have the device open for a moment.
  for try in {1..20}; do
    [[ -n $index ]] || break
    if echo 1 >"/sys/block/zram$index/reset" &&
       echo "$index" >/sys/class/zram-control/hot_remove; then
      break
    fi 2>/dev/null
    ((try < 20)) || say "cannot remove /dev/zram$index"
    sleep 0.1
  done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' INT TERM HUP

((EUID == 0)) || skip "needs root"
command -v fio >/dev/null || skip "fio is not installed (apt-get install fio)"
[[ -d /sys/class/zram-control ]] || modprobe zram 2>/dev/null ||
  skip "this kernel has no zram"

if [[ -z $name ]]; then
  index=$(cat /sys/class/zram-control/hot_add)
  name=zram$index
  echo "$codec" 2>/dev/null >"/sys/block/zram$index/comp_algorithm" ||
    skip "zram here has no $codec, only $(cat "/sys/block/zram$index/comp_algorithm")"
  # A slow codec makes long holds; kernels before 6.12 have no levels.
  if [[ -n $level && -e /sys/block/zram$index/algorithm_params ]]; then
    echo "algo=$codec level=$level" >"/sys/block/zram$index/algorithm_params" ||
      say "no level $level for $codec"
  fi
  echo "${disksize}M" >"/sys/block/zram$index/disksize"
  for _ in {1..50}; do
    [[ -b /dev/$name ]] && break
    sleep 0.1
  done
fi
device=/dev/$name

# Half-compressible pages, so that the codec works and the result is stored.
io=(--filename="$device" --ioengine=psync --direct=1
  --size="${disksize}M" --buffer_compress_percentage=50)
fio --name=fill --rw=write --bs=64k "${io[@]}" --refill_buffers=1 \
  --output="$work/fill"

# One fio, so that all roles start and end together; each is a group with a
# report of its own. Threads share fio's memory, /dev/shm may be small.
role() {  # NAME COUNT NICE [OPTION...]
  (($2)) || return 0
  jobs+=(--name="$1" --numjobs="$2" --nice="$3" --new_group --group_reporting
    --thread --time_based --runtime="$seconds" "${pin[@]}" "${@:4}")
}
jobs=()
# A writer compresses many pages a call, so that the tick that ends its slice
# finds it in the kernel, nearly always inside the lock. Lazy preemption lets a
# call run on until then.
role writers "$writers" 19 --rw=randwrite --bs=256k "${io[@]}" --norandommap
role readers "$readers" -19 --rw=randread --bs=4k "${io[@]}" --norandommap \
  --thinktime="$pause_us"
role hogs "$hogs" 0 --ioengine=cpuio --cpuload=100
fio "${jobs[@]}" --output-format=json --output="$work/result.json" \
  >"$work/log" 2>&1 &
fio_pid=$!
wait "$fio_pid" || { cat "$work/log" >&2; say "fio failed"; exit 1; }
fio_pid=

# One line a role, microseconds.
report() {  # NAME SIDE
  awk -v role="$1" -v side="\"$2\"" '
    # fio prints one object a group and in it one a side, keys in fixed order.
    $1 == "\"jobname\"" { mine = index($3, "\"" role "\"") }
    mine && $1 == side { inside = 1 }
    !inside { next }
    $1 == "\"total_ios\"" { ios = $3 + 0 }
    $1 == "\"clat_ns\"" { clat = 1 }
    clat && $1 == "\"max\"" && max == "" { max = $3 / 1000 }
    clat && $1 == "\"99.990000\"" {
      printf "%s ios=%d clat_max_us=%.0f clat_p99.99_us=%.0f\n",
        role, ios, max, $3 / 1000
      exit
    }' "$work/result.json"
}

echo "kernel=$(uname -r) codec=$codec writers=$writers hogs=$hogs readers=$readers seconds=$seconds"
report writers write
report readers read
