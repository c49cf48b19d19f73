#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks of the tracked files that need no build. Exit status: 0, 1 with what is
# wrong, 77 when the tool is missing.
#
# usage: lint.sh format|shell|test_targets

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

# Those of the tree when it is no clone.
files() {  # GLOB...
  git ls-files -- "$@" 2>/dev/null && return
  local names=() glob
  for glob in "$@"; do names+=(-o -name "$glob"); done
  find . -type f "(" "${names[@]:1}" ")" -not -path './.git/*' -printf '%P\n'
}

need() {
  command -v "$1" >/dev/null || { echo "there is no $1"; exit 77; }
}

case ${1:-} in
  format)
    need clang-format
    mapfile -t sources < <(files '*.cc' '*.h' '*.bpf.c')
    clang-format --dry-run -Werror --ferror-limit=1 "${sources[@]}"
    ;;
  shell)
    need shellcheck
    # Scripts by their first line; -x follows what they source.
    mapfile -t scripts < <(files '*' | xargs -d '\n' grep -lIsE '^#!/.*sh$' |
      while read -r script; do
        [[ $(head -c 2 "$script") != '#!' ]] || echo "$script"
      done)
    # SC2187: busybox's shell is checked as dash, which is meant.
    shellcheck -x --severity=warning --exclude=SC2187 "${scripts[@]}"
    ;;
  test_targets)
    # A test that no target builds passes for ever.
    status=0
    while read -r test; do
      grep -qsF "\"$(basename "$test")\"" "$(dirname "$test")"/{BUILD.bazel,*.bzl} ||
        { echo "$test is in no target of its folder"; status=1; }
    done < <(files '*_test.cc' '*_test.sh' '*_fuzz.cc')
    exit "$status"
    ;;
  *) echo "usage: lint.sh format|shell|test_targets" >&2; exit 2 ;;
esac
