# SPDX-License-Identifier: Apache-2.0
#
# One app that uses several accessories at once, over controllers that bumble simulates
# (Host/phone.py). With the controllers of btvirt, a second link of a controller transmits nothing.
. /bench/bluetooth.sh
prepare_outside 5 '[GATT]' 'Channels = 1'
controllers=
for number in 0 1 2 3; do
  VirtualBench controller "${port%5}$((number + 2))" >&4 2>&4 &
  controllers="$controllers $!"
  eventually test -e /sys/class/bluetooth/hci$number
done
eventually ends 0 as visitor "VirtualBench bluetooth app hci3 forget"
check "an app finds three accessories, ranges with all, and shows the chosen one" \
  ends 0 as visitor "SeveralAccessories hci0 hci1 hci2 hci3"
while read -r line; do note "$line"; done <$out
check "bluetoothd runs on" daemon_runs
kill $daemon $controllers
check "no program is stuck" sh -c "! ps | grep '[S]everalAccessories'"
check "the kernel complained of nothing" quiet_kernel
