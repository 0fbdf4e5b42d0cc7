# SPDX-License-Identifier: Apache-2.0
#
# Runs the stages that need systemd, and ends.
export PATH=/usr/sbin:/usr/bin
stty -F /dev/ttyS1 raw
exec 3>/dev/ttyS1 4>/dev/ttyS0 >&3 2>&3
value() { tr ' ' '\n' </proc/cmdline | sed -n "s/^bench.$1=//p"; }
BENCH_LENGTH=$(value length) BENCH_STAGES=$(value stages)
export BENCH_LENGTH BENCH_STAGES
udevadm settle
failed=0
for stage in /bench/systemd/[0-9]*.sh; do
  name=$(basename "$stage" .sh)
  case ,$BENCH_STAGES, in ,, | *,$name,*) ;; *) continue ;; esac
  echo "--- $name, under systemd (at $(cut -d. -f1 /proc/uptime) s)"
  sh -c ". /bench/checks.sh; . $stage; finish" || failed=1
done
echo "bench ended with $failed after $(cut -d. -f1 /proc/uptime) s"
sync
poweroff -f
