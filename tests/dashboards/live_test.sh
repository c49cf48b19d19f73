#!/bin/bash
# A real Prometheus scrapes a real server fed by real agents that replay a
# recorded fleet; its ledger has the days before, a rollout. Every expression of
# the dashboards and every recording rule has a value, the rollout's regression
# becomes one alert and Alertmanager posts it once, and /metrics is what
# docs/METRICS.md says.
# shellcheck disable=SC2016,SC2317  # programs of jq; functions that `eventually` calls
set -euo pipefail
source tests/dashboards/tools.sh
source tests/dashboards/processes.sh
require_tools prometheus promtool prometheus-alertmanager curl jq

# The number of hosts that fleet_recording makes.
readonly HOSTS=19
# Panels that may be empty although all works, "title<TAB>reason". None: the
# recording has a value for each.
readonly MAY_BE_EMPTY=""

# The server, on free ports.
mkdir "${TMP}/data"
tests/end_to_end/rollout_ledger "${TMP}/data" \
  tests/load/scenarios/rollout.textproto
start server server/swaplock-server --data_dir="${TMP}/data" \
  --grpc_listen=127.0.0.1:0 --http_listen=127.0.0.1:0 \
  --port_file="${TMP}/ports" --verdict_close_delay=0 \
  --verdict_self_test_splits=20
eventually "the server writes its ports" test -s "${TMP}/ports"
GRPC="$(sed -E 's/.*grpc=([0-9]+).*/\1/' "${TMP}/ports")"
HTTP="$(sed -E 's/.*http=([0-9]+).*/\1/' "${TMP}/ports")"

metrics() { "${CURL}" -sf "http://127.0.0.1:${HTTP}/metrics"; }
check_metrics() {
  local complaints
  complaints="$(metrics | "${PROMTOOL}" check metrics 2>&1)" ||
    fail "promtool check metrics, $1: ${complaints}"
}
check_metrics "without any window"

# Prometheus, with the files that are shipped, and shorter times. A port of 0
# makes it choose one and say which.
sed -E "s/interval: [0-9]+s/interval: 1s/; s/localhost:7788/127.0.0.1:${HTTP}/" \
  dashboards/prometheus.yaml >"${TMP}/prometheus.yaml"
sed -E 's/interval: 30s/interval: 1s/' dashboards/rules.yaml \
  >"${TMP}/rules.yaml"
sed -E 's/^( +for): .*/\1: 1s/' dashboards/alerts.yaml >"${TMP}/alerts.yaml"
# Alertmanager, with the file that is shipped, and shorter times.
start webhook tests/dashboards/webhook_receiver "${TMP}/webhook_port" \
  "${TMP}/posted"
eventually "the webhook listens" test -s "${TMP}/webhook_port"
sed -E "s/(group_wait): .*/\1: 1s/; s/(group_interval): .*/\1: 1s/
  s/localhost:9095/127.0.0.1:$(cat "${TMP}/webhook_port")/" \
  dashboards/alertmanager.yaml >"${TMP}/alertmanager.yaml"
# Debian's reads its templates from a fixed place. Where the package is unpacked
# and not installed, it sees both folders as one.
# shellcheck disable=SC2016  # the inner shell's
with_templates() {
  local share="${PROMETHEUS_ALERTMANAGER%/bin/*}/share"
  if [[ "${share}" -ef /usr/share ]]; then
    exec "$@"
  fi
  exec unshare --map-root-user --mount sh -c '
    mount -t overlay overlay -o "lowerdir=$1:/usr/share" /usr/share
    shift
    exec "$@"' sh "${share}" "$@"
}
start alertmanager with_templates "${PROMETHEUS_ALERTMANAGER}" \
  --config.file="${TMP}/alertmanager.yaml" --storage.path="${TMP}/alertmanager" \
  --cluster.listen-address= --web.listen-address=127.0.0.1:0
