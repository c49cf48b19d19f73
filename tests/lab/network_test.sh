#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The uplink over a network that loses, delays and reorders packets, on a kernel
# that has netem: the test that skips itself on others.
#
# usage: network_test.sh KERNEL
set -euo pipefail
kernel=$1
# shellcheck source=tests/lab/in_guest.sh
. tests/lab/in_guest.sh

in_guest --kernel "$kernel" --timeout 400 -- bash -c '
  modprobe sch_netem
  TEST_TMPDIR=/run exec "$1" >"$2/test.txt" 2>&1' network \
  "$(bin agent/delivery/uplink_network_test)" "$out"
cat "$out/test.txt"
! grep SKIPPED "$out/test.txt" || fail "the guest has no netem"
grep -q "PASSED.*1 test" "$out/test.txt" || fail "the test did not pass"
exit $((failures > 0))
