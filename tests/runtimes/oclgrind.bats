#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2030,SC2031  # Bats and common.bash set the variables
# Oclgrind runs every kernel in an interpreter that reports data races, uninitialised reads, memory
# outside of buffers and wrong calls. It preloads itself, and so gets into the child process that
# clprobe starts; what it says there would vanish, since clprobe keeps what drivers print apart.
# Hence the pipe: every process opens its log anew and would empty a file.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
  if ! command -v oclgrind >/dev/null; then
    [ -z "${CLPROBE_REQUIRE_ALL:-}" ] || return 1
    skip "oclgrind is not installed"
  fi
  unset OCL_ICD_VENDORS
}

# is_sampled FILE: CLPROBE_WHOLE_KERNELS is set and names neither the kernel file nor this one:
# tools/test without --all, and nothing in them has changed.
is_sampled() {
  local whole=" ${CLPROBE_WHOLE_KERNELS-} "
  [[ -n ${CLPROBE_WHOLE_KERNELS+set} && $whole != *" $1 "* && $whole != *' oclgrind.bats '* ]]
}

# one_of_several FILE: where the file is sampled, its first test stands for this one.
one_of_several() {
  if is_sampled "$1"; then skip "the first test of $1 stands for all; tools/test --all runs every one"; fi
}

# some_of FILE WORD...: the words, or only the first where the file is sampled.
some_of() {
  if is_sampled "$1"; then printf '%s\n' "$2"; else printf '%s\n' "${@:2}"; fi
}

# under_oclgrind OPTION... -- ARGUMENT...: its reports are in the file `reports`.
under_oclgrind() {
  local options=() reader
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  mkfifo log
  cat log >reports &
  reader=$!
  # A writer of our own, so that the reader sees no end between two processes.
  exec 9>log
  # Interpreting takes a thousand times as long as running.
  run --separate-stderr timeout 200 oclgrind "${options[@]}" --log "$PWD/log" \
    "$CLPROBE" "$@" --timeout 100s 9>&-
  exec 9>&-
  wait "$reader"
  rm log
}

# Prints the reports but those that are known to be false. Reports are paragraphs.
#
# pointer_follow: Oclgrind 21.10 keeps its notes on a buffer by a number that it uses again for the
# next buffer once one was released, and forgets what a kernel wrote there: a program of two
# kernels, of which one writes all 8 bytes and the other reads them, is reported as soon as a
# smaller buffer was released before. latency_layout and latency_chase do the same (one stores
# pointers, the other follows them) and are clean, since small buffers of the probe take the numbers first.
true_reports() {
  awk 'BEGIN { RS = ""; ORS = "\n\n" }
    !(/^Uninitialized/ && /Kernel: pointer_follow\n/)' reports
}

no_reports() {
  local reports
  reports=$(true_reports)
  [ -z "$reports" ] || {
    printf 'Oclgrind says:\n%s\n' "$reports"
    return 1
  }
}

# measured SERIES...: these series, each with two sizes, and nothing failed.
measured() {
  [ "$status" -eq 0 ] || {
    printf 'status %s: %s\n' "$status" "$stderr"
    return 1
  }
  json_says '.device.name == "Oclgrind Simulator" and .results[0].status == "ok"'
  json_says "[.results[0].points[] | select((.samples | length) > 0).series]
    | group_by(.) | map([.[0], length])
    == ($(printf '%s\n' "$@" | jq --raw-input --slurp 'split("\n") | map(select(. != "")) | sort')
    | map([., 2]))"
}

all_checks=(--data-races --uninitialized --check-api)
small=(latency --quick --time-budget 60s --json --sizes)

@test "what Oclgrind says in the child process is seen here" {
  # It takes whatever an image gives for uninitialised, even of a buffer that the host wrote.
  under_oclgrind --uninitialized -- "${small[@]}" 1KiB --series image
  [ "$status" -eq 0 ]
  [[ $(true_reports) == *Uninitialized*'Kernel: latency_chase'* ]]
}

@test "global memory, by pointer, index and offset" {
  local form
  for form in pointer index offset; do
    under_oclgrind "${all_checks[@]}" -- "${small[@]}" 1KiB,4KiB --series global --address "$form"
    measured global
    no_reports
  done
}

@test "one node per page" {
  one_of_several latency.cl
  under_oclgrind "${all_checks[@]}" -- "${small[@]}" 64KiB,256KiB --series global-pages
  measured global-pages
  no_reports
}

@test "rings that are longer than a chase, and are aged by sweeps" {
  one_of_several latency.cl
  # 8192 hops in a chase, and a node every 8 bytes.
  under_oclgrind "${all_checks[@]}" -- "${small[@]}" 72KiB,80KiB --step 8 --series global
  measured global
  no_reports
}

