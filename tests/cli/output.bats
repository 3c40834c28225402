#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# Where results go: nothing already measured is lost, and errors come before the measuring.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

@test "json on stdout alone, an array of one device too, nothing on a stderr that is no terminal" {
  clprobe latency "${few_sizes[@]}" --json --label mine
  [ "$status" -eq 0 ]
  jq --exit-status '[.[].label] == ["mine"]' <<<"$output"
  [ -z "$stderr" ]
  json_says '.results[0].probe == "latency" and .interrupted == false'
  json_says '[.results[0].points[] | select(.series == "global")] | length >= 3'
}

@test "a file for each -o, in the format of its extension" {
  clprobe latency "${few_sizes[@]}" -o a.json -o a.csv -o a.md
  [ "$status" -eq 0 ]
  json_says '.results | length == 1' a.json
  [ "$(wc -l <a.csv)" -gt 3 ]
  grep -q '|' a.md
  # Files are replaced at once: nothing else is left beside them.
  [ "$(find . -maxdepth 1 -type f | wc -l)" -eq 3 ]
}

@test "a report of the file is what the run printed" {
  clprobe latency "${few_sizes[@]}" -o a.json -o a.md
  clprobe report a.json -f markdown
  [ "$status" -eq 0 ]
  diff <(printf '%s\n' "$output") a.md
}

@test "a page and a picture of a stored run" {
  clprobe latency "${few_sizes[@]}" -o a.json -o a.html -o a.svg
  [ "$status" -eq 0 ]
  grep -q '<figure class="picture">' a.html
  [[ $(tail -n 1 a.svg) == '</svg>' ]]
  clprobe report a.json -f html
  diff <(printf '%s\n' "$output") a.html
  clprobe report a.json -f svg
  diff <(printf '%s\n' "$output") a.svg
}

