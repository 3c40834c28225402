#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# From a kernel's text to its stack: Oclgrind runs it, the plugin writes what its sub-groups
# executed, and gsi simulates that.
bats_require_minimum_version 1.5.0

setup() {
  load ../cli/common
  common_setup
  if ! command -v oclgrind-kernel >/dev/null || [ ! -e "${CLPROBE_OCLGRIND_PLUGIN:-}" ]; then
    [ -z "${CLPROBE_REQUIRE_ALL:-}" ] || return 1
    skip "oclgrind or its headers are not installed"
  fi
  cat >kernel.cl <<'END'
kernel void shifted(global int *to, global const int *from, local int *tile, int distance) {
  const int i = get_global_id(0);
  const int l = get_local_id(0);
  tile[l * 2] = from[i + distance];
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int k = 0; k <= l / 8; ++k) sum += tile[k];
  if (l % 4 == 1) to[l] = sum;
  atomic_add(to + 1, sum);
}
kernel void copied(global int *to, global const int *from, local int *tile, int distance) {
  const int first = get_group_id(0) * 16;
  event_t copies[2];
  copies[0] = async_work_group_copy(tile, from + distance + first, 16, 0);
  copies[1] = async_work_group_copy((local int2 *)(tile + 16), (global const int2 *)from, 8, 0);
  wait_group_events(1, copies + 1);
  wait_group_events(1, copies);
  const int l = get_local_id(0);
  tile[l] += tile[16 + l];
  barrier(CLK_LOCAL_MEM_FENCE);
  copies[0] = async_work_group_copy(to + first, tile, 16, 0);
  wait_group_events(1, copies);
}
kernel void strided(global int *to, global const int *from, local int *tile, int distance) {
  event_t copy = async_work_group_strided_copy(tile, from, 8, distance, 0);
  wait_group_events(1, &copy);
  to[get_global_id(0)] = tile[get_local_id(0) / 2];
}
END
  # Two groups of 16 work-items; the first buffer has 128 bytes, the second lies a page behind it.
  sed 's/^ *//' >launch.sim <<'END'
    kernel.cl
    shifted
    32 1 1
    16 1 1
    <size=128 fill=0 int>
    <size=256 range=0:1:63 int>
    <size=128>
    <size=4 int>
    4
END
}

# trace NAME=VALUE...: the launch, as these variables say.
trace() {
  run --separate-stderr env CLPROBE_TRACE=kernel.trace "$@" \
    oclgrind-kernel --plugins "$CLPROBE_OCLGRIND_PLUGIN" launch.sim
}

# program N: the lines of the trace's program.
program() { awk -v n="$1" '$1 == "program" { is = $2 == n } $1 == "group" { is = 0 } is' kernel.trace; }

@test "the addresses, dependences and ways of a kernel that is known" {
  trace CLPROBE_TRACE_WIDTH=16
  [ "$status" -eq 0 ]
  [[ $stderr == 'clprobe_oclgrind: wrote kernel.trace: 2 sub-groups of shifted' ]]
  [ "$(head -3 kernel.trace)" = $'clprobe-trace 1\nkernel shifted\ngroups launch' ]
  [ "$(grep -c '^group local=128$' kernel.trace)" -eq 2 ]
  program 0 >first
  program 1 >second
  # `from` is used first; the second group begins 16 elements later.
  grep -q '  load r[0-9]* at=0x100010 lane=4 needs=' first
  grep -q '  load r[0-9]* at=0x100050 lane=4 needs=' second
  grep -q '  local_store lane=8 needs=' first
  [ "$(grep -c barrier first)" -eq 1 ]
  # All lanes have the first turn, and half of them, which are no first ones, a second.
  [ "$(grep -c local_load first)" -eq 2 ]
  grep -q '  local_load r[0-9]* addresses=0x4,0x4,0x4,0x4,0x4,0x4,0x4,0x4 needs=' first
  grep -q '  store addresses=0x101004,0x101014,0x101024,0x101034 needs=' first
  grep -q '  atomic r[0-9]* at=0x101004 needs=' first
  # What is stored needs what was loaded.
  loaded=$(sed -n 's/.* local_load \(r[0-9]*\) addresses.*/\1/p' first)
  summed=$(sed -n "s/.* alu \(r[0-9]*\) needs=.*\b$loaded\b.*/\1/p" first)
  grep -q "  atomic .*\b$summed\b" first
}

