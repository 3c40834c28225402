#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# Ctrl-C and its kin: exit 130, and what was measured is in the file.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

# A shell starts background commands with SIGINT ignored, hence --default-signal.
# interrupt SIGNAL SECONDS ARGUMENT...: starts clprobe in a process group of its own, sends the
# signal to the whole group as a terminal does, and waits for it. Its status is in `status`.
interrupt() {
  local signal=$1 after=$2 pid
  shift 2
  setsid env --default-signal=INT "$CLPROBE" "$@" >stdout 2>stderr &
  pid=$!
  sleep "$after"
  kill -"$signal" -- -"$pid"
  status=0
  wait "$pid" || status=$?
}

long_run=(latency --thorough --time-budget 60s)

# With a cold cache PoCL builds kernels for the first seconds; the many sizes last for a minute.
@test "SIGINT while measuring: exit 130, the file is whole and says interrupted" {
  interrupt INT 8 "${long_run[@]}" --sizes '1KiB-256KiB*1.02' --series global -o a.json
  [ "$status" -eq 130 ]
  json_says '.interrupted == true' a.json
  json_says '[.results[].points[] | select((.samples | length) > 0)] | length > 0' a.json
}

@test "SIGINT ends it within two seconds and leaves no process behind" {
  setsid env --default-signal=INT "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
  local pid=$!
  sleep 4
  kill -INT -- -"$pid"
  SECONDS=0
  wait "$pid" || true
  [ "$SECONDS" -le 2 ]
  sleep 0.5
  [ -z "$(pgrep --pgroup "$pid")" ]
}

@test "SIGINT to the program alone ends its children too" {
  setsid env --default-signal=INT "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
  local pid=$!
  sleep 4
  kill -INT "$pid"
  wait "$pid" || true
  sleep 0.5
  [ -z "$(pgrep --pgroup "$pid")" ]
}

@test "SIGKILL to the program leaves no orphan that measures on" {
  setsid env --default-signal=INT "$CLPROBE" "${long_run[@]}" -o a.json >/dev/null 2>&1 &
  local pid=$!
  sleep 4
  kill -KILL "$pid"
  wait "$pid" || true
  sleep 3
  [ -z "$(pgrep --pgroup "$pid")" ]
}

@test "SIGINT before the first point: exit 130, no half-written file" {
  interrupt INT 0.3 "${long_run[@]}" -o a.json
  [ "$status" -eq 130 ]
  [ ! -s a.json ] || json_says '.interrupted == true' a.json
}

@test "an older result survives an interruption until there is a new one" {
  echo '{"old": true}' >a.json
  interrupt INT 0.3 "${long_run[@]}" -o a.json
  [ "$status" -eq 130 ]
  json_says '.old == true or .interrupted == true' a.json
}
