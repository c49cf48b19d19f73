#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian 12 packages that building, checking and running this
# project need, only those that are missing. None of them brings a service that
# would start. Writes apt's output to stdout.

set -euo pipefail

usage() {
  cat <<'END_USAGE'
usage: install_packages.sh [--missing] GROUP...

  build  compilers, Bazel and libraries
  run    what quickstart --workload needs
  check  what ./check needs to run and to lint
  tidy   clang-tidy
  fuzz   what tools/fuzz.sh needs besides build and check
  packages  what builds and tries Debian packages (packaging)
  lab    QEMU and what else boots kernels (tests/lab)

  --missing  only print what is missing, one line, nothing if nothing is

Prometheus, Alertmanager and VictoriaMetrics, for the tests of group check, are
unpacked and not installed, because the packages start services: into
$SWAPLOCK_TOOLS, else the folder swaplock-tools of the user's cache.

Exit status: 0, 2 wrong arguments, 69 something is missing and cannot be had.
END_USAGE
}

declare -A packages=(
  [build]="bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto
    bazel-skylib bpftool clang g++ libabsl-dev libbpf-dev libcap-dev
    libcivetweb-dev
    libelf-dev libgrpc++-dev libgrpc-dev libncurses-dev libprotobuf-dev
    libsqlite3-dev libssl-dev libsystemd-dev nlohmann-json3-dev
    prometheus-cpp-dev protobuf-compiler protobuf-compiler-grpc zlib1g-dev"
  [run]="fio kmod"
  [check]="chromium clang-format curl fish help2man iproute2 jq libcpp-httplib-dev
    libgmock-dev libgtest-dev npm shellcheck systemd zsh"
  [tidy]="clang-tidy"
  [fuzz]="libclang-rt-dev"
  [packages]="debhelper help2man lintian mmdebstrap systemd-container"
  [lab]="busybox-static cpio curl fio jq kmod qemu-system-x86 xz-utils zstd"
)
# A program of each package that is unpacked.
declare -A unpacked=(
  [prometheus]=promtool [prometheus-alertmanager]=prometheus-alertmanager
  [victoria-metrics]=vmagent
)
tools=${SWAPLOCK_TOOLS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/swaplock-tools}

say() { echo "install_packages: $*" >&2; }

only_missing='' wanted=()
while (($#)); do
  case $1 in
    --missing) only_missing=1 ;;
    --help) usage; exit 0 ;;
    *)
      [[ -n $1 && -v "packages[$1]" ]] || { usage >&2; exit 2; }
      # shellcheck disable=SC2206  # split on purpose
      wanted+=(${packages[$1]})
      [[ $1 != check ]] || wanted+=("${!unpacked[@]}")
      ;;
  esac
  shift
done

is_installed() {
  if [[ -v "unpacked[$1]" ]]; then
    [[ -x $tools/usr/bin/${unpacked[$1]} ]] ||
      command -v "${unpacked[$1]}" >/dev/null
    return
  fi
  case $1 in
    npm) command -v npm >/dev/null ;;  # node's own packages bring it as well
    *) [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) = installed ]] ;;
  esac
}

missing=() unpack=()
for package in $(printf '%s\n' "${wanted[@]}" | sort -u); do
  if is_installed "$package"; then continue; fi
  if [[ -v "unpacked[$package]" ]]; then
    unpack+=("$package")
  else
    missing+=("$package")
  fi
done
if [[ -n $only_missing ]]; then
  echo "${missing[*]} ${unpack[*]}" | xargs
  exit 0
fi
((${#missing[@]} + ${#unpack[@]})) || exit 0

if ((${#missing[@]} && EUID != 0)); then
  say "packages are missing, and only root can install them:" \
    "apt-get install --no-install-recommends ${missing[*]}"
  exit 69
fi
command -v apt-get >/dev/null || { say "there is no apt-get here"; exit 69; }

export DEBIAN_FRONTEND=noninteractive
apt_get() { apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"; }

# Old lists name versions that have left the archive.
if ((EUID == 0)); then
  apt_get update || say "apt-get update failed; trying with the lists there are"
fi

if ((${#missing[@]})); then
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    { say "apt-get could not install ${missing[*]}"; exit 69; }
fi

if ((${#unpack[@]})); then
  mkdir -p "$tools"
  work=$(mktemp -d "$tools/.unpack.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && apt_get download "${unpack[@]}" &&
    for package in ./*.deb; do dpkg -x "$package" "$tools"; done) ||
    { say "apt-get could not download ${unpack[*]}"; exit 69; }
fi
