# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by quickstart and check: long steps whose output goes to a log while
# the user sees how far they are, processes that end with their script, and
# Bazel. The sourcing script sets `log` before and calls end_steps when it ends.

log=${log:?set it first}
: >"$log"
step_pid='' bazel_needs_end=''

say() { printf '%s\n' "$*"; }

# In a process group of its own, so that Ctrl-C reaches this script only, which
# then ends its parts in the right order.
own_group() {  # COMMAND...: in the background
  set -m
  "$@" </dev/null &
  set +m
}

# As own_group, and SIGTERM even if this script is killed with SIGKILL.
attached() { own_group setpriv --pdeathsig TERM -- "$@"; }

# The last thing that the log says, on one line of the terminal.
last_words() {
  tail -c 2000 "$log" | tr '\r' '\n' | tr -cd '\n -~' | grep . | tail -n 1 |
    cut -c "1-$1" || true
}

# run_step TITLE COMMAND...: returns the command's exit status.
run_step() {
  local title=$1 started=$SECONDS status=0 columns
  shift
  say "=== $title: $*" >>"$log"
  [[ -t 1 ]] || say "$title ..."
  own_group "$@" >>"$log" 2>&1
  step_pid=$!
  while kill -0 "$step_pid" 2>/dev/null; do
    if [[ -t 1 ]]; then
      columns=$(tput cols 2>/dev/null || echo 80)
      printf '\r\e[K%s ... %d s  %s' "$title" $((SECONDS - started)) \
        "$(last_words $((columns > 50 ? columns - 40 : 10)))"
    fi
    sleep 0.5
  done
  wait "$step_pid" || status=$?
  step_pid=
  [[ ! -t 1 ]] || printf '\r\e[K'
  say "$title: $( ((status)) && echo "failed" || echo "done") after" \
    "$((SECONDS - started)) s"
  return "$status"
}

# Bazel for this work tree; its server is stopped by end_steps unless it ran
# before, for then someone else may use it.
use_bazel() {
  # A bracket, so that grep does not find itself.
  grep -lzxqs -- "--[w]orkspace_directory=$PWD" /proc/[0-9]*/cmdline ||
    bazel_needs_end=1
  # Bazel keeps what it builds below HOME.
  if ! mkdir -p "${HOME:-/nonexistent}" 2>/dev/null || [[ ! -w $HOME ]]; then
    HOME=$1
    export HOME
    say "no home folder to write to: what is built is not kept"
  fi
}

# end_process PID: asks it to end and, in the end, makes it.
end_process() {
  local pid=$1 try
  [[ -n $pid ]] || return 0
  kill "$pid" 2>/dev/null || true
  for ((try = 0; try < 200; try++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  if ((try == 200)); then
    say "process $pid does not end within 20 s and is killed" >&2
    kill -KILL -- "-$pid" || true
  fi
  wait "$pid" 2>/dev/null || true
}

end_steps() {
  if [[ -n $step_pid ]]; then
    [[ ! -t 1 ]] || say ""
    # Bazel and apt-get end on it as soon as nothing is left half done.
    kill -INT -- "-$step_pid" 2>/dev/null || true
    wait "$step_pid" 2>/dev/null || true
    step_pid=
  fi
  if [[ -n $bazel_needs_end ]]; then
    bazel shutdown >>"$log" 2>&1 </dev/null || true
    bazel_needs_end=
  fi
}
