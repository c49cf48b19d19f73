# Completion of swaplock-agent and swaplock-server for bash: the flags that
# --help tells, and files.
# shellcheck shell=bash

_swaplock_daemon() {
  local word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if [[ $word = -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
      sed -nE 's/^    (--[a-z_0-9]+) \(.*/\1/p') --flagfile --help --version" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _swaplock_daemon swaplock-agent swaplock-server
