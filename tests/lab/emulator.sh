# SPDX-License-Identifier: Apache-2.0
#
# Chooses the QEMU to run and how it threads. Sourced by `lab`.
#
# With one thread per virtual CPU, Debian 12's QEMU 7.2 does not survive Linux
# patching its own code (static branches, ftrace, attaching BPF): one CPU keeps
# running the half-patched instruction and the guest dies with "Oops: int3".
# Measured with 2 CPUs: dead within 10 s of switching tracepoints under load
# (3 of 3), and one boot in 15 failed; QEMU 10.0 did the same for 3 minutes and
# 1100 switches without harm. Versions between were not tried. So an older QEMU
# is replaced by the backport for the running Debian release, unpacked into the
# cache (it runs with the installed one's libraries), or else run with all
# virtual CPUs in one thread, which is right but fifteen times slower at
# patching.

first_safe_version=10.0

qemu_is_safe() {  # PROGRAM; false too if it does not start
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/.*version \([0-9.]*\).*/\1/p')
  [[ -n $version ]] &&
    printf '%s\n' "$first_safe_version" "$version" | sort -CV
}

fetch_emulator() (
  [[ ! -x $cache/emulator/usr/bin/qemu-system-x86_64 ]] || exit 0
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)-backports
  grep -qw -- "$suite" <<<"$lab_suites" || exit 1
  index_is_fresh || refresh_index
  work=$(mktemp -d "$cache/.emulator.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 143' INT TERM
  cd "$work" || exit 1
  say "downloading QEMU from $suite"
  private_apt apt-get download "qemu-system-x86/$suite" \
    "qemu-system-data/$suite" >&2 || exit 1
  for package in *.deb; do
    dpkg -x "$package" root || exit 1
  done
  qemu_is_safe root/usr/bin/qemu-system-x86_64 || exit 1
  rm -rf "$cache/emulator"
  mv root "$cache/emulator"
)

# Sets the array `qemu` and `qemu_threads`.
choose_emulator() {
  qemu=("$(command -v qemu-system-x86_64)")
  qemu_threads=multi
  if qemu_is_safe "${qemu[0]}"; then
    return
  elif locked fetch_emulator; then
    # The BIOS is a package of its own, with no version of note.
    qemu=("$cache/emulator/usr/bin/qemu-system-x86_64"
      -L "$cache/emulator/usr/share/qemu" -L /usr/share/seabios)
  else
    say "QEMU is older than $first_safe_version and no newer one can be had:" \
      "all virtual CPUs share one thread"
    qemu_threads=single
  fi
}
