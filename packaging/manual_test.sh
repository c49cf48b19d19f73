#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The manual pages tell every flag of every program and subcommand.

set -uo pipefail
command -v help2man >/dev/null ||
  { echo "SKIPPED: there is no help2man"; exit 0; }
pages=$(mktemp -d "${TEST_TMPDIR:-/tmp}/pages.XXXXXX")
trap 'rm -rf "$pages"' EXIT
packaging/manual/make_pages agent/swaplock-agent server/swaplock-server \
  cli/swaplock "$pages" || { echo "FAILED: make_pages"; exit 1; }
status=0
has() {  # PAGE COMMAND...
  local page=$pages/$1 name count=0
  shift
  [[ -s $page ]] || { echo "FAILED: there is no $page"; status=1; return; }
  while IFS=$'\t' read -r name _; do
    count=$((count + 1))
    # In a page every dash has a backslash.
    grep -qE "^\\\\fB${name//-/\\\\-}\\\\fR" "$page" ||
      { echo "FAILED: $(basename "$page") has no $name"; status=1; }
  done < <("$@" --help | awk -f packaging/manual/flag_rows.awk)
  ((count)) || { echo "FAILED: $* --help tells no flags"; status=1; }
}
has swaplock-agent.8 agent/swaplock-agent
has swaplock-server.8 server/swaplock-server
for name in $(cli/swaplock --help | awk '/^  swaplock / { print $2 }'); do
  has "swaplock-$name.1" cli/swaplock "$name"
  # In a page every dash of a name may have a backslash.
  tr -d '\\' <"$pages/swaplock.1" | grep -qx "$name\|fB${name}fR.*" ||
    { echo "FAILED: swaplock.1 has no $name"; status=1; }
done
((status)) || { echo "$(find "$pages" -type f | wc -l) pages"; echo "all passed"; }
exit "$status"
