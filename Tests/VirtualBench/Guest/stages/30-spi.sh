# SPDX-License-Identifier: Apache-2.0
#
# Chips on SPI through the kernel's spidev and GPIO code. The controller and the lines are those of
# the module uwb_far, whose far side plays the chip and keeps a ledger of what the host did.
chips=/run/far
uwbctl setup --install >&4 2>&4

# far CHIP [FAULTS]: loads the module with such a chip and starts its far side.
far() {
  insmod /bench/uwb_far.ko chip="$1"
  bus=$(basename "$(ls -d /sys/bus/spi/devices/spi*.0)")
  # As on a board whose device tree names the chip: no driver of the kernel claims it.
  echo spidev >"/sys/bus/spi/devices/$bus/driver_override"
  echo "$bus" >/sys/bus/spi/drivers/spidev/bind
  udevadm settle
  node=/dev/spidev${bus#spi}
  gpio=$(basename "$(ls -d /sys/devices/platform/uwb-far/gpiochip[0-9]*)")
  rm -f $chips
  mkfifo -m 666 $chips
  VirtualBench far --chip "$1" --control $chips --peer /run/peer --faults "${2:-}" >&4 2>&4 &
  far_process=$!
  timeout 20 VirtualBench tell $chips "report /tmp/ledger"
}
far_ends() {
  kill $far_process
  wait $far_process 2>/dev/null
  rmmod uwb_far
}
ledger() { # looks at the far side's ledger; a line that has to be in it
  rm -f /tmp/ledger
  VirtualBench tell $chips "report /tmp/ledger"
  until [ -s /tmp/ledger ]; do sleep 0.05; done
  cat /tmp/ledger
  grep -q -e "$1" /tmp/ledger
}
looks() {
  [ "$(stat -c %a:%U:%G "$2")" = "$1" ] || {
    stat "$2"
    return 1
  }
}
peer() {
  as member uwbctl range --device /run/peer --role controlee --interval 20 --format csv \
    >/tmp/controlee.csv 2>/tmp/controlee.summary &
  peer_process=$!
}
peer_ends() {
  kill -INT $peer_process 2>/dev/null
  wait $peer_process 2>/dev/null
}

# --- nodes and who may open them
far sr150
sr150="spi:$node?chip=sr150&irq=uwb-irq&ri=uwb-read&ce=uwb-power"
check "a spidev that names a UWB chip is given to the group" looks 660:root:dialout "$node"
check "… and has a name below /dev/uwb" test -e "/dev/uwb/nxp-$(basename "$node")"
check "its GPIO lines are still root's: 77" ends 77 as member "uwbctl info --device '$sr150'"
check "… and it says what is refused" says "GPIO line"
check "setup --node names them" ends 0 uwbctl setup --install --node "$gpio"
check "… and they are given to the group" looks 660:root:dialout "/dev/$gpio"

# --- SR1xx
check "SR150: info" ends 0 as member "uwbctl info --device '$sr150'"
check "SR150: the host kept to the tables so far" ledger " 0 violations"
count=$(rounds 100 1000)
peer
check "SR150: $count rounds" ends 0 as member \
  "uwbctl range --device '$sr150' --interval 20 --count $count --format csv 2>&1 >/tmp/range.csv"
check "… none lost" says " 0 lost, 0 dropped"
note "$(grep rounds $out)"
peer_ends
check "SR150: header and payload apart, the pause, RI and IRQ as the tables have them" \
  ledger " 0 violations"
note "$(head -n 1 /tmp/ledger)"
cycles=$(rounds 20 500)
check "SR150: $cycles sessions made and removed while another one ranges" \
  ends 0 as member "VirtualBench sessions '$sr150' $cycles"
note "$(tail -n 1 $out)"
check "… the host kept to the tables" ledger " 0 violations"
note "$(head -n 1 /tmp/ledger)"
far_ends

far sr150 double-pulse=3,deaf-to-ri=40
sr150="spi:$node?chip=sr150&irq=uwb-irq&ri=uwb-read&ce=uwb-power"
check "SR150 that pulses twice, and misses RI at times: 50 rounds" ends 82 as member \
  "uwbctl range --device '$sr150' --interval 50 --count 50 --format csv 2>&1 >/tmp/range.csv"
note "$(grep rounds $out)"
check "… the host kept to the tables" ledger " 0 violations"
far_ends

# --- SR2xx
far sr250
sr250="spi:$node?chip=sr250&irq=uwb-irq&rst=uwb-power"
check "SR250: info" ends 0 as member "uwbctl info --device '$sr250'"
peer
check "SR250: $count rounds" ends 0 as member \
  "uwbctl range --device '$sr250' --interval 20 --count $count --format csv 2>&1 >/tmp/range.csv"
check "… none lost" says " 0 lost, 0 dropped"
note "$(grep rounds $out)"
peer_ends
check "SR250: direction, dummy octet and waits as the tables have them" ledger " 0 violations"
note "$(head -n 1 /tmp/ledger)"
far_ends

check "the kernel complained of nothing" sh -c '! dmesg | grep -E "BUG:|Oops|WARNING: |hung task"'
