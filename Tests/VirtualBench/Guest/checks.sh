# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the stages: checks and helpers.
export SWIFT_BACKTRACE=enable=no
out=/tmp/out
not_held=0
done_so_far=0

# check NAME COMMAND…: passes if the command exits with 0.
check() {
  local name=$1
  shift
  done_so_far=$((done_so_far + 1))
  if "$@" >/tmp/check 2>&1; then
    echo "ok    $name"
  else
    not_held=$((not_held + 1))
    echo "FAIL  $name"
    sed 's/^/      | /' /tmp/check | tail -n 30
  fi
}
# ends STATUS COMMAND…: the command exits with this status; its output is in $out.
ends() {
  local expected=$1 got=0
  shift
  "$@" >$out 2>&1 || got=$?
  [ "$got" = "$expected" ] || {
    cat $out
    echo "'$*' ended with $got, not $expected"
    return 1
  }
}
says() { # TEXT: what the last command of `ends` printed has this in it
  grep -q -e "$1" $out || {
    cat $out
    echo "there is no '$1' in this"
    return 1
  }
}
quiet_kernel() { ! dmesg | grep -E "BUG:|Oops|WARNING: |hung task|protection fault"; }
none_stuck() { ! ps | grep "[u]wbctl"; }
note() { echo "      $*"; }

# as USER COMMAND…: runs a command as an ordinary user.
as() {
  local user=$1
  shift
  su "$user" -c "exec $*"
}

finish() {
  echo "$done_so_far checks, $not_held did not hold"
  [ "$not_held" = 0 ] && [ "$done_so_far" -gt 0 ]
}

# The number of rounds and cycles: short or long.
rounds() { if in_full; then echo "$2"; else echo "$1"; fi; }
# Whether the stages run in full.
in_full() { [ "$BENCH_LENGTH" != short ]; }
