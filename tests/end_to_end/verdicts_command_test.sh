#!/bin/bash
# A server on the ledger of a rollout, and what the commands say of it: the list
# and its exit statuses, one verdict with its evidence, two kernels against each
# other, and the life of a verdict, which a restart does not forget.
set -euo pipefail

TMP="$(mktemp -d "${TEST_TMPDIR:-/tmp}/verdicts.XXXXXX")"
SERVER=""
stop_server() {
  [[ -z "${SERVER}" ]] || { kill "${SERVER}" && wait "${SERVER}" || true; }
  SERVER=""
}
clean_up() {
  stop_server
  rm -rf "${TMP}"
}
trap clean_up EXIT
fail() {
  echo "FAILED: $1"
  exit 1
}

# eventually WHAT COMMAND...: tries until it succeeds.
eventually() {
  local what="$1" end=$((SECONDS + 60))
  shift
  until "$@"; do
    ((SECONDS < end)) || { cat "${TMP}/server.log" || true; fail "${what}"; }
    sleep 0.1
  done
}

start_server() {
  rm -f "${TMP}/ports"
  server/swaplock-server --data_dir="${TMP}/data" --grpc_listen=127.0.0.1:0 \
    --http_listen=127.0.0.1:0 --port_file="${TMP}/ports" \
    --verdict_close_delay=0 --verdict_self_test_splits=20 \
    2>"${TMP}/server.log" &
  SERVER="$!"
  eventually "the server writes its ports" test -s "${TMP}/ports"
  GRPC="$(sed -E 's/.*grpc=([0-9]+).*/\1/' "${TMP}/ports")"
}

# run STATUS COMMAND...: its stdout goes to the file out, its stderr to err.
run() {
  local wanted="$1" status=0
  shift
  cli/swaplock "$@" --server="127.0.0.1:${GRPC}" >"${TMP}/out" 2>"${TMP}/err" ||
    status=$?
  [[ "${status}" == "${wanted}" ]] || {
    cat "${TMP}/out" "${TMP}/err"
    fail "swaplock $* ended with ${status}, not ${wanted}"
  }
}
has() {
  grep -qF -- "$1" "${TMP}/out" "${TMP}/err" || {
    cat "${TMP}/out" "${TMP}/err"
    fail "it does not say: $1"
  }
}
lists_a_regression() {
  local status=0
  cli/swaplock verdicts --server="127.0.0.1:${GRPC}" --kind=regression \
    >"${TMP}/out" 2>"${TMP}/err" || status=$?
  ((status == 1))
}

export COLUMNS=100
mkdir "${TMP}/data"
tests/end_to_end/rollout_ledger "${TMP}/data" \
  tests/load/scenarios/rollout.textproto
start_server
eventually "the server finds the regression" lists_a_regression

run 1 verdicts
has "6.12.57 -> 6.18.15: incident 1, open since"
has "is worse than 6.12.57 for"
has "REGRESSION"
[[ -z "${SWAPLOCK_SHOW:-}" ]] || cat "${TMP}/out"
run 1 verdicts --output=json
has '"kind":"VERDICT_KIND_REGRESSION"'
run 1 verdicts --output=csv
has "kernel_base,kernel_new,subsystem"
ID="$(awk -F, '/,regression,/ { print $1; exit }' "${TMP}/out")"
run 0 verdicts --pair=6.18.15..6.12.57
has "No verdict is like that."
run 2 verdicts --kind=tea
has "is none of regression"
run 2 verdicts forget 1

run 0 explain "${ID}"
[[ -z "${SWAPLOCK_SHOW:-}" ]] || cat "${TMP}/out"
for part in "is worse than 6.12.57" "What is compared" "Effect, new over base" \
  "Tests" "Hosts and what they counted" "Gates" "Strata"; do
  has "${part}"
done
run 0 explain "${ID}" --history --output=json
has '"history":[{'
run 2 explain 4711
has "there is no verdict 4711"

run 0 compare 6.12.57 6.18.15
[[ -z "${SWAPLOCK_SHOW:-}" ]] || cat "${TMP}/out"
has "REGRESSION"
run 1 compare 6.12.57 6.18.15 --fail-on-regression
run 2 compare 6.12.57 5.4.0
run 2 compare 6.12.57 6.18.15 --lkml
has "cannot go with --server"

run 2 verdicts suppress "${ID}" --for=14d
has "needs a --reason"
run 0 verdicts suppress "${ID}" --for=14d --reason="known codec change" --by=ann
has "is suppressed by ann until"
stop_server
start_server
run 1 verdicts --state=suppressed
has "REGRESSION"
run 0 explain "${ID}"
has "no alert"
has "suppressed by ann until"
run 0 verdicts reopen "${ID}"
has "is new"
run 0 verdicts acknowledge "${ID}" --reason="rolled back"
has "is acknowledged by"

stop_server
run 69 verdicts
echo "PASSED"
