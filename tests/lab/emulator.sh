# SPDX-License-Identifier: Apache-2.0
#
# Chooses the QEMU to run and how it threads. Sourced by `lab`.
#
# Before 8.1, QEMU translated guest code without holding the lock of the page it
# reads, so that with one thread per virtual CPU an instruction that Linux
# patches at run time (static branches, ftrace, BPF attachment) could be kept
# in its half-patched state: the guest dies with "Oops: int3". Debian 12's 7.2
# lives about 3 s under constant switching of tracepoints, and does not
# even boot one time in ten; 10.0 ran for minutes. So an older QEMU is
# replaced by the backport of the running Debian release, unpacked into the
# cache (it needs the same libraries, but not to be installed), or else run
# with all virtual CPUs in one thread, which is right but much slower.

first_safe_version=8.1

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
