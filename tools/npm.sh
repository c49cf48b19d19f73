# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by checks that need npm's packages.

# npm_ci FOLDER: installs what its package-lock.json names; no script of a package
# runs. Without npm, or where its registry cannot be reached, the caller ends with
# status 77 and the reason as the last line.
npm_ci() {
  local log
  command -v npm >/dev/null || { echo "there is no npm"; exit 77; }
  if log=$(npm --prefix "$1" ci --no-audit --no-fund --ignore-scripts 2>&1); then
    return 0
  fi
  echo "$log"
  if grep -qE 'EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENETUNREACH' <<<"$log"; then
    echo "npm's registry cannot be reached"
    exit 77
  fi
  return 1
}