alertmanager_listens() {
  ALERTMANAGER_PORT="$(sed -nE \
    's/.*[Ll]istening on.*address=127\.0\.0\.1:([0-9]+).*/\1/p' \
    "${TMP}/alertmanager.log" | head -n 1)"
  [[ -n "${ALERTMANAGER_PORT}" ]]
}
eventually "Alertmanager says where it listens" alertmanager_listens
cat >>"${TMP}/prometheus.yaml" <<END_ALERTING
alerting:
  alertmanagers:
    - static_configs:
        - targets: ["127.0.0.1:${ALERTMANAGER_PORT}"]
END_ALERTING
start prometheus "${PROMETHEUS}" --config.file="${TMP}/prometheus.yaml" \
  --storage.tsdb.path="${TMP}/tsdb" --web.listen-address=127.0.0.1:0
prometheus_listens() {
  PORT="$(sed -nE 's/.*Listening on.*address=127\.0\.0\.1:([0-9]+).*/\1/p' \
    "${TMP}/prometheus.log" | head -n 1)"
  [[ -n "${PORT}" ]]
}
eventually "Prometheus says where it listens" prometheus_listens
prometheus() { "${CURL}" -s "http://127.0.0.1:${PORT}/api/v1/$1" "${@:2}"; }
# The result of an expression, as JSON.
query() { prometheus query --data-urlencode "query=$1"; }

