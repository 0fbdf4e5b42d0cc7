# SPDX-License-Identifier: Apache-2.0
#
# Bluetooth LE: the real bluetoothd with two virtual controllers that receive each other's packets.
# The accessory's side uses one, the app's side the other; each is an ordinary user's program.
. /bench/bluetooth.sh
needs_bluetoothd

start_accessory() {
  : >$accessory
  chmod 666 $accessory
  as visitor "VirtualBench bluetooth accessory hci0 $* >$accessory 2>&1" &
  server=$!
  await "serves on"
}
stop_accessory() {
  kill "$(sed -n 's/^serves on .*, process //p' $accessory)"
  wait $server 2>/dev/null
}
# find STATUS OPTION…: the real app on another simulated chip, over hci1.
find_door() {
  local status=$1
  shift
  ends "$status" as visitor "uwbctl find --device /tmp/chip-b --ble --ble-adapter hci1 --to Door \
    --wait 30 --format json $*"
}
bonds_are() { # NUMBER
  ends 0 as visitor "uwbctl bonds --format json" && [ "$(grep -c '"address"' $out)" = "$1" ] || {
    cat $out
    return 1
  }
}
app() { ends 0 as visitor "VirtualBench bluetooth app hci1 $*"; }
app_fails() { ends 1 as visitor "VirtualBench bluetooth app hci1 $*"; }
accessory_forgets() { ends 0 as visitor "VirtualBench bluetooth app hci0 forget"; }
without_adapter() { app_fails find && says "There is no Bluetooth adapter"; }
# The kernel's own view of a line that no program holds any more.
line_is_unset() {
  local base
  base=$(cat "$(grep -l uwb-bench /sys/class/gpio/gpiochip*/label | sed 's/label$/base/')")
  echo $((base + 3)) >/sys/class/gpio/export
  local level
  level=$(cat /sys/class/gpio/uwb-power/value)
  echo $((base + 3)) >/sys/class/gpio/unexport
  [ "$level" = 0 ]
}
# peer ADAPTER CHIP NAME OPTION…: one of two machines, whose user confirms that the codes are equal.
peer() {
  local adapter=$1 chip=$2 name=$3
  shift 3
  : >/tmp/peer-$name
  chmod 666 /tmp/peer-$name
  as visitor "uwbctl peer --device /tmp/chip-$chip --ble --ble-adapter $adapter --name $name \
    --format json $*" <<yes >/tmp/peer-$name 2>&1
y
yes
}
peers() {
  peer hci0 a Alice &
  local other=$! got=0
  peer hci1 b Bob -n 5 || got=$?
  wait $other || true
  [ $got = 0 ] || {
    cat /tmp/peer-*
    return 1
  }
}
code_of() { sed -n 's/.*"code":"\([0-9 ]*\)".*/\1/p' /tmp/peer-$1; }
codes_are_equal() {
  cat /tmp/peer-*
  [ -n "$(code_of Alice)" ] && [ "$(code_of Alice)" = "$(code_of Bob)" ] &&
    [ "$(grep -c '"found".*"distance_m"' /tmp/peer-Bob)" = 5 ]
}
# Either machine may have opened the connection.
peer_is_killed() {
  rm /tmp/peer-*
  peer hci0 a Alice &
  local first=$! got=0
  peer hci1 b Bob &
  local second=$!
  eventually grep -q distance_m /tmp/peer-Bob 2>&4 || {
    cat /tmp/peer-*
    return 1
  }
  # The program advertises again after the connection; bluetoothd keeps the advertisement of a
  # program that is killed meanwhile (bluez/bluez#969).
  sleep 5
  kill -9 "$(ps | sed -n 's/^ *\([0-9]*\) .* [u]wbctl peer .*--name Alice.*/\1/p')"
  wait $first
  wait $second || got=$?
  [ $got = 85 ] || {
    cat /tmp/peer-*
    echo "Bob ended with $got"
    return 1
  }
}
app_ranges() {
  eventually grep -q distance /tmp/app.out 2>&4 || {
    cat /tmp/app.out $accessory
    return 1
  }
}
ranged_once() {
  [ "$(grep -c '"event":"started"' $accessory)" = 1 ] &&
    [ "$(grep -c '"event":"stopped"' $accessory)" = 1 ] || {
    grep -v measured $accessory
    return 1
  }
}
numbers_rise() {
  awk 'NR > 1 && $1 <= last { exit 1 } { last = $1 } END { if (NR < 10) exit 1 }' /tmp/sequence || {
    cat /tmp/sequence
    return 1
  }
}
nothing_left() { ends 0 as visitor "VirtualBench bluetooth app hci0 idle"; }

