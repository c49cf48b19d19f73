# SPDX-License-Identifier: Apache-2.0
#
# Builds the initramfs of a kernel: a static busybox, guest/init, guest/main and
# a few modules. Cached under the release and a hash of all inputs, so that a
# change to any of them makes a new one. Sourced by `lab`.

# Loaded at boot, in this order. The last group is for zram and zswap: 6.1 and
# 6.12 compress through the crypto API, later zram through lib/. A name that is
# built in or unknown to a kernel is passed over.
boot_modules=(
  virtio_pci virtio_console 9p 9pnet_virtio overlay
  lz4_compress lz4hc_compress lz4 lz4hc lzo lzo-rle zstd crypto_zstd
  zsmalloc zram brd
)

initramfs_key() {  # RELEASE
  {
    echo "${boot_modules[@]}"
    cat "$lab_dir/initramfs.sh" "$lab_dir"/guest/{init,main} "$busybox"
    cat "$cache/kernels/$1/lib/modules/$1/modules.dep"
  } | sha256sum | cut -c 1-16
}

copy_modules() {  # RELEASE INTO
  local base=$cache/kernels/$1 module path name
  : >"$2/load-order"
  for module in "${boot_modules[@]}"; do
    modprobe -d "$base" -S "$1" --show-depends "$module" 2>/dev/null |
      awk '/^insmod/ { print $2 }' || true
  done | awk '!seen[$0]++' | while read -r path; do
    name=$(basename "$path" | sed 's/\.ko\(\.[a-z]*\)\?$//')
    case $path in
      *.xz) xz -dc "$path" ;;
      *.zst) zstd -qdc "$path" ;;
      *) cat "$path" ;;
    esac >"$2/$name.ko"
    echo "$name" >>"$2/load-order"
  done
}

pack() {  # FOLDER, a gzip'ed cpio on stdout
  (cd "$1" && find . -print0 | sort -z |
    cpio --null --create --quiet --format=newc -R 0:0 | gzip -1)
}

# Prints the path of the initramfs, building it if the cache has none.
build_initramfs() (  # RELEASE; a subshell, so that the EXIT trap is its own
  set -e  # which a command substitution does not inherit
  result=$cache/initramfs/$1-$(initramfs_key "$1").gz
  if [[ ! -s $result ]]; then
    mkdir -p "$cache/initramfs"
    work=$(mktemp -d "$cache/initramfs/.new.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 143' INT TERM
    mkdir -p "$work"/root/{bin,lab/modules,proc,sys,dev,host,overlay,root}
    cp "$busybox" "$work/root/bin/busybox"
    cp "$lab_dir/guest/init" "$work/root/init"
    cp "$lab_dir/guest/main" "$work/root/lab/main"
    chmod +x "$work/root/init"
    copy_modules "$1" "$work/root/lab/modules"
    # A kernel of patched/ has everything built in.
    [[ -s $work/root/lab/modules/load-order ||
      ! -s $cache/kernels/$1/lib/modules/$1/modules.dep ]] ||
      fail "no module of $1 could be read"
    pack "$work/root" >"$work/packed"
    mv "$work/packed" "$result"
  fi
  echo "$result"
)
