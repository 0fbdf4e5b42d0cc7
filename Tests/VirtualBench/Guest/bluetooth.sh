# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the stages for Bluetooth.
accessory=/tmp/accessory
heap=/tmp/heap
: >$accessory

needs_bluetoothd() {
  command -v bluetoothd >/dev/null && return
  note "there is no bluetoothd in this machine; run the bench with --install"
  check "left out" true
  finish
  exit
}
prepare_bluetooth() {
  modprobe -a hci_vhci ecdh_generic drbg cmac ecb algif_hash algif_skcipher 2>&4
  ip link set lo up 2>&4
  mkdir -p /run/dbus /var/lib/bluetooth
}
settings() { printf '%s\n' "$@" >/tmp/main.conf; }
start_daemon() { # options of bluetoothd
  bluetoothd -n "$@" >&4 2>&4 &
  daemon=$!
}
# bluetoothd has not exited by itself.
daemon_runs() {
  ps | grep -q "[b]luetoothd -n" || {
    local got=0
    wait $daemon || got=$?
    echo "bluetoothd has ended with $got"
    return 1
  }
}
start_controllers() {
  btvirt -L -l2 >&4 2>&4 &
  controllers=$!
}
# eventually COMMAND…: checks that it succeeds within half a minute, or within `patience` attempts.
eventually() {
  local try=0
  until "$@"; do
    try=$((try + 1))
    [ $try -lt ${patience:-150} ] || return 1
    usleep 200000
  done
}
# await TEXT [COUNT]: waits until the accessory has printed it COUNT times.
await() {
  eventually said "$@" || {
    cat $accessory
    echo "the accessory has not said '$1'"
    return 1
  }
}
said() { [ "$(grep -c "$1" $accessory)" -ge "${2:-1}" ]; }
# serve OPTION…: a real accessory on a simulated chip, on hci0.
serve() {
  : >$accessory
  [ -p $heap ] || mkfifo $heap
  chmod 666 $accessory $heap
  as visitor "env LD_PRELOAD=/bench/heap.so BENCH_HEAP=$heap uwbctl accessory --device /tmp/chip-a --listen ble --ble-adapter hci0 --ble-name Door \
    --format json $* >$accessory 2>&1" &
  server=$!
  await '"listening"'
}
# The bytes of the accessory's heap that are in use.
bytes_in_use() { head -n 1 <$heap; }
process_of() { ps | sed -n "s/^ *\([0-9]*\) .* [u]wbctl $1 .*/\1/p"; }
end_serving() {
  kill -INT "$(process_of accessory)"
  wait $server 2>/dev/null
}

# Prepares for controllers outside of this machine (Host/phone.py), and ends the stage if there are
# none. $1: the last of their ports, which becomes $port; then settings.
prepare_outside() {
  modprobe -a virtio_pci virtio_console 2>&4
  port=$(ls /dev/vport*p"$1" 2>&4) || {
    note "no controllers are connected to this machine; run the bench with --phones"
    check "left out" true
    finish
    exit
  }
  shift
  prepare_bluetooth
  # Time passes in the machine while the programs outside are slow.
  patience=3000
  dbus-daemon --system --fork --nopidfile
  settings "$@"
  start_daemon -f /tmp/main.conf
}
