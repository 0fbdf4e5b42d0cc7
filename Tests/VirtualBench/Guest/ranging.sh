# SPDX-License-Identifier: Apache-2.0
#
# Sourced by stages: ranging with a chip on a pseudo-terminal, /run/peer, each measurement followed
# from the chip to the program. Needs $chips: the pipe of the program that plays the chips.
table=/run/latency

# until_there FILE: waits until a server has written the file.
until_there() { until [ -e "$1" ]; do sleep 0.02; done; }

# Waits until both have written their files: $1 for the chip, $2 for the peer.
stamps() { # how the server is asked for them
  rm -f /tmp/had /tmp/peer.had
  for request in "$@"; do VirtualBench tell $chips "$request"; done
  until_there /tmp/had
  until_there /tmp/peer.had
}

# ranges NAME DEVICE ROUNDS STAMPS…: adds a line to the table for the link, and one for the
# pseudo-terminal at the other end, for comparison in the same run.
ranges() {
  local name=$1 device=$2 rounds=$3
  shift 3
  rm -f /tmp/taken /tmp/peer.taken
  as member "VirtualBench rounds /run/peer 1000000 /tmp/peer.taken --controlee" >/tmp/peer.out 2>&1 &
  peer=$!
  check "$name: $rounds rounds" ends 0 as member "VirtualBench rounds '$device' $rounds /tmp/taken"
  note "$(tail -n 1 $out)"
  check "… the other end ends well" wait $peer
  stamps "$@"
  check "… every measurement that the chip had was taken" \
    ends 0 VirtualBench latency "$name" /tmp/had /tmp/taken "$rounds" ${latency:-$table}
  note "$(tail -n 1 $out)"
  check "… and every one at the other end, a pseudo-terminal" \
    ends 0 VirtualBench latency "  beside it: a pseudo-terminal" /tmp/peer.had /tmp/peer.taken 1 \
    ${latency:-$table}
  note "$(tail -n 1 $out)"
}
