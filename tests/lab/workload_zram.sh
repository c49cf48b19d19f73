#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Loads a zram device so that low-priority writers are preempted while they
# compress: writers at nice 19, hogs that only burn CPU at nice 0, readers at
# nice -19. Prints the readers' latency and the writers' rate. Uses a device of
# its own, made by hot_add and removed at the end, so it is safe on a host too.
# Needs root and fio.

set -euo pipefail

usage() {
  cat <<'END'
usage: workload_zram.sh [--codec zstd|lz4|lzo-rle|...] [--disksize MIB]
                        [--writers N] [--hogs N] [--readers N] [--seconds N]
END
}

codec=zstd disksize=256 writers=4 hogs=2 readers=2 seconds=10
while (($#)); do
  case $1 in
    --codec | --disksize | --writers | --hogs | --readers | --seconds)
      (($# >= 2)) || { usage >&2; exit 2; }
      declare "${1#--}=$2"
      shift 2
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

pids=()
index=
work=$(mktemp -d)

clean_up() {
  local try
  if ((${#pids[@]})); then
    kill "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
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

index=$(cat /sys/class/zram-control/hot_add)
device=/dev/zram$index
echo "$codec" 2>/dev/null >"/sys/block/zram$index/comp_algorithm" ||
  skip "zram here has no $codec, only $(cat "/sys/block/zram$index/comp_algorithm")"
echo "${disksize}M" >"/sys/block/zram$index/disksize"
for _ in {1..50}; do
  [[ -b $device ]] && break
  sleep 0.1
done

# Half-compressible pages, so that the codec works and the result is stored.
fio_job() {  # NAME RW [OPTION...]
  fio --name="$1" --filename="$device" --rw="$2" --bs=4k --ioengine=psync \
    --size="${disksize}M" --buffer_compress_percentage=50 --refill_buffers=1 \
    --output-format=json --output="$work/$1.json" "${@:3}" >&2
}

timed_job() {  # NAME RW JOBS NICE
  # --thread keeps fio from a shared-memory segment per job.
  fio_job "$1" "$2" --time_based --runtime="$seconds" --numjobs="$3" \
    --nice="$4" --group_reporting --thread --norandommap --randrepeat=1
}

fio_job fill write --nice=0

for ((i = 0; i < hogs; i++)); do
  (while :; do :; done) &
  pids+=($!)
done
jobs=()
if ((writers)); then timed_job writers randwrite "$writers" 19 & jobs+=($!); fi
if ((readers)); then timed_job readers randread "$readers" -19 & jobs+=($!); fi
pids+=("${jobs[@]}")
failed=0
for pid in "${jobs[@]}"; do wait "$pid" || failed=1; done
((failed == 0)) || { say "fio failed"; exit 1; }

# One line a role, microseconds.
report() {  # NAME SIDE
  [[ -s $work/$1.json ]] || return 0
  awk -v role="$1" -v side="\"$2\"" '
    # fio prints each side as one object; the first value of a key in it counts.
    $1 == side { inside = 1 }
    inside && $1 == "\"total_ios\"" && ios == "" { ios = $3 + 0 }
    inside && $1 == "\"clat_ns\"" { clat = 1 }
    clat && $1 == "\"max\"" && max == "" { max = $3 / 1000 }
    clat && $1 == "\"99.990000\"" { p9999 = $3 / 1000; exit }
    END { printf "%s ios=%d clat_max_us=%.0f clat_p99.99_us=%.0f\n",
          role, ios, max, p9999 }' "$work/$1.json"
}

echo "kernel=$(uname -r) codec=$codec writers=$writers hogs=$hogs readers=$readers seconds=$seconds"
report writers write
report readers read
