#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `swaplock record` on the kernel of this very machine, whatever that lets it
# measure: runs, how they end, what is left when the recorder is killed, an
# agent that measures instead, and as nobody.
set -euo pipefail
swaplock=$PWD/cli/swaplock
agent=$PWD/agent/swaplock-agent
work=$(mktemp -d "${TMPDIR:-/tmp}/record.XXXXXX")
pids=()
finish() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
skip() { echo "SKIPPED: $*"; exit 0; }
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$work"/*.log >&2 || true
  exit 1
}
await() {  # WHAT COMMAND...; the limit only ends a broken test
  local what=$1
  shift
  for _ in {1..600}; do
    "$@" 2>/dev/null && return
    sleep 0.1
  done
  fail "no $what"
}

((EUID == 0)) || skip "needs root"
[[ -r /sys/kernel/btf/vmlinux ]] || skip "this kernel has no BTF"
for tool in jq setpriv; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done

status=0
record() {  # FILE ARGUMENT...: leaves its exit status
  local file=$1
  shift
  status=0
  "$swaplock" record -o "$work/$file" "$@" 2>>"$work/record.log" || status=$?
}
exits() { ((status == $1)) || fail "$2 exits with $status, not $1"; }
check() {  # FILE WHAT FILTER; the filter sees all records
  "$swaplock" convert "$work/$1" 2>/dev/null >"$work/records.json" || fail "$1 cannot be read"
  jq -se "$3" "$work/records.json" >/dev/null || {
    cut -c1-400 "$work/records.json" >&2
    fail "$1: $2"
  }
}
windows() { "$swaplock" convert "$work/$1" 2>/dev/null | grep -c '^{"window"'; }
has_windows() { (($(windows "$1" || true) >= $2)); }

# Runs, one after the other; stdin and stdout are the command's.
seen=$(echo in | "$swaplock" record -o "$work/a.slk" --run test --variant plain \
  --label codec=zstd --interval 200ms -- \
  sh -c "cat; sleep 0.5; echo '{\"facts\":{\"writers\":\"4\"}}' >\$SWAPLOCK_RESULT_FILE" \
  2>>"$work/record.log")
[[ $seen = in ]] || fail "stdout is not the command's: $seen"
record a.slk --run test --variant plain --quiet -- sh -c 'kill -SEGV $$'
exits 139 "a command that a signal ends"
check a.slk "not two runs of one name" \
  '[.[] | .run_begin // empty | [.name, .variant, .repetition]] == [["test", "plain", 1], ["test", "plain", 2]]'
check a.slk "not every run has windows before its end" \
  '[.[] | keys[0]] | join(" ") | test("^(run_begin (window )+run_end ?){2}$")'
check a.slk "the first run is not as it was" \
  '.[0].run_begin.labels.codec == "zstd" and ([.[] | .run_end // empty][0].result.facts.writers == "4")'
