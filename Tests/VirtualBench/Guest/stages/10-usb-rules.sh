# SPDX-License-Identifier: Apache-2.0
#
# The project's rules with the real udev daemon, and the users who may open a board with them.
. /bench/boards.sh
make_boards
rule=/etc/udev/rules.d/60-uwb.rules

property() { udevadm info --query=property --property="$2" --value "$1"; }
is() { # PROPERTY VALUE DEVICE
  local got
  got=$(property "$3" "$1")
  [ "$got" = "$2" ] || {
    echo "$1 of $3 is '$got', not '$2'"
    return 1
  }
}
tagged() { udevadm info --query=all "$1" | grep -q "^E: CURRENT_TAGS=.*:$2:"; }
not() { ! "$@"; }
leads() { # LINK NODE
  [ "$(readlink -f "$1")" = "$2" ] || {
    ls -lR /dev/uwb
    echo "$1 does not lead to $2"
    return 1
  }
}
looks() { # MODE:OWNER:GROUP NODE
  [ "$(stat -c %a:%U:%G "$2")" = "$1" ] || {
    stat "$2"
    return 1
  }
}
without_faults() { # udev's own words for lines it cannot use, groups it does not know, and so on
  udevadm test /sys/class/tty/ttyACM0 >/tmp/test 2>&1
  ! grep -iE 'uwb.rules:.*(invalid|unknown|failed|ignor|unexpected)' /tmp/test
}
seat() { # who sits at the machine: what logind notes for udev
  mkdir -p /run/systemd/seats
  printf 'IS_SEAT0=1\nACTIVE=1\nACTIVE_UID=%s\n' "$1" >/run/systemd/seats/seat0
}

# --- without the rule: an ordinary user is refused, with advice
plug kit-a dummy_udc.0
check "the kernel's cdc_acm makes a port of the board" test -c /dev/ttyACM0
check "list names the board" ends 0 as visitor uwbctl list
check "… as the one it is" says "Qorvo DWM3001CDK"
check "… by its serial number" says "usb:C0FFEE00000A"
check "… and that this user may not open it" says "you cannot open it"
check "range as an ordinary user ends with 77" \
  ends 77 as visitor uwbctl range --device usb:C0FFEE00000A
check "… and says what to try" says "try: "
check "doctor as an ordinary user ends with 77" ends 77 as visitor uwbctl doctor usb:C0FFEE00000A
check "… with setup as the next step" says "uwbctl setup --install"
check "ModemManager would be let in without the rule" \
  not is ID_MM_PORT_IGNORE 1 /dev/ttyACM0

# --- with the rule, and a user logged in at the seat
seat 1000
check "setup shows what it would do, and does nothing" ends 0 as visitor uwbctl setup
check "… the rules" says "nRF52 USB Product"
check "… and how to do it" says "sudo uwbctl setup --install"
check "… without doing it" test ! -e $rule
check "setup --install as an ordinary user ends with 77" ends 77 as visitor uwbctl setup --install
check "… and says who may" says "Only root can change"
check "setup --install as root" ends 0 uwbctl setup --install
check "… installs the project's rules" cmp /usr/share/uwb/60-uwb.rules $rule
check "… which apply to a board that is plugged in already" is ID_MM_PORT_IGNORE 1 /dev/ttyACM0
check "… and a second time does nothing" ends 0 uwbctl setup --install
check "… but say so" says "Already installed"
check "udev finds no fault with the rules" without_faults
unplug kit-a
plug kit-a dummy_udc.0
plug kit-b dummy_udc.1
plug jlink dummy_udc.2
plug rw612 dummy_udc.3
check "owner, group and mode" looks 660:root:dialout /dev/ttyACM0
check "a name by product and serial number" leads /dev/uwb/qorvo-C0FFEE00000A /dev/ttyACM0
check "… for the second board of the kind as well" leads /dev/uwb/qorvo-C0FFEE00000B /dev/ttyACM1
check "… for a debug probe's first port" leads /dev/uwb/jlink-000760123456-if00 /dev/ttyACM2
check "… and its second" leads /dev/uwb/jlink-000760123456-if02 /dev/ttyACM3
check "… for NXP's bridge" leads /dev/uwb/nxp-RW612000001 /dev/ttyACM4
for node in /dev/ttyACM0 /dev/ttyACM2 /dev/ttyACM3 /dev/ttyACM4; do
  check "$node: ModemManager is kept away from the port" is ID_MM_PORT_IGNORE 1 $node
  check "$node: the user at the seat is given it" tagged $node uaccess
done
for device in dummy_hcd.0 dummy_hcd.1 dummy_hcd.2 dummy_hcd.3; do
  path=$(dirname "$(ls -d /sys/devices/platform/$device/usb*/*-1/idVendor)")
  check "$(cat "$path/product"): ModemManager is kept away from the device" \
    is ID_MM_DEVICE_IGNORE 1 "$path"
done
check "list says that the user may open it" ends 0 as visitor uwbctl list
check "… and the stable name" says "/dev/uwb/qorvo-C0FFEE00000A"
check "… and nowhere that it may not" sh -c "! grep 'may not open' $out"

# --- another kind of device with the same ids
unplug kit-b
plug stranger dummy_udc.1
check "a stranger with Nordic's ids is no board: no link" \
  not ls /dev/uwb/*112233445566*
check "… ModemManager may have its port" not is ID_MM_PORT_IGNORE 1 /dev/ttyACM1
check "… and its device" not is ID_MM_DEVICE_IGNORE 1 \
  "$(dirname "$(ls -d /sys/devices/platform/dummy_hcd.1/usb*/*-1/idVendor)")"
check "… and it is given to no user" not tagged /dev/ttyACM1 uaccess

# --- without a seat: the group
unplug kit-a
rm -rf /run/systemd/seats
plug kit-a dummy_udc.0
check "without a seat an ordinary user is refused" \
  ends 77 as visitor uwbctl info --device usb:C0FFEE00000A
check "… a member of the group is not" ends 0 as member uwbctl list
check "… as list says" says "you can open it"

for name in kit-a jlink rw612 stranger; do unplug $name; done
check "unplugged boards leave no name" not ls -d /dev/uwb/*
check "setup --remove as root" ends 0 uwbctl setup --remove
check "… removes the rules" test ! -e $rule
