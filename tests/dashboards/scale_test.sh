#!/bin/bash
# Three servers with a ledger each, and what merges them: two Prometheis that
# share them out, a third that federates from both, vmagent and a Prometheus in
# agent mode that write to VictoriaMetrics. With the files of dashboards/scale,
# every way gives the totals that the ledgers have.
# shellcheck disable=SC2317  # functions that `eventually` calls
set -euo pipefail
source tests/dashboards/tools.sh
source tests/dashboards/processes.sh
require_tools prometheus promtool victoria-metrics vmagent curl jq ss

# The number of hosts that fleet_recording makes whose windows are taken.
readonly HOSTS=18
readonly SERVERS=3

(cd dashboards/scale
  for file in shard federation agent; do
    "${PROMTOOL}" check config "${file}.yaml"
  done
  "${PROMTOOL}" test rules rules_without_instance_test.yaml) \
  >"${TMP}/promtool.log" 2>&1 || fail "promtool: $(cat "${TMP}/promtool.log")"

# The servers, on free ports.
grpc=() http=()
for ((i = 0; i < SERVERS; i++)); do
  mkdir "${TMP}/data${i}"
  start "server${i}" server/swaplock-server --data_dir="${TMP}/data${i}" \
    --grpc_listen=127.0.0.1:0 --http_listen=127.0.0.1:0 \
    --port_file="${TMP}/ports${i}"
done
for ((i = 0; i < SERVERS; i++)); do
  eventually "server ${i} writes its ports" test -s "${TMP}/ports${i}"
  grpc+=("$(sed -E 's/.*grpc=([0-9]+).*/\1/' "${TMP}/ports${i}")")
  http+=("$(sed -E 's/.*http=([0-9]+).*/\1/' "${TMP}/ports${i}")")
done

# The hosts, shared out among them; each sends all that it has recorded.
mkdir "${TMP}/recordings"
tests/dashboards/fleet_recording "${TMP}/recordings"
agents=() i=0
rm "${TMP}/recordings/rejected.slk"
for recording in "${TMP}"/recordings/*.slk; do
  start "agent_$(basename "${recording}" .slk)" agent/swaplock-agent \
    --replay="${recording}" --server="127.0.0.1:${grpc[i++ % SERVERS]}"
  agents+=("$!")
done
((i == HOSTS)) || fail "${i} recordings"
for pid in "${agents[@]}"; do
  wait "${pid}" || fail "an agent ended with $?"
done

# A shipped file with the addresses of this test, and short times.
adapted() {  # FILE SED-EXPRESSION...
  local file="$1" expressions=(
    -e "s/interval: [0-9]+s/interval: 1s/"
    -e "s/swaplock-a:7788/127.0.0.1:${http[0]}/"
    -e "s/swaplock-b:7788/127.0.0.1:${http[1]}/"
    -e "s/swaplock-c:7788/127.0.0.1:${http[2]}/")
  shift
  while (($#)); do
    expressions+=(-e "$1")
    shift
  done
  sed -E "${expressions[@]}" "dashboards/scale/${file}"
}
# start_prometheus NAME CONFIG OPTION...: sets PORT.
start_prometheus() {
  local name="$1" config="$2"
  shift 2
  start "${name}" "${PROMETHEUS}" --config.file="${config}" \
    --web.listen-address=127.0.0.1:0 "$@"
  eventually "${name} says where it listens" says_port "${name}"
}
says_port() {
  PORT="$(sed -nE 's/.*Listening on.*address=127\.0\.0\.1:([0-9]+).*/\1/p' \
    "${TMP}/$1.log" | head -n 1)"
  [[ -n "${PORT}" ]]
}

# Two Prometheis, each with its servers, and one that people ask.
cp dashboards/scale/rules_without_instance.yaml "${TMP}/"
shards=()
for shard in 0 1; do
  adapted shard.yaml "s/\"0\"/\"${shard}\"/" >"${TMP}/shard${shard}.yaml"
  start_prometheus "shard${shard}" "${TMP}/shard${shard}.yaml" \
    --storage.tsdb.path="${TMP}/tsdb_shard${shard}"
  shards+=("${PORT}")
