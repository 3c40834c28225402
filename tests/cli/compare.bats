#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016,SC2046,SC2086  # README's words, split; Bats and common.bash set the variables; bash -c expands its own
# Saved runs side by side, and what other tools wrote. Nothing here measures.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  source=$BATS_TEST_DIRNAME/../..
  cp "$source/tests/golden/run.json" old.json
}

# slower FACTOR FILE: old.json with all its ticks that many times as large.
slower() {
  jq --argjson factor "$1" '
    .results[].points[].samples[] |= (if .ticks then .ticks = (.ticks * $factor | floor) else . end)' \
    old.json >"$2"
}

@test "a run beside itself is the same, and no reason to fail" {
  cp old.json new.json
  clprobe compare old.json new.json --fail-on changed
  [ "$status" -eq 0 ]
  [[ ${lines[-1]} == ' B: '*' same' ]]
}

@test "named probes alone are compared, on two sides as well" {
  slower 1.2 new.json
  "$CLPROBE" report old.json -f json | jq 'map(.results[0].probe)' | grep -q latency
  clprobe compare old.json new.json stride --fail-on changed
  [[ $status -eq 2 && $stderr == *"no run contains the probe 'stride': choose from 'latency'"* ]]
  clprobe compare old.json new.json latency --fail-on worse
  [ "$status" -eq 4 ]
  clprobe compare old.json latency -- old.json --fail-on changed
  [ "$status" -eq 0 ]
}

@test "a slower run is worse: exit status 4, and only where it was asked for" {
  slower 1.2 new.json
  clprobe compare old.json new.json
  [ "$status" -eq 0 ]
  [[ $output == *worse* ]]
  clprobe compare old.json new.json --fail-on worse
  [ "$status" -eq 4 ]
  # What failed is named, a line each, and how many more.
  [[ ${stderr_lines[0]} == "clprobe: worse: "*" latency: "*" -> "*" in 'new.json'" ]]
  for line in "${stderr_lines[@]}"; do
    [[ $line == 'clprobe: worse: '*' -> '* || $line == 'clprobe: and '*' more'* ]] || return 1
  done
  # The other way round it is better, which is a change too.
  clprobe compare new.json old.json --fail-on worse
  [ "$status" -eq 0 ]
  clprobe compare new.json old.json --fail-on changed
  [ "$status" -eq 4 ]
  clprobe compare --baseline new.json old.json new.json --fail-on worse
  [ "$status" -eq 0 ]
  clprobe compare old.json new.json --fail-on changed --threshold 25%
  [ "$status" -eq 0 ]
}

@test "what one run a side leaves open on a virtual machine is not said to have passed" {
  jq '.host.is_virtual = true | .device.type = "cpu"' old.json >here.json
  mv here.json old.json
  slower 1.5 new.json
  clprobe compare old.json new.json --fail-on worse
  [ "$status" -eq 5 ]
  [[ $stderr == *'--fail-on cannot be decided: worse: '*' latency'*"virtual machine's host"*'several baseline runs with several new runs, or use --live' ]]
  [ "${#stderr_lines[@]}" -eq 1 ]
  # The other way round it may be better, which nobody asked about.
  clprobe compare new.json old.json --fail-on worse
  [ "$status" -eq 0 ]
  clprobe compare new.json old.json --fail-on changed
  [ "$status" -eq 5 ]
  clprobe compare old.json new.json
  [ "$status" -eq 0 ]
}

@test "what the device has no more decides before what one run a side leaves open" {
  jq '.host.is_virtual = true | .device.type = "cpu"
    | .results[].points |= map(if .series == "local" then .facts.follow_up = 1 else . end)' old.json >here.json
  mv here.json old.json
  slower 1.5 slower.json
  jq '.results[] |= (.points |= map(select(.series != "local")) | .findings += [{"name": "latency",
    "series": "local", "source": "reported", "method": "plan", "reason": "no local memory"}])' slower.json >new.json
  clprobe compare old.json new.json --fail-on changed
  [ "$status" -eq 4 ]
  [[ $stderr == *'different: local memory'*latency* ]]
  [[ $stderr != *"virtual machine's host"* ]]
  # That it is gone is not worse, so that what is open is all there is.
  clprobe compare old.json new.json --fail-on worse
  [ "$status" -eq 5 ]
  [[ $stderr == *"virtual machine's host"* ]]
}

