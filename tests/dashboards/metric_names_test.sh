#!/bin/bash
# docs/METRICS.md lists exactly the names of the server's sources, and
# dashboards, rules and alerts use no others.
set -euo pipefail
source tests/dashboards/tools.sh
require_tools jq

in_sources() {
  grep -ohE '"(swaplock|process)_[a-z0-9_]+"' server/metrics/metric_names.h \
    server/metrics/process_metrics.cc | tr -d '"' | sort -u
}
in_document() { documented_metrics | cut -d' ' -f1; }

[[ -n "$(in_sources)" ]] || fail "no names found in server/metrics/metric_names.h"
[[ "$(in_document | sort | uniq -d)" == "" ]] ||
  fail "docs/METRICS.md lists twice: $(in_document | sort | uniq -d)"
while read -r name; do
  fail "docs/METRICS.md does not list ${name}"
done < <(comm -23 <(in_sources) <(in_document | sort))
while read -r name; do
  fail "docs/METRICS.md lists ${name}, which the server does not export"
done < <(comm -13 <(in_sources) <(in_document | sort))

known() {
  documented_series | cut -d' ' -f1
  rules_of dashboards/rules.yaml | "${JQ}" -r .record
}
KNOWN="$(known | "${JQ}" -Rn '[inputs]')"

# names_in FILE: reads expressions, one JSON string per line.
names_in() {
  local expressions unknown
  expressions="$(cat)"
  [[ -n "${expressions}" ]] || fail "$1 has no expression"
  # shellcheck disable=SC2016  # a program of jq
  unknown="$("${JQ}" -r -L tests/dashboards --argjson known "${KNOWN}" \
    'include "promql_names";
     . as $expr | metric_names - $known | .[] | "\(.) in \($expr)"' <<<"${expressions}")"
  [[ -z "${unknown}" ]] || fail "$1 uses an unknown metric: ${unknown}"
}
for file in dashboards/grafana/*.json; do
  names_in "${file}" < <(
    "${JQ}" '.panels[].targets[]?.expr, .annotations.list[].expr' "${file}")
  names_in "the variables of ${file}" < <(
    "${JQ}" '.templating.list[] | select(.type == "query") | .definition
             | sub("^label_values\\((?<s>.*), [a-z]+\\)$"; "\(.s)")' "${file}")
done
for file in dashboards/rules.yaml dashboards/alerts.yaml; do
  names_in "${file}" < <(rules_of "${file}" | "${JQ}" .expr)
done

# The extraction itself, on what could fool it.
extracted="$("${JQ}" -rn -L tests/dashboards 'include "promql_names";
  "1e6 * sum by (a, b) (rate(x_total{c=\"d_total\"}[5m])) / on (e) group_left () f:g_h:i > 0.5 and up or vector(0)"
  | metric_names | join(" ")')"
[[ "${extracted}" == "f:g_h:i up x_total" ]] ||
  fail "promql_names.jq finds: ${extracted}"
conclude
