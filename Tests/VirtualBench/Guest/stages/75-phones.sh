# SPDX-License-Identifier: Apache-2.0
#
# Phones outside of the machine, played by bumble (Host/phone.py), find the accessory that the real
# bluetoothd and uwbctl serve. What they see is among the checks before the last ones here.
. /bench/bluetooth.sh
modprobe -a virtio_pci virtio_console 2>&4
port=$(ls /dev/vport*p1 2>&4) || {
  note "no phones are connected to this machine; run the bench with --phones"
  check "left out" true
  finish
  exit
}
prepare_bluetooth
# Time goes on here while the phones outside are slow.
patience=3000
dbus-daemon --system --fork --nopidfile
settings '[General]' 'JustWorksRepairing = confirm' '[GATT]' 'Channels = 1'
start_daemon -f /tmp/main.conf
VirtualBench controller "$port" >&4 2>&4 &
phones=$!
as visitor "uwbctl simulate --chips 1 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-a
check "the kernel has the controller of the phones" eventually test -e /sys/class/bluetooth/hci0
check "uwbctl accessory --listen ble" serve
tail -f $accessory >&4 &
uwbctl=$(process_of accessory)
descriptors() { ls /proc/"$uwbctl"/fd | wc -l; }
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/"$uwbctl"/status; }
before=$(descriptors)
# What the first phones leave behind is kept for good.
while kill -0 $phones 2>&4 && ! said '"disconnected"' "$(rounds 9 40)"; do sleep 1; done
started=$(memory)
# Until the phones are gone, with the controller.
wait $phones
check "the accessory is told that the controller is gone" await '"lost"'
check "no descriptor is left over" test "$(descriptors)" -le "$before"
note "descriptors: $before before, $(descriptors) afterwards; memory: $started kB, then $(memory) kB"
check "the memory has not grown by 2 MB" test "$(memory)" -lt $((started + 2048))
[ "$not_held" = 0 ] || tail -n 60 $accessory
end_serving
kill $daemon "$(process_of simulate)"
check "no program is stuck" eventually none_stuck
check "the kernel complained of nothing" quiet_kernel