check a.slk "windows do not cover a run" \
  '(.[0].run_begin.begin_boottime_ns | tonumber) as $from | ([.[] | .run_end // empty][0].end_boottime_ns | tonumber) as $to
   | [.[] | .window // empty | select((.start_boottime_ns | tonumber) <= $to)]
   | (.[0].start_boottime_ns | tonumber) <= $from and (.[-1].end_boottime_ns | tonumber) >= $to'
check a.slk "a window says nothing of what could be measured" \
  'all(.[] | .window // empty; .coverage.probes | any(.state == "PROBE_STATE_ATTACHED"))'
check a.slk "the first window of a run does not tell the host" \
  '[.[] | .window // empty][0].context.complete'

# Commands that do not begin leave no file.
record b.slk -- swaplock-no-such-command
exits 127 "a command that is not there"
record b.slk -- /etc/passwd
exits 126 "a file that is no program"
[[ ! -e $work/b.slk ]] || fail "a file of nothing was left"
record /no/such/folder/b.slk -- true
exits 78 "a file that cannot be made"
echo "no record" >"$work/foreign"
record foreign -- touch "$work/ran"
exits 78 "a foreign file"
[[ $(cat "$work/foreign") = "no record" && ! -e $work/ran ]] || fail "a foreign file was written, or the command run"

# A request to stop reaches the command, whose end is recorded.
"$swaplock" record -o "$work/c.slk" --interval 100ms -- \
  sh -c 'trap "exit 9" TERM; touch "$0"; while :; do sleep 0.05; done' "$work/ready" \
  2>>"$work/record.log" &
pids+=($!)
await "command" test -e "$work/ready"
kill -TERM $!
status=0
wait $! || status=$?
exits 9 "a command that ends as it is told"
check c.slk "its end is missing" '.[-1].run_end.exit_status == 9'

# Killed at any moment, it leaves a file up to the last whole window.
"$swaplock" record -o "$work/d.slk" --interval 100ms -- \
  sh -c 'echo $$ >"$0"; exec sleep 1000' "$work/pid" 2>>"$work/record.log" &
recorder=$!
pids+=("$recorder")
await "two windows" has_windows d.slk 2
pids+=("$(cat "$work/pid")")
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
kill "$(cat "$work/pid")" || fail "the command did not outlive its recorder"
before=$(windows d.slk)
check d.slk "a killed recorder left an end" '[.[] | .run_end // empty] == []'
truncate -s -1 "$work/d.slk"  # as a crash may leave it
(($(windows d.slk) == before - 1)) || fail "a torn tail costs more than its window"
record d.slk -- sh -c 'exit 0'
exits 0 "a run after a torn tail"
check d.slk "the next run is not the second" '[.[] | .run_begin // empty][1].repetition == 2'
status=0
"$swaplock" merge -o "$work/merged.slk" "$work/d.slk" "$work/a.slk" "$work/d.slk" 2>>"$work/record.log" || status=$?
exits 0 "merge"
check merged.slk "a merged file has not every run once" '[.[] | .run_begin // empty | .id] | length == 4 and (unique | length) == 4'

# An agent that measures already: edges are made when they are wanted, not at
# the end of its long interval.
"$agent" --listen "unix:$work/agent" --interval 10m --host_id here 2>"$work/agent.log" &
agent_pid=$!
pids+=("$agent_pid")
await "agent" test -S "$work/agent"
[[ $(stat -c %a "$work/agent") = 600 ]] || fail "others may open the agent's socket"
record e.slk --agent "unix:$work/agent" --repeat 2 -- sh -c 'sleep 0.2'
exits 0 "a run that an agent measures"
check e.slk "not two runs by the agent" \
  '[.[] | .run_end // empty] | length == 2'
check e.slk "the windows are not the agent's" 'all(.[] | .window // empty; .host_id == "here")'
check e.slk "the first window does not tell the host" '[.[] | .window // empty][0].context.complete'
kill "$agent_pid"
wait "$agent_pid" || fail "the agent exited with $?"
record e.slk --agent "unix:$work/agent" -- touch "$work/ran"
exits 69 "an agent that is not there"
[[ ! -e $work/ran ]] || fail "the command ran without an agent"

# Where nobody may run it, too.
install -m 755 "$swaplock" "$work/swaplock"
chmod 755 "$work"
mkdir -m 777 "$work/open"
status=0
setpriv --reuid=65534 --regid=65534 --clear-groups "$work/swaplock" record \
  -o "$work/open/f.slk" -- touch "$work/open/ran" 2>"$work/nobody.log" || status=$?
exits 69 "nobody"
[[ -z $(ls -A "$work/open") ]] || fail "nobody left something, or ran the command"
(($(wc -l <"$work/nobody.log") == 1)) || fail "nobody is told more than one sentence"

for arguments in "" "-o x" "-o x true" "-o x --repeat=0 -- true" "-o x --label=y -- true" "-o x --agent=z -- true"; do
  status=0
  # shellcheck disable=SC2086 # several words
  "$swaplock" record $arguments >/dev/null 2>&1 || status=$?
  exits 2 "swaplock record $arguments"
done
if command -v bpftool >/dev/null; then
  left=$(bpftool -j prog show |
    jq -r '.[] | select(.name // "" | test("^(contention_(begin|end)|owner_switch|owner_wakeup|switch_hook|zram_|zswap_)")) | .name')
  [[ -z $left ]] || fail "programs were left behind: $left"
fi
