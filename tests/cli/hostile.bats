#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# Damaged and senseless files. Every number of a document at every extreme is tested in unit/hostile;
# here is what the commands make of such a file. Nothing here measures.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  documents=$BATS_TEST_DIRNAME/../fuzz/corpus/load
  cp "$documents/inflight-gpu.json" good.json
}

# damaged FILTER FILE: good.json changed by a jq filter.
damaged() {
  jq "$1" good.json >"$2"
}

@test "a number that cannot be is said with the file and its place" {
  damaged '.results[0].points[3].parameters.line_bytes = 0' bad.json
  for command in "report bad.json" "report bad.json -f html" "compare good.json bad.json" \
    "compare bad.json good.json" "report good.json bad.json --json"; do
    # shellcheck disable=SC2086  # words
    clprobe $command
    fails_with 2 bad.json 'results[0].points[3].parameters.line_bytes: is 0, but must be at least 1'
    [ -z "$output" ]
  done
}

@test "a damaged file of a folder is named, and does not hide the others" {
  mkdir runs
  cp good.json runs/a.json
  cp good.json runs/c.json
  damaged '.results[0].points[3].parameters.merger = 0' runs/b.json
  clprobe compare runs
  [ "$status" -eq 2 ]
  one_line_error
  [[ $stderr == *runs/b.json*'parameters.merger'* ]]
  [[ $output == *same* ]]
  # Where it comes first, the next one is the baseline.
  mv runs/b.json runs/0.json
  clprobe compare runs --json
  [ "$status" -eq 2 ]
  json_says '[.runs[].file] == ["runs/a.json", "runs/c.json"]'
  # A file that was named ends it at once.
  clprobe compare runs --baseline runs/0.json
  fails_with 2 runs/0.json
  [ -z "$output" ]
  clprobe compare runs/a.json runs/0.json
  fails_with 2 runs/0.json
}

@test "a probe is once in a document" {
  damaged '.results += .results' twice.json
  clprobe report twice.json
  fails_with 2 twice.json 'results[1].probe: expected each probe only once'
}

@test "forged findings are made anew by report and compare alike" {
  cp "$documents/latency-gpu.json" good.json
  damaged '.results[0].findings[].value |= (if . then . / 3 else . end)' forged.json
  clprobe report good.json
  expected=$output
  clprobe report forged.json
  [ "$output" = "$expected" ]
  clprobe compare good.json forged.json --fail-on changed
  [ "$status" -eq 0 ]
}

@test "what has no end is refused by every reader" {
  ln -s /dev/zero zero.json
  for command in "report zero.json" "import zero.json" "compare good.json zero.json" \
    "--device sim:zero.json --dry-run"; do
    # shellcheck disable=SC2086  # words
    clprobe $command
    [ "$status" -eq 2 ]
    one_line_error
  done
}

@test "a file of a million empty objects is refused at once" {
  { printf '[{}' && yes ',{}' | head -n 1000000 | tr -d '\n' && printf ']'; } >many.json
  clprobe report many.json
  fails_with 2 many.json 'schema'
}
