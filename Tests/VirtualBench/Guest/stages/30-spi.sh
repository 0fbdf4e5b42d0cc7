# SPDX-License-Identifier: Apache-2.0
#
# NXP's chips on SPI through the kernel's spidev and GPIO code; the module uwb_bench provides the
# controller and the lines.
. /bench/chip.sh
uwbctl setup --install >&4 2>&4
count=$(rounds 100 1000)

# --- nodes and their permissions
chip sr150
sr150="spi:$node?chip=sr150&irq=uwb-irq&ri=uwb-read&ce=uwb-power"
check "a spidev that names a UWB chip is given to the group" looks 660:root:dialout "$node"
check "… and has a name below /dev/uwb" test -e "/dev/uwb/nxp-$(basename "$node")"
check "an ordinary user is refused: 77" ends 77 as visitor "uwbctl info --device '$sr150'"
check "its GPIO lines are still root's: 77" ends 77 as member "uwbctl info --device '$sr150'"
check "… and it says what is refused" says "GPIO line"
check "setup --node names them" ends 0 uwbctl setup --install --node "$gpio"
check "… and they are given to the group" looks 660:root:dialout "/dev/$gpio"

# --- SR1xx
check "SR150: info" ends 0 as member "uwbctl info --device '$sr150'"
kept "SR150: no violation of the interface so far"
chip_ranges "NXP SR150, spidev and GPIO lines" "$sr150" "$count"
kept "SR150: header and payload apart, the pause, RI and IRQ as documented"
check "SR150: switched off and on: info" ends 0 as member "uwbctl info --device '$sr150&start=cycle'"
kept "… for long enough, and not used too early"
chip_ends

cycles=$(rounds 20 500)
chip sr150 mid-write=3
churns "SR150, IRQ rising in writes" "$sr150" "$cycles"
check "… it did rise in writes" ledger "[1-9][0-9]* offered in a write"
kept "… no violation of the interface"
chip_ends

# --- SR2xx
chip sr250
sr250="spi:$node?chip=sr250&irq=uwb-irq&rst=uwb-power"
check "SR250: info after a reset" ends 0 as member "uwbctl info --device '$sr250&start=cycle'"
kept "… of the right length"
chip_ranges "NXP SR250, spidev and GPIO lines" "$sr250" "$count"
kept "SR250: direction, dummy byte and waits as documented"
churns SR250 "$sr250" "$cycles"
kept "… no violation of the interface"
chip_ends

check "the kernel complained of nothing" quiet_kernel
