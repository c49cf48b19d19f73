#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes a C++ source with the bytes of files: embed.sh HEADER FUNCTION FILE...
# > OUT.cc. Each is what FUNCTION(name), declared in HEADER, returns for its name
# without folders.
set -eu
echo "#include \"$1\""
function=$2
shift 2
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
echo "absl::string_view $function(absl::string_view name) {"
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
