#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; bash -c expands its own
# What drivers say reaches people without what is not seen, and documents without who measured.
# The drivers are played by tests/fault/words.cpp.
bats_require_minimum_version 1.5.0

# C0, DEL, C1 in both forms, directions, a tag, zero widths, and a line without an end.
hidden=$'\e[31m\e]0;owned\a\x7f\x9b31m\xc2\x9b31m\xe2\x80\xae\xe2\x81\xa6\xf3\xa0\x81\x81\xe2\x80\x8b\xef\xbb\xbf'

setup() {
  load common
  common_setup
  : "${CLPROBE_WORDS_LIBRARY:?names libclprobe_words.so}"
  formats=(a.json a.csv a.md a.txt a.html a.svg)
  outputs=()
  local file
  for file in "${formats[@]}"; do outputs+=(-o "$file"); done
}

# saying PLACE WORDS ARGUMENT...: runs clprobe over a driver that says the words there.
saying() {
  local place=$1 words=$2
  shift 2
  run --separate-stderr timeout 120 env LD_PRELOAD="$CLPROBE_WORDS_LIBRARY" CLPROBE_WORDS_AT="$place" \
    CLPROBE_WORDS="$words" "$CLPROBE" "$@"
}

# nothing_hidden: in stdout, stderr and every file that was written.
nothing_hidden() {
  local file
  only_seen <<<"$output" || return 1
  only_seen <<<"$stderr" || return 1
  for file in "${formats[@]}"; do
    [[ ! -e $file ]] || only_seen <"$file" || return 1
  done
}

@test "the library alone changes nothing" {
  saying nowhere '' latency "${few_sizes[@]}" --json
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
}