@test "every format, and files of -o" {
  slower 1.2 new.json
  clprobe compare old.json new.json --json -o c.csv -o c.md -o c.txt
  [ "$status" -eq 0 ]
  json_says '.schema == "clprobe-comparison" and .schema_version == 1'
  json_says '[.findings[] | select(.name == "latency") | .runs[].verdict] | index("worse") != null'
  json_says '.runs[1].verdicts.worse > 0 and .runs[1].file == "new.json"'
  grep -q '^run,file,device' c.csv
  grep -q '\*\*worse\*\*' c.md
  grep -q worse c.txt
}

@test "a page: of a slower run it says so first, and no picture is drawn" {
  slower 1.2 new.json
  clprobe compare old.json new.json -o page.html
  [ "$status" -eq 0 ]
  first=$(grep --only-matching 'class="verdict [a-z]*"' page.html | head -1)
  [ "$first" = 'class="verdict worse"' ]
  clprobe compare old.json -- new.json new.json -f html
  [ "$status" -eq 0 ]
  [[ $output == '<!DOCTYPE html>'*'2 runs (new.json'* ]]
  clprobe compare old.json new.json -o picture.svg
  [ "$status" -eq 2 ]
  [[ $stderr == *'`clprobe report` writes this format for the same files'* ]]
}

@test "-v gives the reason of every verdict" {
  slower 1.2 new.json
  clprobe compare -v old.json new.json
  [ "$status" -eq 0 ]
  [[ $output == *', beyond the threshold of 3 %'* ]]
}

@test "several runs a side: -- parts them, options may stand behind it, and noise is no change" {
  mkdir before after
  for i in 1 2 3; do
    slower "1.0$i" "before/$i.json"
    slower "1.0$((4 - i))" "after/$i.json"
    slower "1.3$i" "slow$i.json"
  done
  # One beside one is slower by 2 %.
  clprobe compare before/1.json before/3.json --fail-on worse --threshold 1%
  [ "$status" -eq 4 ]
  clprobe compare before -- after --fail-on worse --threshold 1%
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *', 3 runs'* || ${lines[1]} == *', 3 runs'* ]]
  clprobe compare before -- slow1.json slow2.json slow3.json --fail-on worse --json
  [ "$status" -eq 4 ]
  json_says '(.runs | length) == 2 and .runs[0].runs == 3 and .runs[1].verdicts.worse > 5'
  # One run a side is the same as without.
  clprobe compare old.json -- slow1.json -f csv
  one=$output
  clprobe compare old.json slow1.json -f csv
  [ "$one" = "$output" ]
  clprobe compare before -- after --baseline old.json
  fails_with 2 baseline --
  jq '.device.name = "another"' old.json >another.json
  clprobe compare old.json another.json -- slow1.json
  fails_with 2 another.json 'different devices'
}

@test "folders stand for the files in them, and of many runs those that stand out are named" {
  mkdir -p runs/deep
  for i in 1 2 3 4 5 6 7 8 9; do cp old.json "runs/$i.json"; done
  slower 1.2 runs/deep/slow.json
  clprobe compare old.json runs --fail-on worse
  [ "$status" -eq 4 ]
  [[ $output == *'10 other runs'* ]]
  [[ $output == *'deep/slow.json'* ]]
}

@test "what cannot be compared is said on one line" {
  clprobe compare
  fails_with 2 'compare FILE FILE'
  clprobe compare old.json
  fails_with 2 'needs at least two runs'
  mkdir empty
  clprobe compare old.json empty
  fails_with 2 empty .json
  clprobe compare old.json nosuch.json
  fails_with 2 nosuch.json 'No such file'
  clprobe compare old.json old.json --threshold 3
  fails_with 2 threshold 3%
  clprobe compare old.json old.json --fail-on sometimes
  fails_with 2 fail-on worse
  clprobe compare old.json old.json --seed 3
  fails_with 2 seed
}

@test "hostile files: one line with the path, exit status 2, and nothing done" {
  head -c 2000 old.json >cut.json
  clprobe compare old.json cut.json
  fails_with 2 cut.json 'results[0].findings[' 'truncated'
  jq '.schema_version = 99' old.json >newer.json
  clprobe compare old.json newer.json
  fails_with 2 newer.json 'schema_version: expected at most'
  echo hello >text.json
  clprobe compare old.json text.json
  fails_with 2 text.json 'document: expected JSON'
  sed 's/"elapsed_seconds": [0-9.]*/"elapsed_seconds": NaN/' old.json >nan.json
  clprobe compare old.json nan.json
  fails_with 2 nan.json 'results[0].elapsed_seconds: expected JSON'
  sed '0,/"seed": /s//"seed": 1, "seed": /' old.json >twice.json
  clprobe compare old.json twice.json
  fails_with 2 twice.json 'seed: expected this key only once'
  head -c 100000000 /dev/zero | tr '\0' '[' >deep.json
  clprobe compare old.json deep.json
  fails_with 2 deep.json ': [0][0]' 'levels of nesting'
  rm deep.json
  clprobe compare old.json /dev/zero
  fails_with 2 /dev/zero 'larger than 128 MiB'
}

