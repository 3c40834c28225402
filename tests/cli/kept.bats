#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# What was measured is kept, whichever output fails: the others are written, and exit 1 tells of it.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  # Two probes on a simulated compute unit: no driver, and a second or less.
  # The second probe of this one takes some seconds.
  long_second=(-d sim:kepler-k20-pool latency --sizes 16KiB --series global
    banks --sub-groups 1-32 --instructions 1-32 --ways 1-8)
  two_probes=(-d sim:kepler-k20-pool latency "${few_sizes[@]}" --series global banks --word-size 4 --quick)
}

stored() { printf '%s\n' "$BATS_TEST_DIRNAME"/../../results/nvidia/h200/*_2026-11-20.json | head -n 1; }

# complains COUNT TEXT: so many lines on stderr, each with the text, begin with the program's name.
complains() {
  [[ $(grep -c "^clprobe: .*$2" <<<"$stderr") -eq $1 && $(wc -l <<<"$stderr") -eq $1 ]] || {
    printf 'not %s lines with "%s": %s\n' "$1" "$2" "$stderr"
    return 1
  }
}

# limited BLOCKS ARGUMENT...: clprobe with files of at most so many KiB, the signal for a larger one
# at its default. Bats writes its own files outside.
limited() {
  local blocks=$1
  shift
  run --separate-stderr bash -c 'ulimit -f "$1"; shift; exec timeout 120 "$@"' bash "$blocks" "$CLPROBE" "$@"
}

# Both probes are in the file, and it is whole.
is_whole() { json_says '(.results | length == 2) and .interrupted == false' "$1"; }

# until FILE: waits for it.
until_there() {
  local wait
  for ((wait = 0; wait < 600; ++wait)); do
    [[ -s $1 ]] && return
    [[ -n $(jobs -r) ]] || break
    sleep 0.1
  done
  return 1
}

@test "a folder that goes while measuring costs no probe and no other file, in either order" {
  for files in '-o bad/a.json -o keep.json' '-o keep.json -o bad/a.json'; do
    rm -rf keep.json bad
    mkdir bad
    read -ra words <<<"$files"
    "$CLPROBE" "${long_second[@]}" "${words[@]}" >table 2>stderr &
    local pid=$!
    until_there keep.json
    until_there bad/a.json
    rm -r bad
    status=0
    wait "$pid" || status=$?
    stderr=$(<stderr)
    [ "$status" -eq 1 ]
    complains 1 "cannot write 'bad/a.json': No such file or directory"
    is_whole keep.json
    grep -q '^banks' table
  done
}

@test "a document beyond the limit of files: the table is printed, smaller files are kept" {
  limited 8 "${two_probes[@]}" -o a.json -o a.md
  [ "$status" -eq 1 ]
  complains 1 "cannot write 'a.json': File too large"
  # The document of the first probe is what had room, and says that it is not all.
  json_says '.interrupted and (.results | length == 1)' a.json
  grep -q banks a.md
  [[ $output == *banks* ]]
}

@test "a full disk: later probes, the other file and the table are there" {
  mkdir small
  mount -t tmpfs -o size=16k tmpfs small 2>/dev/null || skip "no right to mount a small disk"
  dd if=/dev/zero of=small/fill bs=1k count=12 2>/dev/null
  clprobe "${two_probes[@]}" -o small/a.json -o keep.json
  umount small
  [ "$status" -eq 1 ]
  complains 1 "cannot write 'small/a.json': No space left on device"
  is_whole keep.json
  [[ $output == *banks* ]]
}

@test "report, compare and import write what they can" {
  local run
  run=$(stored)
  jq '.seed += 1' "$run" >other.json
  printf '%s\n' '16384 1.5' '32768 1.5' '65536 4' '131072 4' >list.txt
  local -A commands=(
    [report]="report $run"
    [compare]="compare $run other.json"
    [import]="import list.txt --size-unit B --time-unit ns"
  )
  for name in "${!commands[@]}"; do
    rm -f keep.csv
    read -ra words <<<"${commands[$name]}"
    clprobe "${words[@]}" -o /dev/full -o keep.csv
    [ "$status" -eq 1 ]
    complains 1 "cannot write '/dev/full': No space left on device"
    [ -s keep.csv ]
    [ -n "$output" ]
    # stdout is full, too: two targets, two lines.
    run --separate-stderr bash -c '"$@" >/dev/full' bash "$CLPROBE" "${words[@]}" -o /dev/full -o again.csv
    [ "$status" -eq 1 ]
    complains 2 'No space left on device'
    cmp keep.csv again.csv
  done
}

@test "a document in between says that it is not all" {
  "$CLPROBE" "${long_second[@]}" -o a.json >/dev/null &
  local pid=$!
  until_there a.json
  cp a.json between.json
  wait "$pid"
  json_says '.interrupted and (.results | length == 1)' between.json
  is_whole a.json
}

@test "of two devices the first one's document says that it is not all, too" {
  "$CLPROBE" -d sim:kepler-k20-pool,sim:fermi-m2070 latency --sizes 16KiB --series global -o a.json >/dev/null &
  local pid=$!
  until_there a.json
  cp a.json between.json
  wait "$pid"
  jq --exit-status '(type == "array" and length == 2) or .interrupted' between.json
  jq --exit-status 'length == 2 and all(.interrupted | not)' a.json
}

@test "a mistake about the second device is told before the first one is measured" {
  clprobe -d sim:fermi-m2070,sim:kepler-k20-pool latency --sizes 1434MiB --quick -o a.json
  fails_with 2 kepler-k20-pool
  [ ! -e a.json ]
}

@test "-o replaces no file that is read, by whatever name" {
  cp "$(stored)" a.json
  cp a.json b.json
  ln -s a.json link.json
  ln a.json hard.json
  mkdir folder
  cp a.json b.json folder
  printf '%s\n' '16384 1.5' '32768 1.5' >list.csv
  cp a.json before.json
  local -a table=(
    'a.json|report a.json'
    'a.json|report b.json a.json'
    './a.json|report a.json'
    'link.json|report a.json'
    'hard.json|report a.json'
    'a.json|report link.json'
    'a.json|compare a.json b.json'
    'b.json|compare a.json b.json'
    'a.json|compare b.json folder --baseline a.json'
    'folder/b.json|compare folder'
    'list.csv|import list.csv'
  )
  for line in "${table[@]}"; do
    read -ra words <<<"${line#*|}"
    clprobe "${words[@]}" -o new.md -o "${line%%|*}"
    fails_with 2 "-o '${line%%|*}' would overwrite the input"
    [ -z "$output" ]
    [ ! -e new.md ]
  done
  cmp a.json before.json
  # A file beside them may be replaced, and one of the same contents.
  clprobe report a.json -o b.json
  [ "$status" -eq 0 ]
}

@test "a machine's file is not replaced either" {
  echo '{}' >machine.json
  clprobe -d sim:machine.json latency -o machine.json
  fails_with 2 would overwrite
  [ "$(<machine.json)" = '{}' ]
}

@test "names of 255 bytes, and a link to a file that is not there yet" {
  long=$(printf 'x%.0s' {1..250}).json
  clprobe report "$(stored)" -o "$long"
  [ "$status" -eq 0 ]
  [ -s "$long" ]
  ln -s target.json dangling.json
  clprobe report "$(stored)" -o dangling.json
  [ "$status" -eq 0 ]
  [ -L dangling.json ]
  cmp target.json "$long"
  [ "$(find . -type f | wc -l)" -eq 2 ]
}
