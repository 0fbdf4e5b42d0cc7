#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks the symbols that CUWB adds to a program: every global symbol begins with cuwb_, only
# declarations of CUWB/include are visible outside, and no two source files need each other.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for source in $(cd "$root/CUWB" && find . -name '*.c'); do
  "${CC:-clang}" -std=c11 -D_GNU_SOURCE -O1 -I "$root/CUWB/include" -c "$root/CUWB/$source" \
    -o "$(basename "$source" .c).o"
done
fail() { echo "symbols: $1:" >&2 && cat unwanted >&2 && exit 1; }

nm -A --defined-only --extern-only ./*.o >defined
if grep -v ' cuwb_' defined >unwanted; then fail "global, without the prefix cuwb_"; fi

cat "$root"/CUWB/include/*.h >headers
readelf -sW ./*.o | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' >visible
while read -r name; do grep -q "[^a-z0-9_]$name(" headers || echo "$name"; done <visible >unwanted
[ ! -s unwanted ] || fail "visible, but not in CUWB/include"

# The files, each before the files that it calls, if there is such an order.
nm -A --undefined-only ./*.o | grep ' cuwb_' >used
awk 'NR == FNR { at[$NF] = $1; next } { split($1, file, ":"); split(at[$NF], other, ":")
  print file[1], other[1] }' defined used >calls
tsort calls >order 2>unwanted || fail "files that need each other"
echo "symbols: $(wc -l <visible) visible of $(wc -l <defined), in $(wc -l <order) files without a circle"
