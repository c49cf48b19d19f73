# shellcheck shell=bash
# Sourced after tools.sh by tests that run servers and Prometheis: a folder
# $TMP, processes that end with the test, and waiting for what will come.

# Seconds that `eventually` waits.
readonly PATIENCE=90
TMP="$(mktemp -d "${TEST_TMPDIR:-/tmp}/live.XXXXXX")"
STARTED=()
# Ends what this test started, and nothing else.
# shellcheck disable=SC2317  # by the trap
clean_up() {
  local pid
  for pid in "${STARTED[@]}"; do kill "${pid}" 2>/dev/null || true; done
  for pid in "${STARTED[@]}"; do wait "${pid}" 2>/dev/null || true; done
  rm -rf "${TMP}"
}
trap clean_up EXIT

# start NAME COMMAND...: in the background, with its output in NAME.log.
start() {
  local name="$1"
  shift
  "$@" >"${TMP}/${name}.log" 2>&1 &
  STARTED+=("$!")
}

give_up() {
  fail "$1"
  tail -n 20 "${TMP}"/*.log || true
  conclude
}

# eventually WHAT COMMAND...: tries COMMAND until it succeeds.
eventually() {
  local what="$1" end=$((SECONDS + PATIENCE))
  shift
  until "$@"; do
    ((SECONDS < end)) || give_up "after ${PATIENCE} s: ${what}"
    sleep 0.2
  done
}
