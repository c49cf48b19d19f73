#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds anew what npm's packages make of sources in this tree, and compares: the
# results are committed, so that a build needs neither npm nor a network.
# Exit status: 0, 1 with what differs, 77 when npm or its registry is missing.
#
# usage: npm_outputs.sh

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
# shellcheck source=tools/npm.sh
. tools/npm.sh

# Sources, and what `npm run build` writes, seen from the sources.
outputs=(
  "dashboards/src ../grafana"
  "server/web/src ../assets/charts.js ../assets/charts.licenses.txt"
)

work=$(mktemp -d "${TMPDIR:-/tmp}/swaplock-npm.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
for entry in "${outputs[@]}"; do
  read -r source written <<<"$entry"
  mkdir -p "$work/$source"
  git ls-files -z -- "$source" | xargs -0 cp --parents -t "$work"
  npm_ci "$work/$source" || { status=1; continue; }
  (cd "$work/$source" && npm run build) >"$work/log" 2>&1 ||
    { cat "$work/log"; status=1; continue; }
  for output in $written; do
    diff -rq "$source/$output" "$work/$source/$output" ||
      { echo "$source: run npm ci && npm run build there"; status=1; }
  done
done
exit "$status"
