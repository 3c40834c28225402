#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # Bats and common.bash set the variables; jq expands its own
# profile: programs of other people's, as Debian has them. Under a survey and a capture each writes what
# it writes without, and a kernel of it, replayed, leaves the bytes that it left in the program.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  unset OPENCL_LAYERS CLPROBE_SURVEY CLPROBE_CAPTURE CLPROBE_BUNDLES
  # What a program keeps of its own is no matter of the user's.
  # hashcat takes the home folder from the user database.
  export HOME=$PWD XDG_CACHE_HOME=$PWD/cache XDG_DATA_HOME=$PWD/local
  mkdir cache local
  # A driver may compile a program's kernels for a minute and more on a busy machine.
  # shellcheck disable=SC2034  # common.bash reads it
  clprobe_seconds=500
}

# require_program NAME: it is there, or the test is skipped; where all must be there it fails.
require_program() {
  command -v "$1" >/dev/null && return
  [[ -z ${CLPROBE_REQUIRE_ALL:-} ]] || return 1
  skip "$1 is not installed"
}

# What a program writes but for what it measures, for empty lines, and for clprobe's own words.
steady() {
  sed -E '/^clprobe: |^\s*$/d; s/^\s+//; s/[0-9]+(\.[0-9]+)? ?(ms|us|seconds|gflops|GB\/s)/N \2/g' <<<"$1"
}

# survives KERNEL WORD...: the program writes the same by itself, surveyed and captured, and KERNEL's
# replay is its launch. The document of the survey is in list.json.
survives() {
  local kernel=$1 plain
  shift
  # A compiler's warnings go to stderr where it does not keep what it built.
  set -- sh -c '"$@" 2>/dev/null' sh "$@"
  plain=$("$@")
  clprobe profile --list --json -- "$@"
  printf '%s\n' "$output" >list.json
  [[ $status -eq 0 && $(steady "$stderr") == "$(steady "$plain")" ]] || {
    printf 'by itself:\n%s\nsurveyed (%s):\n%s\n' "$plain" "$status" "$stderr"
    return 1
  }
  is_counted list.json "$kernel"
  replays "$kernel" "$@"
  [[ $(steady "$stderr") == "$(steady "$plain"$'\n'"$plain")" ]] || {
    printf 'by itself:\n%s\nsurveyed and captured:\n%s\n' "$plain" "$stderr"
    return 1
  }
}

# is_counted FILE KERNEL: all launches are in rows, each with a time, and KERNEL is among them.
is_counted() {
  jq --exit-status --arg kernel "$2" '.status == 0 and .device_ns > 0 and .launches == ([.kernels[].launches] | add) and
    .launches == .timed + .estimated and .not_counted == [] and any(.kernels[]; .kernel == $kernel)' "$1" >/dev/null || {
    cat "$1"
    return 1
  }
}

# replays KERNEL WORD...: it is captured, and two replays leave, to the bit, what the program's launch left.
replays() {
  local kernel=$1
  shift
  clprobe profile --quick --time-budget 2s --kernel "$kernel" --keep kept -o a.json -- "$@"
  [[ $status -eq 0 ]] || {
    printf 'status %s: %s\n' "$status" "$stderr"
    return 1
  }
  json_says '[.results[0].findings[] | select(.name == "equal_to_app" or .name == "deterministic") | [.name, .label]] |
    sort == [["deterministic", "yes"], ["equal_to_app", "yes"]]' a.json
  jq --exit-status --arg kernel "$kernel" '.kernel == $kernel and .survey.launches > 0 and (.epilogue | length > 0) and
    (.epilogue | length) == (.objects | length)' "kept/$kernel/launch.json" >/dev/null
}

@test "clpeak" {
  require_program clpeak
  survives global_bandwidth_v1_local_offset clpeak --kernel-latency
  [[ $(grep --count 'Kernel launch latency' <<<"$stderr") -eq 2 ]]
}

@test "CLBlast's tuner, which makes a program of each variant" {
  require_program clblast_tuner_xdot
  replays Xdot clblast_tuner_xdot -n 1024
  [[ $(grep --count 'Completed tuning process' <<<"$stderr") -ge 2 && $stderr != *'L2 error'* ]]
}