@test "narrower sub-groups, and the way from a kernel to its stack" {
  trace CLPROBE_TRACE_WIDTH=8
  [ "$(grep -c '^  warp .*lanes=8 ' kernel.trace)" -eq 4 ]
  # The first eight lanes never take the second turn.
  [ "$(program 0 | grep -c local_load)" -eq 1 ]
  clprobe -d sim:gsi gsi --trace kernel.trace --json
  [ "$status" -eq 0 ]
  json_says '.results[0] | .status == "ok" and .points[0].series == "shifted"'
  json_says '.results[0].points[0].parameters | .groups == 2 and .simulated_groups == 2 and .units == 15'
  json_says '[.results[0].findings[] | select(.name == "stall" and .method == "gsi").value]
             | add | . > 0.999999 and . < 1.000001'
}

@test "asynchronous copies are begun once a work-group, and each is waited for by its event" {
  sed -i 's/^shifted$/copied/' launch.sim
  trace CLPROBE_TRACE_WIDTH=8
  [ "$status" -eq 0 ]
  program 0 | grep -E 'copy|barrier|local_store' >first
  program 1 | grep -E 'copy|barrier' >second
  diff first - <<'END'
  copy_in 1 size=64 at=0x100010
  copy_in 2 size=64 at=0x100000
  copy_wait 2
  barrier
  copy_wait 1
  barrier
  local_store lane=4 needs=r6,r8
  barrier
  copy_out 3 size=64 at=0x101000
  copy_wait 3
  barrier
END
  [ "$(sort second | uniq -c | tr -s ' ')" = ' 4 barrier' ]
  clprobe -d sim:gsi gsi --trace kernel.trace --json
  [ "$status" -eq 0 ]
  json_says '.results[0] | .status == "ok"'
}

@test "a strided copy is a copy of each element, and one of stride 1 is one of all" {
  sed -i 's/^shifted$/strided/' launch.sim
  trace CLPROBE_TRACE_WIDTH=16
  [ "$status" -eq 0 ]
  program 0 | grep -E 'copy|repeat|barrier|  end' >first
  # 8 elements of 4 bytes, 4 elements apart.
  diff first - <<'END'
  repeat 8
    copy_in 1 size=4 at=0x100000 turn=16
  end
  copy_wait 1
  barrier
END
  clprobe -d sim:gsi gsi --trace kernel.trace --json
  [ "$status" -eq 0 ]
  json_says '.results[0] | .status == "ok"'
  json_says '[.results[0].findings[] | select(.name == "stall" and .label == "synchronization: copy wait").value]
             | length == 2 and all(. > 0)'
  sed -i '$s/4/1/' launch.sim
  trace CLPROBE_TRACE_WIDTH=16
  program 0 | grep -E 'copy_in|repeat' >first
  [ "$(cat first)" = '  copy_in 1 size=32 at=0x100000' ]
}

@test "a launch is chosen by its name and number" {
  trace CLPROBE_TRACE_KERNEL=another
  [ "$status" -eq 0 ] && [ ! -e kernel.trace ]
  trace CLPROBE_TRACE_KERNEL=shifted:2
  [ ! -e kernel.trace ]
  trace CLPROBE_TRACE_KERNEL=shifted:1
  [ -s kernel.trace ]
}

@test "what cannot be traced is said, and leaves no file" {
  trace CLPROBE_TRACE_WIDTH=65
  [[ $stderr == *'CLPROBE_TRACE_WIDTH expects the number of work-items per sub-group, 1 to 64'* ]]
  trace CLPROBE_TRACE_KERNEL=copied:0
  [[ $stderr == *'CLPROBE_TRACE_KERNEL expects NAME or NAME:N'* && ! -e kernel.trace ]]
}
