# SPDX-License-Identifier: Apache-2.0
#
# Runs the stages one after the other. Exits with 1 if any check failed.
. /bench/checks.sh
/lib/systemd/systemd-udevd --daemon >&4 2>&4
udevadm trigger --type=subsystems --action=add
udevadm trigger --type=devices --action=add
udevadm settle

failed=0
for stage in /bench/stages/*.sh; do
  name=$(basename "$stage" .sh)
  case ,$BENCH_STAGES, in ,, | *,$name,*) ;; *) continue ;; esac
  echo "--- $name (at $(cut -d. -f1 /proc/uptime) s)"
  # In a subshell, so that stages share nothing except the machine.
  sh -c ". /bench/checks.sh; . $stage; finish" || failed=1
done
if [ -s /run/latency ]; then
  echo "--- from the chip having a measurement to the program's thread having it, in this emulated machine"
  echo "    (its clock counts instructions: compare, do not quote)              us"
  echo "    link                                         rounds  median     p99 longest"
  sed 's/^/    /' /run/latency
fi
exit $failed
