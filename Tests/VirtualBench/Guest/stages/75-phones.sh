# SPDX-License-Identifier: Apache-2.0
#
# Phones and kits outside of the machine, simulated by bumble (Host/phone.py). uwbctl finds the
# kits, and the phones find the accessory that the real bluetoothd and uwbctl serve. Their results
# are among the checks here.
. /bench/bluetooth.sh
prepare_outside 1 '[General]' 'JustWorksRepairing = confirm' '[GATT]' 'Channels = 1'
VirtualBench controller "$port" >&4 2>&4 &
phones=$!
as visitor "uwbctl simulate --chips 2 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-a
check "the kernel has the controller of the phones" eventually test -e /sys/class/bluetooth/hci0
check "uwbctl accessory --listen ble" serve
tail -f $accessory >&4 &
uwbctl=$(process_of accessory)
descriptors() { ls /proc/"$uwbctl"/fd | wc -l; }
for kit in U Q; do
  pair=
  [ $kit = U ] || pair=--pair
  check "uwbctl find --ble${pair:+ }$pair uses the kit $kit of another project" ends 0 as visitor \
    "uwbctl find --device /tmp/chip-b --ble --to 'Kit $kit' $pair --wait 600 --format json -n 5"
  check "… with distances" says '"found".*"distance_m":'
done
check "… with whose keys it is paired" ends 0 as visitor "uwbctl bonds --format json"
check "… and no others" test "$(grep -c '"Kit' $out)" = 1
before=$(descriptors)
# Memory that the first phones cause to be allocated is kept permanently.
while kill -0 $phones 2>&4 && ! said '"disconnected"' "$(rounds 9 40)"; do sleep 1; done
started=$(bytes_in_use)
# Waits until the phones and their controller are removed.
wait $phones
check "the accessory is told that the controller is gone" await '"lost"'
check "no descriptor is left over" test "$(descriptors)" -le "$before"
ended=$(bytes_in_use)
note "descriptors: $before before, $(descriptors) afterwards; bytes in use: $started, then $ended"
check "the memory in use has not grown by 256 kB" test "$ended" -lt $((started + 262144))
[ "$not_held" = 0 ] || tail -n 60 $accessory
end_serving
check "bluetoothd runs on" daemon_runs
kill $daemon "$(process_of simulate)"
check "no program is stuck" eventually none_stuck
check "the kernel complained of nothing" quiet_kernel
