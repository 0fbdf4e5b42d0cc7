#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [seconds [seed]]: runs every scenario of Tests/CUWBScenarios, then seeded random inputs for
# fuzz.c, under the address and undefined-behaviour sanitizers. CC chooses the compiler (clang), LD
# its linker (lld).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # the program, then its sources and options
  program=$1
  shift
  # The names of our own files have no spaces.
  # shellcheck disable=SC2046
  "${CC:-clang}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g \
    -fsanitize=address,undefined -fno-sanitize-recover=all -fuse-ld="${LD:-lld}" -pthread \
    -I "$root/CUWB/include" $(find "$root/CUWB" -name '*.c') "$@" -o "$work/$program"
}

build scenarios -I "$root/Tests/CUWBScenarios/include" -I "$root/Tests/ChipModels/include" \
  "$root"/Tests/CUWBScenarios/*.c "$root"/Tests/ChipModels/*.c \
  "$here/scenarios.c"
"$work/scenarios"

build fuzz "$here/fuzz.c"
"$work/fuzz" "${1:-5}" "${2:-1}"
