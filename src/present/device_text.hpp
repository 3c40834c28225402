// SPDX-License-Identifier: Apache-2.0
// Devices, timers and the state of results in plain words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"

namespace clprobe::report {

/// Returns the run's label; without one, the device's name.
std::string name_of(const Run& run);
/// Returns a device's common name, without additions of drivers: "H200" for "NVIDIA H200", "Intel
/// Xeon" for "cpu-skylake-avx512-Intel(R) Xeon(R) Processor".
std::string model_of(const DeviceInfo& device);
/// Return the model of each run, followed by what distinguishes runs of one model: units, driver,
/// date, device number ("1:0", as in `clprobe list`), time, or else the number of the run.
std::vector<std::vector<std::string>> run_names(std::span<const Run> runs);
std::vector<std::vector<std::string>> run_names(std::span<const RunDigest> runs);
/// Returns the names of runs, one string per run; a single run has the driver's name.
std::vector<std::string> run_titles(std::span<const Run> runs);
/// Returns facts about a device, one string each: platform and driver; type, units and memory.
std::vector<std::string> device_facts(const DeviceInfo& device);
/// Returns "132 compute units"; empty if the number is unknown.
std::string units_text(std::int64_t compute_units, std::string_view unit);
/// Returns the timer of the samples: "the in-kernel clock %clock64: core cycles, 1.98 per ns".
std::string timer_text(const DeviceInfo& device);
/// Returns "81 points, 243 samples in 5.21 s", or the reason why there are none.
std::string result_text(const ProbeResult& result);
/// Returns the number of failed points and the first reason, "3 of 81 points could not be measured:
/// ..."; empty if none failed.
std::string failures_text(const ProbeResult& result);
/// Returns the warnings as sentences. Of more than three that differ only in numbers (such as those
/// of a driver that refuses all large work-groups), only the first is kept, with the number of
/// others.
std::vector<std::string> warning_sentences(std::span<const Warning> warnings);

/// Returns a warning's kind for a card: "a changing speed".
std::string brief_warning(std::string_view code);

}  // namespace clprobe::report
