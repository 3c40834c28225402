// SPDX-License-Identifier: Apache-2.0
// Reports on fleets for programs: CSV, JSON, JSON lines, and Prometheus' text format.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "present/fleet.hpp"
#include "present/safe_text.hpp"
#include "run/api/json.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace report {
namespace {

using fleet::Deviation;
using fleet::Device;
using fleet::Distribution;
using fleet::Offender;
using fleet::Report;
using fleet::Standing;
using json::Json;

/// Deviations by device and number.
using Deviations = std::map<std::pair<std::size_t, std::string_view>, const Deviation*>;

Deviations deviations_of(const Report& report) {
  Deviations all;
  for (const Deviation& each : report.deviations) all[{each.device, each.name}] = &each;
  return all;
}

std::map<std::size_t, const Offender*> offenders_of(const Report& report) {
  std::map<std::size_t, const Offender*> all;
  for (const Offender& each : report.offenders) all[each.device] = &each;
  return all;
}

/// Calls `visit(distribution, index, deviation)` for each value; the deviation may be null.
template <typename Visit>
void for_each_value(const Report& report, Visit visit) {
  const Deviations deviations = deviations_of(report);
  for (const Distribution& of : report.distributions) {
    for (std::size_t i = 0; i < of.values.size(); ++i) {
      const auto found = deviations.find({of.devices[i], of.name});
      visit(of, i, found == deviations.end() ? nullptr : found->second);
    }
  }
}

Json place_json(const Device& device) {
  return {{"node", device.node}, {"slot", device.slot},      {"rack", device.rack},
          {"uuid", device.uuid}, {"pci", device.pci},        {"device", device.name},
          {"file", device.file}, {"started", device.started}};
}

void put_deviation(Json& object, const Deviation& each) {
  object["number"] = each.name;
  object["unit"] = each.unit;
  object["value"] = each.value;
  object["centre"] = each.centre;
  object["loss"] = each.loss;
  object["z"] = each.z;
  object["p"] = each.p;
  object["standing"] = to_word(each.standing);
  object["sure"] = each.is_sure;
}

Json distribution_json(const Distribution& of) {
  return {{"kind", of.kind},
          {"number", of.name},
          {"unit", of.unit},
          {"median", of.median},
          {"low", of.low},
          {"high", of.high},
          {"worst", of.worst},
          {"devices", of.values.size()},
          {"detectable", of.detectable}};
}

}  // namespace

std::string fleet_csv(const Report& report, const TableStyle& /*style*/) {
  std::string text =
      csv_line("node", "slot", "rack", "uuid", "pci", "device", "driver", "started", "number",
               "unit", "value", "median", "loss", "z", "p", "standing", "sure", "cause");
  const auto offenders = offenders_of(report);
  for_each_value(report, [&](const Distribution& of, std::size_t i, const Deviation* deviation) {
    const Device& device = report.devices[of.devices[i]];
    using Number = std::optional<double>;
    const auto offender = offenders.find(of.devices[i]);
    text += csv_line(device.node, device.slot, device.rack, device.uuid, device.pci, device.name,
                     device.driver, device.started, of.name, of.unit, of.values[i], of.median,
                     deviation == nullptr ? Number() : deviation->loss,
                     deviation == nullptr ? Number() : deviation->z,
                     deviation == nullptr ? Number() : deviation->p,
                     to_word(deviation == nullptr ? Standing::usual : deviation->standing),
                     deviation != nullptr && deviation->is_sure ? "yes" : "",
                     offender == offenders.end() ? std::string() : offender->second->cause);
  });
  return text;
}

std::string fleet_json(const Report& report, const TableStyle& /*style*/) {
  Json document{{"schema", "clprobe-fleet"},       {"schema_version", 1},
                {"campaign", report.campaign},     {"devices", report.devices.size()},
                {"nodes", report.nodes},           {"older_runs", report.older},
                {"missing_nodes", report.missing}, {"missing_devices", report.missing_devices}};
  document["failed"] = Json::array();
  for (const fleet::BadFile& each : report.failed) {
    document["failed"].push_back(
        {{"file", each.file}, {"node", each.node}, {"reason", each.reason}});
  }
  document["kinds"] = Json::array();
  for (const fleet::Kind& each : report.kinds) {
    document["kinds"].push_back(
        {{"name", each.name}, {"devices", each.devices.size()}, {"note", each.note}});
  }
  document["offenders"] = Json::array();
  for (const Offender& each : report.offenders) {
    Json object = place_json(report.devices[each.device]);
    put_deviation(object, each.worst);
    object["cause"] = each.cause;
    document["offenders"].push_back(std::move(object));
  }
  document["remarks"] = Json::array();
  for (const fleet::Remark& each : report.remarks) {
    document["remarks"].push_back({{"about", each.about}, {"text", each.text}});
  }
  document["distributions"] = Json::array();
  for (const Distribution& each : report.distributions) {
    document["distributions"].push_back(distribution_json(each));
  }
  document["hosts"] = fleet::offending_hosts(report, false);
  return json::many_lines(document);
}

