// SPDX-License-Identifier: Apache-2.0
// A device, its timer and the state of a result in plain words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"

namespace clprobe::report {

/// The run's label; without one, the device's name.
std::string name_of(const Run& run);
/// The name as people know it, without what drivers put around it: "H200" of "NVIDIA H200", "Intel
/// Xeon" of "cpu-skylake-avx512-Intel(R) Xeon(R) Processor".
std::string model_of(const DeviceInfo& device);
/// The model of each run, followed by what distinguishes runs of one model: the units, the driver,
/// the date, the number of the device ("1:0", as in `clprobe list`), the time, or else the number
/// of the run.
std::vector<std::vector<std::string>> run_names(std::span<const Run> runs);
std::vector<std::vector<std::string>> run_names(std::span<const RunDigest> runs);
/// The names of runs, one string per run; a single run has the driver's name.
std::vector<std::string> run_titles(std::span<const Run> runs);
/// Facts about a device, one string each: platform and driver; type, units and memory.
std::vector<std::string> device_facts(const DeviceInfo& device);
/// "132 compute units"; empty where the number is not known.
std::string units_text(std::int64_t compute_units, std::string_view unit);
/// The timer of the samples: "the in-kernel clock %clock64: core cycles, 1.98 per ns".
std::string timer_text(const DeviceInfo& device);
/// "81 points, 243 samples in 5.21 s", or why there is nothing.
std::string result_text(const ProbeResult& result);
/// Number of failed points and the first reason, "3 of 81 points could not be measured: ..."; empty
/// if none failed.
std::string failures_text(const ProbeResult& result);
/// The warnings as sentences. If more than three differ in numbers alone, as those of a driver that
/// refuses every work-group above its limit, only the first is kept, with the number of others.
std::vector<std::string> warning_sentences(std::span<const Warning> warnings);

/// A warning's kind on a card: "a changing speed".
std::string brief_warning(std::string_view code);

}  // namespace clprobe::report