@test "constant memory" {
  one_of_several latency.cl
  local form
  for form in index offset; do
    under_oclgrind "${all_checks[@]}" -- "${small[@]}" 1KiB,4KiB --address "$form" \
      --series constant-argument,constant-program
    measured constant-argument constant-program
    no_reports
  done
}

@test "local memory" {
  one_of_several latency.cl
  local form
  for form in pointer index offset; do
    under_oclgrind "${all_checks[@]}" -- "${small[@]}" 1KiB,4KiB --series local --address "$form"
    measured local
    no_reports
  done
}

@test "an image of a buffer" {
  one_of_several latency.cl
  # Not --uninitialized: see the first test.
  under_oclgrind --data-races --check-api -- "${small[@]}" 1KiB,4KiB --series image
  measured image
  no_reports
}

@test "other unrolls, and a step that leaves bytes between the nodes" {
  one_of_several latency.cl
  under_oclgrind "${all_checks[@]}" -- "${small[@]}" 1KiB,4KiB --series global,local --unroll 3 \
    --step 136
  measured global local
  no_reports
}

# Without --uninitialized: of vectors it makes Oclgrind 21.10 crash, and of single words it says what
# it says of pointer_follow, above. The witness shows that all that is read was written.
@test "strides: every operation, for elements of one and of four words" {
  local operation
  for operation in read write copy update; do
    under_oclgrind --data-races --check-api -- stride --quick --time-budget 60s --json --elements 256 \
      --grid 8 --work-group 2 --type int,double --vector 1,4 --operation "$operation" --timer host
    [ "$status" -eq 0 ] || {
      printf 'status %s: %s\n' "$status" "$stderr"
      return 1
    }
    # Strides 1 to 8 of four series; each sample was checked against its witness.
    json_says '.results[0].status == "ok" and (.results[0].points | length) == 16'
    json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
    no_reports
  done
}

# Without --uninitialized, as for strides: of vectors that are put together from parts.
@test "bandwidth: reads of one set and of own ones, writes, copies and updates, local memory and images" {
  local series
  for series in $(some_of bandwidth.cl read read-own,read-one-unit write,copy update,local image \
    write-one-unit,copy-one-unit,update-one-unit); do
    under_oclgrind --data-races --check-api -- bandwidth --quick --time-budget 60s --json \
      --sizes 64KiB-128KiB*2 --series "$series" --max-memory 2MiB
    [ "$status" -eq 0 ] || {
      printf 'status %s: %s\n' "$status" "$stderr"
      return 1
    }
    json_says '.results[0].status == "ok" and (.results[0].points | length) > 0'
    json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
    no_reports
  done
}

@test "launches: all kernels, with and without order" {
  local series
  for series in $(some_of launch.cl queued,two-programs,out-of-order \
    arguments-4,arguments-16,arguments-64,back-to-back new-local-size,build); do
    under_oclgrind "${all_checks[@]}" -- launch --quick --time-budget 60s --json --launches 1,3 \
      --series "$series"
    [ "$status" -eq 0 ] || {
      printf 'status %s: %s\n' "$status" "$stderr"
      return 1
    }
    json_says '.results[0].status == "ok" and (.results[0].points | length) > 0'
    json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
    no_reports
  done
}

# transfers_of SERIES OPTION...: under Oclgrind with these options, without a report.
transfers_of() {
  local series=$1
  shift
  under_oclgrind --data-races --check-api "$@" -- transfer --quick --time-budget 60s --json \
    --sizes 64B,4KiB --max-memory 256KiB --series "$series"
  [ "$status" -eq 0 ] || {
    printf 'status %s: %s\n' "$status" "$stderr"
    return 1
  }
  json_says '.results[0].status == "ok"'
  json_says "[.results[0].points[].series] | unique == (\"$series\" | split(\",\") | sort)"
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
  no_reports
}

@test "transfers: contents, marks on both sides, and copies by a kernel" {
  transfers_of from-device,from-device-duplex,from-device-kernel,from-device-map,from-device-pinned,to-device,to-device-duplex,to-device-kernel,to-device-pinned,both-pinned,on-device \
    --uninitialized
}

# Without --uninitialized: where a part of a buffer is mapped that the host will write and not read,
# Oclgrind 21.10 notes that this part is written and forgets all of the rest of the buffer
# (Uninitialized::memoryMap allocates notes anew, of the mapping's size). A transfer of 64 B makes
# it report the other words, which transfer_fill wrote, in the next one of 4 KiB.
@test "transfers: copies into mappings of a part of a buffer" {
  transfers_of to-device-map
}

