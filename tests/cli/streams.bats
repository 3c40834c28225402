#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# stdin, stdout and stderr closed, full or never read: the right exit code, and no text where it does
# not belong.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  echo '{}' >bad.json
  stored=$BATS_TEST_DIRNAME/../../results/nvidia/h200/580.159.04_2026-11-20.json
}

# with_streams CLOSED ARGUMENT...: clprobe with the streams closed whose numbers are in CLOSED. What
# it writes to the others is in files of their names.
with_streams() {
  local closed=$1 script='exec "$@"'
  shift
  [[ $closed == *0* ]] && script+=' <&-'
  if [[ $closed == *1* ]]; then script+=' >&-'; else script+=' >out'; fi
  if [[ $closed == *2* ]]; then script+=' 2>&-'; else script+=' 2>err'; fi
  : >out
  : >err
  status=0
  bash -c "$script" bash timeout 120 "$CLPROBE" "$@" </dev/null || status=$?
}

# expect STATUS: the status of the last command; no other message than the program's own.
expect() {
  [[ $status -eq $1 ]] || {
    printf 'status %s and not %s: %s: %s\n' "$status" "$1" "$2" "$(<err)"
    return 1
  }
}

@test "every combination of closed streams: the exit code is what it is with all open, or 1" {
  # What the command ends with while stdout is open, and while it is closed: only where nothing is
  # to be written to it is that the same.
  local -a table=(
    '0|1|list -d sim:kepler-k20-pool'
    '0|1|list'
    '0|1|--help'
    '0|1|--version'
    '0|1|--generate bash'
    '0|1|explain latency'
    '0|1|-d sim:kepler-k20-pool latency --sizes 16KiB --quick --dry-run'
    '0|1|-d sim:kepler-k20-pool latency --sizes 16KiB --quick'
    '0|1|-d sim:kepler-k20-pool latency --sizes 16KiB --quick -o a.json'
    '2|2|--bogus'
    '2|2|report nosuch'
    '2|2|report bad.json'
    '2|2|-d sim:bad.json latency'
    '3|3|-d nosuch latency'
  )
  for line in "${table[@]}"; do
    IFS='|' read -r open_status closed_status words <<<"$line"
    read -ra words <<<"$words"
    for closed in '' 0 1 2 01 02 12 012; do
      rm -f a.json
      with_streams "$closed" "${words[@]}"
      expected=$open_status
      [[ $closed == *1* ]] && expected=$closed_status
      expect "$expected" "${words[*]} without '$closed'"
      if [[ $closed != *2* ]]; then
        [ "$(wc -l <err)" -eq "$((expected > 0 ? 1 : 0))" ]
      fi
      # Error messages go nowhere but to stderr, and results nowhere but to stdout and -o.
      if [[ $expected -gt 0 ]]; then [ ! -s out ]; fi
      if [[ ${words[*]} == *-o* ]]; then json_says '.interrupted == false' a.json; fi
    done
  done
}

@test "stdout and stderr full: the exit code, no abort, and the file is kept" {
  local -a table=(
    '1|out|list -d sim:kepler-k20-pool'
    '1|out|--help'
    '1|out|-d sim:kepler-k20-pool latency --sizes 16KiB --quick -o a.json'
    '0|err|-d sim:kepler-k20-pool latency --sizes 16KiB --quick -o a.json'
    '1|both|-d sim:kepler-k20-pool latency --sizes 16KiB --quick -o a.json'
    '2|err|--bogus'
    '2|both|--bogus'
    '2|err|report nosuch'
    '2|both|report bad.json'
    '3|err|-d nosuch latency'
  )
  for line in "${table[@]}"; do
    IFS='|' read -r expected full words <<<"$line"
    read -ra words <<<"$words"
    rm -f a.json
    status=0
    case $full in
      out) "$CLPROBE" "${words[@]}" >/dev/full 2>err || status=$? ;;
      err) "$CLPROBE" "${words[@]}" >out 2>/dev/full || status=$? ;;
      both) "$CLPROBE" "${words[@]}" >/dev/full 2>/dev/full || status=$? ;;
    esac
    expect "$expected" "${words[*]} with $full full"
    if [[ ${words[*]} == *-o* ]]; then json_says '.interrupted == false' a.json; fi
  done
}

