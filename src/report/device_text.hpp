// SPDX-License-Identifier: Apache-2.0
// A device, its timer and the state of a result in plain words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clprobe/compare.hpp"
#include "clprobe/run.hpp"

namespace clprobe::report {

/// The run's label; without one, the device's name.
std::string name_of(const Run& run);
/// The name as people know it, without what drivers put around it: "H200" of "NVIDIA H200", "Intel
/// Xeon" of "cpu-skylake-avx512-Intel(R) Xeon(R) Processor".
std::string model_of(const DeviceInfo& device);
/// The model, and behind it only what tells runs of the same model apart: the units, the driver,
/// the date, the number of the device ("1:0", as `clprobe list` has it), the time, or else the
/// number of the run.
std::vector<std::vector<std::string>> run_names(std::span<const Run> runs);
std::vector<std::vector<std::string>> run_names(std::span<const RunDigest> runs);
/// These names in a line each. Of a single run, the name as the driver has it.
std::vector<std::string> run_titles(std::span<const Run> runs);
/// What it is and has, in sentences that the caller separates or lists.
std::vector<std::string> device_facts(const DeviceInfo& device);
/// "132 compute units"; empty where the number is not known.
std::string units_text(std::int64_t compute_units, std::string_view unit);
/// How samples were timed: "the in-kernel clock %clock64, which counts core cycles (1.98 a ns)".
std::string timer_text(const DeviceInfo& device);
/// "81 points, 243 samples in 5.21 s", or why there is nothing.
std::string result_text(const ProbeResult& result);
/// Which points failed and why, as "3 of 81 points could not be measured: ..."; empty when none.
std::string failures_text(const ProbeResult& result);
/// Each warning as a sentence. Of more than three that differ in numbers alone, as a driver that
/// refuses every work-group above its limit makes, only the first, with how many others there are.
std::vector<std::string> warning_sentences(std::span<const Warning> warnings);

/// What of it stands on a card behind "beware of": "a changing speed".
std::string brief_warning(std::string_view code);

}  // namespace clprobe::report
