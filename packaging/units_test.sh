#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The services' exposure, as systemd-analyze sees it without a running systemd, is
# below 2.5 of 10, and what they run is installed there.

set -uo pipefail
command -v systemd-analyze >/dev/null ||
  { echo "SKIPPED: there is no systemd-analyze, of Debian's package systemd"; exit 0; }
systemd-analyze security --help | grep -q -e --offline ||
  { echo "SKIPPED: this systemd-analyze has no --offline (systemd 251)"; exit 0; }

units=packaging/systemd
status=0
for unit in "$units"/*.service; do
  # A threshold of 24: above 2.4 fails.
  report=$(systemd-analyze security --offline=true --threshold=24 --no-pager \
    "$unit" 2>&1) || { status=1; grep '^✗' <<<"$report"; echo "FAILED: $unit is above 2.4"; }
  tail -n 1 <<<"$report"
done

# The same file with a capability more is worse: the test can fail.
worse=$(mktemp -d "${TEST_TMPDIR:-/tmp}/units.XXXXXX")/swaplock-agent.service
sed 's/^CapabilityBoundingSet=/&CAP_SYS_PTRACE /' "$units/swaplock-agent.service" >"$worse"
! systemd-analyze security --offline=true --threshold=24 "$worse" >/dev/null 2>&1 ||
  { status=1; echo "FAILED: more capabilities make no difference"; }

# Names of directives, syntax. The programs and pages are not installed here.
verified=$(systemd-analyze verify "$units"/*.service 2>&1 |
  grep -F "$units" | grep -v 'is not executable\|failed with code')
[[ -z $verified ]] || { status=1; echo "FAILED: $verified"; }
((status)) || echo "all passed"
exit "$status"
