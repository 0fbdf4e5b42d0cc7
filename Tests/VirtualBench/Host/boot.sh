#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# boot.sh PACKAGES KERNEL WORK LENGTH FAULT FIRST STAGES [PYTHON]: boots WORK/image with this first
# process (busybox or systemd), and passes on the output of its stages. With a Python that has
# bumble, phone.py simulates phones for it. Called by run.
set -euo pipefail
packages=$1 kernel=$2 work=$3 length=$4 fault=$5 first=$6 stages=$7 python=${8-}

limit=1800
[ "$length" = short ] || limit=5400

# This machine's own QEMU, or the one of the packages with its libraries.
if [ -x "$packages/usr/bin/qemu-system-x86_64" ]; then
  qemu=(env "LD_LIBRARY_PATH=$packages/usr/lib/x86_64-linux-gnu:$packages/lib/x86_64-linux-gnu"
    "$packages/usr/bin/qemu-system-x86_64" -L "$packages/usr/share/qemu"
    -L "$packages/usr/share/seabios")
elif command -v qemu-system-x86_64 >/dev/null; then
  qemu=(qemu-system-x86_64)
else
  echo "virtual bench: skipped: there is no qemu-system-x86_64; run it with --install"
  exit 77
fi

[ -e "$work/initrd" ] || (cd "$work/image" && find . | LC_ALL=C sort | "$packages/bin/busybox" cpio -o -H newc -R root:root) \
  >"$work/initrd" 2>"$work/cpio"
rm -rf "$work/image"

# The console goes into a file; the second serial line has the output of the stages.
accel=${VIRTUAL_BENCH_ACCEL:-tcg}
cpu=(-cpu host)
# The clock of the machine counts instructions, one per nanosecond, and skips idle time. No time-out
# inside therefore depends on the speed and load of this machine.
[ "$accel" != tcg ] || cpu=(-cpu Nehalem -icount "shift=0,sleep=off,align=off" -rtc clock=vm)
# Skipped time would pass before phones outside can answer. With phones, the machine waits in real
# time while it is idle.
phones=()
if [ -n "$python" ]; then
  [ "$accel" != tcg ] || cpu=(-cpu Nehalem -icount "shift=0,sleep=on,align=off")
  phones=(-device virtio-serial-pci)
  for port in hci hci0 hci1 hci2 hci3; do
    phones+=(-chardev "socket,id=$port,path=$work/$port,server=on,wait=on"
      -device "virtserialport,chardev=$port,name=$port")
  done
fi
# An emulated processor needs no mitigations: with them, each system call exchanges the page tables,
# which takes a quarter of the emulator's time.
rm -f "$work/lines"
mkfifo "$work/lines"
status=0
# In the background it would have a process group of its own.
timeout --foreground --kill-after=10 "$limit" "${qemu[@]}" -accel "$accel" "${cpu[@]}" -M pc -smp 1 -m 1536 \
  -nodefaults -display none -no-reboot -kernel "$packages/boot/vmlinuz-$kernel" \
  -initrd "$work/initrd" \
  -append "console=ttyS0 loglevel=4 panic=-1 mitigations=off rdinit=/init systemd.unit=bench.service bench.first=$first bench.length=$length bench.fault=$fault bench.stages=${stages// /,}" \
  "${phones[@]}" \
  -serial "file:$work/console" -serial "file:$work/lines" 2>"$work/qemu" &
machine=$!
played=0
if [ -n "$python" ]; then
  visits=100
  [ "$length" != short ] || visits=12
  # The accessory's service for Android phones, and its characteristics.
  android=(1226A228-277C-49ED-B6EB-2EB2DAB4E9C7 2E20EB71-02F9-40C8-B9F4-41D25140D007
    3B06F3B3-74AE-4707-9CF3-B00F38917946)
  timeout --foreground "$limit" "$python" "$(dirname "$0")/phone.py" "$work/hci" "$(cat "$work/bluez")" $visits \
    "${android[@]}" 2>"$work/phone" &
  phone=$!
fi
tee "$work/report" <"$work/lines"
wait "$machine" || status=$?
if [ -n "$python" ]; then
  # Without a machine it would wait for a connection.
  [ "$status" = 0 ] || kill "$phone" 2>/dev/null || true
  wait "$phone" || played=$?
  [ "$played" = 0 ] || tail -n 20 "$work/phone"
fi

if result=$(sed -n 's/^bench ended with \([0-9]*\).*$/\1/p' "$work/report") && [ -n "$result" ]; then
  [ "$result" != 0 ] || result=$played
  [ "$result" = 0 ] || tail -n 40 "$work/console"
  exit "$result"
fi
echo "the virtual machine did not come to its end (status $status of QEMU; limit $limit s):"
cat "$work/qemu"
tail -n 60 "$work/console"
exit 1
