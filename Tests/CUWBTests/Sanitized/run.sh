#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [seconds [seed]]: builds CUWB and fuzz.c under the address and undefined-behaviour
# sanitizers and runs seeded random inputs. CC chooses the compiler (clang), LD its linker (lld).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
program=$(mktemp)
trap 'rm -f "$program"' EXIT

"${CC:-clang}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g \
  -fsanitize=address,undefined -fno-sanitize-recover=all -fuse-ld="${LD:-lld}" \
  -I "$root/CUWB/include" "$root"/CUWB/*.c "$here/fuzz.c" -o "$program"
"$program" "${1:-5}" "${2:-1}"
