# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run: finds QEMU, a Debian kernel with its modules and headers, and the programs of the
# virtual machine. They are unpacked into the cache folder and used from there.

# Packages for the virtual machine, or for building its parts.
guest_packages=(busybox-static systemd udev libsystemd-shared libudev1 kmod libkmod2)
bluetooth_packages=(bluez bluez-test-tools dbus-daemon dbus-system-bus-common libdbus-1-3 libsystemd0)
packages=$cache/root

# The newest kernel in the package source, by its own name: linux-image-6.1.0-56-amd64.
newest_kernel() {
  apt_get cache depends linux-image-amd64 2>/dev/null |
    sed -n 's/^ *Depends: linux-image-\([0-9].*\)$/\1/p' | head -n 1 || true
}

# apt-get and apt-cache, with private lists if the machine's are empty.
private_lists=()
# Without a network this fails soon, on a slow one after ten minutes.
patience=(-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1)
apt_get() {
  local tool=$1
  shift
  timeout --foreground 600 "apt-$tool" "${private_lists[@]}" "${patience[@]}" -o Debug::NoLocking=1 -o APT::Sandbox::User= "$@"
}
use_private_lists() {
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  private_lists=(-o "Dir::State::lists=$cache/apt/lists" -o "Dir::Cache=$cache/apt"
    -o "Dir::Cache::archives=$cache/apt/archives")
  apt_get get -qq update >"$cache/apt/log" 2>&1 ||
    skip "the package lists cannot be had: $(tail -n 1 "$cache/apt/log")"
}

# Prints the packages that are missing on this machine for the given ones, which are included.
closure() {
  apt_get get -qq -y --no-install-recommends --print-uris install "$@" 2>/dev/null |
    awk '{ print $2 }' | sed 's/_.*//'
}

# Downloads packages, and unpacks them into a folder.
fetch() { # the folder, their names
  local folder=$1 deb
  shift
  echo "downloading $# packages into $cache"
  mkdir -p "$cache/debs"
  (cd "$cache/debs" && rm -f ./*.deb && printf '%s\n' "$@" | sort -u |
    xargs timeout --foreground 600 "apt-get" "${private_lists[@]}" "${patience[@]}" -o APT::Sandbox::User= -qq download) \
    >"$cache/log" 2>&1 || return 1
  for deb in "$cache"/debs/*.deb; do dpkg-deb -x "$deb" "$folder"; done
  rm -rf "$cache/debs"
}

# Adds the packages of the stage for Bluetooth to packages that were downloaded before it existed.
# Without them, only that stage is skipped.
download_bluetooth() {
  [ -n "$(newest_kernel)" ] || use_private_lists
  # shellcheck disable=SC2046
  fetch "$packages" "${bluetooth_packages[@]}" $(closure bluez bluez-test-tools dbus-daemon) ||
    echo "Bluetooth's packages cannot be downloaded: $(tail -n 1 "$cache/log")"
}

download() {
  local version names
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    skip "packages are downloaded with apt-get and dpkg-deb, which are not here"
  mkdir -p "$cache"
  version=$(newest_kernel)
  if [ -z "$version" ]; then
    use_private_lists
    version=$(newest_kernel)
  fi
  [ -n "$version" ] || skip "no Debian kernel (linux-image-amd64) in this machine's package sources"
  names=$(closure qemu-system-x86 qemu-system-data seabios | grep -v '^ipxe-qemu$')
  names+=" ${guest_packages[*]} $(closure linux-headers-"$version" | grep '^linux-')"
  names+=" linux-image-$version linux-headers-$version"
  # Packages of this machine that QEMU needs anyway stay in place.
  rm -rf "$packages.new"
  mkdir -p "$packages.new"
  # shellcheck disable=SC2086
  fetch "$packages.new" $names ||
    skip "packages cannot be downloaded: $(tail -n 1 "$cache/log")"
  rm -rf "$packages"
  # Newer releases have everything below /usr.
  for folder in bin sbin lib; do
    [ -e "$packages.new/$folder" ] || ln -s "usr/$folder" "$packages.new/$folder"
  done
  mv "$packages.new" "$packages"
  echo "$version" >"$cache/kernel"
}

# Sets `kernel` to the version and `qemu` to the program, or skips.
find_packages() {
  if [ ! -s "$cache/kernel" ]; then
    [ -n "$install" ] || skip "no packages in $cache; run it with --install to download them"
    download
  fi
  if [ -n "$install" ] && [ ! -e "$packages/usr/libexec/bluetooth/bluetoothd" ]; then
    (download_bluetooth) || true
  fi
  kernel=$(cat "$cache/kernel")
  modules=$packages/lib/modules/$kernel
  [ -s "$modules/modules.dep" ] || dependencies "$packages"
}

# Sets `python` to an interpreter that has the library for phones, or skips.
find_bumble() {
  local folder=$cache/bumble-0.0.236
  python=$folder/bin/python
  "$python" -c 'import bumble.device' 2>/dev/null && return
  [ -n "$install" ] || skip "bumble is not in $cache; run it with --install to download it"
  rm -rf "$folder"
  timeout --foreground 300 python3 -m venv "$folder" >"$cache/log" 2>&1 &&
    timeout --foreground 600 "$folder/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 \
      bumble==0.0.236 >"$cache/log" 2>&1 || {
    rm -rf "$folder"
    skip "bumble cannot be downloaded: $(tail -n 1 "$cache/log")"
  }
}

# Sets `bluez` to the folder with the bluetoothd of another release, or skips.
find_bluez() { # the release of Debian, or the folder
  local release=$1 program=usr/libexec/bluetooth/bluetoothd
  bluez=$release
  [ ! -x "$bluez/$program" ] || return 0
  [[ $release != */* ]] || fail "$bluez/$program is not there"
  bluez=$cache/bluez-$release
  [ ! -x "$bluez/$program" ] || return 0
  [ -n "$install" ] ||
    skip "the bluetoothd of $release is not in $cache; run it with --install to download it"
  (
    # Nothing of that release is installed on this machine.
    lists=$cache/apt-$release
    mkdir -p "$lists"/{lists/partial,archives/partial}
    : >"$lists/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
      "http://deb.debian.org/debian $release main" >"$lists/sources"
    private_lists=(-o "Dir::Etc::sourcelist=$lists/sources" -o Dir::Etc::sourceparts=-
      -o "Dir::State::lists=$lists/lists" -o "Dir::State::status=$lists/status"
      -o "Dir::Cache=$lists" -o "Dir::Cache::archives=$lists/archives")
    rm -rf "$bluez.new"
    mkdir "$bluez.new"
    # shellcheck disable=SC2046
    apt_get get -qq update >"$cache/log" 2>&1 && fetch "$bluez.new" $(closure bluez) ||
      skip "the bluetoothd of $release cannot be downloaded: $(tail -n 1 "$cache/log")"
    mv "$bluez.new" "$bluez"
  ) || exit $?
  [ -x "$bluez/$program" ] || skip "$release has no $program"
}

# depmod of the packages, for the modules below a folder.
dependencies() {
  (exec -a depmod "$packages/bin/kmod" -b "$1" -F "$packages/boot/System.map-$kernel" "$kernel")
}
