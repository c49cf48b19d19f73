# Completion of swaplock for bash. Asks the program itself for its subcommands,
# their flags and what --output can be, so it knows what the installed one knows.
# shellcheck shell=bash

_swaplock() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
  local before=${COMP_WORDS[COMP_CWORD - 1]} subcommand=${COMP_WORDS[1]} help flag
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null |
      sed -nE 's/^  swaplock ([a-z][a-z-]*) .*/\1/p') --help --version" -- "$word")
    return
  fi
  # What stands after "--" is a command of its own.
  for flag in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    if [[ $flag = -- && $subcommand = record ]]; then
      mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
      return
    fi
  done
  help=$("$program" "$subcommand" --help 2>/dev/null) || return
  # "--output=js" is three words here, "--output js" two.
  if [[ $word = "=" ]]; then
    flag=$before word=
  elif [[ $before = "=" ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  else
    flag=$before
  fi
  if [[ $flag = --output ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sed -nE \
      's/^  --output  [^:]*: ([^(]*).*/\1/p' <<<"$help" | tr -d ,)" -- "$word")
  elif [[ $word = -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sed -nE \
      's/^  (--?[a-z][a-z_0-9]*)  .*/\1/p' <<<"$help") --help" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _swaplock swaplock
