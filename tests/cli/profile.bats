#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq expands its own
# profile: the kernels of programs that use OpenCL in many ways (tests/profile), and of clpeak.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  : "${CLPROBE_SURVEYED:?names the program to survey}"
  unset OPENCL_LAYERS CLPROBE_SURVEY
}

# survey WORD...: the survey of the test's program as JSON.
survey() {
  clprobe profile --list --json -- "$CLPROBE_SURVEYED" "$@"
}

# unchanged WORD...: the program writes under a survey what it writes without, and ends so.
unchanged() {
  local plain plain_status=0
  plain=$("$CLPROBE_SURVEYED" "$@" 2>&1) || plain_status=$?
  survey "$@"
  [[ $plain == "$(grep --invert-match '^clprobe:' <<<"$stderr")" ]] || {
    printf '%s\n--- is now\n%s\n' "$plain" "$stderr"
    return 1
  }
  if ((plain_status == 0)); then
    [[ $status -eq 0 ]]
  else
    [[ $status -eq 1 ]]
  fi
}

# Every launch has a time, and its kernel a share.
all_timed() {
  json_says '.launches == .timed + .estimated and .not_timed == [] and (.device_ns > 0) and
    ([.kernels[].share] | add | . > 0.999 and . < 1.001) and (.wall_s * 1e9 > 0) and
    all(.kernels[]; .min_ns <= .max_ns and .launches * .max_ns >= .total_ns and .total_ns >= .launches * .min_ns)'
}

@test "launches, sizes, device and time of one kernel" {
  unchanged many 300 2048
  all_timed
  json_says '.schema == "clprobe-survey" and .schema_version == 1 and .status == 0 and .signal == null'
  json_says '.kernels | length == 1 and (.[0] | .kernel == "add" and .launches == 300 and .global == [2048]
    and .local == [64] and .program_kind == "source" and .is_main and (.device | length > 0))'
  json_says '.processes | length == 1 and .[0].name == "clprobe_surveyed"'
  json_says '.app == ["clprobe_surveyed", "many", "300", "2048"]'
}

@test "a survey is no run, and report and compare say what it is" {
  clprobe profile --list -o a.json -- "$CLPROBE_SURVEYED" many 5
  local command
  for command in "report a.json" "compare a.json a.json"; do
    # shellcheck disable=SC2086  # words
    clprobe $command
    [[ $status -eq 2 && $stderr == *"a.json"*": it is a survey of a program's kernels (profile --list), which no command reads"* ]]
    [[ $(wc -l <<<"$stderr") -eq 1 ]]
  done
}

@test "of many short launches the first thousand are timed, and some others" {
  unchanged many 20000 64
  all_timed
  json_says '.launches == 20000 and .timed >= 1000 and .timed < 10000 and .kernels[0].estimated == .estimated'
  json_says '.kernels[0] | .total_ns >= .launches * .min_ns and .total_ns <= .launches * .max_ns'
  clprobe profile --list -- "$CLPROBE_SURVEYED" many 20000 64
  [[ $output == *'estimated: '*' launches are untimed, '* ]]
  unchanged many 1000 64
  json_says '.launches == 1000 and .timed == 1000 and .estimated == 0'
}

@test "four threads with a queue and a kernel each lose no launch" {
  for _ in 1 2 3; do
    unchanged threads
    all_timed
    json_says '[.kernels[] | select(.kernel == "add") | .launches] | add == 2000'
  done
}

@test "an out-of-order queue with the program's own events" {
  unchanged events
  all_timed
  json_says '[.kernels[] | [.kernel, .launches, .global, .local]] | sort ==
    [["add", 200, [4096], null], ["slow", 200, [4096], null]]'
}

