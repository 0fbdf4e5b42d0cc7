# SPDX-License-Identifier: Apache-2.0
#
# Sourced by stages: USB boards, plugged into the kernel's virtual controllers (dummy_hcd) as
# gadgets, with the ids and texts of real ones. Each has a simulated chip.
gadgets=/sys/kernel/config/usb_gadget
chips=/run/chips

# board NAME VENDOR PRODUCT RELEASE MANUFACTURER PRODUCT-TEXT SERIAL PORTS: creates a board with
# this number of serial ports; the kernel names their other ends /dev/ttyGS0, 1, … in the order of
# creation.
board() {
  local folder=$gadgets/$1 index=0
  mkdir -p "$folder/strings/0x409" "$folder/configs/c.1/strings/0x409"
  echo "$2" >"$folder/idVendor"
  echo "$3" >"$folder/idProduct"
  echo "$4" >"$folder/bcdDevice"
  # The device class that composite devices report.
  echo 0xEF >"$folder/bDeviceClass"
  echo 2 >"$folder/bDeviceSubClass"
  echo 1 >"$folder/bDeviceProtocol"
  echo "$5" >"$folder/strings/0x409/manufacturer"
  echo "$6" >"$folder/strings/0x409/product"
  [ -z "$7" ] || echo "$7" >"$folder/strings/0x409/serialnumber"
  while [ $index -lt "$8" ]; do
    mkdir "$folder/functions/acm.$index"
    ln -s "$folder/functions/acm.$index" "$folder/configs/c.1/"
    index=$((index + 1))
  done
}
# plug NAME CONTROLLER: plugs the board in and waits until the host has its ports and udev has
# handled them.
plug() {
  local bus tries=0
  bus=$(cat /sys/devices/platform/dummy_hcd."${2#*.}"/usb*/busnum)
  echo "$2" >"$gadgets/$1/UDC"
  until ls "/sys/bus/usb/devices/$bus-1:1.0"/tty/* >/dev/null 2>&1 || [ $tries = 200 ]; do
    tries=$((tries + 1))
    sleep 0.05
  done
  udevadm settle
}
unplug() { echo >"$gadgets/$1/UDC" && udevadm settle; }

# The boards of the bench. Sources of ids and texts: sdk_config.h of Qorvo's DW3_QM33_SDK
# (DWM3001CDK and similar kits), detect_com.py of nxp-appcodehub/an-sr250-uwb-plug-and-play-demo,
# and SEGGER's vendor id with the product id of a two-port J-Link.
make_boards() {
  [ ! -d $gadgets/kit-a ] || return 0
  modprobe dummy_hcd num=4
  modprobe -a libcomposite usb_f_acm usbmon
  mount -t configfs none /sys/kernel/config 2>/dev/null
  board kit-a 0x1915 0x520F 0x0100 "Nordic Semiconductor" "nRF52 USB Product" C0FFEE00000A 1
  board kit-b 0x1915 0x520F 0x0100 "Nordic Semiconductor" "nRF52 USB Product" C0FFEE00000B 1
  board jlink 0x1366 0x1051 0x0100 SEGGER J-Link 000760123456 2
  board rw612 0x1FC9 0x0095 0x0100 "NXP Semiconductors" "FRDM-RW612" RW612000001 1
  board stranger 0x1915 0x520F 0x0100 "Nordic Semiconductor" "Another Product" 112233445566 1
}

# Starts simulated chips for boards, served until the stage ends:
# TERMINAL,BOARD,CONTROLLER[,bridge]…, and one on the pseudo-terminal /run/peer.
start_chips() {
  local arguments='' port rest
  for port in "$@"; do
    rest=${port#*,}
    arguments="$arguments /dev/${port%%,*},$gadgets/${rest%%,*},${rest#*,}"
  done
  rm -f $chips
  mkfifo -m 666 $chips
  # Unquoted on purpose: each argument is one word.
  VirtualBench chips --control $chips $arguments pty,/run/peer >&4 2>&4 &
  chips_process=$!
}
