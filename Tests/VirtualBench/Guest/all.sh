# SPDX-License-Identifier: Apache-2.0
#
# Runs the stages one after the other. Ends with 1 if a check of any of them did not hold.
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
  # A shell of its own: nothing of one stage is seen by the next one but the machine.
  sh -c ". /bench/checks.sh; . $stage; finish" || failed=1
done
if [ -s /run/latency ]; then
  echo "--- from the chip having a measurement to the program's thread having it, in this emulated machine"
  echo "    (its clock counts instructions: compare, do not quote)              us"
  echo "    link                                         rounds  median     p99 longest"
  sed 's/^/    /' /run/latency
fi
exit $failed
