# SPDX-License-Identifier: Apache-2.0
#
# Qorvo's QM35 on SPI (HSSPI): header, pre-read and read, SS_RDY and SS_IRQ, reset and wake.
. /bench/chip.sh
uwbctl setup --install >&4 2>&4
lines="irq=uwb-irq&rdy=uwb-ready&rst=uwb-power&exton=uwb-awake"

chip qm35
device="spi:$node?chip=qm35&$lines&wakeup=uwb-wake"
uwbctl setup --install --node "$gpio" >&4 2>&4
check "a spidev that names the chip is given to the group" looks 660:root:dialout "$node"
check "… and has a name below /dev/uwb" test -e "/dev/uwb/qorvo-$(basename "$node")"
check "an ordinary user is refused: 77" ends 77 as visitor "uwbctl info --device '$device'"
check "QM35: info" ends 0 as member "uwbctl info --device '$device'"
kept "… no violation of the interface"
check "QM35: info after a reset" ends 0 as member "uwbctl info --device '$device&start=cycle'"
check "… there was one" ledger " 1 resets"
kept "… 2 ms low, and nothing for the next 450 ms"
chip_ranges "Qorvo QM35, spidev and GPIO lines" "$device" "$(rounds 100 1000)"
kept "QM35: headers, pre-reads, no selection while SS_RDY is low"
churns QM35 "$device" "$(rounds 20 500)"
kept "… no violation of the interface"
chip_ends

# --- a chip that sleeps, is late, and fails
latency=/dev/null
chip qm35 sleepy=3
chip_ranges "a QM35 that falls asleep, woken by WAKEUP" "$device" 60
check "… it did sleep" ledger "[1-9][0-9]* times asleep"
kept "… no violation of the interface"
chip_ends
chip qm35 sleepy=3
chip_ranges "… woken by a selection" "spi:$node?chip=qm35&$lines" 60
check "… so it was" ledger "[1-9][0-9]* wakes by selection"
kept "… no violation of the interface"
chip_ends
chip qm35 short-ready=2,absent=17,transfer-error=13,missed-edge=19
chip_ranges "a QM35 with pulses of SS_RDY, missed edges, and transfers that fail" "$device" 60
check "… it was absent" ledger "[1-9][0-9]* times absent"
kept "… no violation of the interface"
chip_ends

check "the kernel complained of nothing" quiet_kernel
