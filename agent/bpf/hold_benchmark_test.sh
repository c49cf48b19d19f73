#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The programs' bodies load on this kernel and count every hold of a null lock.
# usage: hold_benchmark_test.sh HOLD_BENCHMARK
set -euo pipefail
status=0
"$1" 3 1000 || status=$?
((status == 77)) || exit "$status"
