#!/bin/bash
# swaplock-server --demo, as a person uses it: the kernel that is worse, and why,
# by command, page, API and metrics, each of which says that it is a replay;
# nothing is left behind.
set -euo pipefail

TMP="$(mktemp -d "${TEST_TMPDIR:-/tmp}/demo.XXXXXX")"
SERVER=""
DEMO=(env TMPDIR="${TMP}/scratch" server/swaplock-server --demo
  --grpc_listen=127.0.0.1:0 --http_listen=127.0.0.1:0
  --port_file="${TMP}/ports")
stop_server() {
  [[ -z "${SERVER}" ]] && return
  kill "${SERVER}" || true
  wait "${SERVER}" || true
}
clean_up() {
  stop_server
  rm -rf "${TMP}"
}
trap clean_up EXIT
fail() {
  echo "FAILED: $1"
  cat "${TMP}/server.log" "${TMP}/out" "${TMP}/err" 2>/dev/null || true
  exit 1
}
# run STATUS COMMAND...: its stdout goes to the file out, its stderr to err.
run() {
  local wanted="$1" status=0
  shift
  cli/swaplock "$@" --server="127.0.0.1:${GRPC}" >"${TMP}/out" 2>"${TMP}/err" ||
    status=$?
  [[ "${status}" == "${wanted}" ]] ||
    fail "swaplock $* ended with ${status}, not ${wanted}"
}
has() {
  grep -qF -- "$1" "${TMP}/out" "${TMP}/err" || fail "it does not say: $1"
}
readonly REPLAY="This is a replay: these hosts do not exist."

mkdir "${TMP}/scratch"
for flag in --data_dir="${TMP}/data" --hosts_file=/dev/null \
  --host_tokens=/dev/null --back_up_to="${TMP}/copy"; do
  status=0
  "${DEMO[@]}" "${flag}" 2>"${TMP}/server.log" || status=$?
  [[ "${status}" == 2 ]] || fail "--demo ${flag} ended with ${status}, not 2"
done

"${DEMO[@]}" 2>"${TMP}/server.log" &
SERVER="$!"
end=$((SECONDS + 120))
until [[ -s "${TMP}/ports" ]]; do
  ((SECONDS < end)) || fail "it does not write its ports"
  kill -0 "${SERVER}" 2>/dev/null || fail "it ended"
  sleep 0.1
done
GRPC="$(sed -E 's/.*grpc=([0-9]+).*/\1/' "${TMP}/ports")"
HTTP="$(sed -E 's/.*http=([0-9]+).*/\1/' "${TMP}/ports")"

run 1 verdicts
has "${REPLAY}"
has "6.18.15 (together with host/preempt: voluntary -> lazy) is worse than"
run 1 verdicts --op=read --pair=6.12.118..6.18.15 --output=csv
id="$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  $column["verdict"] == "regression" { print $column["id"]; exit }' "${TMP}/out")"
[[ "${id}" =~ ^[0-9]+$ ]] || fail "no regression has an id"
run 0 explain "${id}"
has "${REPLAY}"
has "REGRESSION"
run 0 kernels --output=json
has "\"replay\":\"${REPLAY}"
for command in hosts holds kernels "top --once"; do
  # shellcheck disable=SC2086  # two words
  run 0 ${command}
  has "${REPLAY}"
done

for page in / /kernels /verdicts "/verdict?id=${id}" /holds /coverage \
  /pipeline /api/v1/fleet /api/v1/verdicts; do
  curl -sf "http://127.0.0.1:${HTTP}${page}" >"${TMP}/out" ||
    fail "${page} is not there"
  has "${REPLAY}"
done
curl -sf "http://127.0.0.1:${HTTP}/metrics" >"${TMP}/out"
has "swaplock_replay 1"
has 'swaplock_hosts{state="connected"} 68'

kill "${SERVER}"
status=0
wait "${SERVER}" || status=$?
SERVER=""
((status == 0)) || fail "it ended with ${status}"
left="$(ls -A "${TMP}/scratch")"
[[ -z "${left}" ]] || fail "it leaves ${left}"
echo "all passed"
