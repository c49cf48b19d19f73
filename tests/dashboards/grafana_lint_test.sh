#!/bin/bash
# Each dashboard keeps the rules of dashboard_lint.jq, and the rules find what they
# are for: each is shown a copy with one thing broken.
set -euo pipefail
source tests/dashboards/tools.sh
require_tools jq

FLEET=dashboards/grafana/fleet.json
COUNTERS="$(documented_series | awk '$2 == "counter" {print $1}' |
  "${JQ}" -Rn '[inputs]')"

lint() {
  "${JQ}" -r -L tests/dashboards --argjson counters "${COUNTERS}" \
    'include "dashboard_lint"; lint' "$@"
}

for dashboard in dashboards/grafana/*.json; do
  while read -r finding; do
    fail "${dashboard}: ${finding}"
  done < <(lint "${dashboard}")
done
while read -r uid; do
  fail "two dashboards have the uid ${uid}"
done < <("${JQ}" -r .uid dashboards/grafana/*.json | sort | uniq -d)

# finds SENTENCE CHANGE: after the jq CHANGE the lint says SENTENCE, a pattern.
finds() {
  local found
  found="$("${JQ}" "$2" "${FLEET}" | lint)"
  grep -q -- "$1" <<<"${found}" ||
    fail "after $2 the lint does not say \"$1\" but: ${found}"
}
finds 'annotation "Verdicts" does not use' '.annotations.list[1].datasource.uid = "abc"'
finds 'annotation "Verdicts" has no expression' 'del(.annotations.list[1].expr)'
FIRST='.panels[1].targets[0]'
finds 'id is not null' '.id = 7'
finds 'uid is not a stable word' '.uid = ""'
finds 'editable is not false' '.editable = true'
finds 'no variable "datasource"' 'del(.templating.list[0])'
finds 'no variable "job"' 'del(.templating.list[1])'
finds 'no variable "instance"' 'del(.templating.list[2])'
finds 'does not take several' '.templating.list[1].multi = false'
finds 'variable "kernel" does not use' \
  '.templating.list[3].datasource.uid = "abc"'
finds 'panel "Hosts" has no unit' 'del(.panels[1].fieldConfig.defaults.unit)'
finds 'panel "Hosts" has no description' '.panels[1].description = ""'
finds 'panel "Hosts" does not use' '.panels[1].datasource.uid = "abc"'
finds 'panel "Hosts" has no target' '.panels[1].targets = []'
finds 'target A: is empty' "${FIRST}.expr = \"\""
finds 'target A: does not use' "${FIRST}.datasource.uid = \"abc\""
finds 'swaplock_hosts is not selected by job' \
  "${FIRST}.expr = \"swaplock_hosts\""
finds 'swaplock_hosts is not selected by instance' \
  "${FIRST}.expr = \"sum(swaplock_hosts{job=~\\\"\$job\\\"})\""
finds 'swaplock_windows_total is a counter outside' \
  "${FIRST}.expr = \"sum(swaplock_windows_total{})\""
finds 'swaplock_hold_seconds_bucket is a counter outside' \
  "${FIRST}.expr = \"sum(swaplock_hold_seconds_bucket{})\""
finds 'has the range \[5m\]' \
  "${FIRST}.expr = \"rate(swaplock_windows_total{}[5m])\""
finds 'share the id' '.panels[2].id = .panels[1].id'
finds 'overlap' '.panels[2].gridPos = .panels[1].gridPos'
conclude
