#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq expands its own
# compare --fail-on as a check in CI: what was not measured has not passed. Nothing here measures.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  cp "$BATS_TEST_DIRNAME/../golden/run.json" good.json
}

# lost FILTER WORD...: a new run made of the good one by jq ends with 5 for both conditions, and with
# one line that has every word; without a condition with 0.
lost() {
  local filter=$1 condition
  shift
  jq "$filter" good.json >new.json
  for condition in worse changed; do
    clprobe compare good.json new.json --fail-on "$condition"
    printf '%s, %s: status %s, %s\n' "$condition" "$filter" "$status" "$stderr"
    # What is worse and does not count is said besides.
    stderr=$(grep -v 'not significant among' <<<"$stderr")
    fails_with 5 "'new.json'" "$@" || return 1
    # The comparison itself is printed all the same.
    [[ $output == *'new.json'* ]] || return 1
  done
  clprobe compare good.json new.json
  [[ $status -eq 0 && -z $stderr ]]
}

@test "a run in which nothing was measured is no pass" {
  lost '.results = []' 'latency: not measured'
  lost '.interrupted = true' interrupted
  lost '.results = [] | .warnings = [{code: "device_failed", source: "engine", facts: {reason: "signal 11"}}]' \
    'the device failed: signal 11'
  lost '.results[].points[].samples = []' 'latency: no point was measured'
  lost '.results[].points = []' 'latency: no point was measured'
  lost '.results[].points |= map(.samples = [] | .failure = "gone")' latency
}

@test "a probe that did not come to its end is no pass" {
  lost '.results[0] |= (.status = "failed" | .reason = "3 of 9 points failed")' \
    'latency: failed: 3 of 9 points failed'
  lost '.results[0] |= (.status = "interrupted" | .reason = "")' 'latency: interrupted'
  lost '.results[0] |= (.status = "unsupported" | .reason = "no memory" | .points = [] | .findings = [])' \
    'latency: unsupported: no memory'
  lost '.results[0].probe = "another"' 'latency: not measured'
  lost '.results[0].points |= map(select(.series != "local"))' 'latency local'
}

@test "a change that was measured is 4, whatever else is missing" {
  jq '.results[].points[].samples[] |= (if .ticks then .ticks = (.ticks * 1.2 | floor) else . end)' \
    good.json >slower.json
  jq '.results = []' good.json >none.json
  clprobe compare good.json none.json slower.json --fail-on worse
  [ "$status" -eq 4 ]
  [[ $stderr == *"in 'slower.json'"* && $stderr != *"none.json"* ]]
  jq '.interrupted = true' slower.json >cut.json
  clprobe compare good.json cut.json --fail-on worse
  [ "$status" -eq 4 ]
  # Among good ones, the run that lacks something is named, and how many more.
  cp good.json same.json
  jq '.results = [] | .interrupted = true' good.json >none.json
  clprobe compare good.json same.json none.json --fail-on worse
  fails_with 5 "'none.json'" interrupted 'and 1 more'
}

@test "a baseline in which nothing was measured is no pass either" {
  jq '.results = []' good.json >none.json
  clprobe compare none.json good.json --fail-on worse
  fails_with 5 "'good.json'" 'no finding in common'
}

@test "the same, and more than the baseline has, pass" {
  cp good.json new.json
  clprobe compare good.json new.json --fail-on changed
  [ "$status" -eq 0 ]
  jq '.results[0].points |= map(select(.series != "local"))' good.json >less.json
  clprobe compare less.json good.json --fail-on changed
  [ "$status" -eq 0 ]
  # The baseline of another format has what its tool gave.
  local file=$BATS_TEST_DIRNAME/../import/clpeak-2.json
  clprobe import "$file" -o peak.json
  clprobe compare peak.json peak.json --fail-on changed
  [ "$status" -eq 0 ]
}

@test "what a hostile file says of its failure is quoted" {
  jq '.results = [] | .warnings = [{code: "device_failed", source: "engine", facts: {reason: "a\u202eb\u009bc\u001b[31m"}}]' \
    good.json >$'new\xe2\x80\xae.json'
  clprobe compare good.json $'new\xe2\x80\xae.json' --fail-on worse
  fails_with 5 'the device failed: a?b?c?'
  only_seen <<<"$stderr"
}
