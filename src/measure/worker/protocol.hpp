// SPDX-License-Identifier: Apache-2.0
// Protocol between this program and its worker process: one JSON object per line. Each request has
// an answer of one line, except "sample", whose answer has several lines.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/api/worker.hpp"
#include "measure/worker/child_process.hpp"
#include "run/api/json.hpp"

namespace clprobe {

/// Returns the error for an answer that cannot be parsed.
ChildLost broken_answer(const std::exception& error);

/// Runs `action`, which parses an answer. If the answer cannot be parsed, for example because a
/// driver wrote into the channel, the child counts as lost. Its later answers would not be reliable
/// either.
template <typename Action>
auto reading(Action action) -> decltype(action()) {
  try {
    return action();
  } catch (const RunFormatError& error) {
    throw broken_answer(error);
  } catch (const json::Json::exception& error) {
    throw broken_answer(error);
  }
}

/// Parses a line of an answer. Throws DeviceError for reported errors, ChildLost for invalid text.
json::Json answer_of(const std::string& line);

/// Sends a request, and returns the parsed answer. Throws DeviceError for errors that the driver
/// reports, and ChildLost if the child exits, hangs or sends an invalid answer.
json::Json request(ChildProcess& child, const json::Json& question, const WorkerSettings& settings);

/// Returns a new child process with the drivers and the environment of `settings`.
std::unique_ptr<ChildProcess> start_child(const WorkerSettings& settings);

/// Returns the request that opens a device for the first time.
json::Json opening(int device_index, const WorkerSettings& settings);

/// Returns the request that opens a device that an earlier child has tested.
json::Json reopening(const DeviceInfo& device, const WorkerSettings& settings);

json::Json encode(const Sampling& sampling);
/// Throws json::Json::exception if a field is missing or has another type.
Sampling decode_sampling(const json::Json& value);

/// Returns the number of processes that build programs for a device. NVIDIA's compiler gains little
/// from threads, and much from processes: 128 programs take 22.5 s with 1 thread, 15.6 s with 8
/// threads and 4.7 s with 8 processes. For CPUs the number is 0, since builds would disturb the
/// measurement. Each process takes some hundred MiB of a GPU's memory, which limits the number.
std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores);

/// Returns true if the driver's cache holds the programs, as far as the first program of each file
/// shows. A run of one probe leaves the programs of other probes uncached. `build_s` builds a
/// program and returns the duration in s.
bool are_cached(const std::vector<Program>& programs,
                const std::function<double(const Program&)>& build_s);

json::Json encode(const Program& program);

class Builders {
 public:
  /// Starts up to `count` processes that share `programs`. Failures are not reported, since a
  /// program that fails here fails again when a point needs it.
  Builders(const DeviceInfo& device, const WorkerSettings& settings,
           const std::vector<Program>& programs, std::size_t count);

 private:
  std::vector<std::unique_ptr<ChildProcess>> children_{};  // the destructor kills these processes
};

}  // namespace clprobe