done
mkdir "${TMP}/global"
cp dashboards/rules.yaml dashboards/alerts.yaml "${TMP}/"
adapted federation.yaml "s/prometheus-0:9090/127.0.0.1:${shards[0]}/" \
  "s/prometheus-1:9090/127.0.0.1:${shards[1]}/" >"${TMP}/global/federation.yaml"
start_prometheus global "${TMP}/global/federation.yaml" \
  --storage.tsdb.path="${TMP}/tsdb_global"
global="${PORT}"

# VictoriaMetrics; it says only which port it was asked for.
start victoria "${VICTORIA_METRICS}" -storageDataPath="${TMP}/victoria" \
  -httpListenAddr=127.0.0.1:0 -search.latencyOffset=0s
VICTORIA_PID="$!"
victoria_listens() {
  VICTORIA_PORT="$("${SS}" -Hltnp | sed -nE \
    "s/.*127\.0\.0\.1:([0-9]+) .*pid=${VICTORIA_PID},.*/\1/p" | head -n 1)"
  [[ -n "${VICTORIA_PORT}" ]]
}
eventually "VictoriaMetrics listens" victoria_listens
# Both write the same series; "by" tells them apart here.
write_url="http://127.0.0.1:${VICTORIA_PORT}/api/v1/write?extra_label=by="
adapted agent.yaml '/^remote_write:/,$d' >"${TMP}/vmagent.yaml"
start vmagent "${VMAGENT}" -promscrape.config="${TMP}/vmagent.yaml" \
  -remoteWrite.url="${write_url}vmagent" -httpListenAddr=127.0.0.1:0 \
  -remoteWrite.tmpDataPath="${TMP}/vmagent_queue"
adapted agent.yaml "s#http://metrics.example:8428.*#${write_url}prometheus#" \
  >"${TMP}/agent.yaml"
start_prometheus agent_mode "${TMP}/agent.yaml" --enable-feature=agent \
  --storage.agent.path="${TMP}/wal"

# query PORT EXPRESSION: one number, "" if there is none.
query() {
  "${CURL}" -s "http://127.0.0.1:$1/api/v1/query" \
    --data-urlencode "query=$2" | "${JQ}" -r '.data.result[0].value[1] // ""'
}
# What the ledgers have: the servers' answers, added up.
ledgers() {  # JQ-EXPRESSION over one server's fleet
  local port
  for port in "${http[@]}"; do
    "${CURL}" -sf "http://127.0.0.1:${port}/api/v1/fleet" | "${JQ}" "$1"
  done | "${JQ}" -s add
}
is() {  # PORT EXPRESSION NUMBER
  SEEN="$(query "$1" "$2")"
  [[ -n "${SEEN}" ]] && "${JQ}" -en "(${SEEN} - $3) == 0" >/dev/null
}
agree() {  # NUMBER EXPRESSION: with %s where a selector may stand
  local number="$1" expression="$2" by
  eventually "federation: ${expression} is not ${number}" \
    is "${global}" "${expression//%s/}" "${number}"
  for by in vmagent prometheus; do
    eventually "VictoriaMetrics by ${by}: ${expression} is not ${number}" \
      is "${VICTORIA_PORT}" "${expression//%s/by=\"${by}\",}" "${number}"
  done
  echo "${expression//%s/}: ${number} in the ledgers and by every way"
}
acquisitions="$(ledgers '[.cohorts[].cells[].acquisitions // 0 | tonumber] | add')"
((acquisitions > 1000000)) || fail "only ${acquisitions} acquisitions"
agree "${acquisitions}" 'sum(swaplock_acquisitions_total{%s})'
agree "$(ledgers '[.cohorts[].cells[].contended // 0 | tonumber] | add')" \
  'sum(swaplock_contended_total{%s})'
agree "$(ledgers '[.cohorts[].windows // 0 | tonumber] | add')" \
  'sum(swaplock_windows_total{%sresult="merged"})'

# Together the shards scrape every server once; one of them may have none, for
# which has which follows from the addresses.
each_server_once() {
  local port scraped=0
  for port in "${shards[@]}"; do
    scraped=$((scraped + $(query "${port}" 'count(up{job="swaplock"} == 1) or vector(0)')))
  done
  ((scraped == SERVERS))
}
eventually "the shards do not scrape each server once" each_server_once
conclude