@test "CLBlast's client, which compares what it gets with a BLAS of the host's" {
  require_program clblast_test_xaxpy
  survives Xaxpy clblast_test_xaxpy -n 64 -incx 1 -incy 1 -alpha 2
  [[ $stderr == *'36 test(s) passed'* ]]
  run ! grep --extended-regexp '^ *[1-9][0-9]* test\(s\) failed' <<<"$stderr"
}

@test "clFFT's client, whose text is generated" {
  require_program clFFT-client
  survives fft_fwd clFFT-client -x 64 -y 16
  [[ $stderr == *PASS*PASS* ]]
}

@test "PyOpenCL" {
  python3=/usr/bin/python3
  "$python3" -c 'import pyopencl' 2>/dev/null || {
    [[ -z ${CLPROBE_REQUIRE_ALL:-} ]]
    skip 'python3-pyopencl is not installed'
  }
  cat >axpy.py <<'end'
import numpy, pyopencl, pyopencl.array
context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
x = pyopencl.array.to_device(queue, numpy.arange(65536, dtype=numpy.float32))
y = pyopencl.array.to_device(queue, numpy.ones(65536, dtype=numpy.float32))
for _ in range(5):
    y = 2 * x + 3 * y
print(y.get().sum())
end
  survives axpbyz "$python3" axpy.py
}

@test "hashcat, which includes headers by macros' names and links what it compiled" {
  require_program hashcat
  local word=(hashcat -m 0 -a 3 --force --potfile-disable --quiet 900150983cd24fb0d6963f7d28e17f72 '?l?l?l')
  replays r_markov "${word[@]}"
  [[ $(grep --count '^900150983cd24fb0d6963f7d28e17f72:abc$' <<<"$stderr") -eq 2 ]]
  json_says '.program.units | length > 0' kept/r_markov/launch.json
}

# A picture of 64 x 64 pixels, all unlike, as in.ppm.
make_picture() {
  printf 'P6\n64 64\n255\n' >in.ppm
  local x y
  for y in {0..63}; do
    for x in {0..63}; do printf '%b' "\\x$(printf '%02x\\x%02x\\x%02x' $((x * y & 255)) $((3 * x * y & 255)) $((5 * x + y & 255)))"; done
  done >>in.ppm
}

# darktable with one of its 36 programs, which are all compiled when it starts. PoCL 3.1 does not take its
# -I"FOLDER", and finds the headers where it compiles.
prepare_darktable() {
  cp --recursive --symbolic-link /usr/share/darktable data
  rm data/kernels/programs.conf
  printf 'basic.cl 2\n' >data/kernels/programs.conf
  export POCL_CACHE_DIR=$PWD/pocl
  cp --recursive /usr/share/darktable/kernels pocl
  darktable=(darktable-cli in.ppm out.pfm --core --library :memory: --datadir "$PWD/data" --configdir config --conf opencl=TRUE)
  # At its first start it disables CPUs; it also measures devices, unless it knows what that gave.
  "${darktable[@]}" >/dev/null 2>&1
  sed --in-place --regexp-extended 's/^(cldevice_v4_\w+=(\S+ ){7})1 0\.0+ /\10 1.000000 /' config/darktablerc
  rm out.pfm
}

@test "darktable, whose kernels have images" {
  require_program darktable-cli
  make_picture
  prepare_darktable
  "${darktable[@]}" >/dev/null 2>&1
  mv out.pfm plain.pfm
  clprobe profile --list --json -- "${darktable[@]}"
  [ "$status" -eq 0 ]
  printf '%s\n' "$output" >list.json
  is_counted list.json colorin_unbound
  cmp out.pfm plain.pfm
  rm out.pfm
  replays colorin_unbound "${darktable[@]}"
  json_says '[.objects[] | select(.layout)] | length > 1' kept/colorin_unbound/launch.json
  # The program's second run asks before it writes over the first one's, and counts.
  local picture
  for picture in out*.pfm; do cmp "$picture" plain.pfm; done
}
