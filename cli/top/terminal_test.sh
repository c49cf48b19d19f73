#!/bin/bash
# `swaplock top` on a terminal: it draws a screen, says what is wrong, ends with
# q, and leaves the terminal as it was. Nobody listens at the server's address.
set -euo pipefail
top="$1"
command -v script >/dev/null || { echo "SKIPPED: there is no script, of bsdutils"; exit 0; }
out="${TEST_TMPDIR:-/tmp}/top.out"

fail() { echo "FAILED: $*"; od -c "${out}" | head -n 40; exit 1; }

# on_terminal TERM KEYS: what it writes goes to $out, its status is returned.
on_terminal() {
  printf '%s' "$2" |
    TERM="$1" script --quiet --return --command \
      "${top} top --server=unix:/nonexistent --interval=100ms" /dev/null >"${out}"
}

on_terminal xterm q || fail "q does not end it well"
grep -q "swaplock unix:/nonexistent" "${out}" || fail "it draws no title"
grep -qF "$(tput -T xterm smcup)" "${out}" || fail "it does not take the screen"
tail -c 200 "${out}" | grep -qF "$(tput -T xterm rmcup)" ||
  fail "it does not give the screen back"

status=0
on_terminal no-such-terminal q || status=$?
((status == 78)) || fail "an unknown terminal gives ${status}"
grep -q 'TERM' "${out}" || fail "it does not say what is wrong"
echo "all passed"
