# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run: builds the kernel module of Module/, and heap.c.

# Builds the module in a folder for the kernel of the packages. The headers expect their common part
# at its installed path; this replaces it by the path in the cache.
build_module() { # the folder
  local headers=$packages/usr/src/linux-headers-$kernel compiler
  sed -i "s|^include .*/usr/src/\(linux-headers-[^/]*\)/|include $packages/usr/src/\1/|" \
    "$headers/Makefile"
  compiler=$(sed -n 's/^CC = .*(CROSS_COMPILE)\(gcc-[0-9]*\)$/\1/p' "$headers/.kernelvariables")
  command -v "$compiler" >/dev/null || compiler=gcc
  command -v "$compiler" >/dev/null && command -v make >/dev/null ||
    skip "building the kernel module needs gcc and make, which are not here"
  make -C "$headers" "M=$1" "CC=$compiler" KBUILD_MODPOST_WARN= modules >"$1/log" 2>&1 || {
    cat "$1/log"
    fail "the kernel module does not build"
  }
  "$compiler" -D_GNU_SOURCE -O2 -shared -fPIC -o "$1/heap.so" "$here/Host/heap.c"
}
