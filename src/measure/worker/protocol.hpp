// SPDX-License-Identifier: Apache-2.0
// The protocol between this program and its worker: one JSON object per line. Every request has one
// answer of one line; only "sample" has an answer of several lines.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "measure/api/worker.hpp"
#include "measure/worker/child_process.hpp"
#include "run/api/json.hpp"

namespace clprobe {

/// Describes an answer that cannot be read.
ChildLost broken_answer(const std::exception& error);

/// Reads an answer by `action`. An answer that cannot be read, such as one that a driver's stray
/// write cut, counts as a lost child: its next answers would not be reliable either.
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

/// Parses a line of an answer. Throws DeviceError for the driver's errors.
json::Json answer_of(const std::string& line);

/// Sends a request and parses the answer. Throws DeviceError for the driver's errors, ChildLost for
/// the child's end.
json::Json request(ChildProcess& child, const json::Json& question, const WorkerSettings& settings);

/// Starts a child with the drivers and the environment of the settings.
std::unique_ptr<ChildProcess> start_child(const WorkerSettings& settings);

/// Request that opens a device for the first time.
json::Json opening(int device_index, const WorkerSettings& settings);

/// Request that opens a device that a former child has tried.
json::Json reopening(const DeviceInfo& device, const WorkerSettings& settings);

json::Json encode(const Sampling& sampling);
/// Throws json::Json::exception.
Sampling decode_sampling(const json::Json& value);

/// Returns the number of processes to start for a device. NVIDIA's compiler gains little from
/// threads (128 programs: 22.5 s with 1, 15.6 s with 8) and much from processes (4.7 s with 8).
/// A CPU would be disturbed, and each process takes some hundred MiB of a GPU's memory.
std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores);

class Builders {
 public:
  /// Starts the building of `programs`, the first ones first. What fails will fail again where it
  /// is needed, so that nothing is said of it here.
  Builders(const DeviceInfo& device, const WorkerSettings& settings,
           const std::vector<Program>& programs, std::size_t count);

 private:
  std::vector<std::unique_ptr<ChildProcess>> children_{};  // killed with this object
};

}  // namespace clprobe
