#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [seconds [target…]]: builds the fuzzers with libFuzzer's counters and AddressSanitizer and
# runs each target (all, if none is named) for this number of seconds, two at a time. Exits with 1
# if a property does not hold, something crashes, takes 10 s or more than 1 GiB; the input is then
# in .build-fuzz/found.
#
# run.sh --check: checks the types of the fuzzers against the debug build, and runs nothing.
#
#  UWB_CORPUS=folder  more seeds, from uci-frames.jsonl in it UWB_FUZZ_KEEP=folder results are kept
#  from run to run (otherwise each run starts empty) UWB_FUZZ_ASAN=0   without AddressSanitizer,
#  twice as fast, built apart in .build-fuzz-plain UWB_FUZZ_JOBS=n   at a time
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
export SWIFT_BACKTRACE=enable=no

if [ "${1-}" = --check ]; then
  bin=$(swift build --show-bin-path)
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  echo "module Meter { umbrella \"$here/Sources/Meter/include\" export * }" >"$temporary/module.modulemap"
  options=(-swift-version 6 -I "$bin/Modules")
  for map in "$temporary/module.modulemap" "$bin"/*.build/module.modulemap \
    .build/checkouts/*/Sources/*/include/module.modulemap; do
    options+=(-Xcc "-fmodule-map-file=$map")
  done
  for feature in ExistentialAny MemberImportVisibility InternalImportsByDefault; do
    options+=(-enable-upcoming-feature "$feature")
  done
  # The name that SwiftPM gives the package, without which its modules are closed.
  name=$(sed -n 's/.*"-module-name","UCI",.*"-package-name","\([^"]*\)".*/\1/p' .build/debug.yaml | head -n 1)
  swiftc -typecheck "${options[@]}" -package-name "$name" -enable-experimental-feature Lifetimes \
    "$here"/Sources/Fuzz/*.swift
  echo "fuzzers: $(find "$here/Sources/Fuzz" -name '*.swift' | wc -l) files compile"
  exit
fi
seconds=${1:-60}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(framer message segments pcapng text secrets profile parameters accessory peers \
  varlink reader tables json shell)
asan=${UWB_FUZZ_ASAN:-1}
jobs=${UWB_FUZZ_JOBS:-2}
work=$root/.build-fuzz
[ "$asan" = 1 ] || work=$root/.build-fuzz-plain
found=$work/found
keep=${UWB_FUZZ_KEEP:-}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir -p "$found"

sanitizers=(--sanitize fuzzer)
flags=-fsanitize=fuzzer
if [ "$asan" = 1 ]; then
  # The compiler obeys only the last -sanitize, and SwiftPM's order differs each time.
  sanitizers+=(--sanitize address -Xswiftc "-sanitize=fuzzer,address")
  flags=-fsanitize=fuzzer,address,undefined
fi

build() {
  # Makes builds deterministic: the order of the sanitizers would differ each time, and all files
  # would be built again.
  SWIFT_DETERMINISTIC_HASHING=1 UWB_FUZZ=1 swift build --package-path "$root" --scratch-path "$work" -c release "${sanitizers[@]}" \
    -Xswiftc -enable-testing --product Fuzz >"$temporary/log" 2>&1 || {
    tail -n 40 "$temporary/log"
    exit 1
  }
  local sources
  mapfile -t sources < <(find "$root/CUWB" -name '*.c')
  "${CC:-clang}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -g -DFUZZER "$flags" \
    -fno-sanitize-recover=all -fuse-ld="${LD:-lld}" -I "$root/CUWB/include" "${sources[@]}" \
    "$root/Tests/CUWBTests/Sanitized/fuzz.c" -o "$work/framer"
}

# A program without its counters runs, and finds nothing.
counted() { # a target, how many counters its program has to have
  local counters
  FUZZ_TARGET=$1 "$(program "$1")" -runs=0 >"$temporary/log" 2>&1 || {
    tail -n 40 "$temporary/log"
    exit 1
  }
  counters=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$temporary/log" |
    awk '{ sum += $1 } END { print sum + 0 }')
  [ "$counters" -ge "$2" ] || {
    echo "$(program "$1") has only $counters counters to be guided by"
    exit 1
  }
}

# The properties of a target: its program, and the limit of its inputs' length.
program() { if [ "$1" = framer ]; then echo "$work/framer"; else echo "$work/release/Fuzz"; fi; }
longest() {
  case $1 in
  framer) echo 16384 ;;
  parameters | accessory | peers) echo 256 ;;
  message) echo 1200 ;;
  pcapng | text | profile | varlink | tables | json | shell) echo 8192 ;;
  *) echo 2048 ;;
  esac
}

# Seeds of a target, then inputs that once showed an error, then libFuzzer's own.
run() {
  local target=$1 seeds=$temporary/$1 corpus=$temporary/$1-corpus
  [ -z "$keep" ] || corpus=$keep/$target
  mkdir -p "$seeds" "$corpus"
  export FUZZ_TARGET=$target
  FUZZ_SEEDS=$seeds FUZZ_FRAMES=$here/Frames.txt \
    FUZZ_CORPUS=${UWB_CORPUS:-}/uci-frames.jsonl "$(seeder "$target")" >"$seeds.log" 2>&1 || {
    cat "$seeds.log"
    return 1
  }
  local more=()
  # Both permanently hold enums whose cases are bits of their pointers, which LeakSanitizer does not
  # follow: a table of a library, and the description of an interface.
  case $target in shell | varlink) export ASAN_OPTIONS=detect_leaks=0 ;; esac
  [ ! -d "$here/Found/$target" ] || more+=("$here/Found/$target")
  "$(program "$target")" -max_total_time="$seconds" -max_len="$(longest "$target")" -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=64 -use_value_profile=0 -print_final_stats=1 \
    -artifact_prefix="$found/$target-" "$corpus" "$seeds" "${more[@]}" \
    >"$temporary/$target.log" 2>&1 || {
    tail -n 40 "$temporary/$target.log"
    echo "$target: FAILED, see $found"
    return 1
  }
  report "$target" "$temporary/$target.log"
}

# The framer uses the seeds of another target's program: unchanged frames.
seeder() { echo "$work/release/Fuzz"; }

report() {
  awk -v target="$1" '
    /INITED/ { for (i = 1; i < NF; i++) if ($i == "cov:") first = $(i + 1) }
    / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") last = $(i + 1); if ($i == "corp:") corpus = $(i + 1) } }
    /number_of_executed_units/ { runs = $2 }
    /new_units_added/ { new = $2 }
    /peak_rss_mb/ { rss = $2 }
    END { printf "%-9s %10d executions, edges %d -> %d, %d inputs found on the way, corpus %s, %d MiB\n",
      target, runs, first, last, new, corpus, rss }' "$2"
}

build
counted message 1000
counted framer 100
export -f run program longest seeder report
export here work temporary found keep seconds
failed=0
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'set -euo pipefail; run "$1"' _ {} ||
  failed=1
exit "$failed"
