#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes a C++ source with the bytes of files: embed.sh FILE... > OUT.cc. Each
# is what EmbeddedFile(name) of assets.h returns for its name without folders.
set -eu
echo '#include "server/web/assets.h"'
echo 'namespace swaplock {'
echo 'namespace {'
index=0
for file; do
  echo "constexpr unsigned char kFile${index}[] = {"
  od -An -v -tu1 "$file" | sed 's/  */,/g; s/^,//; s/$/,/'
  echo '};'
  index=$((index + 1))
done
echo '}  // namespace'
echo 'absl::string_view EmbeddedFile(absl::string_view name) {'
index=0
for file; do
  echo "  if (name == \"$(basename "$file")\") {"
  echo "    return {reinterpret_cast<const char*>(kFile$index), sizeof(kFile$index)};"
  echo '  }'
  index=$((index + 1))
done
echo '  return {};'
echo '}'
echo '}  // namespace swaplock'
