# SPDX-License-Identifier: Apache-2.0
#
# Sourced by stages: chips of the module uwb_bench, whose chips are models that count the host's
# actions.
. /bench/ranging.sh
chips=/run/chip

# chip CHIP [FAULTS [OPTION]]: a chip on SPI and GPIO lines.
chip() {
  insmod /bench/uwb_bench.ko chip="$1"
  bus=$(basename "$(ls -d /sys/bus/spi/devices/spi*.0)")
  # Like a board whose device tree names the chip: no kernel driver claims it.
  echo spidev >"/sys/bus/spi/devices/$bus/driver_override"
  echo "$bus" >/sys/bus/spi/drivers/spidev/bind
  node=/dev/spidev${bus#spi}
  gpio=$(basename "$(ls -d /sys/devices/platform/uwb-bench/gpiochip[0-9]*)")
  # The devices in the rules of an earlier chip exist again.
  udevadm settle
  start_model "$@"
}
# chip_device KIND CHIP [FAULTS [OPTION]]: a chip behind a vendor's device.
chip_device() {
  insmod /bench/uwb_bench.ko vendor="$1"
  udevadm settle
  shift
  start_model "$@"
}
start_model() {
  rm -f $chips
  mkfifo -m 666 $chips
  VirtualBench chip --chip "$1" --control $chips --peer /run/peer --faults "${2:-}" ${3:-} >&4 2>&4 &
  model_process=$!
  ledger >/dev/null
}
chip_ends() {
  kill $model_process
  wait $model_process 2>/dev/null
  rmmod uwb_bench
}
# ledger [TEXT]: prints the counts of the model, which have to contain TEXT.
ledger() {
  rm -f /tmp/ledger
  timeout 20 VirtualBench tell $chips "report /tmp/ledger"
  until_there /tmp/ledger
  cat /tmp/ledger
  grep -q -e "${1:-}" /tmp/ledger
}
# kept WHAT: checks that the model has counted no violation.
kept() {
  check "$1" ledger " 0 violations"
  note "$(head -n 1 /tmp/ledger)"
}
chip_ranges() { ranges "$1" "$2" "$3" "stamps /tmp/had /tmp/peer.had"; }
# churns NAME DEVICE SESSIONS: creates and removes sessions while another one ranges.
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
