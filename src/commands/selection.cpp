// SPDX-License-Identifier: Apache-2.0
#include "commands/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "cli/options.hpp"
#include "terminal/text.hpp"

namespace clprobe::commands {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string candidates(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& device : devices) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", device.index,
                        terminal::quote(device.name));
  }
  return text;
}

int rank(const DeviceInfo& device) {
  constexpr std::array order{"gpu", "accelerator", "cpu"};
  return static_cast<int>(std::find(order.begin(), order.end(), device.type) - order.begin());
}

const DeviceInfo& best_of(const std::vector<DeviceInfo>& devices) {
  return *std::min_element(devices.begin(), devices.end(),
                           [](const DeviceInfo& a, const DeviceInfo& b) {
                             if (rank(a) != rank(b)) return rank(a) < rank(b);
                             return a.compute_units > b.compute_units;
                           });
}

bool is_index(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// One word of the comma list.
std::vector<DeviceInfo> select_word(const DeviceList& list, std::string_view word) {
  // Every name holds the empty word.
  if (word.empty()) {
    throw cli::UsageError("--device: a word of the list is empty: write one between commas");
  }
  if (word == "all") return list.devices;
  std::vector<DeviceInfo> found;
  for (const DeviceInfo& device : list.devices) {
    const bool by_index = is_index(word) && fmt::to_string(device.index) == word;
    const bool by_name = !word.empty() && !is_index(word) &&
                         lower(device.name).find(lower(word)) != std::string::npos;
    if (by_index || device.platform_index == word || by_name) found.push_back(device);
  }
  if (found.empty()) {
    throw NoDevice(fmt::format("no device {}: choose one of {} (clprobe list)",
                               terminal::quote(word), candidates(list.devices)));
  }
  if (found.size() > 1) {
    throw cli::UsageError(
        fmt::format("--device: {} means several devices: choose one of {} by its index, or all",
                    terminal::quote(word), candidates(found)));
  }
  return found;
}

}  // namespace

std::string explain_no_device(const DeviceList& list) {
  if (list.problems.empty()) {
    return "no OpenCL platform: install a driver's ICD file into /etc/OpenCL/vendors (package "
           "pocl-opencl-icd for the CPU; the vendor's driver for a GPU)";
  }
  std::string platforms;
  for (const DeviceList::Problem& each : list.problems) {
    platforms += fmt::format("{}{}: {}", platforms.empty() ? "" : "; ",
                             terminal::quote(each.platform), terminal::quote(each.problem));
  }
  return fmt::format("no OpenCL device ({}): package pocl-opencl-icd offers the CPU", platforms);
}

std::vector<DeviceInfo> select_devices(const DeviceList& list, std::string_view selector) {
  if (list.devices.empty()) throw NoDevice(explain_no_device(list));
  if (selector.empty()) return {best_of(list.devices)};
  std::vector<DeviceInfo> selected;
  for (std::size_t begin = 0; begin <= selector.size();) {
    const std::size_t comma = std::min(selector.find(',', begin), selector.size());
    for (const DeviceInfo& device : select_word(list, selector.substr(begin, comma - begin))) {
      const bool is_new =
          std::none_of(selected.begin(), selected.end(),
                       [&](const DeviceInfo& each) { return each.index == device.index; });
      if (is_new) selected.push_back(device);
    }
    begin = comma + 1;
  }
  return selected;
}

}  // namespace clprobe::commands
