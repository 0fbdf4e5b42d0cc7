# SPDX-License-Identifier: Apache-2.0
#
# Bluetooth LE: the real bluetoothd with two virtual controllers that hear each other; on one the
# accessory's side, on the other one the app's, each an ordinary user's program.
command -v bluetoothd >/dev/null || {
  note "there is no bluetoothd in this machine; run the bench with --install"
  check "left out" true
  finish
  exit
}
accessory=/tmp/accessory
: >$accessory

start_controllers() {
  btvirt -L -l2 >&4 2>&4 &
  controllers=$!
}
settings() { printf '%s\n' "$@" >/tmp/main.conf; }
start_daemon() { # options of bluetoothd
  bluetoothd -n "$@" >&4 2>&4 &
  daemon=$!
}
start_accessory() {
  : >$accessory
  chmod 666 $accessory
  as visitor "VirtualBench bluetooth accessory hci0 $* >$accessory 2>&1" &
  server=$!
  await "serves on"
}
# eventually COMMAND…: it succeeds within half a minute.
eventually() {
  local try=0
  until "$@"; do
    try=$((try + 1))
    [ $try -lt 150 ] || return 1
    usleep 200000
  done
}
# await TEXT [COUNT]: the accessory has printed it so many times.
await() {
  eventually said "$@" || {
    cat $accessory
    echo "the accessory has not said '$1'"
    return 1
  }
}
said() { [ "$(grep -c "$1" $accessory)" -ge "${2:-1}" ]; }
stop_accessory() {
  kill "$(sed -n 's/^serves on .*, process //p' $accessory)"
  wait $server 2>/dev/null
}
app() { ends 0 as visitor "VirtualBench bluetooth app hci1 $*"; }
app_fails() { ends 1 as visitor "VirtualBench bluetooth app hci1 $*"; }
accessory_forgets() { ends 0 as visitor "VirtualBench bluetooth app hci0 forget"; }
without_adapter() { app_fails find && says "There is no Bluetooth adapter"; }

modprobe -a hci_vhci ecdh_generic drbg cmac ecb algif_hash algif_skcipher 2>&4
ip link set lo up 2>&4
mkdir -p /run/dbus /var/lib/bluetooth
check "without a bus: 1" app_fails find
check "… says what to start" says "There is no message bus.*try: Start the message bus"
dbus-daemon --system --fork --nopidfile
check "without bluetoothd: 1" app_fails find
check "… says what to install" says "bluetoothd does not run.*try: Install BlueZ"
start_daemon
check "without an adapter: 1" eventually without_adapter
check "… says what to plug in" says "try: Plug in a Bluetooth adapter"
start_controllers
check "bluetoothd finds the controllers" eventually app forget

# --- the dialogue
check "an accessory registers its services and advertises, as an ordinary user" start_accessory
# The clock of this machine skips the time.
sleep 32
check "an app finds it by its service, connects, and learns its services" app find connect
check "messages of 36 and 49 bytes, both ways of writing" app talk
note "$(head -n 1 $out)"
check "an encrypted value: pairs, and is read" app pair read bonded
check "the link ends" app disconnect
check "… and the accessory is told" await "unsubscribed"

# --- stored keys
check "another run connects with the stored keys, and reads" app connect bonded read talk disconnect

# --- bonds
check "the app forgets the accessory" app forget
check "an accessory that keeps the old bond does not pair" app_fails connect pair
check "… which is said, with the next step" says "try: .*emove the bond"
app disconnect >&4 2>&4
check "when the accessory forgets the app as well" accessory_forgets
check "… they pair again" app connect pair read bonded disconnect
stop_accessory
check "both forget" app forget
check "… each other" accessory_forgets

# --- consent
check "an accessory that refuses pairing" start_accessory refuse
check "… can be connected to and talked with" app connect talk
check "… but its encrypted value cannot be read" app_fails read
app disconnect >&4 2>&4
stop_accessory

# --- bluetoothd is killed
check "an accessory that consents" start_accessory
check "… is paired with" app connect pair read
kill -9 $daemon
check "bluetoothd killed: the accessory is told" await "lost bluetoothd"
# With its default of three ATT channels, BlueZ 5.66 closes a descriptor of theirs twice when an adapter
# vanishes, and loses writes without response from then on ("Failed to obtain disconnect error").
settings '[GATT]' 'Channels = 1'
start_daemon -f /tmp/main.conf
check "… and registers everything when it is back" await "registered .* again" 3
check "… with the bond: connects, reads, talks" app connect bonded read talk disconnect

# --- the adapters are gone
kill -9 $controllers
check "the adapters gone: the accessory is told" await "lost the adapter"
eventually test ! -e /sys/class/bluetooth/hci0
# Their numbers are in use until bluetoothd has let go of them.
sleep 5
start_controllers
check "… and registers its services when they are back" await "registered .* again" 5
check "… and goes on: connects, reads, talks" app connect bonded read talk disconnect

# --- a connection that carries 45 bytes
kill -9 $daemon
settings '[GATT]' 'Channels = 1' 'ExchangeMTU = 48'
start_daemon -f /tmp/main.conf
check "bluetoothd is back with an MTU of 48" await "registered .* again" 8
check "an app can send 36 bytes" app connect short
check "… the accessory refuses to cut its answer of 49 bytes" await "49 bytes does not fit.* 45"
check "an app refuses to cut 49 bytes" app_fails long
check "… with the reason" says "49 bytes does not fit.* 45"

stop_accessory
kill $daemon $controllers
check "no program is stuck" none_stuck
check "… nor of these" sh -c "! ps | grep '[V]irtualBench'"
check "the kernel complained of nothing" quiet_kernel