prepare_bluetooth
check "without a bus: 1" app_fails find
check "… says what to start" says "There is no message bus.*try: Start the message bus"
dbus-daemon --system --fork --nopidfile
check "without bluetoothd: 1" app_fails find
check "… says what to install" says "bluetoothd is not running.*try: Install BlueZ"
start_daemon
check "without an adapter: 1" eventually without_adapter
check "… says what to plug in" says "try: Plug in a Bluetooth adapter"
start_controllers
check "bluetoothd finds the controllers" eventually app forget

# --- the dialogue
check "an accessory registers its services and advertises, as an ordinary user" start_accessory
# The clock of this machine skips idle time.
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
if in_full; then
  check "the app forgets the accessory" app forget
  check "an accessory that keeps the old bond does not pair" app_fails connect pair
  check "… which is said, with the next step" says "try: .*emove the bond"
  app disconnect >&4 2>&4
  check "when the accessory forgets the app as well" accessory_forgets
  check "… they pair again" app connect pair read bonded disconnect
fi
stop_accessory
check "both forget" app forget
check "… each other" accessory_forgets

if in_full; then
  # --- consent
  check "an accessory that refuses pairing" start_accessory refuse
  check "… can be connected to and talked with" app connect talk
  check "… but its encrypted value cannot be read" app_fails read
  app disconnect >&4 2>&4
  stop_accessory
fi
# --- bluetoothd is killed
check "an accessory that consents" start_accessory
check "… is paired with" app connect pair read
kill -9 $daemon
check "bluetoothd killed: the accessory is told" await "lost bluetoothd"
# With its default of three ATT channels, BlueZ 5.66 closes a descriptor of these channels twice
# when an adapter vanishes. It then loses writes without response ("Failed to obtain disconnect
# error").
settings '[GATT]' 'Channels = 1'
start_daemon -f /tmp/main.conf
check "… and registers everything when it is back" await "registered .* again" 3
check "… with the bond: connects, reads, talks" app connect bonded read talk disconnect

if in_full; then
  # --- the adapters are removed
  kill -9 $controllers
  check "the adapters gone: the accessory is told" await "lost the adapter"
  eventually test ! -e /sys/class/bluetooth/hci0
  # Their numbers are in use until bluetoothd has closed them.
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
fi
stop_accessory
# --- uwbctl, with chips that range
accessory_forgets
eventually app forget
as visitor "uwbctl simulate --chips 2 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-b
if in_full; then
  check "uwbctl accessory --listen ble" serve --data-version 2.0
  check "an MTU of 48: uwbctl find ends" find_door 74 -n 3
  check "… and the accessory says why" await "49 bytes does not fit.* 45"
  end_serving
fi
kill -9 $daemon
settings '[General]' 'JustWorksRepairing = confirm'
start_daemon -f /tmp/main.conf
eventually app forget
check "uwbctl accessory, with an MTU that suffices" serve
check "uwbctl find --ble --pair finds it, pairs and ranges" find_door 0 --pair -n 5
check "… with distances" says '"found".*"distance_m":'
check "both ends keep keys" bonds_are 2
check "it ranges with the stored keys" find_door 0 -n 5
end_serving
if in_full; then
  # The chips walk back and forth between 2 m and 3 m. A line of the kernel's GPIO code, which stays
  # high if no program sets it.
  insmod /bench/uwb_bench.ko
  chmod 666 /dev/gpiochip*
  chmod 755 /sys/kernel/debug
  : >/tmp/levels
  chmod 666 /tmp/levels
  cat >/tmp/level.sh <<'level'
