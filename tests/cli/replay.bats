#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq expands its own
# profile: launches that are captured in programs (tests/profile), described by hand, and replayed.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  : "${CLPROBE_SURVEYED:?names the program to capture}"
  unset OPENCL_LAYERS CLPROBE_SURVEY CLPROBE_CAPTURE CLPROBE_BUNDLES
}

# capture WORD...: the program, captured into kept/ and replayed into a.json; it writes what it writes
# without us, in each of its two runs.
capture() {
  local plain
  plain=$("$CLPROBE_SURVEYED" "$@")
  clprobe profile --quick --keep kept -o a.json -- "$CLPROBE_SURVEYED" "$@"
  [[ $plain$'\n'$plain == "$(grep --invert-match '^clprobe:' <<<"$stderr")" ]] || {
    printf '%s\n--- is now\n%s\n' "$plain" "$stderr"
    return 1
  }
}

# The same of a program whose lines come in any order.
capture_sorted() {
  local plain
  plain=$("$CLPROBE_SURVEYED" "$@")
  clprobe profile --quick --keep kept -o a.json -- "$CLPROBE_SURVEYED" "$@"
  diff <(printf '%s\n%s\n' "$plain" "$plain" | sort) <(grep --invert-match '^clprobe:' <<<"$stderr" | sort)
}

# finding NAME SERIES: its label, value or reason in a.json.
finding() {
  jq --raw-output --arg name "$1" --arg series "$2" \
    '.results[0].findings[] | select(.name == $name and .series == $series) | .label // .value // .reason' a.json
}

@test "parts of buffers, local memory, structs, null and offsets: the replay is the program's launch" {
  capture parts
  [ "$status" -eq 0 ]
  json_says '.results | length == 1 and .[0].probe == "kernel" and .[0].status == "ok"' a.json
  [[ $(finding equal_to_app parts) == yes && $(finding deterministic parts) == yes ]]
  [[ $(finding app_share parts) == 1* ]]
  json_says '.survey.launches == 3 and (.objects | length == 2) and .offset == [128] and
    .arguments[0].origin == 4096 and .arguments[2].local_bytes == 256 and .arguments[3].hex == "0500000007000000" and
    (.arguments[4] | .null or .local_bytes == 8) and (.app_event_ns | length == 1) and (.epilogue | length == 2)' kept/parts/launch.json
  # Nothing says where the program or the bundle is.
  run ! grep --fixed-strings "$PWD" a.json kept/parts/launch.json
  # Later, and from the document alone.
  clprobe profile --quick --json kept/parts
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.name == "equal_to_app").label] == ["yes"]'
  clprobe report a.json
  [[ $status -eq 0 && $(tr -s ' \n' '  ' <<<"$output") == *'equal to app yes'* ]]
}

# Two headers that the program of the mode `headers` includes, one of which includes the other.
write_headers() {
  mkdir "$1"
  printf '#pragma once\n#include "times.h"\nuint plus(uint a, uint b) { return a + b; }\n' >"$1/plus.h"
  printf '#ifndef TIMES_H\n#define TIMES_H\nuint times(uint a) { return a * 5; }\n#endif\n' >"$1/times.h"
}

@test "headers in a folder: the bundle has them, and causes are taken away where they are no more" {
  write_headers folder
  capture headers "$PWD/folder"
  [[ $status -eq 0 && $(finding equal_to_app included) == yes ]]
  json_says '.program | [.headers[].name] == ["times.h", "plus.h"] and .headers[1].includes[0].header == 0 and
    ([.units[0].includes[].header] == [0, 1])' kept/included/launch.json
  rm -r folder
  clprobe profile --quick --json kept/included
  [ "$status" -eq 0 ]
  json_says '.results[0] | ([.findings[] | select(.name == "equal_to_app").label] == ["yes"]) and
    ([.points[] | select(.series == "included, folded") | .samples | length > 0] | length > 3 and all) and
    ([.points[].facts.memory_absence] | unique == [null])'
}

