# SPDX-License-Identifier: Apache-2.0
#
# Chips and lines that misbehave; loading firmware over them.
. /bench/chip.sh
uwbctl setup --install >&4 2>&4
latency=/dev/null
VirtualBench image hbci /tmp/sr150.bin
VirtualBench image hdll /tmp/sr250.bin
chmod 644 /tmp/sr150.bin /tmp/sr250.bin

# --- edges and pulses
chip sr150 double-pulse=3,missed-edge=7
sr150="spi:$node?chip=sr150&irq=uwb-irq&ri=uwb-read&ce=uwb-power"
uwbctl setup --install --node "$gpio" >&4 2>&4
chip_ranges "an SR150 that pulses twice, and whose edges are missed" "$sr150" 60
kept "… no violation of the interface"
chip_ends
chip sr150 deaf-to-ri=20
check "an SR150 that misses RI: it is asked again" \
  ends 82 as member "uwbctl range --device '$sr150' --interval 20 --count 50 --format csv"
check "… no round is lost" says "50 rounds,"
kept "… no violation of the interface"
chip_ends
chip sr250 missed-edge=7
sr250="spi:$node?chip=sr250&irq=uwb-irq&rst=uwb-power"
chip_ranges "an SR250 whose edges are missed" "$sr250" 60
kept "… no violation of the interface"
chip_ends

# --- chips that hang Without answers to its rounds, range exits with 82.
chip sr250 hang-ranging=30
check "an SR250 that hangs after every 30 rounds is reset, and ranging goes on" ends 82 as member \
  "uwbctl range --device '$sr250' --interval 20 --count 50 --recover 60 --format csv"
check "… to the last round" says "50 rounds,"
check "… it was reset" ledger "[1-9][0-9]* resets"
chip_ends
chip qm35 hang-ranging=30
qm35="spi:$node?chip=qm35&irq=uwb-irq&rdy=uwb-ready&rst=uwb-power&exton=uwb-awake&wakeup=uwb-wake"
check "a QM35 that hangs after every 30 rounds as well" ends 82 as member \
  "uwbctl range --device '$qm35' --interval 20 --count 50 --recover 60 --format csv"
check "… it was reset" ledger "[1-9][0-9]* resets"
chip_ends
chip sr150 hang=3
check "an SR150 that hangs while it is opened: 80" \
  ends 80 as member "uwbctl info --device '$sr150'"
check "… with a next step" says "try: "
chip_ends
chip qm35 hang=3
check "a QM35 that hangs while it is opened: 80" ends 80 as member "uwbctl info --device '$qm35'"
chip_ends

# --- SR1xx: firmware
load="uwbctl firmware load --device"
chip sr150 '' --loader
check "SR150: firmware is loaded, and runs" ends 0 as member "$load '$sr150' /tmp/sr150.bin"
check "… every segment came whole" ledger " 3 segments"
check "… fw= loads it on the way" ends 0 as member "uwbctl info --device '$sr150&start=cycle&fw=/tmp/sr150.bin'"
kept "… no violation of the interface"
chip_ends
# Each attempt has three segments, so the fifth segment is the second of the second attempt.
chip sr150 flipped-bit=5 --loader
check "SR150: firmware is loaded" ends 0 as member "$load '$sr150' /tmp/sr150.bin"
check "SR150: a bit lost in a segment: the chip is switched off, and it is loaded again" \
  ends 0 as member "$load '$sr150' /tmp/sr150.bin"
check "… one was damaged" ledger " 1 segments damaged"
kept "… no violation of the interface"
chip_ends
chip sr150 flipped-answer=1 --loader
check "SR150: every answer of the loader is damaged: 76" \
  ends 76 as member "$load '$sr150' /tmp/sr150.bin"
check "… it was tried five times" ledger " 5 resets"
chip_ends
chip sr150 flipped-bit=1 --loader
check "SR150: every segment is damaged: 81" ends 81 as member "$load '$sr150' /tmp/sr150.bin"
check "… and it says why" says "check byte was wrong"
chip_ends
chip_device srxxx srxxx '' --loader
check "/dev/srxxx: firmware is loaded by the way" \
  ends 0 as member "uwbctl info --device 'sr1xx:/dev/srxxx?start=cycle&fw=/tmp/sr150.bin'"
kept "… no violation of the interface"
chip_ends

# --- SR2xx: its flash. How to leave the boot loader over SPI is not published, so the chip stays in it.
chip sr250 '' --loader
check "SR250: the flash is written" ends 0 as member "$load '$sr250' /tmp/sr250.bin"
check "… every frame came whole" ledger " 11 frames"
kept "… no violation of the interface"
chip_ends
chip sr250 flipped-bit=5 --loader
check "SR250: a bit lost in a frame: 81" ends 81 as member "$load '$sr250' /tmp/sr250.bin"
check "… and that the flash is written in part" says "of 53[0-9][0-9]\|written"
chip_ends

check "no program is stuck" none_stuck
check "the kernel complained of nothing" quiet_kernel
