# SPDX-License-Identifier: Apache-2.0
#
# Finds Debian kernel packages, downloads them once and unpacks them into the
# cache. Sourced by `lab`. The cache, one folder per concern:
#   apt/                private apt state, so the machine's own apt is untouched
#   kernels/RELEASE/    vmlinuz and modules/ (a full /lib/modules/RELEASE)
#   initramfs/          see initramfs.sh
# Everything is prepared beside its final name and renamed, under one flock.

lab_suites="bookworm bookworm-updates bookworm-backports trixie
  trixie-updates trixie-backports sid"
lab_security_suites="bookworm-security trixie-security"
index_max_age_days=7

private_apt() {  # TOOL [ARG...]
  local tool=$1
  shift
  "$tool" -qq \
    -oDir::State::Lists="$cache/apt/lists" \
    -oDir::State::status="$cache/apt/status" \
    -oDir::Cache="$cache/apt" \
    -oDir::Etc::SourceList="$cache/apt/sources.list" \
    -oDir::Etc::SourceParts=/dev/null \
    -oDir::Etc::Preferences=/dev/null \
    -oDir::Etc::PreferencesParts=/dev/null \
    -oAcquire::Languages=none \
    -oAcquire::Retries=3 \
    -oAPT::Sandbox::User="$(id -un)" \
    "$@"
}

# Prints "URI SUITE" for the Debian archives that this machine's apt uses.
# `indextargets` knows the origin but is empty before the first `apt-get
# update`; the list of files to fetch is the fallback.
machine_archives() {
  {
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE)' |
      sed -n 's/^Debian //p'
    apt-get update --print-uris 2>/dev/null |
      sed -n "s|^'\(.*/\)dists/\(.*\)/InRelease' .*|\1 \2|p"
  } | sed -E 's|^(.*[^/])/* |\1 |'
}

write_sources_list() {
  local main security suite
  main=$(machine_archives |
    awk '$2 ~ /^(bookworm|trixie|forky|sid|stable|oldstable|testing|unstable)$/ {
           print $1; exit }')
  security=$(machine_archives | awk '$2 ~ /-security$/ { print $1; exit }')
  [[ -n $main ]] ||
    skip "the machine's apt sources name no Debian archive to fetch kernels from"
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  : >"$cache/apt/status"
  {
    for suite in $lab_suites; do
      echo "deb [arch=amd64] $main $suite main"
    done
    for suite in ${security:+$lab_security_suites}; do
      echo "deb [arch=amd64] $security $suite main"
    done
  } >"$cache/apt/sources.list"
}

# Refreshes apt/packages, the sorted names of all kernel packages. A suite that
# an archive does not carry makes apt-get fail although the others are there,
# so success is judged by the names found.
refresh_index() {
  say "reading the package lists of the archive"
  write_sources_list
  private_apt apt-get update >&2 || true
  private_apt apt-cache dumpavail |
    sed -n 's/^Package: \(linux-\(image\|binary\|modules\|base\)-.*amd64.*\)/\1/p' |
    sort -u >"$cache/apt/packages.new"
  [[ -s $cache/apt/packages.new ]] ||
    skip "no kernel packages could be listed (no network, or no Debian archive)"
  mv "$cache/apt/packages.new" "$cache/apt/packages"
}

index_is_fresh() {
  [[ -n $(find "$cache/apt/packages" -mtime "-$index_max_age_days" 2>/dev/null) ]]
}

# Keeps, of the releases on stdin, those of the flavour that start with the
# prefix at a version boundary (6.1 is not 6.12), highest first.
matching_releases() {  # PREFIX FLAVOUR
  local flavour=${2:+-$2}
  grep -E "^[0-9]+\.[0-9]+\.[0-9]+[^-]*(-[0-9]+)?$flavour-amd64\$" |
    awk -v prefix="$1" 'prefix == "" || index($0, prefix) == 1 &&
      substr($0, length(prefix) + 1) ~ /^($|[^0-9])/' |
    sort -rV
}

# Prints the packages that make up a release, or fails if the archive no longer
# has all of them. Since 6.19 a kernel comes in parts (linux-base has the list of
# what is built in); a linux-binary without its linux-modules is what is left of a
# superseded one.
packages_of() {  # RELEASE
  local list=$cache/apt/packages name
  first_listed() {
    for name in "$@"; do
      if grep -qxF "$name" "$list"; then echo "$name"; return; fi
    done
    return 1
  }
  if first_listed "linux-binary-$1" "linux-binary-unsigned-$1"; then
    first_listed "linux-modules-$1" || return
    first_listed "linux-base-$1" || true
  else
    first_listed "linux-image-$1" "linux-image-$1-unsigned"
  fi
}

archive_releases() {  # PREFIX FLAVOUR
  local release
  sed -E 's/^linux-(image|binary-unsigned|binary)-//; s/-unsigned$//' \
      "$cache/apt/packages" | sort -u | matching_releases "$1" "$2" |
    while read -r release; do
      if packages_of "$release" >/dev/null; then echo "$release"; fi
    done
}

cached_releases() {
  find "$cache/kernels" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' \
    2>/dev/null | sort -V || true
}

# A subshell, so that the EXIT trap is its own. Called in a condition, where
# `set -e` has no effect: every step says what its failure means.
download_release() (  # RELEASE
  release=$1
  mapfile -t packages < <(packages_of "$release")
  mkdir -p "$cache/kernels"
  work=$(mktemp -d "$cache/kernels/.new.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 143' INT TERM
  cd "$work"
  say "downloading ${packages[*]}"
  private_apt apt-get download "${packages[@]}" >&2 || exit 1
  for package in *.deb; do
    dpkg -x "$package" root || exit 1
  done
  vmlinuz=$(find root -name 'vmlinuz*' -type f -print -quit)
  modules=$(find root -type d -path "*lib/modules/$release" -print -quit)
  [[ -n $vmlinuz && -n $modules ]] ||
    fail "${packages[*]} hold no vmlinuz or no modules"
  mkdir -p kernel/lib/modules &&
    mv "$vmlinuz" kernel/vmlinuz &&
    mv "$modules" kernel/lib/modules/ &&
    depmod -b kernel "$release" &&
    mv kernel "$cache/kernels/$release"
)

# Downloads the highest matching release, with one refresh of the lists if it
# is not there or its download fails, and prints it.
fetch_release() {  # PREFIX FLAVOUR
  local attempt release
  for attempt in 1 2; do
    if ((attempt == 2)) || ! index_is_fresh; then refresh_index; fi
    release=$(archive_releases "$1" "$2" | head -n 1)
    [[ -n $release ]] || continue
    if [[ -d $cache/kernels/$release ]] || download_release "$release"; then
      echo "$release"
      return
    fi
  done
  skip "no kernel package of the archive matches $1${2:+ ($2)}: it has" \
    "$(archive_releases '' "$2" | cut -d. -f1,2 | sort -uV | xargs)"
}

# Prints the release to boot: the highest match in the cache, without asking
# the archive, so that a run is quick and repeatable; else a download.
resolve_release() {  # PREFIX FLAVOUR
  local release
  release=$(cached_releases | matching_releases "$1" "$2" | head -n 1)
  if [[ -n $release ]]; then
    echo "$release"
  elif [[ $2 == plain || $2 == patched ]]; then
    skip "no $2 kernel $1 has been built (tests/lab/patched/build --what kernel-$2)"
  else
    fetch_release "$1" "$2"
  fi
}
