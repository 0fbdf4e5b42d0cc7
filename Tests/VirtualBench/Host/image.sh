# SPDX-License-Identifier: Apache-2.0
#
# Sourced by run: makes the initial file system of the virtual machine.

# Kernel modules that the stages use; their dependencies follow.
kernel_modules=(dummy_hcd libcomposite usb_f_acm cdc-acm usbmon cuse)
# Without a random generator the kernel has no key exchange; it only reports that a test of the
# exchange failed. The phones of 75-phones connect through a port.
bluetooth_modules=(virtio_pci virtio_console hci_vhci bluetooth ecdh_generic cmac ecb algif_hash
  algif_skcipher drbg jitterentropy_rng sha512_generic ctr hmac)

copy_module() { # its name, into this folder
  local name=${1//-/_} line path
  line=$(tr - _ <"$modules/modules.dep" | grep -nE "^[^:]*/$name\.ko(\.[a-z]*)?:" | cut -d: -f1) || true
  # A driver that is not a module is built in.
  [ -n "$line" ] || return 0
  line=$(sed -n "${line}p" "$modules/modules.dep")
  for path in ${line%%:*} ${line#*:}; do
    mkdir -p "$2/lib/modules/$kernel/$(dirname "$path")"
    cp -u "$modules/$path" "$2/lib/modules/$kernel/$path"
  done
}

# A program and the libraries it loads; files that are not in the machine's own folders are taken
# from the packages. Path in the image: as on this machine, or as in the package.
copy_program() { # from, to, into
  local library path
  install -D "$1" "$3$2"
  while read -r library path; do
    [ -e "$path" ] || fail "$1 needs $library, which is not here"
    [ -e "$3${path#"$packages"}" ] || install -D "$path" "$3${path#"$packages"}"
  done < <(LD_LIBRARY_PATH=$libraries ldd "$1" |
    awk '$2 == "=>" { print $1, $3 == "not" ? "-" : $3 } $1 ~ /^\// { print $1, $1 }')
}

# bluetoothd, the bus that it needs, and controllers to talk through.
make_bluetooth() { # the image
  local name
  for name in "${bluetooth_modules[@]}"; do copy_module "$name" "$1"; done
  copy_program "$packages/usr/libexec/bluetooth/bluetoothd" /usr/sbin/bluetoothd "$1"
  for name in btvirt dbus-daemon; do
    copy_program "$packages/usr/bin/$name" "/usr/bin/$name" "$1"
  done
  # Programs find it at run time.
  name=usr/lib/x86_64-linux-gnu/libsystemd.so.0
  copy_program "$packages/$name" "/$name" "$1"
  install -D -m 644 "$packages/usr/share/dbus-1/system.conf" "$1/usr/share/dbus-1/system.conf"
  install -D -m 644 "$packages/etc/dbus-1/system.d/bluetooth.conf" \
    "$1/etc/dbus-1/system.d/bluetooth.conf"
  mkdir -p "$1/var/lib/bluetooth"
  if [ -n "$bluez" ]; then
    copy_bluez "$1"
  else
    LD_LIBRARY_PATH=$libraries "$packages/usr/libexec/bluetooth/bluetoothd" --version >"$work/bluez"
  fi
}

# bluetoothd of another release, with its loader and all its libraries.
copy_bluez() { # the image
  local library into=$1/usr/lib/bluez program=usr/libexec/bluetooth/bluetoothd
  local loader=ld-linux-x86-64.so.2
  local load=("$bluez/usr/lib64/$loader" --library-path "$bluez/usr/lib/x86_64-linux-gnu")
  install -D -t "$into" "$bluez/usr/lib64/$loader" "$bluez/$program"
  while read -r library; do install -t "$into" "$library"; done < <(
    "${load[@]}" --list "$bluez/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }')
  printf '%s\n' '#!/bin/sh' 'cd /usr/lib/bluez' \
    "exec ./$loader --library-path . ./bluetoothd \"\$@\"" >"$1/usr/sbin/bluetoothd"
  chmod 755 "$1/usr/sbin/bluetoothd"
  "${load[@]}" "$bluez/$program" --version >"$work/bluez"
}

# The parts of systemd that a boot to the stages needs.
make_systemd() { # the image
  local name
  for name in systemd systemd-journald systemd-cgroups-agent systemd-shutdown; do
    copy_program "$packages/lib/systemd/$name" "/usr/lib/systemd/$name" "$1"
  done
  for name in systemctl journalctl; do
    copy_program "$packages/bin/$name" "/usr/bin/$name" "$1"
  done
  cp -a "$packages/lib/systemd/system" "$1/usr/lib/systemd/"
  install -D -m 644 -t "$1/usr/lib/systemd/system" "$root"/packaging/systemd/uwbd.{service,socket} \
    "$root/packaging/systemd/uwb.target" "$here/Guest/systemd/bench.service"
  install -D -m 644 "$root/packaging/systemd/61-uwbd.rules" "$1/usr/lib/udev/rules.d/61-uwbd.rules"
  install -D -m 644 "$root/udev/60-uwb.rules" "$1/usr/lib/udev/rules.d/60-uwb.rules"
  install -D -m 644 "$root/packaging/systemd/uwbd-keys.conf" "$1/usr/share/uwb/uwbd-keys.conf"
  mkdir -p "$1/etc/systemd/system" "$1/etc/uwbd/sessions.d" "$1/var/lib"
}

make_image() { # the folder to make it in
  local image=$1 name
  libraries=$packages/usr/lib/x86_64-linux-gnu:$packages/lib/x86_64-linux-gnu
  libraries+=:$packages/usr/lib/x86_64-linux-gnu/systemd:$packages/lib/systemd
  mkdir -p "$image"/{dev,proc,sys,run,tmp,root,etc,home/visitor,usr/{bin,sbin,lib,lib64}}
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$image/$name"; done
  chmod 1777 "$image/tmp"

  install "$packages/bin/busybox" "$image/usr/bin/busybox"
  for name in $("$image/usr/bin/busybox" --list); do
    [ "$name" = busybox ] || ln -s busybox "$image/usr/bin/$name"
  done
  rm -f "$image"/usr/bin/{modprobe,insmod,rmmod,lsmod,depmod}

  copy_program "$packages/bin/kmod" /usr/bin/kmod "$image"
  for name in modprobe insmod rmmod lsmod; do ln -s ../bin/kmod "$image/usr/sbin/$name"; done
  copy_program "$packages/bin/udevadm" /usr/bin/udevadm "$image"
  install -d "$image/usr/lib/systemd" "$image/usr/lib/udev" "$image/etc/udev/rules.d"
  ln -s ../../bin/udevadm "$image/usr/lib/systemd/systemd-udevd"
  cp -a "$packages/lib/udev/rules.d" "$image/usr/lib/udev/"

  for name in "${kernel_modules[@]}"; do copy_module "$name" "$image"; done
  [ ! -e "$packages/usr/libexec/bluetooth/bluetoothd" ] || make_bluetooth "$image"
  cp "$modules"/modules.{builtin,order,builtin.modinfo} "$image/lib/modules/$kernel/"
  dependencies "$image"

  for name in "${programs[@]}"; do copy_program "$bin/$name" "/usr/bin/$name" "$image"; done
  install -D "$root/udev/60-uwb.rules" "$image/usr/share/uwb/60-uwb.rules"
  cp -a "$here/Guest" "$image/bench"
  mkdir -p "$image/var"
  ln -s ../run "$image/var/run"
  echo 0123456789abcdef0123456789abcdef >"$image/etc/machine-id"
  make_systemd "$image"
  cp "$work/module/uwb_bench.ko" "$work/module/heap.so" "$image/bench/"
  install "$here/Guest/init" "$image/init"
  # root, a user who is logged in, and a member of the group.
  printf '%s\n' root:x:0:0::/root:/bin/sh visitor:x:1000:1000::/home/visitor:/bin/sh \
    member:x:1001:1001::/tmp:/bin/sh second:x:1002:1002::/tmp:/bin/sh messagebus:x:100:100::/:/bin/sh >"$image/etc/passwd"
  printf '%s\n' root:x:0: tty:x:5: disk:x:6: dialout:x:20:member,second kmem:x:15: input:x:101: \
    video:x:44: audio:x:29: lp:x:7: sgx:x:102: kvm:x:103: render:x:104: cdrom:x:24: tape:x:26: \
    users:x:100: bluetooth:x:105: plugdev:x:46: visitor:x:1000: member:x:1001: second:x:1002: >"$image/etc/group"
  echo "passwd: files
group: files" >"$image/etc/nsswitch.conf"
}