namespace {

std::string fleet_lines(const Report& report, const TableStyle& /*style*/) {
  std::string text;
  for_each_value(report, [&](const Distribution& of, std::size_t i, const Deviation* deviation) {
    Json object = place_json(report.devices[of.devices[i]]);
    if (deviation != nullptr) {
      put_deviation(object, *deviation);
    } else {
      object["number"] = of.name;
      object["unit"] = of.unit;
      object["value"] = of.values[i];
      object["standing"] = to_word(Standing::usual);
    }
    text += json::one_line(object) + "\n";
  });
  return text;
}

/// Returns the value of a label, escaped for Prometheus.
std::string label_value(std::string_view raw) {
  std::string escaped;
  for (const char letter : printable(raw)) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string labels_of(const Device& device) {
  return fmt::format(R"(node="{}",slot="{}",uuid="{}",device="{}")", label_value(device.node),
                     label_value(device.slot), label_value(device.uuid), label_value(device.name));
}

/// Names of metrics by unit, as Prometheus' conventions require.
struct MetricRow {
  std::string_view unit;
  std::string_view name;
  std::string_view help;
};

constexpr std::array metric_rows{
    MetricRow{"seconds", "clprobe_time_seconds", "Latencies and times of launches."},
    MetricRow{"cycles", "clprobe_time_cycles", "Latencies in cycles of the core clock."},
    MetricRow{"bytes", "clprobe_size_bytes", "Capacities and other sizes."},
    MetricRow{"bytes_per_second", "clprobe_bandwidth_bytes_per_second", "Bandwidths."},
    MetricRow{"operations_per_second", "clprobe_rate_operations_per_second", "Rates."},
    MetricRow{"hertz", "clprobe_clock_hertz", "Clock rates."}};

std::string prometheus_head(std::string_view name, std::string_view help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

std::string fleet_prometheus(const Report& report, const TableStyle& /*style*/) {
  std::string text;
  for (const MetricRow& row : metric_rows) {
    std::string lines;
    for (const Distribution& of : report.distributions) {
      if (of.unit != row.unit) continue;
      for (std::size_t i = 0; i < of.values.size(); ++i) {
        lines += fmt::format("{}{{{},number=\"{}\"}} {}\n", row.name,
                             labels_of(report.devices[of.devices[i]]), label_value(of.name),
                             of.values[i]);
      }
    }
    if (!lines.empty()) text += prometheus_head(row.name, row.help) + lines;
  }
  const auto offenders = offenders_of(report);
  constexpr std::array standings{std::pair{Standing::slow, "clprobe_slow"},
                                 std::pair{Standing::suspect, "clprobe_suspect"}};
  for (const auto& [standing, name] : standings) {
    text += prometheus_head(name, fmt::format("1 if the device is {}.", to_word(standing)));
    for (std::size_t i = 0; i < report.devices.size(); ++i) {
      const auto found = offenders.find(i);
      const bool is_it = found != offenders.end() && found->second->worst.standing == standing;
      text += fmt::format("{}{{{}}} {}\n", name, labels_of(report.devices[i]), is_it ? 1 : 0);
    }
  }
  const std::size_t missing = report.missing.size() + report.missing_devices;
  return text + prometheus_head("clprobe_missing", "Expected nodes or devices without a run.") +
         fmt::format("clprobe_missing {}\n", missing) +
         prometheus_head("clprobe_failed", "Failed runs and unreadable files.") +
         fmt::format("clprobe_failed {}\n", report.failed.size());
}

}  // namespace
}  // namespace report

constexpr Writer formats::jsonl{
    .name = "jsonl",
    .ending = ".jsonl",
    .details = "A `.jsonl` file of `fleet report` has a JSON object per device and number. ",
    .fleet = report::fleet_lines};

constexpr Writer formats::prometheus{
    .name = "prometheus",
    .ending = ".prom",
    .details = "A `.prom` file of `fleet report` is for Prometheus' textfile collector. ",
    .fleet = report::fleet_prometheus};

}  // namespace clprobe
