#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# That docs/LOCKS.md is what the lock catalogue says.
# usage: locks_document_test.sh LOCKS_DOCUMENT LOCKS.md
set -euo pipefail
if ! diff -u "$2" <("$1" agent/capture/testdata); then
  echo "FAILED: write it anew: bazel run //agent/capture:locks_document -- \$PWD/agent/capture/testdata > docs/LOCKS.md" >&2
  exit 1
fi
