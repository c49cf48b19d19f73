#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Records windows of one second under the zram workload on stock kernels in the
# lab, and reduces them to server/replay/recordings/*.slk: those between the first and the
# last read, zram's cells, without the list of probes and the context. About 8
# minutes.
#
# usage: server/replay/record_lab_windows.sh [DIRECTORY]    keeps the records there
#
#   SWAPLOCK              the binary (bazel-bin/cli/swaplock)
#   SWAPLOCK_BOOT_UNDER   a command that each boot runs under: "flock FILE"
#   SWAPLOCK_REUSE=1      records that are there already are used again
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
records=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/swaplock-lab/windows}
binary=${SWAPLOCK:-bazel-bin/cli/swaplock}
[[ -x $binary ]] || { echo "there is no $binary: bazel build //cli:swaplock" >&2; exit 1; }
mkdir -p "$records/bin" "$records/out"
install -m 755 "$(realpath "$binary")" "$records/bin/swaplock"

# To the guest's RAM first: a share is slow to sync to. Every hold is timed.
# shellcheck disable=SC2016 # for the guest
guest='swaplock record -o /run/w.slk --run zram --host_id lab --interval 1s \
  --top_k 0 --cpu_budget 0 -- swaplock workload zram-inversion --codec zstd \
  --low write --mib 16 --duration 45s && cp /run/w.slk "$1/w.slk"'

# shellcheck disable=SC2016 # for jq
reduce='
  [.[] | .window // empty | .cells //= []
   | .cells |= map(select(.key.subsystem == "SUBSYSTEM_ZRAM"))
   | del(.context, .coverage.probes, .top_holds, .holds_in_progress, .overhead)]
  | map([.cells[] | select(.key.operation == "OPERATION_READ")
         | (.acquisitions // "0" | tonumber) > 0] | any) as $reads
  | .[($reads | index(true)):($reads | rindex(true)) + 1][] | {window: .}'

record() {  # KERNEL PREEMPT
  local file=$records/$1-$2.slk data=server/replay/recordings/$1-$2.slk
  if [[ ${SWAPLOCK_REUSE:-} != 1 || ! -s $file ]]; then
    echo "== $file" >&2
    rm -f "$records/out/w.slk"
    # shellcheck disable=SC2086 # several words
    ${SWAPLOCK_BOOT_UNDER:-} tests/lab/lab run --timeout 600 \
      --out "$records/out" --kernel "$1" --preempt "$2" --smp 2 -- \
      env PATH="$records/bin:$PATH" bash -c "$guest" guest "$records/out" >&2
    mv "$records/out/w.slk" "$file"
  fi
  rm -f "$data"
  "$records/bin/swaplock" convert "$file" --output=json | jq -s -c "$reduce" |
    "$records/bin/swaplock" convert --from=json - -o "$data"
}

record 6.12 voluntary
for mode in lazy full none; do record 6.18 "$mode"; done
record 7.3 lazy
