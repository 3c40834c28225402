#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2086,SC2046  # Bats and common.bash set the variables; commands are split
# What was typed has an effect or is an error: every global flag with every command.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  cp "$BATS_TEST_DIRNAME/../golden/run.json" a.json
  cp "$BATS_TEST_DIRNAME/../../results/intel/xeon/pocl-5.0_2026-11-20.json" b.json
  jq '.results[].points[].samples[] |= (if .ticks then .ticks = (.ticks * 1.2 | floor) else . end)' \
    a.json >c.json
  printf '4,1.2\n8,1.2\n16,1.2\n64,4\n128,4\n256,4\n' >list.csv
}

# A value for each flag that takes one; in the place of "-" a flag takes none.
declare -gA value=(
  [device]=sim:hopper-like [max-memory]=1MiB [time-budget]=3s [quick]=- [thorough]=- [timeout]=1ms
  [clock]=none [seed]=7 [dry-run]=- [baseline]=b.json [threshold]=50% [fail-on]=changed
  [device-name]=Mine [series]=local [size-unit]=MiB [time-unit]=us
  [clock-rate]=1.98GHz [output]=out.json [format]=json
  [label]=Mine [headers]=inc [with-secrets]=- [kernel]=add:2 [keep]=kept [kernel-file]=k.cl [launch]=k.json [levels]=b.json
  [live]=- [b-device]=sim:gsi [a-env]=A=1 [b-env]=B=2 [runs]=both.json
  [reference]=b.json [nodes]=a001 [expect]=8 [suspects]=-
  [json]=- [color]=always [verbose]=- [quiet]=- [generate]=man [full]=- [list]=- [version]=- [help]=-
)
# What `compare --live` and `profile` do with each is in live.bats, profile.bats and replay.bats.
commands=('' list explain report compare import)
declare -gA arguments=(
  [measure]='latency -d sim:gsi --sizes 4KiB --series global' [list]='list -d sim:gsi'
  [explain]='explain latency' [report]='report b.json' [compare]='compare a.json c.json'
  [import]='import list.csv --size-unit KiB --time-unit ns'
)

# Where the flag's effect does not show with the command's usual arguments: others.
declare -gA special=(
  [measure device]='latency --dry-run' [measure max-memory]='latency --dry-run -d sim:gsi'
  [measure time-budget]='latency --dry-run -d sim:gsi' [measure quick]='latency --dry-run -d sim:gsi'
  [measure thorough]='latency --dry-run -d sim:gsi' [measure timeout]='latency --dry-run -d 0'
  [measure clock]='latency -d 0 --sizes 4KiB --series global --quick'
  [measure seed]='latency -d sim:gsi --sizes 4KiB --series global --json'
  [list device]=list [list timeout]=list
  [compare baseline]='compare a.json b.json c.json'
  [import size-unit]='import list.csv --time-unit ns' [import time-unit]='import list.csv --size-unit KiB'
)

# The global flags that a shell offers after the command.
offered() {
  "$CLPROBE" --complete ${1:+"$1"} -- | grep -o -e '^--[a-z-]*'
}

# flag_words FLAG: as it is typed.
flag_words() {
  printf -- '--%s' "$1"
  [[ ${value[$1]} == - ]] || printf ' %s' "${value[$1]}"
}

# outcome ARGUMENT...: all that can be seen of a run, without what the clock does to it.
outcome() {
  rm -f out.json
  local code=0
  timeout 120 "$CLPROBE" "$@" >seen 2>&1 || code=$?
  sed -E '/ samples in /d; /"(elapsed_seconds|started)"/d; /host_ns/d' seen
  printf 'status %s, file %s\n' "$code" "$([[ -e out.json ]] && echo yes)"
}

@test "every flag of the help is known here, with a value" {
  local flag
  for flag in $("$CLPROBE" --help | grep -o -e '^ .*--[a-z-]*' | grep -o -e '--[a-z][a-z-]*' | sort -u); do
    [[ -n ${value[${flag#--}]:-} ]] || {
      printf 'no value for %s\n' "$flag"
      return 1
    }
  done
}

@test "a flag of another command is an error that names the command" {
  local command flag
  for command in "${commands[@]}"; do
    for flag in "${!value[@]}"; do
      grep --quiet --line-regexp -e "--$flag" <<<"$(offered "$command")" && continue
      # A probe may have an option of that name, as --series is.
      [[ $command == '' && $flag == series ]] && continue
      # The only word of its command line.
      [[ $flag == generate ]] && continue
      clprobe ${arguments[${command:-measure}]} $(flag_words "$flag")
      printf '%s --%s: %s %s\n' "$command" "$flag" "$status" "$stderr"
      fails_with 2 "--$flag" 'leave it out'
      [[ $stderr == *'belongs to'* ]]
    done
  done
}

@test "a flag that is taken has an effect" {
  local command flag name words without
  for command in "${commands[@]}"; do
    name=${command:-measure}
    for flag in $(offered "$command"); do
      flag=${flag#--}
      # Whether there is advice to leave out is up to the file.
      [[ $name =~ ^(measure|import|compare)$ && $flag == quiet ]] && continue
      [[ $flag == generate ]] && continue
      words=${special[$name $flag]:-${arguments[$name]}}
      without=$(outcome $words)
      [[ $(outcome $words $(flag_words "$flag")) != "$without" ]] || {
        printf 'no effect: clprobe %s %s\n%s\n' "$words" "$(flag_words "$flag")" "$without"
        return 1
      }
      # The difference is the flag's: without it nothing differs.
      [[ $(outcome $words) == "$without" || $words == *'-d 0'* ]] || {
        printf 'not the same twice: clprobe %s\n' "$words"
        return 1
      }
    done
  done
}

@test "a list has two formats" {
  local format
  for format in csv markdown html svg; do
    clprobe list -f "$format"
    fails_with 2 --format 'list writes table or json' "$format"
  done
  clprobe list -d sim:gsi -f json
  [ "$status" -eq 0 ]
  json_says '.devices[0].name == "simulated gsi"'
}

@test "COLUMNS is the width of a table up to 1000, and nonsense is 80" {
  local columns
  "$CLPROBE" report b.json >at-80.txt
  for columns in 0 -1 x 1001 100000000 2147483647 99999999999999999999; do
    COLUMNS=$columns timeout 20 "$CLPROBE" report b.json >found.txt
    cmp at-80.txt found.txt
    COLUMNS=$columns timeout 20 "$CLPROBE" compare a.json c.json >found.txt
    COLUMNS=80 "$CLPROBE" compare a.json c.json | cmp - found.txt
  done
  COLUMNS=1000 timeout 20 "$CLPROBE" report b.json >wide.txt
  [ "$(stat -c %s wide.txt)" -lt 1000000 ]
  run ! cmp --quiet at-80.txt wide.txt
}

@test "caches that fit no memory are refused with the field" {
  clprobe latency -d sim:gsi --series global --sizes 4KiB --json
  jq '.[0].device.reported.machine | fromjson' <<<"$output" >machine.json
  local field
  for field in l1 l2; do
    jq --arg field "$field" '.[$field].bytes = 1099511627776' machine.json >large.json
    clprobe latency -d sim:large.json --quick
    fails_with 2 large.json "$field.bytes: expected at most"
  done
}
