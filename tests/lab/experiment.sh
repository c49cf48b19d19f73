# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For the scripts of docs/experiments: sourced by them. Boots kernels, records
# runs of a workload in them, and writes what `swaplock` says of the records.
#
# A script says what it is by `experiment NAME TITLE`, records variants by
# `record`, prints by `show`, and ends with `paragraph` and the text on stdin.
# The result is docs/experiments/NAME.txt, the records stay in
# $SWAPLOCK_EXPERIMENT_DIR (else ~/.cache/swaplock-lab/experiments).
#
#   SWAPLOCK                 the binary (bazel-bin/cli/swaplock)
#   SWAPLOCK_REPEAT          runs a variant (5)
#   SWAPLOCK_SECONDS         of a run (what the script says)
#   SWAPLOCK_BOOT_UNDER      a command that each boot runs under: "flock FILE"
#   SWAPLOCK_REUSE=1         a record that is there already is used again

set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
lab=$PWD/tests/lab/lab
repeat=${SWAPLOCK_REPEAT:-5}
records=${SWAPLOCK_EXPERIMENT_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/swaplock-lab/experiments}

die() { echo "$(basename "$0"): $*" >&2; exit 1; }

experiment() {  # NAME TITLE
  name=$1
  result=docs/experiments/$1.txt
  local binary=${SWAPLOCK:-bazel-bin/cli/swaplock}
  [[ -x $binary ]] || die "there is no $binary: bazel build //cli:swaplock"
  mkdir -p "$records"
  # A copy: one that is rebuilt meanwhile would be a different one. In a file
  # of this name, because records say what was run.
  bin=$(mktemp -d "$records/bin.XXXXXX")
  trap 'rm -rf "$bin"' EXIT
  install -m 755 "$(realpath "$binary")" "$bin/swaplock"
  text=$bin/result
  {
    echo "$2"
    echo
    echo "command: docs/experiments/$(basename "$0")"
  } >"$text"
  kernels=
}

# Runs the workload $repeat times in one guest. The file's run is $name or
# --run, its variant VARIANT.
record() {  # FILE VARIANT LAB-OPTION... -- WORKLOAD-ARGUMENT...
  local file=$records/$name-$1.slk variant=$2 options=() status=0
  shift 2
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  if [[ ${SWAPLOCK_REUSE:-} != 1 || ! -s $file ]]; then
    echo "== $(basename "$file"): ${options[*]}: $*" >&2
    rm -f "$file" "$file.kernel"
    mkdir -p "$bin/out"
    # shellcheck disable=SC2086 # several words
    ${SWAPLOCK_BOOT_UNDER:-} "$lab" run --timeout 900 --out "$bin/out" \
      --console "$bin/console" "${options[@]}" -- \
      tests/lab/experiment_guest.sh "$bin/swaplock" "$bin/out" "$name" \
      "$variant" "$repeat" "$@" >&2 || status=$?
    ((status == 0)) || die "$(basename "$file"): the lab says $status"
    mv "$bin/out/windows.slk" "$file"
    mv "$bin/out/kernel.txt" "$file.kernel"
  fi
  kernels+="$(printf '%-8s %s' "$variant" "$(<"$file.kernel")")"$'\n'
  last=$file
}

# Where a record of this experiment is, or of another (NAME-FILE).
of() { echo "$records/$name-$1.slk"; }

heading() { printf '\n-- %s\n\n' "$*" >>"$text"; }

show() {  # SWAPLOCK-ARGUMENT...; compare exits with 1 only if asked to
  local shown=("$@")
  fold -s -w 72 <<<"$ swaplock ${shown[*]//$records\//}" >>"$text"
  "$bin/swaplock" "$@" >>"$text" 2>&1 || die "swaplock $1 failed: $(tail -n 3 "$text")"
  echo >>"$text"
}

# What reproduces here and what cannot, from stdin; ends the result.
paragraph() {
  {
    printf -- '-- kernels, and when it was recorded on them\n\n%s\n-- what this shows, and what it cannot\n\n' \
      "$(sort -u <<<"$kernels" | sed '/^$/d' | fold -s -w 72)"$'\n'
    fmt -w 72
  } >>"$text"
  sed -i 's/[[:space:]]*$//' "$text"
  cp "$text" "$result"
  cat "$result"
}