# A fence is a command behind "$ " and what it writes, and nothing else, so that none goes stale.
@test "every output in README is what its command writes" {
  local root=$BATS_TEST_DIRNAME/../.. line fence='' count=0
  mkdir fences bin
  ln -s "$CLPROBE" bin/clprobe
  while IFS= read -r line; do
    if [[ $line == '```'* && -z $fence ]]; then
      [ "$line" = '```console' ]
      count=$((count + 1))
      fence=fences/$count
      : >"$fence"
    elif [[ $line == '```'* ]]; then
      fence=''
    elif [[ -n $fence ]]; then
      printf '%s\n' "$line" >>"$fence"
    fi
  done <"$root/README.md"
  [ -z "$fence" ]
  [ "$count" -ge 2 ]
  for fence in fences/*; do
    line=$(head -n 1 "$fence")
    [[ $line == '$ clprobe '* ]]
    (PATH=$PWD/bin:$PATH && cd "$root" && COLUMNS=80 LC_ALL=C.UTF-8 bash -c "${line#'$ '}") >found.txt
    [ -s found.txt ]
    diff <(tail -n +2 "$fence") found.txt
  done
}

@test "README is short, and the words that it names are in the program" {
  local root=$BATS_TEST_DIRNAME/../.. line words
  [ "$(wc -l <"$root/README.md")" -le 120 ]
  # The commands that need no device: that they are understood.
  clprobe explain cache or half
  [ "$status" -eq 0 ]
  while IFS= read -r line; do
    read -ra words <<<"${line%%[|#]*}"
    [[ ${words[0]} == clprobe ]] || continue
    case ${words[1]} in
    explain | help) clprobe "${words[@]:1}" ;;
    compare | report | profile) continue ;;
    *) clprobe "${words[@]:1}" -d sim:gsi --dry-run ;;
    esac
    [ "$status" -ne 2 ] || [[ $stderr == *'given twice'* ]]
  done < <(sed -n 's/^    //p' "$root/README.md")
}

@test "the picture in README is what its command writes" {
  root=$BATS_TEST_DIRNAME/../..
  command=$(grep --only-matching 'clprobe report .* -o docs/images/[^`]*' "$root/README.md")
  read -ra words <<<"$command"
  clprobe report "$root/${words[2]}" -o latency.svg
  diff latency.svg "$root/${words[4]}"
  [[ $(head -n 8 "$root/README.md") == *"(${words[4]})"* ]]
}

@test "a picture of several probes is of the one that its name begins with" {
  clprobe latency "${few_sizes[@]}" -o a.json
  jq '.results += [.results[0] | .probe = "other"]' a.json >b.json
  clprobe report b.json -o latency.svg -o other-one.svg -o other_two.svg
  [ "$status" -eq 0 ]
  cmp other-one.svg other_two.svg
  grep -q '<title>latency: ' latency.svg
  grep -q '<title>other: ' other-one.svg
  clprobe report b.json -o picture.svg
  fails_with 2 'latency, other' 'as in latency.svg'
  clprobe report b.json -f svg
  fails_with 2 'latency, other'
}

@test "a name that ends in findings.csv asks for a row a finding" {
  clprobe latency "${few_sizes[@]}" -o a.json -o a-findings.csv -o a.csv
  [ "$(wc -l <a-findings.csv)" -eq "$(jq '1 + (.results[0].findings | length)' a.json)" ]
  head -n 1 a-findings.csv | grep -q ',finding,value,low,high,unit,'
  head -n 1 a.csv | grep -q ',host_ns,'
  clprobe report a.json -f findings
  diff <(printf '%s\n' "$output") a-findings.csv
}

@test "an output folder that does not exist is refused before measuring" {
  # Without a driver, measuring would end with 3.
  OCL_ICD_VENDORS=$PWD/none clprobe latency -o nosuch/folder/a.json
  fails_with 2 nosuch/folder/a.json 'choose another path'
}

@test "an output that may not be written is refused before measuring" {
  mkdir a.json
  clprobe latency -o a.json
  fails_with 2 a.json 'choose another path'
  clprobe latency -o /proc/a.json
  fails_with 2 /proc/a.json 'choose another path'
}

@test "one bad path of several: nothing is measured and nothing is left behind" {
  clprobe latency "${few_sizes[@]}" -o good.json -o nosuch/a.json
  fails_with 2 nosuch/a.json
  [ -z "$(ls -A)" ]
}

@test "a full disk is an error and no crash" {
  run --separate-stderr bash -c '"$0" latency "$@" --json >/dev/full' "$CLPROBE" "${few_sizes[@]}"
  fails_with 1 'No space left'
  # The other outputs are kept.
  clprobe latency "${few_sizes[@]}" -o a.json -o /dev/full
  fails_with 1 'No space left' /dev/full
  json_says '.results | length == 1' a.json
}

@test "a full disk under list and help is an error too" {
  run --separate-stderr bash -c '"$0" list >/dev/full' "$CLPROBE"
  [ "$status" -eq 1 ]
  run --separate-stderr bash -c '"$0" --help >/dev/full' "$CLPROBE"
  [ "$status" -eq 1 ]
}

@test "a closed pipe is no error" {
  run --separate-stderr bash -c 'set -o pipefail; "$0" latency "$@" -v | head -n 1' \
    "$CLPROBE" "${few_sizes[@]}"
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  run --separate-stderr bash -c 'set -o pipefail; "$0" --help | head -n 1' "$CLPROBE"
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
}

@test "no colour in a pipe, colour on demand, and NO_COLOR wins over the terminal" {
  clprobe latency "${few_sizes[@]}"
  [[ $output != *$'\e['* ]]
  CLICOLOR_FORCE=1 clprobe latency "${few_sizes[@]}"
  [[ $output == *$'\e['* ]]
  clprobe latency "${few_sizes[@]}" --color always
  [[ $output == *$'\e['* ]]
  # script gives it a terminal; its progress line and the table must then be plain.
  NO_COLOR=1 script --quiet --return --command "'$CLPROBE' list" typescript >/dev/null
  run ! grep -q $'\e\\[[0-9;]*m' typescript
}

@test "progress on a terminal says what goes on, and its share never falls" {
  local words last share highest=0
  for words in "-d sim:fermi-m2070 inflight --quick" "latency ${few_sizes[*]} stride --quick" \
    "-d sim:gsi,sim:hopper-like latency banks --quick"; do
    TERM=xterm timeout 120 script --quiet --return \
      --command "stty cols 100; '$CLPROBE' $words" seen </dev/null >/dev/null
    tr '\r' '\n' <seen >lines
    last=-1
    while read -r share; do
      ((share >= last)) || { echo "$words: $share after $last"; false; }
      last=$share
    done < <(sed -n 's/.*[]] *\([0-9]*\) %.*/\1/p' lines)
    [ "$last" -ge 0 ]
    highest=$((last > highest ? last : highest))
  done
  # A simulation may be over before its line is drawn again; what a driver compiles is not.
  [ "$highest" -gt 0 ]
  # Before a device is measured there is no share of anything, but the time that has passed.
  TERM=xterm timeout 120 script --quiet --return \
    --command "stty cols 100; '$CLPROBE' latency ${few_sizes[*]}" seen </dev/null >/dev/null
  tr '\r' '\n' <seen >lines
  grep -q 'trying .*0:0[0-9]' lines
  run ! grep -q 'trying .* %' lines
}