@test "text of another tool is pointed to import" {
  clprobe report "$source/tests/import/clpeak.txt"
  fails_with 2 clpeak.txt 'expected JSON' '`clprobe import` reads'
}

@test "an object with a million keys is refused at once" {
  awk 'BEGIN { printf "{"; for (i = 0; i < 1000000; ++i) printf "\"%d\":1,", i; print "\"a\":1}" }' \
    >keys.json
  clprobe compare old.json keys.json
  fails_with 2 keys.json 'expected'
}

@test "a device's name does nothing in any format" {
  jq '.device.name = "<script>alert(1)</script>\u001b]0;owned\u0007=1+1"' old.json >script.json
  for format in table json csv markdown; do
    clprobe compare old.json script.json -f "$format"
    [ "$status" -eq 0 ]
    [[ $output != *$'\e'* && $output != *$'\a'* ]]
  done
  clprobe compare old.json script.json -f markdown
  [[ $output != *'<script>'* ]]
}

@test "the commands of README: a check that fails, a folder, and an import" {
  cp "$source/README.md" .
  cp old.json good.json
  slower 1.2 new.json
  check=$(sed -n 's/^    clprobe \(compare good.json[^#]*\) #.*/\1/p' README.md)
  [[ $check == *--fail-on* ]]
  clprobe $check
  [ "$status" -eq 4 ]
  mkdir runs && cp new.json runs
  clprobe compare good.json runs/
  [ "$status" -eq 0 ]
  printf 'Size (KiB),Latency (ns)\n4,1.2\n8,1.2\n16,1.2\n64,4\n128,4\n256,4\n' >chase.csv
  clprobe import chase.csv --device-name "Some GPU" -o chase.json
  [ "$status" -eq 0 ]
  clprobe compare chase.json new.json
  [ "$status" -eq 0 ]
}

@test "import: a list, clpeak and clmempatterns become runs that can be reported and compared" {
  clprobe import "$source/tests/import/chase.csv" --device-name 'Some GPU' -o chase.json
  [ "$status" -eq 0 ]
  json_says '.imported.format == "size-latency" and .device.name == "Some GPU"' chase.json
  json_says '[.results[0].findings[] | select(.name == "latency")] | length >= 2' chase.json
  clprobe report chase.json
  [ "$status" -eq 0 ]
  [[ $output == *'another tool'* ]]
  for file in clpeak-1.1.2.xml clpeak-2.json clpeak-2.xml clmempatterns-0.3.txt mt4g.json \
    nvbandwidth.json gpu-latency-5.txt gpu-latency-8.txt MemoryLatency.csv GpuMemLatency.txt; do
    clprobe import "$source/tests/import/$file" -o "$file.json"
    [ "$status" -eq 0 ]
    json_says '.imported.file != ""' "$file.json"
    clprobe compare "$file.json" "$file.json" --fail-on changed
    [ "$status" -eq 0 ]
  done
  clprobe compare chase.json old.json
  [ "$status" -eq 0 ]
  # Without intervals 25 % are the threshold: 20 % more is the same, twice as much is worse.
  for factor in 1.2 2; do
    awk -F, -v factor="$factor" 'NR == 1 || !/^[0-9]/ {print; next} {printf "%s,%g\n", $1, $2 * factor}' \
      "$source/tests/import/chase.csv" >"chase$factor.csv"
    clprobe import "chase$factor.csv" --device-name 'Some GPU' -o "chase$factor.json"
  done
  jq '.results[].findings[] |= del(.low, .high)' clpeak-2.json.json >peak.json
  jq '.results[].findings[] |= (if .value then .value *= 1.2 else . end)' peak.json >near.json
  jq '.results[].findings[] |= (if .value then .value *= 2 else . end)' peak.json >far.json
  clprobe compare -v peak.json near.json
  [[ $output == *'same within 25 % (no interval)'* && ${lines[-1]} != *better* ]]
  clprobe compare peak.json far.json
  [[ $output == *'2.00x faster (no interval)'* && ${lines[-1]} == *better* ]]
  clprobe compare chase.json chase2.json --fail-on worse
  [ "$status" -eq 4 ]
}

