#!/bin/bash
# docs/JSON.md names every subcommand that prints JSON, with a message that is in
# the file it names; what a command prints here has the fields of that message.
# usage: json_documented_test.sh SWAPLOCK
set -euo pipefail
swaplock=$1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

subcommands=$("$swaplock" --help | sed -nE 's/^  swaplock ([a-z-]+) .*/\1/p')
(($(wc -w <<<"$subcommands") > 10)) || fail "only these subcommands: $subcommands"
for name in $subcommands; do
  "$swaplock" "$name" --help | grep -qE -- '--output .*\bjson\b' || continue
  # shellcheck disable=SC2016  # the backquotes are Markdown's
  grep -qE '^\| `swaplock '"$name"'`' docs/JSON.md ||
    fail "docs/JSON.md has no row of swaplock $name"
done

rows=0
while read -r message file; do
  rows=$((rows + 1))
  grep -qE "^message $message \{" "$file" || fail "$file has no message $message"
done < <(sed -nE 's/^\| .* \| `([A-Za-z]+)` \| `([a-z_/.]+)` \|$/\1 \2/p' docs/JSON.md)
((rows >= 10)) || fail "only $rows rows are read"

# It has an answer on every host, whatever that can measure.
"$swaplock" doctor --output=json >"$TEST_TMPDIR/doctor.json" || true
fields=0
while read -r field; do
  fields=$((fields + 1))
  awk '/^message DoctorReport \{/ { inside = 1 } inside' proto/doctor.proto |
    grep -qE "\b$field = [0-9]+" || fail "DoctorReport has no field $field"
done < <(sed -nE 's/^ "([a-z_]+)":.*/\1/p' "$TEST_TMPDIR/doctor.json")
((fields >= 3)) || fail "swaplock doctor printed: $(head -c 300 "$TEST_TMPDIR/doctor.json")"
((failures == 0)) && echo "all passed"
exit $((failures > 0))