@test "transfers: what the device does not have" {
  under_oclgrind --data-races -- transfer --quick --time-budget 60s --json --sizes 64B --max-memory 256KiB \
    --series to-device-svm,from-device-svm
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.series | endswith("-svm")).reason] | unique == ["the device has no shared virtual memory"]'
}

@test "loads in flight: rounds with both kinds of mergers, and chains" {
  under_oclgrind --data-races --check-api -- inflight --quick --time-budget 60s --json \
    --work-items 3,40 --loads 2 --mergers 1,2 --max-memory 256KiB --target cache
  [ "$status" -eq 0 ] || {
    printf 'status %s: %s\n' "$status" "$stderr"
    return 1
  }
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[].series] | unique | contains(["cache-x2", "cache-x2-across-2", "cache-chains"])'
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
  no_reports
}

@test "loads in flight: each sub-group's own time" {
  one_of_several inflight.cl
  under_oclgrind --data-races --check-api -- inflight --quick --time-budget 60s --json \
    --series sub-groups --work-items 40 --loads 2 --max-memory 256KiB --target cache
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[].parameters.work_items] | sort == [32, 40]'
  json_says '[.results[0].points[] | select((.samples | length) == 0)] == []'
  no_reports
}

# Of vectors that are put together from parts it says that they are uninitialized, as above.
@test "accesses to local memory: chains, independent loads and stores of every word" {
  local word checks
  for word in $(some_of banks.cl 4 8 16); do
    checks=(--data-races --check-api)
    if ((word == 4)); then checks=("${all_checks[@]}"); fi
    under_oclgrind "${checks[@]}" -- banks --quick --time-budget 40s --json --word-size "$word" \
      --strides 0,1,33 --sub-groups 2 --instructions 2 \
      --series load-latency,load-throughput,store-throughput
    [ "$status" -eq 0 ]
    # A busy host interprets some of the thirty points in the time.
    json_says '.results[0].status == "ok" and ([.results[0].points[].series] | unique | length) == 3'
    no_reports
  done
}

@test "a tile is transposed in every layout, without a race between its rows and columns" {
  under_oclgrind --data-races --check-api -- banks --quick --time-budget 60s --json --word-size 4 \
    --series transpose
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  json_says '[.results[0].points[] | select((.samples | length) > 0).parameters.layout] | sort == ["diagonal", "padded", "rows", "shifted"]'
  no_reports
}

# Without --uninitialized: of what is read from buffers, also of those that the host wrote, it says
# what it says of pointer_follow, above. The next test has that check.
@test "kernels that wait: loads, barriers, noise, copies, and queues on atomics" {
  local cases
  # Oclgrind has OpenCL 1.2, and no fence.
  for cases in latency-bound dependency-chain implicit uts,utsd uncoalesced-loads,function-unit \
    uncoalesced-stores,store-bound; do
    under_oclgrind --data-races --check-api -- stalls --quick --max-memory 256KiB --case "$cases" \
      --time-budget 4s --json
    [ "$status" -eq 0 ] || {
      printf 'status %s: %s\n' "$status" "$stderr"
      return 1
    }
    # A busy host interprets some of the points in the time; each was checked against its witness.
    json_says '.results[0].status == "ok"'
    json_says '[.results[0].points[] | select((.samples | length) > 0)] | length > 0'
    no_reports
  done
}

# alone FILE -D... KERNEL GLOBAL LOCAL ARGUMENT...: what is reported of a kernel of a file of cl/, in
# `said`, where buffers hold what is said and none was ever released. An argument is a number, or a
# description for oclgrind-kernel.
alone() {
  local defines=() each cl="$BATS_TEST_DIRNAME/../../cl" file=$1
  shift
  while [[ $1 == -D* ]]; do
    defines+=("${1#-D}")
    shift
  done
  {
    for each in "${defines[@]}"; do printf '#define %s\n' "${each/=/ }"; done
    awk -v cl="$cl/" '/^#include "/ {
        split($0, words, "\""); file = cl words[2]
        while ((getline line < file) > 0) print line
        next
      }
      { print }' "$cl/clock.clh" "$cl/$file"
  } >alone.cl
  {
    printf 'alone.cl\n%s\n%s 1 1\n%s 1 1\n' "$1" "$2" "$3"
    shift 3
    for each; do
      if [[ $each == "<"* ]]; then printf '%s\n' "$each"; else printf '<size=4 uint>\n%s\n' "$each"; fi
    done
  } >alone.sim
  said=$(timeout 60 oclgrind-kernel "${alone_checks[@]}" alone.sim 2>&1)
}

alone_checks=(--data-races --uninitialized)

never=$'<size=8 ulong>\n18446744073709551615'
steps=(747796405 2654435769)