#!/bin/sh
level=hi
[ "$UWB_EVENT" = enter ] || level=lo
# The line is set from another program than the command.
until grep -q "uwb-power.* out $level" /sys/kernel/debug/gpio; do usleep 10000; done
echo "$UWB_EVENT $level" >>/tmp/levels
level
  chmod 755 /tmp/level.sh
  check "an accessory with a region" serve --region near=2.4:2.6 --dwell 1 --tell-app \
    --gpio uwb-power --on-enter /tmp/level.sh --on-leave /tmp/level.sh
  check "it tells the app what happens in it" find_door 0 -n 400
  for change in entered dwelled left; do
    check "… $change" says "\"event\":\"region\".*\"change\":\"$change\""
  done
  check "… a GPIO line is set" grep -q "enter hi" /tmp/levels
  check "… and not set" grep -q "leave lo" /tmp/levels
  entered=$(grep -c '"change":"entered"' $accessory)
  find_door 0 -n 100000 >&4 2>&4 &
  check "the phone is near once more" await '"change":"entered"' $((entered + 1))
  end_serving
  kill -INT "$(process_of find)" 2>&4
  wait $!
  check "an accessory that ends leaves the line unset" line_is_unset
  rmmod uwb_bench
fi
check "an accessory over Bluetooth LE and TCP" serve --listen tcp:7000
await '"listening"' 2
check "both links, five visits each" ends 0 as visitor \
  "VirtualBench accessory-times /tmp/chip-b hci1 Door tcp:127.0.0.1:7000"
while read -r line; do note "$line"; done <$out
end_serving
# Both keys are removed: a link that only one end can encrypt makes this kernel fail (hci_chan_del).
for name in Door 00:AA:01:01:00:01; do
  check "uwbctl bonds --remove $name" ends 0 as visitor "uwbctl bonds --remove $name"
done
check "no keys are left" bonds_are 0
check "an accessory that refuses to pair" serve --pairing refuse
check "… is not paired with" find_door 71 --pair -n 3
check "… which is said" says "Pairing failed"
check "… but ranged with" find_door 0 -n 3
end_serving
kill "$(process_of simulate)"

# --- Nearby Interaction in the background
accessory_forgets
app forget >&4 2>&4
check "a session with a Bluetooth identifier: refused unless paired, goes on in the background" \
  ends 0 as visitor "BackgroundRanging hci0 hci1"
check "… which says why" says "is not paired with this machine"
note "$(grep 'accessory measured' $out)"

# --- an app that is killed while it ranges through the service
accessory_forgets
app forget >&4 2>&4
mkdir -m 777 /tmp/app
as visitor "uwbctl simulate --chips 2 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-b
as visitor "uwbd --socket /tmp/app/control /tmp/chip-b" >&4 2>&4 &
eventually test -S /tmp/app/control
check "uwbctl accessory, and an app that has its chip from the service" serve
as visitor "VirtualBench sequence /tmp/app" >/tmp/sequence 2>&4 &
as visitor "VirtualBench restored-app /tmp/app hci1 Door" >/tmp/app.out 2>&1 &
first=$!
check "… which pairs and ranges" app_ranges
kill -9 "$(ps | sed -n 's/^ *\([0-9]*\) .* [V]irtualBench restored-app .*/\1/p')"
wait $first
before=$(grep -c '"status":"OK"' $accessory)
check "it is killed: the accessory ranges on" await '"status":"OK"' $((before + 5))
check "… and bluetoothd keeps the connection" ends 1 as visitor \
  "VirtualBench bluetooth app hci1 idle"
check "started again it goes on with its session" ends 0 as visitor \
  "VirtualBench restored-app /tmp/app hci1 Door"
check "… which the accessory has not noticed" ranged_once
kill "$(ps | sed -n 's/^ *\([0-9]*\) .* [V]irtualBench sequence .*/\1/p')"
check "… and whose measurements have gone on" numbers_rise
end_serving
kill "$(process_of simulate)" "$(ps | sed -n 's/^ *\([0-9]*\) .* [u]wbd --socket .*/\1/p')"

# --- two machines without an accessory
as visitor "uwbctl simulate --chips 2 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-b
check "two machines find each other, compare a code, and range" peers
check "… with the same code, and distances" codes_are_equal
check "… and end when the other one is killed" peer_is_killed
check "… no connection is left" eventually nothing_left
kill "$(process_of simulate)"
check "two apps do so" ends 0 as visitor "PeerRanging hci0 hci1"
note "$(tail -n 2 $out | head -n 1)"
check "no connection is left, nothing advertised" eventually nothing_left
check "bluetoothd runs on" daemon_runs
kill $daemon $controllers
check "no program is stuck" none_stuck
check "… nor of these" sh -c "! ps | grep '[V]irtualBench'"
check "the kernel complained of nothing" quiet_kernel
