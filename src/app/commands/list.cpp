// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/commands/commands.hpp"
#include "app/commands/devices.hpp"
#include "app/terminal/output.hpp"
#include "app/terminal/terminal.hpp"
#include "clprobe/registry.hpp"
#include "measure/api/worker.hpp"
#include "present/api/page.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

report::Row row_of(const report::Page& page, const DeviceInfo& device) {
  constexpr int max_name_columns = 48;
  const auto name = [&](const std::string& text) {
    return cut_to_width(page.show(text), max_name_columns);
  };
  const bool simulated = is_simulated(device);
  return {{simulated ? "-" : fmt::to_string(device.index), page.show(device.platform_index),
           name(device.name), std::string(to_word(device.type)), name(device.vendor),
           name(device.driver), fmt::to_string(device.compute_units),
           format_bytes(device.global_memory)}};
}

void add_devices(report::Page& page, const std::vector<DeviceInfo>& devices) {
  const std::vector<report::Column> columns{{"#"},      {"P:D"},    {"name"},  {"type"},
                                            {"vendor"}, {"driver"}, {"units"}, {"memory"}};
  std::vector<report::Row> rows;
  rows.reserve(devices.size());
  for (const DeviceInfo& device : devices) rows.push_back(row_of(page, device));
  page.table(columns, rows, 0);
}

std::string as_table(const DeviceList& found, const std::vector<DeviceInfo>& devices) {
  // The page has no limit of width, so that rows are not cut: programs also read the table.
  report::Page page({.width = std::numeric_limits<int>::max(), .unicode = terminal::has_unicode()});
  add_devices(page, devices);
  for (const DeviceList::Problem& problem : found.problems) {
    page.line(
        {{page.show(fmt::format("platform {}: {}", quote(problem.platform), problem.problem))}});
  }
  for (const std::string& line : explain_left_out(found)) page.line({{page.show(line)}});
  page.blank();
  page.line(
      {{fmt::format("simulated devices: {}, or sim:FILE.json for a device that the file describes",
                    fmt::join(preset_words(), ", "))}});
  page.blank();
  page.line({{"probes"}});
  std::vector<report::Row> rows;
  for (const Probe* const probe : all_probes()) {
    rows.push_back({{std::string(probe->id), page.show(probe->question)}});
  }
  page.table({{}, {}}, rows, 2);
  return page.text();
}

std::string as_json(const DeviceList& found, const std::vector<DeviceInfo>& devices) {
  using Json = nlohmann::ordered_json;
  Json document{{"devices", Json::array()},
                {"problems", Json::array()},
                {"simulated", preset_words()},
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
  for (const DeviceList::LeftOut& each : found.left_out) {
    document["problems"].push_back({{"driver", each.file}, {"problem", each.reason}});
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
    if (devices.empty()) throw NoDevice(explain_no_device(found, memory_limit()));
  } else {
    for (Target& target : select_targets(options.device, ask)) {
      devices.push_back(std::move(target.info));
    }
  }
  terminal::OutputFile("-").commit(options.format->name == "json" ? as_json(found, devices)
                                                                  : as_table(found, devices));
  return exit_ok;
}

}  // namespace clprobe::commands
