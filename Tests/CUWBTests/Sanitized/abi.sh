#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the file that compares ioctl numbers, sizes and offsets with the kernel's headers, for
# x86-64 and arm64. The headers of the other architecture are in Debian's
# linux-libc-dev-amd64-cross or linux-libc-dev-arm64-cross.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
machine=$(uname -m)

for triple in x86_64-linux-gnu aarch64-linux-gnu; do
  if [ "${triple%%-*}" = "$machine" ]; then
    options="-isystem /usr/include -isystem /usr/include/$triple"
  elif [ -e "/usr/$triple/include/asm/ioctl.h" ]; then
    options="-isystem /usr/$triple/include"
  else
    echo "abi: $triple SKIPPED, its kernel headers are not installed"
    continue
  fi
  # shellcheck disable=SC2086
  "${CC:-clang}" --target="$triple" -std=c11 -Wall -Wextra -Werror -nostdlibinc $options \
    -fsyntax-only "$root/Tests/CUWBScenarios/abi.c"
  echo "abi: $triple as expected"
done
"$root/Tests/CUWBTests/Sanitized/symbols.sh"
