#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Completion knows the subcommands, their flags and forms of output that the
# programs tell.

set -uo pipefail
# shellcheck source=packaging/completion/swaplock.bash
. packaging/completion/swaplock.bash
# shellcheck source=packaging/completion/swaplock-daemons.bash
. packaging/completion/swaplock-daemons.bash
status=0

expect() {  # FUNCTION EXPECTED WORD...   the last word is being typed
  local function=$1 expected=$2
  shift 2
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "$function"
  [[ ${COMPREPLY[*]} = "$expected" ]] ||
    { echo "FAILED: ${*:2}: ${COMPREPLY[*]}, not $expected"; status=1; }
}

cli=cli/swaplock
expect _swaplock "verdicts" $cli ver
expect _swaplock "--help" $cli --h
expect _swaplock "--repeat" $cli record --rep
expect _swaplock "-o" $cli merge -o
expect _swaplock "table json csv" $cli compare --output ""
expect _swaplock "table json csv" $cli compare --output =
expect _swaplock "json" $cli top --output = js
expect _swaplock "" $cli no-such-subcommand --
expect _swaplock "cli/swaplock" $cli report cli/swap
expect _swaplock_daemon "--state_dir" agent/swaplock-agent --state
expect _swaplock_daemon "--data_dir" server/swaplock-server --data
expect _swaplock_daemon "--flagfile" server/swaplock-server --flag

# Every subcommand is offered.
COMP_WORDS=("$cli" "") COMP_CWORD=1
_swaplock
for name in $("$cli" --help | awk '/^  swaplock / { print $2 }'); do
  [[ " ${COMPREPLY[*]} " = *" $name "* ]] || { echo "FAILED: no $name"; status=1; }
done
((${#COMPREPLY[@]} > 8)) || { echo "FAILED: only ${COMPREPLY[*]}"; status=1; }
# fish completes by itself; what it offers is sorted, a word a line, then what it
# is.
expect_fish() {  # EXPECTED LINE
  local offered
  # shellcheck disable=SC2016  # fish's
  offered=$(PATH="$PWD/cli:$PWD/agent:$PWD/server:$PATH" XDG_CONFIG_HOME="$TMP" \
    XDG_DATA_HOME="$TMP" fish --no-config -c '
      source packaging/completion/swaplock.fish
      source packaging/completion/swaplock-daemons.fish
      complete -C $argv[1]' -- "$2" | cut -f 1 | paste -sd " ")
  [[ $offered = "$1" ]] ||
    { echo "FAILED: fish: $2: $offered, not $1"; status=1; }
}
# zsh completes only at a terminal: what it would be offered is printed by
# compadd, with the words as it has them.
expect_zsh() {  # EXPECTED FUNCTION WORD...
  local offered expected=$1
  shift
  # shellcheck disable=SC2016  # zsh's
  offered=$(PATH="$PWD/cli:$PWD/agent:$PWD/server:$PATH" zsh -f -c '
    fpath=($PWD/packaging/completion $fpath)
    autoload -Uz compinit && compinit -u -D
    [[ $_comps[$2] = $1 ]] || print "$1 does not complete $2"
    function compadd() {
      shift  # --
      local word
      for word; do [[ $word = $PREFIX* ]] && print -r -- $word; done
    }
    function compset() { PREFIX=${PREFIX#$2} }
    function _files() { print -r files }
    function _normal() { print -r "command ${words[CURRENT]}" }
    function=$1
    shift
    words=("$@") CURRENT=$# PREFIX=${words[$#]}
    $function' zsh "$@" | paste -sd " ")
  [[ $offered = "$expected" ]] ||
    { echo "FAILED: zsh: ${*:2}: $offered, not $expected"; status=1; }
}
TMP=$(mktemp -d "${TEST_TMPDIR:-/tmp}/completion.XXXXXX")
trap 'rm -rf "$TMP"' EXIT
if command -v fish >/dev/null; then
  expect_fish "verdicts" "swaplock ver"
  expect_fish "--repeat" "swaplock record --rep"
  expect_fish "-o" "swaplock merge -o"
  expect_fish "csv json table" "swaplock compare --output "
  expect_fish "--output=json" "swaplock top --output=js"
  expect_fish "" "swaplock no-such-subcommand --x"
  expect_fish "--state_dir" "swaplock-agent --state"
  expect_fish "--data_dir" "swaplock-server --data"
else
  echo "SKIPPED in part: there is no fish"
fi
if command -v zsh >/dev/null; then
  expect_zsh "verdicts" _swaplock swaplock ver
  expect_zsh "--repeat" _swaplock swaplock record --rep
  expect_zsh "-o" _swaplock swaplock merge -o
  expect_zsh "table json csv" _swaplock swaplock compare --output ""
  expect_zsh "json" _swaplock swaplock top --output=js
  expect_zsh "files" _swaplock swaplock report ""
  expect_zsh "command tr" _swaplock swaplock record -- tr
  expect_zsh "" _swaplock swaplock no-such-subcommand --x
  expect_zsh "--state_dir" _swaplock-daemons swaplock-agent --state
  expect_zsh "--data_dir" _swaplock-daemons swaplock-server --data
else
  echo "SKIPPED in part: there is no zsh"
fi
((status)) || echo "all passed"
exit "$status"
