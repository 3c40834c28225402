// SPDX-License-Identifier: Apache-2.0
// How the parent asks a child process, and reads what it answers.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "clprobe/worker.hpp"
#include "run/json.hpp"
#include "worker/child_process.hpp"

namespace clprobe {

/// With the words that the answer had in the place of what was expected.
ChildLost broken_answer(const std::exception& error);

/// Reads an answer. One that cannot be read, such as half of one after a driver's stray write, is
/// like none: what the child says next cannot be believed either.
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

/// Asks and parses the answer. Throws DeviceError for the driver's errors, ChildLost for its end.
json::Json request(ChildProcess& child, const json::Json& question, const WorkerSettings& settings);

/// With the drivers and in the environment of the settings.
std::unique_ptr<ChildProcess> start_child(const WorkerSettings& settings);

/// The question that opens a device for a first look.
json::Json opening(int device_index, const WorkerSettings& settings);

/// The one that opens a device which a former child looked at.
json::Json reopening(const DeviceInfo& device, const WorkerSettings& settings);

}  // namespace clprobe
