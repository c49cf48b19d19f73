#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes one decoder with libFuzzer under ASan and UBSan. What it finds lies in
# the work folder, and the last lines say which input and how to try it again.
#
# usage: fuzz.sh TARGET [OPTION-OF-LIBFUZZER...]
#
#   TARGET   window, agent_message, record_file, spool or text
#   options  such as -runs=1000000 or -max_total_time=60; default: 60 s
#
# Work folder: $SWAPLOCK_FUZZ, else swaplock-fuzz of the user's cache. It also
# has the build, apart from the usual one. Exit status: 0, 2 wrong arguments, 77
# no clang with libFuzzer, otherwise the fuzzer's.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

target=${1:-}
if [[ ! -f tests/fuzz/${target}_fuzz.cc ]]; then
  sed -n '3,/^$/{s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
shift
(($#)) || set -- -max_total_time=60

work=${SWAPLOCK_FUZZ:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/swaplock-fuzz}
mkdir -p "$work/found" "$work/corpus/$target"
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
  clang++ -x c++ - -fsanitize=fuzzer,address -o "$work/probe" 2>/dev/null; then
  echo "there is no clang with libFuzzer here: tools/install_packages.sh build check fuzz"
  exit 77
fi
# A server of its own, so that the usual build keeps its compiler.
CC=clang bazel --output_base="$work/bazel" --max_idle_secs=10 build \
  --config=fuzz --symlink_prefix=/ "//tests/fuzz:${target}_fuzz"
program=$(CC=clang bazel --output_base="$work/bazel" --max_idle_secs=10 \
  info --config=fuzz bazel-bin 2>/dev/null)/tests/fuzz/${target}_fuzz
# New inputs go to the first folder.
exec "$program" -artifact_prefix="$work/found/" "$@" \
  "$work/corpus/$target" "tests/fuzz/corpus/$target"
