# SPDX-License-Identifier: Apache-2.0
#
# NXP's board with a microcontroller between USB and the chip, at the kernel's cdc_acm.
. /bench/boards.sh
. /bench/ranging.sh
make_boards
uwbctl setup --install >&4 2>&4
board=nxp-usb:/dev/uwb/nxp-RW612000001

plug rw612 dummy_udc.3
start_chips ttyGS4,rw612,dummy_udc.3,bridge
until [ -e /run/peer ]; do sleep 0.02; done
VirtualBench usbmon "$(cat /sys/devices/platform/dummy_hcd.3/usb*/busnum)" >/tmp/usb &
watcher=$!
check "SR250 behind NXP's bridge: info" ends 0 as member uwbctl info --device $board
kill $watcher
wait $watcher 2>/dev/null
order() { VirtualBench order "$@" </tmp/usb; }
check "DTR, 3 Mbaud, reset, the loader left, then UCI with type and length before it" \
  order "control-lines dtr" "line-coding 3000000 8N1" "out 040000" "out 120000" "out 010" \
  "control-lines none"
ranges "NXP bridge, dummy_hcd and cdc_acm" $board "$(rounds 50 1000)" \
  "stamps 0 /tmp/had" "stamps 1 /tmp/peer.had"
report() {
  rm -f /tmp/report
  VirtualBench tell $chips "report 0 /tmp/report"
  until_there /tmp/report
  cat /tmp/report
  grep -q " 0 violations" /tmp/report
}
check "… every byte to the board was type, length and a packet" report
note "$(head -n 1 /tmp/report)"

kill $chips_process
wait $chips_process
unplug rw612
check "the kernel complained of nothing" quiet_kernel
