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
((status)) || echo "all passed"
exit "$status"
