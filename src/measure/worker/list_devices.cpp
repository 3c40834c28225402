// SPDX-License-Identifier: Apache-2.0
// Lists the devices in a child process, and leaves out drivers that crash or hang the child.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure/api/worker.hpp"
#include "measure/device/driver_words.hpp"
#include "measure/worker/drivers.hpp"
#include "measure/worker/protocol.hpp"
#include "run/api/json.hpp"

namespace clprobe {
namespace {

/// Returns the devices that a child process finds with the drivers of `settings`. Throws ChildLost
/// and DeviceError.
DeviceList ask_for_list(const WorkerSettings& settings) {
  DeviceList list;
  list.drivers = settings.drivers;
  list.child = start_child(settings);
  const json::Json answer = request(*list.child, {{"do", "list"}}, settings);
  reading([&] {
    for (const json::Json& device : answer.at("devices")) {
      list.devices.push_back(json::decode<DeviceInfo>(device));
    }
    for (const json::Json& problem : answer.at("problems")) {
      list.problems.push_back({problem.at("platform").get<std::string>(),
                               clean_driver_words(problem.at("problem").get<std::string>())});
    }
  });
  return list;
}

/// Returns the devices of the working drivers. Adds one driver after another. Leaves out each
/// driver with which the child can no longer list devices, whether the driver fails alone or only
/// together with earlier drivers.
DeviceList list_without_broken(WorkerSettings settings, const std::vector<Driver>& drivers) {
  DeviceList list;
  std::vector<DeviceList::LeftOut> left_out;
  std::vector<Driver> working;
  for (const Driver& driver : drivers) {
    working.push_back(driver);
    settings.drivers = std::make_shared<DriverFolder>(working);
    try {
      list = ask_for_list(settings);
      continue;
    } catch (const ChildLost& lost) {
      left_out.push_back({driver.file, clean_driver_words(lost.what())});
    } catch (const DeviceError& error) {
      left_out.push_back({driver.file, clean_driver_words(error.what())});
    }
    working.pop_back();
    if (settings.cancelled && settings.cancelled()) throw DeviceError("interrupted");
  }
  list.left_out = std::move(left_out);
  for (const Driver& driver : working) list.kept.push_back(driver.file);
  return list;
}

std::string reasons_of(const std::vector<DeviceList::LeftOut>& left_out) {
  std::string reasons;
  for (const DeviceList::LeftOut& each : left_out) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", each.file, each.reason);
  }
  return reasons;
}

DeviceError listing_failed(const std::string& reasons) {
  return DeviceError(fmt::format("cannot list the devices: {}", reasons));
}

}  // namespace

DeviceList list_devices(const WorkerSettings& settings) {
  std::string first_reason;
  try {
    return ask_for_list(settings);
  } catch (const ChildLost& lost) {
    first_reason = lost.what();
  } catch (const DeviceError& error) {
    first_reason = error.what();
  }
  if (settings.cancelled && settings.cancelled()) throw listing_failed(first_reason);
  const std::vector<Driver> drivers =
      registered_drivers(LoaderVariables::of_environment(settings.environment));
  if (drivers.empty()) throw listing_failed(first_reason);
  // If there is only one driver, this driver must be the one that fails.
  if (drivers.size() == 1) {
    throw listing_failed(reasons_of({{drivers.front().file, first_reason}}));
  }
  DeviceList list = list_without_broken(settings, drivers);
  if (list.left_out.size() == drivers.size()) throw listing_failed(reasons_of(list.left_out));
  return list;
}

}  // namespace clprobe
