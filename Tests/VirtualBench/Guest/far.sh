# SPDX-License-Identifier: Apache-2.0
#
# Sourced by stages: chips of the module uwb_far, whose far side plays the chip and keeps a ledger of what
# the host did.
. /bench/ranging.sh
chips=/run/far

# far CHIP [FAULTS [OPTION]]: a chip on SPI and GPIO lines.
far() {
  insmod /bench/uwb_far.ko chip="$1"
  bus=$(basename "$(ls -d /sys/bus/spi/devices/spi*.0)")
  # As on a board whose device tree names the chip: no driver of the kernel claims it.
  echo spidev >"/sys/bus/spi/devices/$bus/driver_override"
  echo "$bus" >/sys/bus/spi/drivers/spidev/bind
  node=/dev/spidev${bus#spi}
  gpio=$(basename "$(ls -d /sys/devices/platform/uwb-far/gpiochip[0-9]*)")
  # What the rules of an earlier chip name is there again.
  udevadm settle
  far_side "$@"
}
# far_node KIND CHIP [FAULTS [OPTION]]: a chip behind a vendor's device.
far_node() {
  insmod /bench/uwb_far.ko vendor="$1"
  udevadm settle
  shift
  far_side "$@"
}
far_side() {
  rm -f $chips
  mkfifo -m 666 $chips
  VirtualBench far --chip "$1" --control $chips --peer /run/peer --faults "${2:-}" ${3:-} >&4 2>&4 &
  far_process=$!
  ledger >/dev/null
}
far_ends() {
  kill $far_process
  wait $far_process 2>/dev/null
  rmmod uwb_far
}
# ledger [TEXT]: prints the far side's ledger; a line that has to be in it.
ledger() {
  rm -f /tmp/ledger
  timeout 20 VirtualBench tell $chips "report /tmp/ledger"
  until_there /tmp/ledger
  cat /tmp/ledger
  grep -q -e "${1:-}" /tmp/ledger
}
# kept WHAT: the host kept to the tables.
kept() {
  check "$1" ledger " 0 violations"
  note "$(head -n 1 /tmp/ledger)"
}
far_ranges() { ranges "$1" "$2" "$3" "stamps /tmp/had /tmp/peer.had"; }
# churns NAME DEVICE SESSIONS: made and removed while another one ranges.
churns() {
  check "$1: $3 sessions made and removed while another one ranges" \
    ends 0 as member "VirtualBench sessions '$2' $3 /tmp/taken"
  note "$(tail -n 1 $out)"
  stamps "stamps /tmp/had /tmp/peer.had"
  check "… every measurement that the chip had was taken" \
    ends 0 VirtualBench latency "$1" /tmp/had /tmp/taken 1 /dev/null
  note "$(tail -n 1 $out)"
}
looks() {
  [ "$(stat -c %a:%U:%G "$2")" = "$1" ] || {
    stat "$2"
    return 1
  }
}