@test "kernels of one name: other texts, other options and a binary are other programs" {
  unchanged programs
  all_timed
  json_says '(.kernels | length == 4) and all(.kernels[]; .kernel == "same" and .launches == 10)'
  json_says '([.kernels[].program] | unique | length == 4) and
    ([.kernels[].program_kind] | sort == ["binary", "source", "source", "source"])'
  # By the text and the options, and not by chance.
  local before=$output
  survey programs
  [[ $(jq '[.kernels[].program] | sort' <<<"$output") == "$(jq '[.kernels[].program] | sort' <<<"$before")" ]]
}

@test "kernels of a binary are counted, and marked" {
  unchanged binary
  all_timed
  json_says '[.kernels[] | [.kernel, .launches, .program_kind]] == [["add", 10, "binary"]]'
  clprobe profile --list -- "$CLPROBE_SURVEYED" binary
  [[ $output == *'add'*'from a binary'* ]]
}

@test "clEnqueueTask, kernels that are released at once, and all kernels of a program" {
  unchanged tasks
  all_timed
  json_says '[.kernels[] | [.kernel, .launches, .global, .local]] | sort ==
    [["add", 1, [128], null], ["add", 50, [1], [1]], ["slow", 1, [128], null]]'
}

@test "queues and events say of themselves what they say without us" {
  unchanged queues
  all_timed
}

@test "what cannot be timed is counted, with the reason" {
  unchanged gaps
  json_says '.launches == 1 and .kernels[0].uses_svm'
  json_says '[.not_counted[] | [.reason, .count]] ==
    [["refused", 1], ["host-function", 1], ["extension", 1]]'
  clprobe profile --list -- "$CLPROBE_SURVEYED" gaps
  [[ $output == *'not counted: 1 launch that the driver refused; 1 function of the host'* && $output == *' SVM'* ]]
  unchanged unfinished
  json_says '.launches == 1 and .timed == 0 and .not_timed == [{"reason": "unfinished", "count": 1}]'
  clprobe profile --list -- "$CLPROBE_SURVEYED" unfinished
  [[ $output == *'not timed: 1 launch unfinished when the program ended'* ]]
}

