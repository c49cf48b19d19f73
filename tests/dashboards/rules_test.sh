#!/bin/bash
# Rules and alerts as promtool sees them, their unit tests, the example
# configurations, and what every alert must have.
set -euo pipefail
source tests/dashboards/tools.sh
require_tools promtool amtool jq

run() {
  local output
  if ! output="$(cd dashboards && "${PROMTOOL}" "$@" 2>&1)"; then
    fail "promtool $*: ${output}"
  fi
}
run check rules rules.yaml alerts.yaml
run check config prometheus.yaml
run test rules rules_test.yaml
run test rules alerts_test.yaml
routed="$("${AMTOOL}" check-config dashboards/alertmanager.yaml 2>&1)" ||
  fail "amtool: ${routed}"

# Every alert is complete, carries no host, and has a runbook that exists.
while read -r alert; do
  name="$("${JQ}" -r .alert <<<"${alert}")"
  missing="$("${JQ}" -r '["expr", "for", "keep_firing_for", "severity",
      "summary", "description", "runbook_url"] - keys | join(", ")' \
    <<<"${alert}")"
  [[ -z "${missing}" ]] || fail "alert ${name} lacks: ${missing}"
  [[ "$("${JQ}" -r .severity <<<"${alert}")" =~ ^(critical|warning|info)$ ]] ||
    fail "alert ${name} has an unknown severity"
  grep -qE '\b(by|on|group_left) \([^)]*\b(host|instance|pod|node)\b' \
    <<<"${alert}" && fail "alert ${name} keeps a label of one host"
  runbook="dashboards/runbooks/${name}.md"
  [[ "$("${JQ}" -r .runbook_url <<<"${alert}")" == */runbooks/"${name}.md" ]] ||
    fail "alert ${name} does not link ${runbook}"
  [[ -s "${runbook}" ]] || { fail "there is no ${runbook}" && continue; }
  for section in "## What it means" "## What to look at" "## What to do"; do
    grep -qx "${section}" "${runbook}" ||
      fail "${runbook} has no section \"${section}\""
  done
  # A unit test in which it fires: promtool compares all alerts of that name, so
  # the other series of that test are what it stays silent on.
  awk -v name="${name}" '
      $1 == "alertname:" { current = ($2 == name) }
      $1 == "exp_alerts:" && current { fires++ }
      END { exit !(fires > 0) }' dashboards/alerts_test.yaml ||
    fail "no unit test in which ${name} fires"
done < <(rules_of dashboards/alerts.yaml)

alerts="$(rules_of dashboards/alerts.yaml | wc -l)"
[[ "${alerts}" == "$(grep -c -- '- alert:' dashboards/alerts.yaml)" ]] ||
  fail "rules.awk does not see all alerts"
[[ "${alerts}" == "$(find -L dashboards/runbooks -name '*.md' | wc -l)" ]] ||
  fail "there is a runbook without an alert"
conclude