@test "a header that the bundle does not have is read where --headers names its folder, and nowhere else" {
  write_headers folder
  capture headers "$PWD/folder"
  jq 'del(.program.headers, .program.units[0].includes)' kept/included/launch.json >launch.json
  cp launch.json kept/included/launch.json
  clprobe profile --quick --json kept/included
  [[ $status -ne 0 && $output$stderr == *'the program includes'*'times.h'*'--headers FOLDER'* ]]
  clprobe profile --quick --json --headers folder kept/included
  [ "$status" -eq 0 ]
  json_says '.results[0] | ([.findings[] | select(.name == "equal_to_app").label] == ["yes"]) and
    ([.points[].facts.memory_absence] | unique == [null])'
}

@test "-o replaces no file that a replay or a program's run reads" {
  write_headers folder
  capture headers "$PWD/folder"
  described '#include "folder/plus.h"
kernel void k(global uint* a, uint n) { a[get_global_id(0)] = plus(a[0], n); }'
  local file
  for file in kept/included/*; do
    ln "$file" "hard-$(basename "$file").json"
    for name in "hard-$(basename "$file").json" kept/included/launch.json; do
      clprobe profile --quick kept/included -o "$name"
      fails_with 2 'would overwrite the input'
    done
  done
  for file in k.cl k.json folder/plus.h folder/times.h; do
    ln -s "$file" link.json
    clprobe profile --quick --kernel-file k.cl --launch k.json -o link.json
    fails_with 2 'would overwrite the input'
    rm link.json
  done
  cp "$CLPROBE_SURVEYED" app.json
  clprobe profile --list -o app.json -- ./app.json headers "$PWD/folder"
  fails_with 2 'would overwrite the input'
}

@test "a bundle's text quotes no file outside of the bundle" {
  echo hunter2_token >secret
  described 'kernel void k(global uint* a, uint n) { a[0] = n; }'
  ln -s "$PWD" link
  local name
  mkdir given
  for name in "$PWD/secret" ../secret link/secret; do
    printf 'constant int z =\n#include "%s"\n; kernel void k(global uint* a, uint n) { a[0] = z; }' "$name" >given/k.cl
    clprobe profile --quick -o a.json --kernel-file given/k.cl --launch k.json
    [[ $status -ne 0 && $output$stderr != *hunter2* ]]
    run ! grep hunter2 a.json
  done
}

@test "headers beside --kernel-file, and in the folders of its options" {
  write_headers folder
  printf '#include "folder/plus.h"\nkernel void add(global uint* a) { a[get_global_id(0)] = plus(a[get_global_id(0)], 1); }\n' >k.cl
  jq --null-input '{schema: "clprobe-launch", schema_version: 1, kernel: "add", global: [4096], local: [64],
    arguments: [{buffer: "a"}], objects: [{buffer: "a", type: "uint", count: 4096, fill: "iota"}]}' >k.json
  clprobe profile --quick --json --kernel-file k.cl --launch k.json
  [ "$status" -eq 0 ]
  json_says '[.results[0].points[] | select(.series == "add, folded") | .samples | length > 0] | length > 3 and all'
  sed --in-place 's|folder/||' k.cl
  jq --arg options "-I$PWD/folder" '.program = {units: [{options: $options}]}' k.json >k2.json
  clprobe profile --quick --json --kernel-file k.cl --launch k2.json
  [ "$status" -eq 0 ]
}

@test "images of each kind and samplers: the replay leaves the program's pixels, and puts them back between" {
  local kernel
  for kernel in gather fade; do
    clprobe profile --quick --keep kept --kernel "$kernel" -o a.json -- "$CLPROBE_SURVEYED" images
    [[ $status -eq 0 && $(grep --count "^$("$CLPROBE_SURVEYED" images)\$" <<<"$stderr") -eq 2 ]]
    [[ $(finding equal_to_app "$kernel") == yes && $(finding deterministic "$kernel") == yes ]]
    # Behind the prelude it is the same launch: its points are measured.
    json_says '[.results[0].points[] | select(.series | endswith(", folded"))] |
      length > 1 and all(.samples | length > 0)' a.json
  done
  json_says '[.arguments[] | .layout.kind // (if .sampler then .sampler.addressing else .image // .buffer end)] ==
      ["i0", "i1", "1d_buffer", "i3", "i4", "i5", "repeat", "i6", "b2"] and
    [.objects[].layout.kind] == ["1d", "1d_array", null, "2d", "2d_array", "3d", "2d"] and
    [.objects[].bytes] == [128, 1024, 384, 3072, 6144, 1024, 12288] and
    (.epilogue | length == 7) and .epilogue[6].sha256 != .objects[6].sha256' kept/gather/launch.json
  # All of that is the working set, also what lies in rows of its own.
  json_says '[.results[0].points[].facts.buffer_bytes] | unique == [12288 + 3072]' a.json
}

@test "images that this device does not have, and pixels that are not those of the layout, are refused" {
  clprobe profile --quick --keep kept --kernel fade -o a.json -- "$CLPROBE_SURVEYED" images
  [ "$status" -eq 0 ]
  cp -r kept/fade other
  local zeros
  zeros=$(head --bytes=16777216 /dev/zero | sha256sum | cut --delimiter=' ' --fields=1)
  head --bytes=16777216 /dev/zero >"other/$zeros.bin"
  jq --arg zeros "$zeros" '.objects[0] |= (.layout.pixels = [1048576, 1] | .bytes = 16777216 | .sha256 = $zeros)' \
    kept/fade/launch.json >other/launch.json
  clprobe profile --quick --json other
  json_says '.results[0] | .status == "unsupported" and
    (.reason | startswith("this device does not support a 2d image of 1048576 x 1 pixels (rgba, unsigned_int32, read_write)"))'
  jq '.objects[0].layout.type = "unorm_short_555"' kept/fade/launch.json >other/launch.json
  clprobe profile other
  fails_with 2 "objects[0].bytes: expected 1536, the size of the image's pixels in bytes"
}

@test "threads, events, tasks, children and programs that end badly: each replay leaves what the program left" {
  local mode
  for mode in threads events tasks fork programs; do
    capture_sorted "$mode"
    [ "$status" -eq 0 ]
    json_says '[.results[0].findings[] | select(.name == "equal_to_app").label] | length > 0 and all(. == "yes")' a.json
    rm -rf kept
  done
  for mode in crash leave; do
    clprobe profile --quick --keep kept -o a.json -- "$CLPROBE_SURVEYED" "$mode"
    [ "$status" -eq 1 ]
    json_says '[.results[0].findings[] | select(.name == "equal_to_app").label] == ["yes"]' a.json
    rm -rf kept
  done
}

@test "what cannot be captured is refused with the reason, and the program goes on" {
  local mode reason
  while read -r mode reason; do
    capture "$mode"
    [[ $status -eq 1 && $stderr == *"is not captured: $reason"* && ! -e kept ]]
  done <<'end'
held-back earlier launches did not end while
polls earlier launches did not end while
gaps the kernel's argument 0 is a pointer to shared virtual memory
end
}

@test "a program from a binary is replayed as it is" {
  capture binary
  [ "$status" -eq 0 ]
  [[ $(finding equal_to_app add) == yes ]]
  json_says '.program.units[0].form == "binary"' kept/add/launch.json
  # What needs a text is refused, and the bar gives the time to what is left.
  json_says '.results[0].findings[] | select(.name == "memory") | .reason == "refused: the program has no OpenCL C text"' a.json
}

@test "a program that caches its binary between the two runs is captured all the same" {
  clprobe profile --quick --keep kept -o a.json -- "$CLPROBE_SURVEYED" binary cache
  [ "$status" -eq 0 ]
  [[ $(finding equal_to_app add) == yes ]]
  json_says '.program.units[0].form == "binary"' kept/add/launch.json
}

@test "a program from SPIR-V is replayed as it is, on devices that take SPIR-V" {
  # Below our layer, a driver that takes OpenCL C for SPIR-V.
  mkdir survey capture
  printf '[{"kernel":"add","ordinal":1,"launches":1,"share":1,"mean_ns":1}]' >capture/wanted
  CLPROBE_STRANGE=none CLPROBE_SURVEY=$PWD/survey CLPROBE_CAPTURE=$PWD/capture \
    OPENCL_LAYERS=$(readlink -f "$CLPROBE_STRANGE_LAYER"):$(readlink -f "$CLPROBE_LAYER") \
    run "$CLPROBE_SURVEYED" il
  json_says '.program.units[0].form == "spirv"' capture/0/launch.json
  CLPROBE_STRANGE=none OPENCL_LAYERS=$(readlink -f "$CLPROBE_STRANGE_LAYER") \
    clprobe profile --quick -o a.json capture/0
  [ "$status" -eq 0 ]
  [[ $(finding equal_to_app add) == yes ]]
  clprobe profile --quick capture/0
  [[ $status -eq 1 && $output$stderr == *"the device rejects the program (spirv)"* ]]
}

@test "queues that are released before their events, and a program that dies when it is captured" {
  capture drops
  [ "$status" -eq 0 ]
  [[ $(finding equal_to_app add) == yes ]]
  clprobe profile --quick -- "$CLPROBE_SURVEYED" dies
  [[ $status -eq 1 && $stderr == *"while launches were captured, 'clprobe_surveyed' was killed by signal 6 (Aborted)"* ]]
}

@test "images, pipes, queues on the device and programs that cannot be made again are refused with the reason" {
  local mode strange kernel reason plain
  while read -r mode strange kernel reason; do
    rm -rf survey capture && mkdir survey capture
    printf '[{"kernel":"%s","ordinal":1,"launches":1,"share":1,"mean_ns":1}]' "$kernel" >capture/wanted
    # Below our layer, as a driver is.
    export CLPROBE_STRANGE=$strange
    plain=$(OPENCL_LAYERS=$(readlink -f "$CLPROBE_STRANGE_LAYER") "$CLPROBE_SURVEYED" "$mode")
    CLPROBE_SURVEY=$PWD/survey CLPROBE_CAPTURE=$PWD/capture \
      OPENCL_LAYERS=$(readlink -f "$CLPROBE_STRANGE_LAYER"):$(readlink -f "$CLPROBE_LAYER") \
      run "$CLPROBE_SURVEYED" "$mode"
    printf '%s, %s: %s\n' "$mode" "$strange" "$(cat capture/0/*)"
    [[ $status -eq 0 && $output == "$plain" && $(<capture/0/refused) == "$reason" && ! -e capture/0/launch.json ]]
    # The survey counts it all the same.
    grep --quiet --fixed-strings "\"kernel\":\"$kernel\"" survey/*.survey
  done <<'end'
opengl none draw the kernel's argument 0 is an OpenGL object
images samples gather the kernel takes an image with several samples per pixel
images levels gather the kernel takes an image with several mip levels
images pixels gather the kernel takes an image of an unknown format
images unread gather the kernel takes an image that cannot be read or copied
pipe none add the kernel's argument 0 is a pipe
parts queue parts the kernel's argument 3 is a device queue
end
}

@test "one kernel by its name, and its N-th launch" {
  clprobe profile --quick --keep kept --kernel add:7 -o a.json -- "$CLPROBE_SURVEYED" many 20
  [ "$status" -eq 0 ]
  json_says '.ordinal == 7 and .survey.launches == 20' kept/add/launch.json
  clprobe profile --kernel add:21 -- "$CLPROBE_SURVEYED" many 20
  [[ $status -eq 1 && $stderr == *"'add' is not captured: the program's second run ended before making this launch 21 times" ]]
  clprobe profile --kernel nosuch -- "$CLPROBE_SURVEYED" many 20
  [[ $status -eq 2 && $stderr == *"the program does not launch 'nosuch'; it launches add" ]]
}

@test "a bundle that was changed is refused, and so is a folder that is none" {
  clprobe profile --quick --keep kept -o a.json -- "$CLPROBE_SURVEYED" many 20
  [ "$status" -eq 0 ]
  cp -r kept/add other
  printf ' ' >>other/*.cl
  clprobe profile other
  fails_with 2 'does not match the SHA-256 in its name'
  rm -r other && cp -r kept/add other
  truncate --size=100 other/launch.json
  clprobe profile other
  fails_with 2 'launch.json'
  clprobe profile "$CLPROBE_SURVEYED"
  fails_with 2 'is not a folder with a captured launch' "clprobe profile -- $CLPROBE_SURVEYED"
  rm -r other && cp -r kept/add other
  # Another text that does other things is not the program's launch.
  sed 's/+= n/+= n + 1/' kept/add/*.cl >other.cl
  clprobe profile --quick --json --kernel-file other.cl --launch kept/add/launch.json
  [ "$status" -eq 0 ]
  json_says '[.results[0].findings[] | select(.name == "time").reason] ==
    ["not reliable: after the replay, the bytes in b0 differ from the program\u0027s bytes"]'
}

@test "levels of a run of latency are marked: which one the buffers fall into, and folded" {
  clprobe latency --quick --series global --sizes 4KiB-1MiB -o levels.json
  # What was measured depends on who else uses the machine: here a load takes 4 ns up to 64 KiB, then 80.
  jq '.results[0].points[] |= ((if .parameters.working_set_bytes > 65536 then 80 else 4 end) as $ns |
    .samples[] |= ((.accesses * $ns) as $all | .host_ns = $all |
      if .event_ns then .event_ns = $all else . end | if .ticks then .ticks = $all else . end))' \
    levels.json >found.json
  described 'kernel void k(global int* a, int n) { a[get_global_id(0)] += n; }'
  jq '.global = [65536] | .objects[0].count = 65536' k.json >large.json
  clprobe profile --quick -o a.json --levels found.json --kernel-file k.cl --launch large.json
  [ "$status" -eq 0 ]
  [[ $(finding levels 'k, folded') == "The kernel's buffers of 256 KiB exceed global "*'; with '*' distinct groups, the used part fits in global '* ]]
  json_says '[.results[0].points[].facts.level_1_bytes] | length > 9 and all(. > 0)' a.json
  # From the document alone.
  clprobe report a.json
  [[ $(tr -s ' \n' '  ' <<<"$output") == *"The kernel's buffers of 256 KiB exceed global "* ]]
  clprobe report a.json -o a.html
  grep --quiet 'beyond global' a.html
  # What is of another device, has no levels, or would be written to.
  jq '.device.name = "Mine"' found.json >other.json
  clprobe profile --quick --levels other.json --kernel-file k.cl --launch large.json
  fails_with 2 "--levels: 'other.json' was measured on 'Mine', not on "
  clprobe profile --quick --levels a.json --kernel-file k.cl --launch large.json
  fails_with 2 "--levels: 'a.json' contains no level with a known capacity"
  clprobe profile --quick --levels found.json -o found.json --kernel-file k.cl --launch large.json
  fails_with 2 'found.json'
}

# described TEXT: the kernel k of one buffer of 1024 words, and 7.
described() {
  printf '%s\n' "$1" >k.cl
  cat >k.json <<'end'
{"schema": "clprobe-launch", "schema_version": 1, "kernel": "k", "global": [1024], "local": [64],
 "arguments": [{"buffer": "a"}, {"type": "uint", "value": 7}],
 "objects": [{"buffer": "a", "type": "uint", "count": 1024, "fill": "iota"}]}
end
  clprobe profile --quick -o a.json --kernel-file k.cl --launch k.json
}

@test "a description to edit is printed for a kernel without one" {
  printf 'kernel void k(global float* a, float n) { a[get_global_id(0)] *= n; }' >k.cl
  clprobe profile --kernel-file k.cl
  [ "$status" -eq 0 ]
  [[ $stderr == *'edit this description'* ]]
  "$CLPROBE" profile --kernel-file k.cl 2>/dev/null >k.json
  clprobe profile --quick --json --kernel-file k.cl --launch k.json
  [ "$status" -eq 0 ]
}

@test "a kernel that a person describes, without a program" {
  described 'kernel void k(global uint* a, uint n) { a[get_global_id(0)] *= n; }'
  [ "$status" -eq 0 ]
  [[ $(finding deterministic k) == yes && $(finding equal_to_app k) == 'not known: '* ]]
  json_says '[.results[0].points[] | select(.parameters.variant == "plain" or .parameters.variant == "warm") |
    [.series, .parameters.variant, .parameters.groups]] | sort == [["k", "plain", 16], ["k, warm", "warm", 16]]' a.json
  # And behind the prelude, with ever fewer groups: all of them, and one alone.
  json_says '[.results[0].points[] | select(.series == "k, folded") | .parameters.distinct_groups] |
    min == 1 and max == 16' a.json
  [[ $(finding instrument_ratio 'k, folded') == [0-9]* ]]
}

@test "a kernel that launches others on the device is not replayed, and why is said" {
  described 'kernel void k(global uint* a, uint n) { enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ a[0] = n; }); }'
  [[ $(jq --raw-output '[.results[0].status, .results[0].reason] | join(": ")' a.json) == 'unsupported: the launch cannot be replayed: the kernel calls enqueue_kernel' ]]
}

@test "a kernel whose qualifier and name come out of a header that a macro names: renamed, and nothing taken away" {
  described 'kernel void k(global uint* a, uint n) { a[get_global_id(0)] *= n; }'
  cat >vendor.h <<'end'
#define ENTRY kernel void
#define NAME(mode, step) mode##_##step
end
  cat >k.cl <<'end'
#define XM2S(x) #x
#define M2S(x) XM2S(x)
#include M2S(vendor.h)
ENTRY NAME(m00000, s04)(global uint* a, uint n) { a[get_global_id(0)] *= n; }
end
  jq --arg options "-I$PWD" '.program = {"units": [{"options": $options}]} | .kernel = "m00000_s04"' k.json >named.json
  clprobe profile --quick -o a.json --kernel-file k.cl --launch named.json
  [ "$status" -eq 0 ]
  # Behind the prelude it left what it left without it, or it would have no samples.
  json_says '[.results[0].points[] | select(.parameters.variant == "instrumented")] |
    length == 1 and .[0].parameters.distinct_groups == 16 and (.[0].samples | length > 0)' a.json
  json_says '[.results[0].points[].parameters.variant] | index("resident") == null' a.json
  [[ $(finding resident_groups 'm00000_s04, by groups at once') == "refused: the program's text has no kernel m00000_s04"* ]]
}

@test "groups count how many run at once, which is as many as there are threads" {
  export POCL_MAX_PTHREAD_COUNT=1
  described 'kernel void k(global uint* a, uint n) { a[get_global_id(0)] *= n; }'
  [ "$status" -eq 0 ]
  # A core runs one group at a time: there is nothing to pad, and a wave of one group is a whole one.
  json_says '[.results[0].points[] | select(.facts.resident_groups) |
    [.series, .parameters.distinct_groups, .facts.resident_groups, .parameters.variant]] ==
    [["k, by groups at once", 16, 1, "resident"], ["k, ending at once", 16, 1, "ending"]]' a.json
  # Nothing else that such a launch could leave is held against it.
  json_says '[.results[0].points[] | select(.parameters.variant == "ending") | (.samples | length) > 0 and
    (has("failure") | not)] == [true]' a.json
  [[ $(finding occupancy 'k, by groups at once') == 'not present: a CPU core'* ||
    $(finding resident_groups 'k, by groups at once') == 'not reliable: '* ]]
  described 'kernel void k(global uint* a, uint n) { if (atomic_xchg(a, n) == n) a[1] = n; }'
  [ "$status" -eq 0 ]
  [[ $(finding resident_groups 'k, by groups at once') == 'refused: the kernel calls atomic_xchg, so groups can wait for each other' ]]
  json_says '[.results[0].points[].parameters.variant] | index("resident") == null' a.json
}

@test "kernels that write beside their buffers, fail to build or never end cost themselves alone" {
  described 'kernel void k(global uint* a, uint n) { if (get_global_id(0) == n) a[1024] = n; }'
  fails_with 1 'the kernel wrote past the end of its buffer a'
  described 'kernel void k(global uint* a, uint n) { a[get_global_id(0)] = nosuch; }'
  fails_with 1 'does not build on this device' nosuch
  printf 'kernel void k(global volatile uint* a, uint n) { while (a[0] == 0) a[1] = n; }' >k.cl
  clprobe profile --quick --timeout 3s --kernel-file k.cl --launch k.json
  fails_with 1 kernel
}
