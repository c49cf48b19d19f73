# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For scripts that run in a guest; sourced. Counts calls by kprobe events and
# histograms, which know nothing of BPF, and collects failures. /run/symbols is
# what //agent/capture:kernel_symbols_main printed.

events=/sys/kernel/tracing/events/lab
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# Counts the calls of a function, by what is fetched if anything is.
count() {  # EVENT FUNCTION [FETCH]
  local key=common_pid
  [[ -z ${3:-} ]] || key=key
  echo "p:lab/$1 $2 ${3:+key=$3}" >>/sys/kernel/tracing/kprobe_events
  echo "hist:keys=$key" >"$events/$1/trigger"
}

# The hits of an event, all or those with one value of what is fetched.
hits() {  # EVENT [VALUE]
  awk -v value="${2:-}" '
    /hitcount:/ && (value == "" || $3 == value) { n += $NF }
    END { print n + 0 }' "$events/$1/hist"
}

forget() {
  for trigger in "$events"/*/trigger; do
    : >"$trigger"  # truncated, it forgets
  done
  echo >/sys/kernel/tracing/kprobe_events
}

member_offset() {  # STRUCT.MEMBER
  sed -n "s/^member ${1//./\\.} \([0-9]*\) .*/\1/p" /run/symbols
}