@test "what is not seen in a driver's words is shown nowhere" {
  local long
  printf -v long '%01500d' 0
  local place
  for place in load launch build names; do
    saying "$place" "words$hidden$long" latency "${few_sizes[@]}" "${outputs[@]}"
    printf '%s: status %s, %s\n' "$place" "$status" "$stderr"
    nothing_hidden
    ((${#stderr} < 2100))
    if [[ $place != names ]]; then
      [[ $status -ne 0 && $stderr == clprobe:*'words?'* && $stderr != *$'\n'* ]]
    fi
    rm -f "${formats[@]}"
  done
  for place in load names; do
    saying "$place" "words$hidden$long" list
    nothing_hidden
    saying "$place" "words$hidden" list --json
    nothing_hidden
    saying "$place" "words$hidden" -d nosuch --dry-run
    [ "$status" -ne 0 ]
    nothing_hidden
  done
}

# The person and the machine of the tests below.
secrets=(alicesecret hostsecret customersecret cachesecret)

# as_alice COMMAND...: in a home, a folder, a cache and on a host whose names would be noticed. A
# machine that lets nobody name a host has no name to look for.
as_alice() {
  local home=$BATS_TEST_TMPDIR/home/alicesecret
  mkdir -p "$home/customersecret" "$BATS_TEST_TMPDIR/cachesecret"
  cd "$home/customersecret" || return 1
  local -a host=() as_root=(unshare --user --map-root-user --uts)
  if unshare --uts true 2>/dev/null; then as_root=(unshare --uts); fi
  if "${as_root[@]}" true 2>/dev/null; then
    host=("${as_root[@]}" bash -c 'hostname hostsecret && exec "$@"' bash)
  else
    secrets=(alicesecret customersecret cachesecret)
  fi
  run --separate-stderr timeout 180 "${host[@]}" env HOME="$home" USER=alicesecret \
    LOGNAME=alicesecret POCL_CACHE_DIR="${cache-$BATS_TEST_TMPDIR/cachesecret}" "$@"
}

# tells_nothing FILE...: of who and where this was.
tells_nothing() {
  local secret
  for secret in "${secrets[@]}"; do
    if grep --files-with-matches --text -e "$secret" "$@"; then
      printf 'tells %s\n' "$secret"
      grep --text -o -e ".\{60\}$secret.\{20\}" "$@" | head -n 3
      return 1
    fi
  done
}

# words_with_places: a message as drivers and their compilers write them.
words_with_places() {
  local home=$BATS_TEST_TMPDIR/home/alicesecret
  printf '%s: error: see %s/x.log, "%s/.cache/pocl/t.cl" /scratch/alicesecret/y hostsecret:/z %s/k.so' \
    "$home/customersecret/in.cl" "$BATS_TEST_TMPDIR/cachesecret" "$home" "$home/customersecret"
}

@test "documents of every format tell nothing of who measured, where" {
  local folder=$BATS_TEST_TMPDIR/home/alicesecret/customersecret file
  as_alice "$CLPROBE" latency -d 0 "${few_sizes[@]}" -o "$folder/a.json" -o"$folder/a.csv" \
    --output="$folder/a.md" --output "$folder/a.txt" -qo "$folder/a.html" -o "$folder/a.svg"
  printf '%s\n' "$stderr"
  [ "$status" -eq 0 ]
  tells_nothing "${formats[@]}"
  json_says '.arguments | index("a.json") != null and index("-oa.csv") != null' a.json
  as_alice "$CLPROBE" report "$folder/a.json" -o b.html -o b.json
  [ "$status" -eq 0 ]
  tells_nothing b.html b.json
  tells_nothing - <<<"$output"
  # A machine from a file, and another tool's results.
  as_alice "$CLPROBE" -d sim:gsi latency --series global --sizes 4KiB -o s.json
  jq '.device.reported.machine | fromjson' s.json >machine.json
  as_alice "$CLPROBE" -d "sim:$folder/machine.json" latency --series global --sizes 4KiB -o t.json -o t.html
  [ "$status" -eq 0 ]
  tells_nothing t.json t.html
  cp "$BATS_TEST_DIRNAME/../import/chase.csv" chase.csv
  as_alice "$CLPROBE" import "$folder/chase.csv" -o "$folder/v.json"
  [ "$status" -eq 0 ]
  tells_nothing v.json
  as_alice "$CLPROBE" list
  tells_nothing - <<<"$output"
}

@test "a driver's words are published without folders of the person, and without names" {
  local place words
  words=$(words_with_places)
  for place in load launch build; do
    as_alice env LD_PRELOAD="$CLPROBE_WORDS_LIBRARY" CLPROBE_WORDS_AT="$place" CLPROBE_WORDS="$words" \
      "$CLPROBE" latency -d 0 "${few_sizes[@]}" "${outputs[@]}"
    printf '%s: status %s, %s\n' "$place" "$status" "$stderr"
    [ "$status" -ne 0 ]
    # What is left of the words says where it was all the same.
    [[ $stderr == *'./in.cl: error'* ]]
    tells_nothing - <<<"$stderr"
    [[ $place == load || $stderr == *'$POCL_CACHE_DIR/x.log'* ]]
    [[ ! -e a.json ]] || tells_nothing "${formats[@]}"
    rm -f "${formats[@]}"
  done
}

@test "a cache of PoCL that cannot be written is named when a build fails" {
  unshare --mount true 2>/dev/null || skip 'may not mount a disk'
  local options problem
  for options in ro,size=1m:'Read-only file system' size=16k:'No space left' size=16m,noexec:noexec; do
    problem=${options##*:}
    run --separate-stderr timeout 120 unshare --mount bash -c '
      mkdir -p cache && mount -t tmpfs -o "$1" tmpfs cache || exit 99
      POCL_CACHE_DIR=$PWD/cache exec "$CLPROBE" latency -d 0 --sizes 4KiB --series global --quick' \
      bash "${options%%:*}"
    printf '%s: %s\n' "$options" "$stderr"
    fails_with '[13]' "$problem" 'set POCL_CACHE_DIR'
  done
}

@test "drivers that do not fit into the memory of the process are not called absent" {
  run --separate-stderr bash -c 'ulimit -v 150000; exec "$CLPROBE" list'
  fails_with 3 '146 MiB' 'ulimit -v'
  [[ $stderr != *'ICD file'* ]]
}
