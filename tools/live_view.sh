# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by quickstart: text that is drawn again and again on a terminal's
# second screen. On anything but a terminal nothing is written.

view_open=''

open_view() {
  [[ -t 1 && ${TERM:-dumb} != dumb ]] || return 0
  view_open=1
  printf '\e[?1049h\e[?7l\e[?25l'  # second screen, no wrapping, no cursor
}

has_view() { [[ -n $view_open ]]; }

# show_view COMMAND...: what they print, as far as it fits.
show_view() {
  local rows part COLUMNS
  read -r rows COLUMNS < <(stty size </dev/tty 2>/dev/null || echo 24 80)
  export COLUMNS  # `swaplock top` fits its tables into it
  printf '\e[H'
  for part in "$@"; do "$part"; done 2>&1 | head -n $((rows - 1)) |
    sed $'s/$/\e[K/'
  printf '\e[J'
}

close_view() {
  [[ -z $view_open ]] || printf '\e[?25h\e[?7h\e[?1049l'
  view_open=''
}
