# shellcheck shell=bash
# Sourced by the tests beside it: packaged tools, and what they share.

# The tool's path: from PATH, or from the packages unpacked at SWAPLOCK_TOOLS.
find_tool() {
  command -v "$1" && return
  local unpacked="${SWAPLOCK_TOOLS:-/nonexistent}/usr/bin/$1"
  [[ -x "${unpacked}" ]] && echo "${unpacked}"
}

# Ends the test as skipped, which ./check counts, when a tool is not there.
require_tools() {
  local tool path
  for tool in "$@"; do
    if ! path="$(find_tool "${tool}")"; then
      local package="${tool}"
      case "${tool}" in
        promtool) package=prometheus ;;
        amtool) package=prometheus-alertmanager ;;
        vmagent) package=victoria-metrics ;;
        ss) package=iproute2 ;;
      esac
      echo "SKIPPED: there is no ${tool}, of Debian's package ${package}"
      exit 0
    fi
    printf -v "$(tr '[:lower:]-' '[:upper:]_' <<<"${tool}")" '%s' "${path}"
  done
}

fail() {
  echo "FAILED: $*"
  FAILURES=$((FAILURES + 1))
}
FAILURES=0

# Ends the test.
conclude() {
  ((FAILURES == 0)) && echo "all passed"
  exit $((FAILURES > 0))
}

# Names and types of docs/METRICS.md, "name type" per line.
documented_metrics() {
  # shellcheck disable=SC2016  # the backquotes are Markdown's
  sed -nE 's/^\| `([a-z_]+)` \| (counter|gauge|histogram|summary) .*/\1 \2/p' \
    docs/METRICS.md
}

# The series that those metrics have, "name counter" or "name gauge".
documented_series() {
  documented_metrics | while read -r name type; do
    case "${type}" in
      histogram) printf '%s counter\n' "${name}"_{bucket,count,sum} ;;
      summary) printf '%s counter\n' "${name}"_{count,sum} ;;
      *) echo "${name} ${type}" ;;
    esac
  done
}

# Rules of a file, one JSON object per line with the keys that the rule has:
# record or alert, expr, for, keep_firing_for, severity, summary, description,
# runbook_url. Reads the plain form that dashboards/ is written in.
rules_of() {
  # shellcheck disable=SC2016  # a program of jq
  awk -f tests/dashboards/rules.awk "$1" | "${JQ}" -cR 'split("\u0001")
    | map(select(. != "") | index("=") as $i
          | {(.[:$i]): (.[$i + 1:] | sub("^\\s+"; ""))})
    | add'
}
