// SPDX-License-Identifier: Apache-2.0
// Devices, timers and the state of results in plain words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"

namespace clprobe::report {

/// Returns the run's label, or the device's name if the run has no label.
std::string name_of(const Run& run);
/// Returns the common name of a device, without words that drivers add: "H200" for "NVIDIA H200",
/// "Intel Xeon" for "cpu-skylake-avx512-Intel(R) Xeon(R) Processor".
std::string model_of(const DeviceInfo& device);
/// Return the words of each run's name: the label or the device's model, followed by facts that
/// distinguish runs with equal names: the number of compute units, driver, date, device number
/// ("1:0", as in `clprobe list`) and time, or else the number of the run.
std::vector<std::vector<std::string>> run_names(std::span<const Run> runs);
std::vector<std::vector<std::string>> run_names(std::span<const RunDigest> runs);
/// Returns a name per run: the words of run_names(), separated by commas, or the result of
/// name_of() if there is only one run.
std::vector<std::string> run_titles(std::span<const Run> runs);
/// Returns facts about a device, in two texts: platform and driver; type, compute units and memory.
/// For an imported device, returns a text per known fact.
std::vector<std::string> device_facts(const DeviceInfo& device);
/// Returns the number of compute units with its noun, "132 compute units"; empty if the number is
/// unknown.
std::string units_text(std::int64_t compute_units, std::string_view unit);
/// Returns a description of the timer that measured the samples: "the in-kernel clock %clock64:
/// core cycles, 1.98 per ns".
std::string timer_text(const DeviceInfo& device);
/// Returns the amount of a result, "81 points, 243 samples in 5.21 s"; if the status is not `ok`,
/// the status and its reason.
std::string result_text(const ProbeResult& result);
/// Returns the number of failed points and the reason of the first failure, "3 of 81 points could
/// not be measured; the first, in global: ..."; empty if no point failed.
std::string failures_text(const ProbeResult& result);
/// Returns the warnings as sentences. If more than three warnings differ only in numbers (a driver
/// refuses all large work-groups), only the first is kept, with the number of omitted warnings.
std::vector<std::string> warning_sentences(std::span<const Warning> warnings);

/// Returns the kind of a warning in words for a card, such as "a changing speed".
std::string brief_warning(std::string_view code);

}  // namespace clprobe::report