@test "a closed stdout by its name is no place for results" {
  status=0
  "$CLPROBE" -d sim:kepler-k20-pool latency --quick -o /dev/stdout >&- 2>err || status=$?
  [ "$status" -eq 2 ]
  grep -q "cannot write '/dev/stdout': Bad file descriptor" err
}

@test "nothing is measured for a closed stdout alone" {
  # Measuring takes 50 times as much of a core, on whatever host.
  local TIMEFORMAT=%U refused measured words=(-d sim:kepler-k20-pool latency --thorough)
  refused=$({ time with_streams 1 "${words[@]}"; } 2>&1)
  grep -q 'cannot write to stdout: Bad file descriptor; name a file with -o' err
  measured=$({ time with_streams '' "${words[@]}"; } 2>&1)
  awk "BEGIN { exit !(4 * $refused < $measured) }"
}

# catches_sigterm PID: whether it has a handler, which is the 15th bit of the mask.
catches_sigterm() { (((0x$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$1/status") & 0x4000) != 0)); }

# end_of SIGNAL ARGUMENT...: clprobe in the background, the signal after a second, or, where it measures,
# once it has a handler; then `status`.
end_of() {
  local signal=$1 pid
  shift
  env --default-signal=INT "$CLPROBE" "$@" >out 2>err &
  pid=$!
  sleep 1
  [[ $1 != -d ]] || until catches_sigterm "$pid"; do sleep 0.1; done
  kill -"$signal" "$pid"
  status=0
  wait "$pid" || status=$?
}

@test "pipes that nobody writes to: the first signal ends it" {
  mkfifo pipe.json
  for signal in INT TERM; do
    end_of "$signal" -d sim:pipe.json latency
    [ "$status" -eq 130 ]
    for command in report compare import; do
      end_of "$signal" "$command" pipe.json pipe.json -o a.csv
      [ "$status" -gt 128 ]
    done
  done
  [ -p pipe.json ]
  # No temporary file either.
  [ "$(find . -name '.clprobe*' | wc -l)" -eq 0 ]
  [ ! -e a.csv ]
}

@test "a pipe is read like a file" {
  mkfifo pipe.json
  cp "$stored" a.json
  cat a.json >pipe.json &
  clprobe report pipe.json -f csv
  [ "$status" -eq 0 ]
  printf '%s\n' "$output" >piped.csv
  clprobe report a.json -o a.csv
  cmp a.csv piped.csv
  run --separate-stderr bash -c '"$0" report <(cat a.json) -o b.csv' "$CLPROBE"
  cmp a.csv b.csv
}

@test "a named pipe for -o: a reader gets it, without one nothing else is lost" {
  mkfifo pipe.csv
  (sleep 0.5; cat pipe.csv >piped) &
  clprobe -d sim:kepler-k20-pool latency --sizes 16KiB --quick -o pipe.csv -o a.json
  [ "$status" -eq 0 ]
  wait
  [ -s piped ]
  # Nobody reads, and nobody is waited for without end.
  clprobe report a.json -o pipe.csv -o c.csv
  fails_with 1 "cannot write 'pipe.csv': the pipe has no reader"
  [ -s c.csv ]
  [ -n "$output" ]
}

# until_told PID TEXT: waits until the file b.json holds it, while the process is there.
until_told() {
  until grep -q "$2" b.json 2>/dev/null; do
    kill -0 "$1" || return 1
    sleep 0.1
  done
}

@test "the first signal ends the wait for a pipe's reader, and of one that reads nothing" {
  mkfifo pipe.html
  for reader in none idle; do
    rm -f b.json
    if [[ $reader == idle ]]; then
      # shellcheck disable=SC2217  # it only holds the pipe open
      sleep 600 <pipe.html &
      local holder=$!
    fi
    "$CLPROBE" -d sim:gsi latency --series global --sizes '1KiB-4MiB*1.02' -o pipe.html -o b.json >out 2>err &
    local pid=$!
    until_told "$pid" '"interrupted": false'
    sleep 0.5
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ]
    [[ $reader == none ]] || kill "$holder"
    json_says '.results | length == 1' b.json
    [ -s out ]
    grep -q "cannot write 'pipe.html': " err
  done
}
