# SPDX-License-Identifier: Apache-2.0
#
# uwbd as a service of systemd. A board that is plugged in starts it, and two users measure. The
# board is unplugged and returns, the service is killed, and both users continue to measure. Then
# profiles of root, a group that may start sessions, and the ends that ServiceAtBoot.md describes.
. /bench/boards.sh
make_boards
a=usb:C0FFEE00000A
service() { systemctl show -P "$1" uwbd.service; }
active() { [ "$(service ActiveState)" = active ] || { journalctl -u uwbd --no-pager -n 20 && false; }; }
# until_true COMMAND…: waits for the command to succeed, for a minute or a little more.
until_true() {
  local tries=0
  until "$@" >/tmp/until 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || {
      cat /tmp/until
      return 1
    }
    sleep 1
  done
}
lines() { wc -l <"$1" 2>/dev/null || echo 0; }
# Both users receive ten more measurements.
both_measure() {
  local name before
  for name in member second; do
    before=$(lines /tmp/$name.csv)
    more_than $name $((before + 10)) || return 1
  done
}
more_than() { until_true sh -c "[ \$(wc -l </tmp/$1.csv) -gt $2 ]"; }

check "the units are as systemd wants them" systemctl enable --now uwbd.socket
systemctl enable uwbd.service >&4 2>&4
check "nothing runs without a board" test "$(service ActiveState)" = inactive
plug kit-a dummy_udc.0
start_chips ttyGS0,kit-a,dummy_udc.0
check "a board that is plugged in starts the service" until_true active
check "… which has opened it" until_true as member "uwbctl info --device $a"
check "who is not in the group may not connect" ends 77 as visitor "uwbctl info --device uwbd:"

as root "uwbctl range --device /run/peer --role controlee --interval 100" >&4 2>&4 &
programs=$!
for name in member second; do
  as $name "uwbctl range --device $a --interval 100 --format csv" >/tmp/$name.csv 2>/tmp/$name.said &
  programs="$programs $!"
done
check "two users measure with one session" both_measure
held_by_both() {
  uwbctl list >/tmp/list && grep '^ *session 42 ' /tmp/list | grep 'member (' | grep 'second ('
}
check "… of which the list names both" until_true held_by_both
limit() { cat "/sys/fs/cgroup$(service ControlGroup)/memory.max"; }
check "the kernel limits its memory" test "$(limit)" = 805306368
journal() { journalctl -u uwbd --no-pager -o cat; }
calm() { journal | grep -q . && ! journal | grep -iE 'priority|sched_'; }
check "its threads do not complain of their priority" calm
note "$(service StatusText)"
check "… which the service holds for both" until_true sh -c "systemctl show -P StatusText uwbd | grep -q '1 session, 2 clients'"

VirtualBench tell $chips "unplug 0"
udevadm settle
VirtualBench tell $chips "plug 0"
check "both measure again when the board has come back" both_measure

before=$(service MainPID)
bus=$(cat /sys/devices/platform/dummy_hcd.0/usb*/busnum)
VirtualBench usbmon "$bus" >/tmp/usb &
watcher=$!
kill -9 "$before"
check "both measure again when the service was killed" both_measure
check "… by systemd, as another process" test "$(service MainPID)" != "$before"
kill $watcher
wait $watcher 2>/dev/null
check "… and the port was never closed" sh -c "! grep -q 'control-lines none' /tmp/usb"
note "$(service NRestarts) restarts, $(service NFileDescriptorStore) descriptors kept"

for step in 3600 -7200; do
  date -s "@$(($(date +%s) + step))" >&4
  check "both measure on when the clock is set by $step s" both_measure
done
check "the journal has fields" sh -c \
  "journalctl MESSAGE_ID=be17043f6c2b421eb1a347bde9da9961 -o json | grep -q '\"UWB_CHIP\":\"/dev/uwb/qorvo-'"

killall -INT uwbctl
wait $programs
# systemd may update the state of the service late.
no_session() {
  uwbctl list >/tmp/list && grep -q 'shared as' /tmp/list && ! grep -q '^ *session ' /tmp/list
}
check "the programs have ended, and their session with them" until_true no_session
check "… and its socket is there" test -S /run/uwbd/control

uwbctl profile --preset fira-static >/etc/uwbd/sessions.d/own.json
chmod 600 /etc/uwbd/sessions.d/own.json
has_own() { uwbctl list >/tmp/list && grep -q '^ *session 42 ' /tmp/list; }
explained() { journal | grep -q 'own.json cannot be read: .* uwbd-keys.conf'; }
systemctl reload uwbd
check "a profile of root is not read, and the journal names the drop-in" until_true explained
check "… and has no session" no_session
mkdir -p /etc/systemd/system/uwbd.service.d
cp /usr/share/uwb/uwbd-keys.conf /etc/systemd/system/uwbd.service.d/keys.conf
systemctl daemon-reload
systemctl restart uwbd
check "with the drop-in, its session is held" until_true has_own
rm /etc/uwbd/sessions.d/own.json /etc/systemd/system/uwbd.service.d/keys.conf
systemctl daemon-reload

echo uwb:x:106:member >>/etc/group
mkdir -p /etc/default
echo 'UWBD_OPTIONS="--group uwb"' >/etc/default/uwbd
systemctl restart uwbd
check "without the file, its session is gone" until_true no_session
check "who is not in the group of --group may not start sessions" ends 77 as second \
  "uwbctl range --device $a --interval 100 -n 3"
check "… which names the group" says "members of the group uwb"
as root "uwbctl range --device /run/peer --role controlee --interval 100" >&4 2>&4 &
peer=$!
check "a member of the group may" ends 0 as member "uwbctl range --device $a --interval 100 -n 3"
killall -INT uwbctl
wait $peer
systemctl stop uwbd
check "it is stopped" test "$(service ActiveState)" = inactive
lists() { as member "uwbctl list" >/tmp/list && grep -q 'shared as' /tmp/list; }
check "… until the next program connects" until_true lists
systemctl disable --now uwbd uwbd.socket >&4 2>&4
check "it ends in order" test "$(service Result)" = success
check "… without a socket file" test ! -e /run/uwbd/control
check "… and without a complaint about priorities" calm
journal >&4
check "the kernel complained of nothing" quiet_kernel
