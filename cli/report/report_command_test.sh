#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What `swaplock report` says of files that it cannot use: one sentence on
# stderr, nothing on stdout, and the right exit status.

set -euo pipefail

swaplock=$PWD/cli/swaplock
cd "$TEST_TMPDIR"

# expect STATUS WORDS ARGUMENT...: the status, and WORDS in the last line.
expect() {
  local status=0 want=$1 words=$2
  shift 2
  "$swaplock" report "$@" >out 2>err || status=$?
  if ((status != want)) || [[ -s out ]] || ! tail -n 1 err | grep -q -- "$words"; then
    echo "report $*: status $status (not $want), stderr without '$words'?"
    cat out err
    exit 1
  fi
}

printf 'PK\003\004 something else' >foreign.slk
printf 'swaplk9\nmore' >newer.slk
printf 'swaplk2\n' >nothing.slk
: >empty.slk
printf 'swaplk2\n\005\000\000\000\001\002\003\004hello' >damaged.slk
printf 'swaplk2\n\005\000\000\000\001\002' >cut.slk
mkdir folder.slk

expect 78 'open missing.slk: ' missing.slk
expect 78 'it is no record file' foreign.slk
expect 78 'its format is 9' newer.slk
expect 78 'nothing to report' nothing.slk
expect 78 'nothing to report' empty.slk
expect 78 'fails its checksum' damaged.slk
expect 78 'nothing to report' cut.slk
expect 78 'folder.slk' folder.slk
expect 78 'nothing to report' empty.slk --output=json
expect 2 'it takes record files'
expect 2 'it takes record files' -- empty.slk
expect 2 '--output is table or json or csv' empty.slk --output=xml
expect 2 '--lkml is a table' empty.slk --lkml --output=csv
expect 2 '--holds is 0 to 64' empty.slk --holds=65
echo ok
