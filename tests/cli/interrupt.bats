#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016,SC2030,SC2031  # Bats and common.bash set the variables; bash -c expands its own
# Ctrl-C and its kin: exit 130, and what was measured is in the file.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

# A shell starts background commands with SIGINT and SIGQUIT ignored, hence --default-signal.
# interrupt SIGNAL SECONDS ARGUMENT...: starts clprobe in a process group of its own, sends the
# signal to the whole group as a terminal does, and waits for it. Its status is in `status`.
interrupt() {
  local signal=$1 after=$2 pid
  shift 2
  setsid env --default-signal=INT,QUIT,HUP,TERM "$CLPROBE" "$@" >stdout 2>stderr &
  pid=$!
  sleep "$after"
  kill -"$signal" -- -"$pid"
  status=0
  wait "$pid" || status=$?
}

long_run=(latency --thorough --time-budget 600s)

# With a cold cache PoCL builds kernels for the first seconds, on a busy host for many; the many sizes
# last for minutes on any.
@test "SIGINT while measuring: exit 130, the file is whole and says interrupted" {
  local after
  for after in 4 8 16 32 64; do
    interrupt INT "$after" "${long_run[@]}" --sizes '1KiB-1MiB*1.01' -o a.json
    [ "$status" -eq 130 ]
    json_says '.interrupted == true' a.json
    ! json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json || break
  done
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json
}

@test "SIGINT ends it within two seconds and leaves no process behind" {
  # The system may be late on a busy host: the fastest end counts.
  for _ in {1..5}; do
    setsid env --default-signal=INT,QUIT,HUP,TERM "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
    local pid=$!
    sleep 4
    kill -INT -- -"$pid"
    SECONDS=0
    wait "$pid" || true
    local seconds=$SECONDS
    until_gone "$pid"
    ((seconds > 2)) || break
  done
  [ "$seconds" -le 2 ]
}

@test "SIGINT to the program alone ends its children too" {
  setsid env --default-signal=INT,QUIT,HUP,TERM "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
  local pid=$!
  sleep 4
  kill -INT "$pid"
  wait "$pid" || true
  until_gone "$pid"
}

@test "SIGKILL to the program leaves no orphan that measures on" {
  setsid env --default-signal=INT,QUIT,HUP,TERM "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
  local pid=$!
  sleep 4
  kill -KILL "$pid"
  wait "$pid" || true
  until_gone "$pid"
}

@test "SIGINT before the first point: exit 130, no half-written file" {
  interrupt INT 0.3 "${long_run[@]}" -o a.json
  [ "$status" -eq 130 ]
  [ ! -s a.json ] || json_says '.interrupted == true' a.json
}

@test "SIGINT ends a simulation of one long point within a second" {
  local began
  printf '%s\n' 'clprobe-trace 1' 'kernel long' 'program 0' '  repeat 90000' \
    '    load r1 at=0x100000 lane=4096 turn=128' '  end' group '  warp program=0 lanes=32 count=32' >long.trace
  began=$SECONDS
  interrupt INT 2 -d sim:gsi gsi --trace long.trace -o a.json
  [ "$status" -eq 130 ]
  [ $((SECONDS - began)) -le 4 ]
}

@test "an older result survives an interruption until there is a new one" {
  echo '{"old": true}' >a.json
  interrupt INT 0.3 "${long_run[@]}" -o a.json
  [ "$status" -eq 130 ]
  json_says '.old == true or .interrupted == true' a.json
}

# The first probe is over in a moment, so that the signal comes while the second one is measured: on a
# simulated compute unit, where no driver takes its time. A first look takes no turns.
two_probes=(-d sim:kepler-k20-pool latency --sizes 16KiB --series global
  banks --quick --sub-groups 1-32 --instructions 1-32 --ways 1-32)

# until_first_probe: waits for the document that is written after the first of two probes.
until_first_probe() {
  local wait
  for ((wait = 0; wait < 600; ++wait)); do
    [[ -s a.json ]] && return
    sleep 0.1
  done
  return 1
}

# start_ignoring SIGNALS ARGUMENT...: clprobe in the background with a comma list of signals ignored
# and the others at their defaults; its process is `pid`.
start_ignoring() {
  local ignored=$1
  shift
  setsid env --default-signal=INT,QUIT,HUP,TERM ${ignored:+--ignore-signal="$ignored"} \
    "$CLPROBE" "$@" >stdout 2>stderr &
  pid=$!
}

is_partial() {
  [ "$status" -eq 130 ]
  json_says '.interrupted == true and .results[0].status == "ok"' a.json
  # Nothing else is beside it, and nobody measures on.
  [ "$(find . -type f | sort | tr '\n' ' ')" = './a.json ./stderr ./stdout ' ]
  until_gone "$pid"
  [ -s stdout ]
}

@test "each of the four signals: exit 130, the document, the table, and nothing left behind" {
  for signal in INT TERM HUP QUIT; do
    rm -f a.json
    start_ignoring '' "${two_probes[@]}" -o a.json
    until_first_probe
    kill -"$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    is_partial
  done
}

@test "a signal that is sent twice at once is one" {
  for signal in INT TERM HUP QUIT; do
    rm -f a.json
    start_ignoring '' "${two_probes[@]}" -o a.json
    until_first_probe
    kill -"$signal" "$pid"
    kill -"$signal" "$pid" || true
    status=0
    wait "$pid" || status=$?
    is_partial
  done
}

@test "a signal that is ignored at the start stays ignored" {
  for signal in INT HUP QUIT; do
    rm -f a.json
    start_ignoring "$signal" "${two_probes[@]}" -o a.json
    until_first_probe
    kill -"$signal" "$pid"
    sleep 1
    kill -0 "$pid"
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    is_partial
  done
}

@test "SIGKILL between two probes leaves a document that says that it is not all, and nothing else" {
  start_ignoring '' "${two_probes[@]}" -o a.json
  until_first_probe
  kill -KILL "$pid"
  wait "$pid" || true
  json_says '.interrupted == true and (.results | length == 1)' a.json
  [ "$(find . -name '.*' -type f | wc -l)" -eq 0 ]
}