# mixed KIND DATA: all that stalls_mixed can do, and noise of this kind, of two groups.
mixed() {
  alone stalls.cl -DPART=0 -DSTAMPS=1 stalls_mixed 128 64 "$2" 1 3 32 1 63 0 1 7 1 2 1 1 8 0 7 1 "$1" 2 63 \
    "${steps[@]}" '<size=512 fill=0 uint>' "$never" '<size=160 fill=0 ulong>'
}

@test "kernels that wait read nothing that nobody wrote" {
  local said kind way tree slots control
  # What is to be found is found.
  mixed 2 '<size=8192 noinit uint>'
  [[ $said == *Uninitialized* ]]
  for kind in 0 1 2; do
    mixed "$kind" '<size=8192 fill=7 uint>'
    [ -z "$said" ]
  done
  # All that waits for a unit, and its fence: stores are made, or none is.
  for kind in 0 4294967295; do
    alone stalls.cl -DPART=0 -DSTRUCTURAL=2 stalls_mixed 128 64 '<size=8192 fill=7 uint>' 1 3 32 0 0 0 1 63 0 1 0 \
      0 0 8 0 0 0 0 0 "${steps[@]}" 8 1 32 1 8 1 3 "$kind" 1 1 1 $'<size=4 float>\n0.5' $'<size=4 float>\n2' \
      '<size=16384 fill=0 uint>' '<size=512 fill=0 uint>'
    [ -z "$said" ]
  done
  for way in 0 1 2; do
    alone stalls.cl -DPART=1 -DWAY="$way" stalls_copy 128 64 '<size=16384 fill=7 uint>' \
      '<size=16384 fill=0 uint>' 0 2 3 3 4 1 "${steps[@]}" "$never" '<size=96 fill=0 ulong>'
    [ -z "$said" ]
  done
  # A root with two children, in the common queue of a group.
  tree=$'<size=16 uint>\n1 3 3 3'
  slots=$'<size=32 uint>\n0'"$(printf ' 4294967295%.0s' {1..7})"
  control=$'<size=384 uint>\n'"$(printf '0 %.0s' {1..34}) 1$(printf ' 0%.0s' {1..61})"
  for way in 0 1; do
    alone stalls.cl -DPART=2 stalls_search 32 32 "$tree" 3 "$way" 3 4 8 64 "${steps[@]}" 4294967295 "$never" \
      "$control" "$slots" $'<size=72 fill=0 dump ulong>'
    [[ $said != *Uninitialized* ]]
    # It has worked on all three.
    [[ $said == *'counts[0] = 3'* ]]
  done
}

# holds NAME VALUE...: the dump of the buffer has these words from its beginning, and none behind.
holds() {
  local name=$1
  shift
  diff <(printf '%s\n' "$@") <(sed -n "s/^  $name\[[0-9]*\] = //p" <<<"$said")
}

# Through the probe Oclgrind has no clock, and nothing is launched. What these end at is what
# src/probes/clock/shape_test.cpp says of the same shape.
@test "kernels under load calculate and read what the host expects, however cycles are counted" {
  local said way w words=() burn
  for ((w = 0; w < 148; ++w)); do words+=($(((0x7f4a7c15 * w + 0x42ef9505) * w & 0xffffffff))); done
  alone clock.cl clock_fill 8 4 '<size=592 noinit dump uint>' $'<size=8 ulong>\n148'
  holds data "${words[@]}"
  [[ $said != *Uninitialized* && $said != *race* ]]
  # Data, vectors, first, apart, step, rounds, turns of both, links, what chains add and flip.
  burn=($'<size=592 uint>\n'"${words[*]}" 37 3 1 5 2 1 1 2 $((0x2545f491)) $((0x4f6cdd1d)) "$never"
    '<size=32 noinit dump uint>')
  # Of vectors --uninitialized makes Oclgrind 21.10 crash.
  local alone_checks=(--data-races)
  for way in PLAIN BY_EVENT BY_CHAIN; do
    alone clock.cl "-D$way" clock_burn 8 4 "${burn[@]}" '<size=128 fill=0 dump ulong>'
    [[ $said != *race* ]]
    holds ends 4147997118 4119268496 4160346401 4130955931 3008147520 2839103040 3218998208 2073322816
  done
  # One of eight chains, of 2 rounds of 2 turns: each begins with the number of its work-item.
  holds times 0 2701492224 0 2953173505 0 2701492226 0 2853872131 0 2701492228 0 3439294981 0 2701492230 0 2195077639
  alone_checks+=(--uninitialized)
  alone clock.cl -DBY_EVENT clock_chain 1 1 5 1 $((0x2545f491)) $((0x4f6cdd1d)) "$never" \
    '<size=16 noinit dump ulong>'
  holds times 0 $((0x06c40485))
  [[ $said != *Uninitialized* ]]
}
