# SPDX-License-Identifier: Apache-2.0
#
# Bluetooth LE while bluetoothd is killed and adapters are removed repeatedly, and uwbctl ranges on
# both ends. Afterwards nothing is advertised, connected or open. The long form does it 100 times
# each. With --fault, only one of them: killed or pulled.
. /bench/bluetooth.sh
needs_bluetoothd
prepare_bluetooth
dbus-daemon --system --fork --nopidfile
# See 70-bluetooth.
settings '[General]' 'JustWorksRepairing = confirm' '[GATT]' 'Channels = 1'
start_daemon -f /tmp/main.conf
start_controllers
as visitor "uwbctl simulate --chips 2 --link /tmp/chip" >&4 2>&4 &
eventually test -L /tmp/chip-b
eventually ends 0 as visitor "VirtualBench bluetooth app hci1 forget"
check "uwbctl accessory --listen ble" serve
descriptors() { ls /proc/"$uwbctl"/fd | wc -l; }
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$uwbctl/status"; }
no_more_descriptors() { [ "$(descriptors)" -le "$before" ]; }
uwbctl=$(process_of accessory)
listened=1
# An app that ranges until its connection ends.
visit() {
  : >/tmp/visit
  chmod 666 /tmp/visit
  as visitor "uwbctl find --device /tmp/chip-b --ble --ble-adapter hci1 --to Door --wait 60 \
    --format json -n 100000 >/tmp/visit 2>&1" &
  visitor=$!
  eventually grep -q distance_m /tmp/visit || {
    cat /tmp/visit $accessory
    return 1
  }
}
# The accessory serves again, and the app has exited and printed the reason.
served_again() {
  listened=$((listened + 1))
  await '"listening"' $listened || return 1
  local got=0
  wait $visitor || got=$?
  ended=$got
}
kill_daemon() {
  visit || return 1
  kill -9 $daemon
  start_daemon -f /tmp/main.conf
  served_again
}
pull_adapters() {
  visit || return 1
  kill -9 $controllers
  eventually test ! -e /sys/class/bluetooth/hci0
  # Their numbers are in use until bluetoothd has closed them.
  sleep 5
  start_controllers
  served_again
}
# repeated NUMBER WHAT
repeated() {
  local number=0
  while [ $number -lt "$1" ]; do
    "$2" || {
      echo "it failed the $((number + 1)). time"
      return 1
    }
    number=$((number + 1))
    [ $((number % 10)) != 0 ] || figures="$figures, $(memory)"
  done
}
often=$(rounds 2 100)
# fault NAME WHAT COMMAND: the first two rounds do not count, because both ends allocate permanent
# memory in them.
fault() {
  [ -z "$BENCH_FAULT" ] || [ "$BENCH_FAULT" = "$1" ] || return 0
  repeated 2 "$3" >&4 2>&4
  local start
  start=$(cut -d. -f1 /proc/uptime) before=$(descriptors) figures=$(memory)
  check "$2 while an app ranges, $often times" repeated "$often" "$3"
  note "the app ended with $ended; $((($(cut -d. -f1 /proc/uptime) - start) / often)) s each time"
  note "descriptors: $before before, $(descriptors) afterwards"
  note "memory before and after each tenth time, in kB: $figures"
  check "… no descriptor is left over" eventually no_more_descriptors
}
fault killed "bluetoothd killed" kill_daemon
fault pulled "adapters pulled" pull_adapters
check "… and afterwards an app ranges" visit
kill -INT "$(process_of find)"
wait $visitor
end_serving
check "nothing is advertised, nobody connected" eventually ends 0 as visitor \
  "VirtualBench bluetooth app hci0 idle"
check "bluetoothd runs on" daemon_runs
kill $daemon $controllers "$(process_of simulate)"
check "no program is stuck" eventually none_stuck
check "the kernel complained of nothing" quiet_kernel
