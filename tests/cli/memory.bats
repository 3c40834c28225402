#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# --max-memory holds for all probes of a run together: what one held is free before the next opens.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
}

# peak_kib LIMIT: the peak memory of the process in which the driver runs, with so much for buffers.
# The least of three runs, since a driver that compiles takes more, and what it has to compile hangs on what
# the program found out about the device.
peak_kib() {
  for _ in 1 2 3; do
    timeout 300 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
      "$CLPROBE" --quiet --device 0 --quick --time-budget 40s --max-memory "$1" \
      latency --series global,constant-argument stride --vector 4 inflight --series loaded \
      stalls --case latency-bound
  done | sort -n | head -n 1
}

@test "four probes keep to the memory that one may have" {
  local little much kib=$((128 * 1024))
  little=$(peak_kib 4MiB)
  much=$(peak_kib 128MiB)
  echo "peak with 4 MiB: $little KiB, with 128 MiB: $much KiB"
  # Beyond what the driver and the program take themselves; and the buffers were there.
  ((much - little <= kib))
  ((much - little >= kib / 2))
}