@test "dry-run measures nothing and says what it would" {
  clprobe latency "${few_sizes[@]}" --dry-run
  [ "$status" -eq 0 ]
  [[ -n $output && $output != *together* ]]
  clprobe latency banks --dry-run --time-budget 10s
  [[ $status -eq 0 && $(tail -n 1 <<<"$output") == '  together: up to 10 s' ]]
  # A simulated device has the time that it takes, unless it was given one.
  clprobe latency banks -d sim:gsi --dry-run
  [[ $status -eq 0 && $output == *'points in 3 series, 256 MiB, each point measured once'* && $output != *'up to'* ]]
  clprobe latency banks -d sim:gsi --dry-run --time-budget 10s
  [[ $status -eq 0 && $output == *'up to 5 s'* && $(tail -n 1 <<<"$output") == '  together: up to 10 s' ]]
}

@test "the same seed gives the same points" {
  clprobe latency "${few_sizes[@]}" --seed 7 -o a.json
  clprobe latency "${few_sizes[@]}" --seed 7 -o b.json
  points='[.results[0].points[] | [.series, .parameters.working_set_bytes]] | sort'
  [ "$(jq -c "$points" a.json)" = "$(jq -c "$points" b.json)" ]
}

@test "banks in every format: no banks of a processor, and the reason" {
  clprobe banks --quick --time-budget 60s --series load-latency --word-size 4 -o a.json -o a.csv -o a.md
  [ "$status" -eq 0 ]
  [[ $output == *'not visible'* && $output == *'columns: stride words'* ]]
  json_says '[.results[0].findings[] | select(.name == "banks")] | length == 1 and (.[0] | .value == null and (.reason | test("^not visible")))' a.json
  json_says '[.results[0].findings[] | select(.name == "bank_width" or .name == "c1" or .name == "cost_per_way")] == []' a.json
  json_says '[.results[0].points[] | select((.failure // "") != "")] == []' a.json
  grep -q '^| local memory |.*not visible' a.md
  grep -q ',stride,' a.csv
  clprobe report a.json -f markdown
  diff <(printf '%s\n' "$output") a.md
}

@test "congestion that is asked for is measured where no banks are visible, with every k" {
  clprobe banks --quick --time-budget 60s --word-size 4 --series load-latency,load-model,store-model \
    --ways 1,3,8 --instructions 3 --json
  [ "$status" -eq 0 ]
  json_says '.results[0].status == "ok"'
  # On a busy machine the clock in the kernel may not stand its trial, and nothing else can time it.
  if ! json_says '.device.timer == "clock"'; then
    json_says '[.results[0].findings[] | select(.name == "c1").reason | contains("few accesses can only be timed by a clock")] == [true, true]'
    return
  fi
  json_says '[.results[0].points[] | select(.series == "store-model").parameters.ways] | sort == [1, 3, 8]'
  # A mean of 100 launches of 3 accesses each.
  json_says '[.results[0].points[] | select(.series | endswith("model")).samples[].accesses] | unique == [300]'
}
