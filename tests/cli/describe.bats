#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2034  # Bats and common.bash set and use the variables
# Descriptions of devices, from stored runs and from measurements.
bats_require_minimum_version 1.5.0

setup() {
  load common
  common_setup
  runs=$BATS_TEST_DIRNAME/../../results/nvidia
  h200=$runs/h200/580.159.04_2026-11-28.json
  h100=$runs/h100/580.159.04_2026-11-28.json
}

@test "a stored run becomes one document in a file, and an array on stdout" {
  clprobe describe "$h200" -o device.json -o -
  [ "$status" -eq 0 ]
  jq --exit-status 'length == 1 and .[0].schema == "clprobe-device"' <<<"$output"
  jq --exit-status '.device == "NVIDIA H200" and .numbers["local.banks"].value == 32' device.json
  # The last cache is larger than the driver says: both are there, apart.
  jq --exit-status '.numbers["last_cache.capacity"].value > 10 * .reported.cache_bytes' device.json
}

@test "any name of a file is fine, and files of several devices are arrays" {
  clprobe describe "$h200" "$h100" -o device.txt
  [ "$status" -eq 0 ]
  jq --exit-status '[.[].device] == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]' device.txt
}

@test "a measured device" {
  clprobe_seconds=600  # the sanitizers on a busy host take more than two minutes
  clprobe describe -d sim:fermi-m2070 --quick -o device.json
  [ "$status" -eq 0 ]
  jq --exit-status '.type == "simulated" and (.levels | length) > 1' device.json
  # Simulated devices have no transfers.
  jq --exit-status '.numbers["to_device.bandwidth"] | .value == null and (.reason | length) > 0' device.json
}

@test "flags of measurements and probes have no effect on files, so they are refused" {
  clprobe describe "$h200" --quick
  fails_with 2 'applies to measurements'
  clprobe describe latency
  fails_with 2 'all probes'
  clprobe describe "$h200" --json
  fails_with 2 'json'
}

@test "what is no run" {
  clprobe describe missing.json
  fails_with 2 'missing.json'
  echo '{}' >empty.json
  clprobe describe empty.json
  fails_with 2 'empty.json'
  clprobe describe "$BATS_TEST_DIRNAME/../import/mt4g.json"
  fails_with 2 'mt4g.json'
}

@test "an imported run names the tool, and why most numbers are missing" {
  clprobe import "$BATS_TEST_DIRNAME/../import/mt4g.json" -o run.json
  [ "$status" -eq 0 ]
  clprobe describe run.json -o device.json
  [ "$status" -eq 0 ]
  jq --exit-status 'if type == "array" then .[0] else . end
    | (.imported_from | startswith("mt4g")) and .numbers["launch.gap"].reason == "the run has no results of launch"' device.json
}
