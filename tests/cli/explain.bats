#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# What probes and words mean: short, whole, by a pager on a terminal and nowhere else.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  unset PAGER LESS COLUMNS
}

# on_terminal COMMAND...: its output in `seen`, without the returns of the terminal.
on_terminal() {
  local words
  printf -v words '%q ' "$@"
  TERM=xterm timeout 60 script --quiet --return --command "stty cols 80 rows 24; $words" seen \
    </dev/null >/dev/null
  sed -i -e 's/\r$//' -e '/^Script /d' seen
}

@test "the short form, the whole page, and the list" {
  clprobe explain latency
  [[ $status -eq 0 && -z $stderr ]]
  [[ ${#lines[@]} -le 34 && $output == *'  - capacity: '* && $output == *--full* ]]
  [[ $output != *'Sattolo'* && $output != *'##'* ]]
  clprobe explain latency --full
  [[ $status -eq 0 && $output == *'Sattolo'* && $output != *'##'* ]]
  [ "$(wc -L <<<"$output")" -le 80 ]
  clprobe explain
  [[ $status -eq 0 && $output == *'  latency   How long'* && $output == *'bank conflict'* ]]
  COLUMNS=50 clprobe explain latency
  [ "$(wc -L <<<"$output")" -le 50 ]
}

@test "a word of the reports, in quotes or not, and what was meant by another" {
  clprobe explain Warps
  [[ $status -eq 0 && $output == sub-group$'\n'* && $output == *'wavefront'* ]]
  clprobe explain knee
  [[ $status -eq 0 && $output == 'stride reports the finding knee: '* && $output == *'90 %'* ]]
  clprobe explain 'shared cores'
  [[ $status -eq 0 && $output == 'shared cores, a warning: '* ]]
  clprobe explain 'cache or far'
  [[ $status -eq 0 && $output == 'step'$'\n'*'cache or far'* ]]
  local quoted=$output
  clprobe explain cache-or-far
  [ "$output" = "$quoted" ]
  clprobe explain cache or far
  [ "$output" = "$quoted" ]
  clprobe explain both-pinned
  [[ $status -eq 0 && $output == *'a series of transfer'* ]]
  clprobe explain nkee
  fails_with 2 "'nkee'" "did you mean 'knee'" 'clprobe explain'
  clprobe explain knee --full
  fails_with 2 -- --full
  clprobe explain ''
  fails_with 2 "''"
  clprobe explain cachelin
  fails_with 2 "did you mean 'cacheline'"
  clprobe explain c9
  fails_with 2 "'c9'"
  [[ $stderr != *'did you mean'* ]]
}

@test "a series, by its name or by what those of a kind have in common" {
  clprobe explain both-pinned
  [[ $status -eq 0 && $output == 'both-pinned, a series of transfer: '* ]]
  [[ $(wc -L <<<"$output") -le 80 && $output == *'explain transfer --full'* ]]
  clprobe explain command-buffer
  [[ $status -eq 0 && $output == 'command-buffer, a series of launch: '* ]]
  clprobe explain idle-queues
  [[ $status -eq 0 && $output == 'idle-queues-1, a series'*$'\n''idle-queues-64, '* ]]
  # Not what only begins alike, nor what has more behind a name that there is.
  clprobe explain both-pin
  fails_with 2 "'both-pin'"
  clprobe explain read-own
  [[ $status -eq 0 && $output == 'read-own, a series of bandwidth: '* && $output != *$'\n'read-one* ]]
  local series
  for series in global write-one-unit to-peer queued arithmetic; do
    clprobe explain "$series"
    [[ $status -eq 0 && -n $output ]] || { echo "$series: $stderr"; return 1; }
  done
}

@test "a page that is of no probe is printed as a whole, tables in columns" {
  clprobe explain seeds
  [[ $status -eq 0 && $output == seeds:* && $output == *'680 (680–682):'* ]]
  [[ $output != *'|--'* && $output != *'##'* && $(wc -L <<<"$output") -le 100 ]]
  clprobe explain method
  [[ $status -eq 0 && $output == 'Method'* ]]
  clprobe explain compare
  [[ $status -eq 0 && $output == 'Comparing runs'* && $(wc -L <<<"$output") -le 80 ]]
  clprobe explain trace
  [[ $status -eq 0 && $output == 'Traces'* && $(wc -L <<<"$output") -le 80 ]]
  clprobe explain seeds --full
  fails_with 2 -- --full 'leave out --full'
  clprobe explain seds
  fails_with 2 "did you mean 'seeds'"
  clprobe explain
  [[ $output == *'  seeds     What do published papers'* ]]
}

@test "a pager on a terminal, and none elsewhere" {
  PAGER='sed s/^/paged:/' on_terminal "$CLPROBE" explain warp
  grep -q '^paged:.*sub-group' seen
  PAGER='sed s/^/paged:/' clprobe explain knee
  [[ $status -eq 0 && $output != *paged* ]]
  # Headings are bold there alone.
  grep -q $'\e\\[1msub-group' seen
  [[ $output != *$'\e'* ]]
}

@test "a pager that is missing, fails or stops reading is no error" {
  local pager
  for pager in /nonexistent/pager false 'exit 3' '' cat; do
    PAGER=$pager on_terminal "$CLPROBE" explain inflight --full
    grep -q 'Operations' seen
    ! grep -q 'nonexistent\|not found' seen
  done
  PAGER='head -n 1' on_terminal "$CLPROBE" explain inflight --full
  [ "$(grep -c . seen)" -eq 1 ]
}
