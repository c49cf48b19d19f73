# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # variables of build
#
# Applies edits/ to kernel sources: a NAME.sed edits the file NAME, the .h and .c
# files are put beside it. Sourced by `build`.

# shellcheck disable=SC2046 # edited_files prints a list of words

# What must be gone and what must be there afterwards, so that an edit that no
# longer finds its line is noticed before the compiler would.
old_names='zcomp_strm|zcomp_stream_|acomp_ctx->(req|mutex|wait)\>'
declare -A new_names=(
  [zram]='zcomp_cstrm_get zcomp_cstrm_put zcomp_dstrm_get zcomp_dstrm_put
    zcomp_streams_init zcomp_streams_destroy zcomp_streams.o create_dctx
    zram_read_compressed.h'
  [zswap]='zswap_requests.h zswap_load.h __zswap_decompress
    zswap_acomp_reqs_init zswap_acomp_req_free acomp_ctx->comp.mutex'
)

edited_files() {  # zram|zswap
  case $1 in
    zram) echo zcomp.h zcomp.c zram_drv.c Makefile \
      backend_zstd.c backend_deflate.c ;;
    zswap) echo zswap.c ;;
  esac
}

script_for() {  # zram|zswap FILE
  case $2 in
    backend_*) echo "$here/edits/$1/stateful_backend.sed" ;;
    *) echo "$here/edits/$1/$2.sed" ;;
  esac
}

apply_edits() {  # zram|zswap FOLDER
  local file name
  for file in $(edited_files "$1"); do
    sed -i -E -f "$(script_for "$1" "$file")" "$2/$file"
  done
  # Comments may keep them.
  (cd "$2" && ! grep -nE "$old_names" $(edited_files "$1") |
    grep -vE '[0-9]:[[:space:]]*\*' >&2) ||
    fail "the edits of $1 left an old name: the sources have changed"
  for name in ${new_names[$1]}; do
    (cd "$2" && grep -qF -- "$name" $(edited_files "$1")) ||
      fail "an edit of $1 found nothing ($name): the sources have changed"
  done
  cp "$here/edits/$1"/*.[ch] "$2/"
}

# In a kernel tree, in a way that can be taken back: TREE/.edited holds the
# originals, TREE/.added the names of our files.
add_edits() {  # zram|zswap TREE FOLDER
  local file
  mkdir -p "$2/.edited/$3"
  for file in $(edited_files "$1"); do
    cp "$2/$3/$file" "$2/.edited/$3/$file"
  done
  for file in "$here/edits/$1"/*.[ch]; do
    echo "$3/$(basename "$file")" >>"$2/.added"
  done
  apply_edits "$1" "$2/$3"
}

# The originals get a new time, for make.
remove_edits() {  # TREE
  [[ -d $1/.edited ]] || return 0
  (
    cd "$1/.edited" || exit
    find . -type f -exec cp --no-preserve=timestamps {} "$1/{}" \;
  )
  (cd "$1" && xargs -r rm -f <.added)
  rm -rf "$1/.edited" "$1/.added"
}
