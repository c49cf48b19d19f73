#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The packages have the version of the programs.

set -uo pipefail
changelog=$(sed -nE '1s/^swaplock \(([^)]*)\).*/\1/p' packaging/debian/changelog)
program=$(cli/swaplock --version | awk '{ print $2 }')
[[ -n $program && $changelog = "$program" ]] ||
  { echo "FAILED: debian/changelog says $changelog, swaplock --version $program"; exit 1; }
echo "all passed"