# below STRANGE WORD...: the test's program, surveyed above a driver that does something strange. What it
# writes is in `output`, the file of its survey in `found`.
below() {
  local strange=$1
  shift
  rm -rf survey && mkdir survey
  CLPROBE_STRANGE=$strange CLPROBE_SURVEY=$PWD/survey \
    OPENCL_LAYERS=$(readlink -f "$CLPROBE_STRANGE_LAYER"):$(readlink -f "$CLPROBE_LAYER") \
    run "$CLPROBE_SURVEYED" "$@"
  found=$(<survey/*.survey)
}

@test "drivers that refuse profiling, lie about times or fail: counted, and nothing else changes" {
  local plain strange reason
  plain=$("$CLPROBE_SURVEYED" many 50)
  while read -r strange reason; do
    below "$strange" many 50
    printf '%s: %s\n%s\n' "$strange" "$output" "$found"
    [[ $status -eq 0 && $output == "$plain" ]]
    # The launches are there, and none of them has a time.
    jq --exit-status '.rows | length == 1 and .[0].signature.kernel == "add" and .[0].typical.ordinal == 0 and
      .[0].sum == {launches: 50, timed: 0, total_ns: 0, min_ns: 0, max_ns: 0, estimated: 0}' <<<"$found"
    # Each has the driver's reason, or was not asked for.
    jq --exit-status --arg reason "$reason" '.gaps | (add == 50) and (.[$reason] >= 4) and
      (keys - [$reason, "too-few-times"] == [])' <<<"$found"
  done <<'end'
refuse no-profiling
silent no-profiling
no-event no-profiling
backwards bad-times
failed failed
end
  # A driver without profiling: the queues are there, and those that want it are refused as before.
  below refuse queues
  [[ $output == *'old way: made 0, properties 0 8 1, list 0 0, times -7'* ]]
  [[ $output == *$'\nold way: made -35\nold way: made -35\n'* && $output == *'order: made 0, properties 0 8 1'* ]]
  below nothing many 50
  jq --exit-status '.rows[0].sum | .launches == 50 and .timed >= 4 and .timed + .estimated == 50' <<<"$found"
}

@test "the event clock is compared with the host's, from one call to another" {
  local strange low high
  while read -r strange low high; do
    below "$strange" many 20000 64
    [ "$status" -eq 0 ]
    # The two bounds of the host's time, as shares of the events' time.
    jq --exit-status --argjson low "$low" --argjson high "$high" \
      '.clock | .host_max_ns / .event_ns > $low and .host_min_ns / .event_ns < $high' <<<"$found"
  done <<'end'
slow 41 43
fast 0.3 0.4
nothing 0.98 1.02
end
}

@test "a program that crashes or leaves by _exit is surveyed up to there, and told of in one line" {
  unchanged crash
  [[ $stderr == *"clprobe: 'clprobe_surveyed' was killed by signal 11"* ]]
  json_says '.signal == 11 and .status == null and .launches == 30 and .timed + .estimated == 30 and .kernels[0].kernel == "before_crash"'
  unchanged leave
  [[ $stderr == *"clprobe: 'clprobe_surveyed' ended with status 3"* ]]
  json_says '.signal == null and .status == 3 and .launches == 30 and .timed + .estimated == 30'
}

@test "what a child of fork() launches counts once, and what its parent had launched not again" {
  unchanged fork
  json_says '[.kernels[] | [.kernel, .launches]] | sort == [["in_child", 20], ["in_parent", 40]]'
  json_says '.processes | length == 2'
  # Nor does a child that ends later put what it knows of its parent in the place of the whole.
  clprobe profile --list --json -- sh -c '"$0" orphan && sleep 2' "$CLPROBE_SURVEYED"
  json_says '.launches == 40 and .timed + .estimated == 40'
}

@test "a script of several programs is surveyed as one" {
  clprobe profile --list --json -- sh -c '"$0" many 10 && "$0" tasks && exec "$0" many 20' "$CLPROBE_SURVEYED"
  [ "$status" -eq 0 ]
  json_says '(.processes | length == 3) and ([.kernels[].launches] | add == 82)'
}

@test "a loader that takes no layers is replaced by one that does" {
  local loader
  loader=$(realpath "$(ldd "$CLPROBE_SURVEYED" | sed -n 's/.*libOpenCL.so.1 => \([^ ]*\).*/\1/p')")
  mkdir toolkit
  sed 's/OPENCL_LAYERS/OPENCL_NOTICE/' "$loader" >toolkit/libOpenCL.so.1
  LD_LIBRARY_PATH=$PWD/toolkit survey many 5
  [ "$status" -eq 0 ]
  json_says '.launches == 5 and .timed == 5'
  [[ $stderr == *"clprobe: '$CLPROBE_SURVEYED' ran with /usr/"*"/libOpenCL.so.1 instead of $PWD/toolkit/libOpenCL.so.1, which does not support layers"* ]]
}

@test "sizes beyond counting are put together" {
  unchanged sizes 10050
  all_timed
  json_says '(.kernels | length == 10001) and ([.kernels[] | select(.global == null) | .launches] == [50])'
  clprobe profile --list -- "$CLPROBE_SURVEYED" sizes 100
  [[ $output == *' 100 sizes '*'-v also shows a row for each size'* ]]
  clprobe profile --list -v -- "$CLPROBE_SURVEYED" sizes 100
  [[ $output != *'-v also shows'* && $(grep --count ' add$' <<<"$output") -eq 100 ]]
}

@test "a program without OpenCL, one that fails, and one that cannot be started" {
  clprobe profile --list -- "$CLPROBE_SURVEYED" nothing
  fails_with 1 clprobe_surveyed 'made no OpenCL calls' 'ocl-icd 2.3 or later'
  [[ $output == '' ]]
  clprobe profile --list -- "$CLPROBE_SURVEYED" nothing 4
  fails_with 1 'ended with status 4' 'made no OpenCL calls'
  clprobe profile --list -- ./nosuch
  fails_with 2 "cannot start './nosuch'" 'No such file'
  clprobe profile --list -o no/such/folder.json -- touch started
  fails_with 2 'folder.json'
  [[ ! -e started ]]
}

@test "the program has its stdin, its arguments as they are, and stdout goes to stderr" {
  run --separate-stderr bash -c 'echo word | "$CLPROBE" profile --list -- sh -c "cat; printf \"%s|\" \"\$@\"; \"$CLPROBE_SURVEYED\" many 5" sh "a b" --json -- ""'
  [ "$status" -eq 0 ]
  [[ $stderr == $'word\na b|--json|--||sum'* && $output != *word* && $output == *' add'* ]]
}

@test "the user's own layers stay, and ours is nearest to the driver" {
  local layer
  layer=$(readlink -f "$CLPROBE_LAYER")
  OPENCL_LAYERS=/no/such/layer.so clprobe profile --list --json -- sh -c 'echo "layers $OPENCL_LAYERS"; "$0" many 5' "$CLPROBE_SURVEYED"
  [ "$status" -eq 0 ]
  [[ $stderr == *"layers $layer:/no/such/layer.so"* ]]
  json_says '.launches == 5'
  # Named twice it is there once; and without somebody who asks it does nothing.
  OPENCL_LAYERS=$layer survey many 5
  json_says '.launches == 5'
  OPENCL_LAYERS=$layer run "$CLPROBE_SURVEYED" many 5
  [[ $status -eq 0 && $output == 'sum '* ]]
}

@test "the layer gives the program no names but the two that the loader asks for" {
  run nm --dynamic --defined-only --format=posix "$CLPROBE_LAYER"
  [[ $(cut --delimiter=' ' --fields=1 <<<"$output") == $'clGetLayerInfo\nclInitLayer' ]]
}

@test "every format, several at once, and nothing is left behind" {
  mkdir tmp
  TMPDIR=$PWD/tmp clprobe profile --list -f csv -o a.json -o a.md -o a.txt -- "$CLPROBE_SURVEYED" tasks
  [ "$status" -eq 0 ]
  # Which row took longest, and comes first, depends on who else had the cores.
  [[ ${lines[0]} == kernel,program,* && $(printf '%s\n' "${lines[@]:1}" | sort | cut --delimiter=, --fields=1,3) == \
    $'add,source\nadd,source\nslow,source' ]]
  json_says '.launches == 52' a.json
  [[ $(<a.md) == *'| global | local | kernel |'* && $(<a.txt) == clprobe_surveyed:* ]]
  [[ -z $(ls tmp) ]]
}

@test "an interrupt ends the program, and the survey has what there was" {
  interrupted_survey() {
    "$CLPROBE" profile --list --json -- sh -c '"$0" many 50; touch launched; exec sleep 60' "$CLPROBE_SURVEYED" >out.json &
    local pid=$!
    for _ in {1..1200}; do
      [[ -e launched ]] && break
      sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid"
  }
  run --separate-stderr interrupted_survey
  [ "$status" -eq 130 ]
  json_says '.interrupted and .launches == 50 and .signal == 15' out.json
}

@test "names of kernels, programs and devices cannot do anything to a terminal" {
  local program=$'a\e[31mb'
  ln -s "$CLPROBE_SURVEYED" "$program"
  clprobe profile --list -- "./$program" many 5
  [ "$status" -eq 0 ]
  only_seen <<<"$output"
  clprobe profile --list -- "./$program" nothing 3
  fails_with 1
  only_seen <<<"$stderr"
}

@test "clpeak: all of its launches" {
  command -v clpeak >/dev/null || {
    [[ -z ${CLPROBE_REQUIRE_ALL:-} ]]
    skip 'clpeak is not installed'
  }
  clprobe profile --list --json -- clpeak --kernel-latency
  [ "$status" -eq 0 ]
  all_timed
  # It makes 20,000 in a queue with profiling of its own, and some to warm up.
  json_says '.launches > 20000 and (.kernels | length == 1)'
}
