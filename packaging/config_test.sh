#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The configuration files tell every flag of their program with its default, or say
# that it is not for a service; and the program takes them as they are, and with
# every default uncommented.

set -uo pipefail
status=0
fail() { echo "FAILED: $*"; status=1; }
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/config.XXXXXX")
trap 'rm -rf "$work"' EXIT

check() {  # PROGRAM FILE
  local name value text line absent count=0
  absent=$(sed -n 's/^# not here: //p' "$2")
  "$1" --help | awk -f packaging/manual/flag_rows.awk >"$work/flags"
  [[ -s $work/flags ]] || fail "$1 --help tells no flags"
  while IFS=$'\x1f' read -r name value text; do
    count=$((count + 1))
    line=$(grep -E "^#?$name=" "$2")
    if [[ " $absent " = *" ${name#--} "* ]]; then
      [[ -z $line ]] || fail "$2 has $name and says that it has not"
    elif [[ $(wc -l <<<"$line") != 1 || -z $line ]]; then
      fail "$2: $name is not there once ($text)"
    elif [[ $line = "#"* && $line != "#$name=$value" ]]; then
      fail "$2: $line, but the default is \"$value\""
    fi
  done < <(tr '\t' '\037' <"$work/flags")
  for name in $absent $(sed -nE 's/^#?--([a-z_0-9]+)=.*/\1/p' "$2"); do
    grep -q "^--$name"$'\t' "$work/flags" || fail "$2: $1 has no flag --$name"
  done
  "$1" --flagfile="$2" --only_check_args || fail "$1 does not take $2"
  sed 's/^#--/--/' "$2" >"$work/all.conf"
  "$1" --flagfile="$work/all.conf" --only_check_args ||
    fail "$1 does not take the defaults of $2"
  echo "$2: $count flags"
}

check agent/swaplock-agent packaging/config/agent.conf
check server/swaplock-server packaging/config/server.conf

# What follows "--flagfile" is checked: the test can fail.
echo "--no_such_flag" >"$work/wrong.conf"
agent/swaplock-agent --flagfile="$work/wrong.conf" --only_check_args 2>/dev/null
(($? == 2)) || fail "an unknown flag in a file is not refused with status 2"
agent/swaplock-agent --flagfile="$work/none.conf" --only_check_args 2>/dev/null
(($? == 2)) || fail "a missing file is not refused with status 2"

((status)) || echo "all passed"
exit "$status"
