# SPDX-License-Identifier: Apache-2.0
#
# Ranging between two boards through the kernel's cdc_acm; DTR as the kernel drives it; bytes of a
# board that no program reads; unplugging in the middle of a frame, and repeatedly.
. /bench/boards.sh
. /bench/ranging.sh
make_boards
uwbctl setup --install >&4 2>&4
a=usb:C0FFEE00000A
b=usb:C0FFEE00000B
bus() { cat "/sys/devices/platform/dummy_hcd.$1"/usb*/busnum; }

plug kit-a dummy_udc.0
plug kit-b dummy_udc.1
start_chips ttyGS0,kit-a,dummy_udc.0 ttyGS1,kit-b,dummy_udc.1
check "the chips are there" timeout 20 VirtualBench tell $chips hello

# --- DTR and line settings, as they go over the USB
VirtualBench usbmon "$(bus 0)" >/tmp/usb &
watcher=$!
check "info, through the kernel's driver" ends 0 as member uwbctl info --device $a
check "doctor is content" ends 0 as member uwbctl doctor $a
cat $out | sed 's/^/      /'
kill $watcher
wait $watcher 2>/dev/null
order() { # lines of this form in the order of the arguments
  VirtualBench order "$@" </tmp/usb
}
check "115200 8N1 is set, DTR raised before the first command, and dropped at the end" \
  order "line-coding 115200 8N1" "control-lines dtr" "out 20" "control-lines none"

# --- ranging
# Starts the other end, and waits until its SESSION_START_CMD has gone over the USB. Its program
# ends with the controller's session.
other_end() {
  timeout 60 VirtualBench usbmon "$(bus 1)" --until "out 2200" >/tmp/started &
  started=$!
  as member uwbctl range --device $b --role controlee --interval 20 --format csv \
    >/tmp/controlee.csv 2>/tmp/controlee.summary &
  controlee=$!
  wait $started
}
# If it missed the controller's last message, it continues to wait.
other_end_ends() {
  local status=0
  kill -INT $controlee 2>/dev/null
  wait $controlee || status=$?
  # 85: the controller has ended the session.
  [ $status = 0 ] || [ $status = 85 ]
}
check "the other end ranges" other_end
check "20 rounds between two boards" ends 0 \
  as member "uwbctl range --device $a --interval 20 --count 20 --format csv 2>&1 >/tmp/range.csv"
check "… none of them failed or was lost" says " 20 measured, 0 failed, 0 lost, 0 dropped"
note "$(tail -n 1 $out)"
check "the controlee's program ends well" other_end_ends
check "one line for each round" test "$(sed 1d /tmp/range.csv | wc -l)" = 20
ranges "Qorvo DWM3001CDK, dummy_hcd and cdc_acm" $a "$(rounds 50 1000)" \
  "stamps 0 /tmp/had" "stamps 2 /tmp/peer.had"

# --- a board that has just appeared: list names it, and range measures with that name
hundredths() { cut -d ' ' -f 1 /proc/uptime | tr -d .; }
listed() { uwbctl list | grep -q $a; }
other_end
VirtualBench tell $chips "unplug 0"
while listed; do sleep 0.1; done
before=$(hundredths)
VirtualBench tell $chips "plug 0"
until listed; do sleep 0.1; done
check "range measures with the name that list gives a board that has just appeared" \
  ends 0 as member uwbctl range --device $a --interval 20 -n 1
note "$((10 * ($(hundredths) - before))) ms from the plug to the end of its first round"
other_end_ends

# --- a board that sends while no program reads: the next program discards the bytes that wait
VirtualBench tell $chips "chatter 0 61020006010000000200"
check "info after bytes that waited for it" ends 0 as member uwbctl info --device $a

# --- unplugged
check "unplugged in the middle of a frame: range says so and ends with 74" \
  ends 74 as member VirtualBench replug --control $chips --how cut --cycles 1 --no-return -- \
  uwbctl range --device $a --interval 20 --recover 0 --format csv
# A board that hangs sends no more bytes.
VirtualBench tell $chips "plug 0"
udevadm settle
VirtualBench tell $chips "mute 0 1"
check "a board that hangs: 80" ends 80 as member uwbctl info --device $a
VirtualBench tell $chips "mute 0 0"
VirtualBench tell $chips "unplug 0"
VirtualBench tell $chips "plug 0"
udevadm settle
range="uwbctl range --device $a --interval 20 --recover 30 --format csv"
other_end
check "unplugged in the middle of a frame: range goes on when the board is back" \
  ends 0 as member "VirtualBench replug --control $chips --how cut --cycles 3 -- $range"
note "$(tail -n 1 $out)"
other_end_ends
cycles=$(rounds 5 200)
other_end
check "$cycles times unplugged and plugged in again, no descriptor, thread or memory leaked" \
  ends 0 as member "VirtualBench replug --control $chips --cycles $cycles -- $range"
note "$(tail -n 1 $out)"
other_end_ends
check "no program is stuck" none_stuck
check "the kernel complained of nothing" quiet_kernel

kill $chips_process
wait $chips_process
unplug kit-a
unplug kit-b