# The agents.
mkdir "${TMP}/recordings"
tests/dashboards/fleet_recording "${TMP}/recordings"
for recording in "${TMP}"/recordings/*.slk; do
  start "agent_$(basename "${recording}" .slk)" agent/swaplock-agent \
    --replay="${recording}" --replay_speed=1 --server="127.0.0.1:${GRPC}"
done

# has_value EXPRESSION: a sample that is a number, now.
has_value() {
  query "$1" | "${JQ}" -e \
    '.status == "success" and ([.data.result[].value[1] | select(. != "NaN")]
       | length > 0)' >/dev/null
}
eventually "Prometheus sees all ${HOSTS} agents connected" \
  has_value "swaplock_hosts{state=\"connected\"} == ${HOSTS}"
eventually "the server finds the regression" \
  has_value 'swaplock_verdict{verdict="regression"} == 1'

# Every expression of the dashboards, their variables replaced as Grafana does.
replaced='gsub("\\$__rate_interval"; "10s")
  | gsub("\\$\\{(?<name>base|new):regex\\}"; "$\(.name)")
  | gsub("\\$base"; "6.12.57") | gsub("\\$new"; "6.18.15")
  | gsub("\\$op"; "write")
  | gsub("\\$(job|instance|kernel|subsystem)"; ".+")'
expressions() {
  "${JQ}" -r "(input_filename | sub(\".*/\"; \"\")) as \$file
    | .panels[] | .title as \$title | .targets[]?
    | [\$file, \$title, .refId, (.expr | ${replaced})] | join(\"\t\")" \
    dashboards/grafana/*.json
}
asked=0
while IFS=$'\t' read -r file title target expression; do
  asked=$((asked + 1))
  [[ "${expression}" != *'$'* ]] ||
    give_up "${file}: panel \"${title}\" has a variable that is not replaced"
  grep -qF "${title}"$'\t' <<<"${MAY_BE_EMPTY}" && continue
  eventually "${file}: panel \"${title}\" target ${target} is empty: ${expression}" \
    has_value "${expression}"
done < <(expressions)
echo "${asked} expressions of the dashboards have a value"
((asked >= 100)) || fail "only ${asked} expressions were asked"

# Annotations are there only while something is new; they must be answered.
while read -r expression; do
  query "${expression}" | "${JQ}" -e '.status == "success"' >/dev/null ||
    fail "an annotation is no expression: ${expression}"
done < <("${JQ}" -r ".annotations.list[].expr | ${replaced}" dashboards/grafana/*.json)

# Their variables offer something to choose.
while IFS=$'\t' read -r series label; do
  eventually "label_values(${series}, ${label}) is empty" \
    has_value "count by (${label}) (${series})"
done < <("${JQ}" -r ".templating.list[] | select(.type == \"query\") | .definition
  | capture(\"^label_values\\\\((?<series>.*), (?<label>[a-z]+)\\\\)$\")
  | [(.series | ${replaced}), .label] | join(\"\t\")" dashboards/grafana/*.json | sort -u)

while read -r record; do
  eventually "rule ${record} is empty" has_value "${record}"
done < <(rules_of dashboards/rules.yaml | "${JQ}" -r .record)

# All rules evaluate; the regression is one alert, of the pair.
regression_fires() {
  prometheus alerts | "${JQ}" -e '[.data.alerts[]
    | select(.labels.alertname == "SwaplockKernelRegression"
             and .state == "firing") | .labels]
    == [{alertname: "SwaplockKernelRegression", job: "swaplock",
         kernel_base: "6.12.57", kernel_new: "6.18.15", severity: "critical"}]' \
    >/dev/null
}
eventually "the regression becomes one alert" regression_fires
prometheus alerts | "${JQ}" -r '.data.alerts[]
  | select(.labels.alertname == "SwaplockKernelRegression")
  | .annotations.description'
# What was posted of it, since it fired.
posted_regressions() {
  [[ -s "${TMP}/posted" ]] && "${JQ}" -s '[.[] | .alerts[]
    | select(.labels.alertname == "SwaplockKernelRegression")]' "${TMP}/posted"
}
regression_is_posted() { [[ "$(posted_regressions | "${JQ}" length)" -ge 1 ]]; }
eventually "Alertmanager posts the regression" regression_is_posted
detector_blind_fires() {
  prometheus alerts | "${JQ}" -e 'any(.data.alerts[];
    .labels.alertname == "SwaplockDetectorBlind"
    and .labels.kernel == "5.15.0" and .labels.op == "recompress")' >/dev/null
}
eventually "the operation whose waits no host measures becomes an alert" \
  detector_blind_fires
# Other alerts came meanwhile; this one not again.
posted_regressions | "${JQ}" -e 'length == 1 and .[0].status == "firing"' \
  >/dev/null || fail "posted of the regression: $(posted_regressions)"
unhealthy="$(prometheus rules | "${JQ}" -r '.data.groups[].rules[]
  | select(.health != "ok") | "\(.name): \(.lastError)"')"
[[ -z "${unhealthy}" ]] || fail "rules do not evaluate: ${unhealthy}"

# /metrics is what the document says: names, types, labels.
check_metrics "with a fleet"
metrics >"${TMP}/metrics.txt"
exported() {
  sed -nE 's/^# TYPE ([a-z_]+) ([a-z]+)$/\1 \2/p' "${TMP}/metrics.txt" | sort
}
difference="$(diff <(documented_metrics | sort) <(exported))" ||
  fail "docs/METRICS.md (<) and /metrics (>) differ: ${difference}"
documented_labels() {
  awk -F '|' '$2 ~ /^ `[a-z_]+` $/ && $3 ~ /counter|gauge|histogram|summary/ {
    labels = $5
    if (labels ~ /^ cell/)
      labels = labels " `kernel` `preempt` `subsystem` `op` `role` `mode`" \
               " `algorithm` `tier` `wait_tier`"
    name = $2
    gsub(/[ `]/, "", name)
    print name
    while (match(labels, /`[a-z_]+`/)) {
      print name, substr(labels, RSTART + 1, RLENGTH - 2)
      labels = substr(labels, RSTART + RLENGTH)
    }
  }' docs/METRICS.md | sort -u
}
# Label values of the recording contain no quotes or braces.
exported_labels() {
  awk '/^# TYPE/ { family = $3; print family; next }
    /^#/ { next }
    {
      text = $0
      while (match(text, /[a-z_]+="/)) {
        label = substr(text, RSTART, RLENGTH - 2)
        if (label != "le") print family, label
        text = substr(text, RSTART + RLENGTH)
        sub(/[^"]*"/, "", text)
      }
    }' "${TMP}/metrics.txt" | sort -u
}
difference="$(diff <(documented_labels) <(exported_labels))" ||
  fail "labels of docs/METRICS.md (<) and /metrics (>) differ: ${difference}"
conclude