@test "import: the latency of a link is not set beside loads that cross none" {
  clprobe import "$source/tests/import/nvbandwidth.json" -o link.json
  [ "$status" -eq 0 ]
  # The driver of this H200 keeps on the device what it makes for the host.
  clprobe compare "$source/results/nvidia/h200/580.159.04_2026-11-26.json" link.json -v --fail-on worse
  # What the other file has not measured cannot be decided; nothing is worse.
  [ "$status" -eq 5 ]
  [[ $output == *"host: link latency"* && $output != *slower* ]]
  clprobe report link.json
  [[ $output == *"652 ns over the link"* ]]
}

@test "import: each stride of lat_mem_rd is a run, and others compare with what was measured here" {
  clprobe import "$source/tests/import/lat_mem_rd.txt" -o strides.json
  [ "$status" -eq 0 ]
  json_says 'length == 2 and .[1].device.name == "lat_mem_rd.txt, stride 128"' strides.json
  clprobe report strides.json
  [[ $output == *'stride 64'*'stride 128'* ]]
  # The same patterns by two tools: findings of `stride`, with verdicts.
  local measured
  measured=$(ls "$source"/results/nvidia/h200/*_2026-11-23.json)
  clprobe import "$source/tests/import/clmempatterns-h200.txt" -o patterns.json
  clprobe compare --json "$measured" patterns.json
  [ "$status" -eq 0 ]
  [ "$(jq -r '[.. | objects | select(.probe? == "stride" and .series? == "read int")
    | select(.runs[0].verdict == "same").name] | sort | join(" ")' <<<"$output")" = 'bandwidth best_stride class knee sector sub_group' ]
  # Levels by mt4g against those of the latency probe.
  clprobe import "$source/tests/import/mt4g.json" -o levels.json
  clprobe import "$source/tests/import/gpu-latency-8.txt" -o chase.json
  clprobe compare chase.json levels.json
  [ "$status" -eq 0 ]
  [[ ${lines[-1]} == *' same'* ]]
  # Its bandwidths have no sizes: the numbers are those of its levels, and an L2 is beside an L2.
  clprobe compare "$source/results/nvidia/h200/580.159.04_2026-11-28.json" levels.json
  [[ $output == *'L2 read by all compute units'* && $output == *'memory read by all compute units'* ]]
}

@test "import: cycles need a clock, more columns a note, and an option that says nothing is refused" {
  printf 'Size (KiB),Latency (cycles),stddev\n4,36,1\n8,36,1\n16,36,1\n32,36,1\n' >cycles.csv
  clprobe import cycles.csv
  fails_with 2 cycles.csv 'line 2' '--clock-rate 1.98GHz'
  clprobe import cycles.csv --clock-rate 2GHz -o cycles.json
  [ "$status" -eq 0 ]
  [[ $output == *'18.0 ns'* && $output == *"ignored: stddev"* ]]
  json_says '[.results[0].findings[] | select(.name == "cycles")][0].value | . > 35.99 and . < 36.01' cycles.json
  printf '4 36\n8 36\n' >bare.txt
  clprobe import bare.txt --size-unit KiB --time-unit cycles
  fails_with 2 '--clock-rate'
  clprobe import bare.txt --size-unit KiB --time-unit cycles --clock-rate 2GHz
  [ "$status" -eq 0 ]
  clprobe import "$source/tests/import/mt4g.json" --series local
  fails_with 2 mt4g.json '--series does not apply' 'leave it out'
}

@test "import: what it cannot read is said with the line" {
  printf '64,1\n128,2\n' >list.txt
  clprobe import list.txt
  fails_with 2 list.txt 'line 1' --size-unit
  clprobe import list.txt --size-unit KiB --time-unit ns --series local -o list.json
  [ "$status" -eq 0 ]
  json_says '.results[0].points[0].series == "local"' list.json
  clprobe import old.json
  fails_with 2 old.json 'clprobe report'
  clprobe import
  fails_with 2 'import FILE'
}

@test "a report of two runs pairs the levels of a probe as compare does" {
  local epyc=$source/results/amd/epyc/pocl-3.1_2026-11-28.json xeon=$source/results/intel/xeon/pocl-5.0_2026-11-27.json
  clprobe report "$epyc" "$xeon" bandwidth -o all.txt
  grep --quiet -E '^ *read-one-unit 1 bandwidth +204 GB/s +·' all.txt
  clprobe compare "$epyc" "$xeon" bandwidth -v -o pairs.txt
  grep --quiet -E '204 GB/s +·' pairs.txt
}
