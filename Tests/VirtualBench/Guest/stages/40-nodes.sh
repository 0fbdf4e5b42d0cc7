# SPDX-License-Identifier: Apache-2.0
#
# The vendors' character devices, with their quirks: /dev/srxxx in either encoding of its requests,
# and /dev/uci0.
. /bench/chip.sh
uwbctl setup --install >&4 2>&4
count=$(rounds 100 1000)

for encoding in srxxx srxxx-long; do
  chip_device $encoding srxxx
  check "$encoding: the node is given to the group" looks 660:root:dialout /dev/srxxx
  check "… an ordinary user is refused: 77" ends 77 as visitor uwbctl info --device sr1xx:/dev/srxxx
  check "$encoding: info" ends 0 as member uwbctl info --device sr1xx:/dev/srxxx
  check "… a second time, with the reader unblocked at the end" \
    ends 0 as member uwbctl info --device sr1xx:/dev/srxxx
  check "… by the request for it" ledger "[1-9][0-9]* aborted reads"
  if [ $encoding = srxxx ]; then
    chip_ranges "NXP's kernel driver, /dev/srxxx" sr1xx:/dev/srxxx "$count"
    check "… with several packets in a read at times" ledger "[1-9][0-9]* reads of several packets"
  fi
  kept "$encoding: whole packets, and nothing while it is off"
  chip_ends
done

chip_device uci uci
check "uci: the node is given to the group" looks 660:root:dialout /dev/uci0
check "… an ordinary user is refused: 77" ends 77 as visitor uwbctl info --device uci:/dev/uci0
check "uci: info" ends 0 as member uwbctl info --device uci:/dev/uci0
check "uci: info after a reset" ends 0 as member "uwbctl info --device 'uci:/dev/uci0?start=cycle'"
check "… there was one" ledger " 1 resets"
chip_ranges "Qorvo's kernel driver, /dev/uci0" uci:/dev/uci0 "$count"
kept "uci: whole packets"
# There is one opener, and a packet that does not fit is kept.
exec 5<>/dev/uci0
printf '\040\002\000\000' >&5
check "uci: a read of 8 bytes is refused" sh -c "dd bs=8 count=1 <&5 2>&1 | grep 'too long'"
check "… and the whole packet comes with the next one" \
  sh -c "dd bs=300 count=1 <&5 2>/dev/null | od -An -tx1 | head -n 1 | grep '40 02 00'"
check "uci: in use by another program: 75" ends 75 as member uwbctl info --device uci:/dev/uci0
exec 5<&-
VirtualBench tell $chips "state 4"
check "uci: busy saving its memory: 75" ends 75 as member uwbctl info --device uci:/dev/uci0
check "… and it says so" says "saves its memory"
chip_ends

check "no program is stuck" none_stuck
check "the kernel complained of nothing" quiet_kernel
