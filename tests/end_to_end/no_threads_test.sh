#!/bin/bash
# Agent and server where no thread can be made: one sentence, exit status 69,
# and what was on disk stays there.
# usage: no_threads_test.sh AGENT SERVER
set -euo pipefail
if ((EUID)); then
  echo "SKIPPED: only root can become somebody with a limit of his own"
  exit 0
fi
# Not in TEST_TMPDIR: that is in a home folder, which others may not enter.
folder=$(mktemp -d "${TMPDIR:-/tmp}/threads.XXXXXX")
trap 'rm -rf "$folder"' EXIT
chmod 0777 "$folder"
cp -L "$1" "$2" "$folder/"
agent=$folder/$(basename "$1") server=$folder/$(basename "$2")
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# A number of a user that nobody else is, with room for one thread and no more.
somebody() {
  setpriv --reuid=2147480001 --regid=2147480001 --clear-groups --no-new-privs \
    prlimit --nproc=1:1 -- "$@"
}
if ! somebody true 2>/dev/null; then
  echo "SKIPPED: setpriv or prlimit does not work here"
  exit 0
fi

refused() {  # NAME COMMAND...
  local name=$1 status=0
  shift
  somebody "$@" >"$folder/$name.out" 2>&1 || status=$?
  cat "$folder/$name.out"
  ((status == 69)) || fail "$name ends with $status"
  tail -n 1 "$folder/$name.out" |
    grep -q "threads that it takes can be made (Resource temporarily unavailable)" ||
    fail "$name does not say why, or more after it"
}
refused server "$server" --data_dir="$folder/data" --grpc_listen=127.0.0.1:0 \
  --http_listen=127.0.0.1:0
refused agent "$agent" --server=127.0.0.1:1 --state_dir="$folder/state"
((failures == 0)) && echo "all passed"
exit $((failures > 0))
