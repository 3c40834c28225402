// SPDX-License-Identifier: Apache-2.0
// Protocol between this program and its worker: one JSON object per line. Each request has one line
// of answer, except "sample", which has several.
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

/// Describes an answer that cannot be parsed.
ChildLost broken_answer(const std::exception& error);

/// Runs `action`, which reads an answer. An answer that cannot be read, such as one cut by a
/// driver's stray write, counts as a lost child: later answers would not be reliable either.
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

/// Parses one line of an answer. Throws DeviceError for errors that the driver reports.
json::Json answer_of(const std::string& line);

/// Sends a request and parses the answer. Throws DeviceError for errors that the driver reports,
/// ChildLost if the child ends.
json::Json request(ChildProcess& child, const json::Json& question, const WorkerSettings& settings);

/// Starts a child with the drivers and the environment of the settings.
std::unique_ptr<ChildProcess> start_child(const WorkerSettings& settings);

/// Returns the request that opens a device for the first time.
json::Json opening(int device_index, const WorkerSettings& settings);

/// Returns the request that opens a device that an earlier child has tested.
json::Json reopening(const DeviceInfo& device, const WorkerSettings& settings);

json::Json encode(const Sampling& sampling);
/// Throws json::Json::exception if a field is missing or has another type.
Sampling decode_sampling(const json::Json& value);

/// Returns the number of processes that build programs for a device. NVIDIA's compiler gains little
/// from threads (128 programs: 22.5 s with 1, 15.6 s with 8) and much from processes (4.7 s with
/// 8). CPUs get none, since builds would disturb the measurement. Each process takes some hundred
/// MiB of a GPU's memory.
std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores);

class Builders {
 public:
  /// Starts to build `programs` in order. Reports no failures: a program that fails here fails
  /// again when it is needed.
  Builders(const DeviceInfo& device, const WorkerSettings& settings,
           const std::vector<Program>& programs, std::size_t count);

 private:
  std::vector<std::unique_ptr<ChildProcess>> children_{};  // the destructor kills them
};

}  // namespace clprobe
