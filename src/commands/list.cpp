// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "clprobe/registry.hpp"
#include "clprobe/worker.hpp"
#include "commands/commands.hpp"
#include "commands/selection.hpp"
#include "terminal/output.hpp"
#include "terminal/text.hpp"

namespace clprobe::commands {
namespace {

constexpr std::size_t column_count = 8;
using Row = std::array<std::string, column_count>;

Row row_of(const DeviceInfo& device) {
  constexpr int widest_name = 48;
  const auto plain = [](const std::string& text) {
    return terminal::cut_to_width(text, widest_name);
  };
  const bool simulated = is_simulated(device);
  return {simulated ? "-" : fmt::to_string(device.index),
          device.platform_index,
          plain(device.name),
          std::string(to_word(device.type)),
          plain(device.vendor),
          plain(device.driver),
          fmt::to_string(device.compute_units),
          format_bytes(device.global_memory)};
}

std::string device_table(const std::vector<DeviceInfo>& devices) {
  std::vector<Row> rows{{"#", "P:D", "name", "type", "vendor", "driver", "units", "memory"}};
  for (const DeviceInfo& device : devices) rows.push_back(row_of(device));
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < column_count; ++column) {
      int width = 0;
      for (const Row& each : rows) width = std::max(width, terminal::display_width(each[column]));
      line += row[column];
      if (column + 1 == column_count) break;
      line.append(static_cast<std::size_t>(width + 2 - terminal::display_width(row[column])), ' ');
    }
    text += line + "\n";
  }
  return text;
}

/// The words of --device for the machines that come with clprobe.
std::vector<std::string> presets() {
  std::vector<std::string> words;
  for (const std::string_view name : simulator::preset_names()) {
    words.push_back(fmt::format("sim:{}", name));
  }
  return words;
}

std::string as_table(const DeviceList& found, const std::vector<DeviceInfo>& devices) {
  std::string text = device_table(devices);
  for (const DeviceList::Problem& problem : found.problems) {
    text += fmt::format("platform {}: {}\n", terminal::quote(problem.platform), problem.problem);
  }
  text += fmt::format("\nsimulated: {}; or a file, sim:FILE.json\n", fmt::join(presets(), ", "));
  text += "\nprobes\n";
  for (const Probe* const probe : all_probes()) {
    text += fmt::format("  {:10} {}\n", probe->id, probe->question);
  }
  return text;
}

std::string as_json(const DeviceList& found, const std::vector<DeviceInfo>& devices) {
  using Json = nlohmann::ordered_json;
  Json document{{"devices", Json::array()},
                {"problems", Json::array()},
                {"simulated", presets()},
                {"probes", Json::array()}};
  for (const DeviceInfo& device : devices) {
    document["devices"].push_back({{"index", device.index},
                                   {"platform_index", device.platform_index},
                                   {"name", device.name},
                                   {"type", to_word(device.type)},
                                   {"platform", device.platform},
                                   {"vendor", device.vendor},
                                   {"driver", device.driver},
                                   {"version", device.version},
                                   {"compute_units", device.compute_units},
                                   {"global_memory_bytes", device.global_memory.count},
                                   {"max_allocation_bytes", device.max_allocation.count},
                                   {"local_memory_bytes", device.local_memory.count}});
  }
  for (const DeviceList::Problem& problem : found.problems) {
    document["problems"].push_back({{"platform", problem.platform}, {"problem", problem.problem}});
  }
  for (const Probe* const probe : all_probes()) {
    document["probes"].push_back(
        {{"id", probe->id}, {"title", probe->title}, {"question", probe->question}});
  }
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int list(const cli::Options& options) {
  DeviceList found;
  const auto ask = [&]() -> const DeviceList& {
    if (found.devices.empty()) found = list_devices({.timeout = options.timeout});
    return found;
  };
  std::vector<DeviceInfo> devices;
  if (options.device.empty()) {
    devices = ask().devices;
    if (devices.empty()) throw NoDevice(explain_no_device(found));
  } else {
    for (Target& target : select_targets(options.device, ask)) {
      devices.push_back(std::move(target.info));
    }
  }
  terminal::OutputFile("-").commit(options.format == cli::Format::json ? as_json(found, devices)
                                                                       : as_table(found, devices));
  return exit_ok;
}

}  // namespace clprobe::commands
