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
command -v npm >/dev/null || { echo "there is no npm"; exit 77; }

# Sources, and the folder that `npm run build` fills, seen from the sources.
outputs=(
  "dashboards/src ../grafana"
)

work=$(mktemp -d "${TMPDIR:-/tmp}/swaplock-npm.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
for entry in "${outputs[@]}"; do
  read -r source output <<<"$entry"
  mkdir -p "$work/$source"
  git ls-files -z -- "$source" | xargs -0 cp --parents -t "$work"
  if ! npm --prefix "$work/$source" ci --no-audit --no-fund --ignore-scripts \
    >"$work/log" 2>&1; then
    cat "$work/log"
    grep -qE 'EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' "$work/log" &&
      { echo "npm's registry cannot be reached"; exit 77; }
    status=1
    continue
  fi
  (cd "$work/$source" && npm run build) >"$work/log" 2>&1 ||
    { cat "$work/log"; status=1; continue; }
  diff -r "$source/$output" "$work/$source/$output" ||
    { echo "$source: run npm ci && npm run build there"; status=1; }
done
exit "$status"
