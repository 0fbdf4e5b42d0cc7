# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run: builds the kernel module of Module/.

# Builds the module in a folder for the kernel of the packages. The headers name their own place as if
# they were installed; a copy of their few top-level files names it as it is.
build_module() { # the folder
  local headers=$packages/usr/src/linux-headers-$kernel common compiler
  common=$packages/usr/src/$(sed -n 's|^include /usr/src/\(linux-headers-[^/]*\)/Makefile.*|\1|p' \
    "$headers/Makefile" "$cache/headers-makefile" 2>/dev/null | head -n 1)
  if grep -q '^include /usr/src/' "$headers/Makefile"; then
    cp "$headers/Makefile" "$cache/headers-makefile"
    sed -i "s|^include /usr/src/.*|include $common/Makefile|" "$headers/Makefile"
  fi
  compiler=$(sed -n 's/^CC = .*(CROSS_COMPILE)\(gcc-[0-9]*\)$/\1/p' "$headers/.kernelvariables")
  command -v "$compiler" >/dev/null || compiler=gcc
  command -v "$compiler" >/dev/null && command -v make >/dev/null ||
    skip "building the kernel module needs gcc and make, which are not here"
  make -C "$headers" "M=$1" "CC=$compiler" KBUILD_MODPOST_WARN= modules >"$1/log" 2>&1 || {
    cat "$1/log"
    fail "the kernel module does not build"
  }
}
