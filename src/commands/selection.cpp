// SPDX-License-Identifier: Apache-2.0
#include "commands/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

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

bool is_digit(unsigned char c) { return std::isdigit(c) != 0; }

bool is_index(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}

/// Whether `number` stands in the name, with no digit beside it: 4090, but not 4, in "RTX 4090".
bool has_number(std::string_view name, std::string_view number) {
  for (auto at = name.find(number); at != std::string_view::npos; at = name.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    const bool begins = at == 0 || !is_digit(static_cast<unsigned char>(name[at - 1]));
    const bool ends = end == name.size() || !is_digit(static_cast<unsigned char>(name[end]));
    if (begins && ends) return true;
  }
  return false;
}

/// The devices of that index, platform and index, or part of a name. A number is a part of a name
/// only where there is no such index.
std::vector<DeviceInfo> matches(const DeviceList& list, std::string_view word) {
  std::vector<DeviceInfo> found;
  const auto take = [&](const auto& is_meant) {
    std::copy_if(list.devices.begin(), list.devices.end(), std::back_inserter(found), is_meant);
  };
  if (!is_index(word)) {
    take([&](const DeviceInfo& device) {
      return device.platform_index == word ||
             lower(device.name).find(lower(word)) != std::string::npos;
    });
    return found;
  }
  take([&](const DeviceInfo& device) { return fmt::to_string(device.index) == word; });
  if (found.empty()) {
    take([&](const DeviceInfo& device) { return has_number(device.name, word); });
  }
  return found;
}

/// One word of the comma list.
std::vector<DeviceInfo> select_word(const DeviceList& list, std::string_view word) {
  // Every name holds the empty word.
  if (word.empty()) {
    throw cli::UsageError("--device: a word of the list is empty: write one between commas");
  }
  if (word == "all") return list.devices;
  std::vector<DeviceInfo> found = matches(list, word);
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
