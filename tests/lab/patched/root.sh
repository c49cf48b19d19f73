# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of build
#
# The folder that kernels are built in: a minimal Debian with the compiler, the
# sources and the headers of one kernel series. Sourced by `build`.
#
#   build/versions         the packages that decide what comes out
#   build/headers-release  the Debian kernel whose headers are installed

tools="make gcc pahole xz-utils flex bison bc cpio zstd python3
  libelf-dev libdw-dev libssl-dev"

# Runs a command in the root, at low priority, with a /proc that goes away with
# it.
in_root() {  # ROOT COMMAND...
  nice -n 10 unshare --mount --pid --fork --kill-child bash -ec '
    mount -t proc proc "$0/proc"
    exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"' "$@"
}

check_root_is_possible() {
  ((EUID == 0)) || skip "debootstrap needs root"
  command -v debootstrap >/dev/null ||
    PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null ||
    skip "debootstrap is not installed (apt-get install debootstrap)"
  unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null ||
    skip "this machine does not allow mounts (unshare --mount)"
}

# Debian's archive, from the machine's own apt sources.
archive_address() {
  [[ -s $cache/apt/sources.list ]] || write_sources_list >&2
  awk -v suite="$suite" '$4 == suite { print $3; exit }' \
    "$cache/apt/sources.list"
}

# Written beside its name and renamed, so that half a root is never used.
make_root() {
  [[ -s $root/build/versions ]] && return
  local archive new=$root.new release
  check_root_is_possible
  archive=$(archive_address)
  : >"$log"
  rm -rf --one-file-system "$new"
  say "making a $suite root for kernels $series (log: $log)"
  PATH=$PATH:/usr/sbin:/sbin nice -n 10 debootstrap --variant=minbase \
    "$suite" "$new" "$archive" >>"$log" 2>&1 ||
    skip "debootstrap cannot fetch $suite from the machine's archive: $(tail -n 1 "$log")"
  printf 'deb %s %s main\n' "$archive" "$suite" "$archive" "$suite-backports" \
    >"$new/etc/apt/sources.list"
  in_root "$new" apt-get -qq update >>"$log" 2>&1 ||
    skip "the archive has no $suite-backports: $(tail -n 1 "$log")"
  release=$(in_root "$new" apt-cache pkgnames "linux-headers-$series." |
    sed -n 's/^linux-headers-\([0-9.]*+deb[0-9]*-amd64\)$/\1/p' |
    sort -V | tail -n 1)
  [[ -n $release ]] || skip "the archive has no headers of a $series kernel"
  # shellcheck disable=SC2086 # a list of words
  in_root "$new" apt-get -qq -y --no-install-recommends \
    -t "$suite-backports" install "linux-headers-$release" \
    "linux-source-$series" $tools >>"$log" 2>&1 ||
    skip "the archive cannot install the sources or tools: $(tail -n 1 "$log")"
  in_root "$new" apt-get clean
  mkdir "$new/build"
  echo "$release" >"$new/build/headers-release"
  in_root "$new" dpkg-query -W "linux-headers-$release" "linux-source-$series" \
    gcc-14 pahole >"$new/build/versions.new" 2>>"$log" || true
  mv "$new" "$root"
  mv "$root/build/versions.new" "$root/build/versions"
}

tarball() { echo "$root/usr/src/linux-source-$series.tar.xz"; }

# One folder of the sources.
unpack_source() {  # INTO LEADING-PARTS-TO-STRIP FOLDER
  mkdir -p "$1"
  nice -n 10 tar -C "$1" -xJf "$(tarball)" --strip-components="$2" \
    "linux-source-$series/$3"
}

# The sources without what a small x86 kernel cannot need: a quarter of them.
# Kconfig and Makefiles are all kept, because they include each other.
unpack_kernel() {  # INTO
  local skip=() pattern new=$1.new
  say "unpacking the kernel's sources"
  rm -rf "$new"
  mkdir -p "$new"
  for pattern in 'arch/[!x]*/*.[chS]' 'arch/[!x]*/boot/*' 'arch/[!x]*/configs/*' \
    'arch/xtensa/*.[chS]' 'Documentation/*/*' 'samples/*.[ch]' \
    'tools/testing/*.[ch]' 'tools/perf/*' 'sound/*.[ch]' 'drivers/net/*/*.[ch]' \
    drivers/{gpu,media,scsi,infiniband,staging,usb,iio,mtd,crypto}'/*.[ch]' \
    fs/{xfs,btrfs,ext4,f2fs,smb,nfs,nfsd,ocfs2,gfs2,ceph,ntfs3,ubifs,jffs2}'/*.[ch]'; do
    skip+=("--exclude=linux-source-$series/$pattern")
  done
  nice -n 10 tar -C "$new" --anchored --wildcards --wildcards-match-slash \
    "${skip[@]}" --strip-components=1 -xJf "$(tarball)" ||
    fail "cannot unpack $(tarball)"
  mv "$new" "$1"
}
