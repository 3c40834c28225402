// SPDX-License-Identifier: Apache-2.0
#include "present/device_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "present/findings.hpp"

namespace clprobe::report {
namespace {

std::string_view clock_name(ClockKind kind) {
  switch (kind) {
    case ClockKind::none:
      return "no in-kernel clock";
    case ClockKind::khr_device:
      return "the in-kernel clock of cl_khr_kernel_clock (device scope)";
    case ClockKind::khr_sub_group:
      return "the in-kernel clock of cl_khr_kernel_clock (sub-group scope)";
    case ClockKind::nvidia:
      return "the in-kernel clock %clock64";
    case ClockKind::amd:
      return "the in-kernel cycle counter of AMD";
    case ClockKind::intel:
      return "the in-kernel cycle counter of Intel";
    case ClockKind::cpu:
      return "the processor's cycle counter, read in the kernel";
    case ClockKind::simulated:
      return "the simulation's cycles";
  }
  return "an in-kernel clock";
}

std::string clock_text(const Clock& clock) {
  std::string name(clock_name(clock.kind));
  if (clock.ticks_per_ns <= 0.0) return name + ", not calibrated";
  const std::string rate = format_number(clock.ticks_per_ns);
  switch (clock.rate) {
    case ClockRate::core_cycles:
      return fmt::format("{}: core cycles, {} per ns", name, rate);
    case ClockRate::constant_rate:
      return fmt::format("{}: constant rate of {} MHz", name,
                         format_number(clock.ticks_per_ns * 1e3));
    case ClockRate::unknown:
      return fmt::format("{}: {} ticks per ns, possibly not core cycles", name, rate);
  }
  return name;
}

}  // namespace

namespace {

std::string model_of(const std::string& device, DeviceType type) {
  std::string name(model_name(device, type));
  for (const std::string_view noise : {"(R)", "(TM)", "(r)", "(tm)", " Processor"}) {
    for (std::size_t at = name.find(noise); at != std::string::npos; at = name.find(noise)) {
      name.erase(at, noise.size());
    }
  }
  if (name.starts_with("NVIDIA ")) name.erase(0, std::string_view("NVIDIA ").size());
  return name.empty() ? device : name;
}

/// Properties of a run that can distinguish it from other runs.
struct Identity {
  std::string model{};
  std::int64_t compute_units{0};
  std::string driver{};
  std::string platform_index{};
  std::string started{};
};

std::vector<std::vector<std::string>> names_of(std::span<const Identity> runs) {
  constexpr std::array details{
      +[](const Identity& run) { return units_text(run.compute_units, "unit"); },
      +[](const Identity& run) { return run.driver; },
      +[](const Identity& run) { return run.started.substr(0, 10); },
      +[](const Identity& run) { return run.platform_index; },
      +[](const Identity& run) {
        constexpr std::size_t date = 11;  // length of "2026-11-24T"
        return run.started.substr(std::min(date, run.started.size()), 8);
      },
  };
  std::vector<std::vector<std::string>> names;
  names.reserve(runs.size());
  for (const Identity& run : runs) names.push_back({run.model});
  for (const auto& detail : details) {
    // A detail is added to runs with equal names if it differs between these runs.
    const std::vector<std::vector<std::string>> before = names;
    std::map<std::vector<std::string>, std::set<std::string>> namesakes;
    for (std::size_t i = 0; i < runs.size(); ++i) namesakes[before[i]].insert(detail(runs[i]));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string text = detail(runs[i]);
      if (namesakes[before[i]].size() > 1 && !text.empty()) names[i].push_back(text);
    }
  }
  const std::vector<std::vector<std::string>> before = names;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (std::ranges::count(before, before[i]) > 1) {
      names[i].push_back(fmt::format("#{}", i + 1));
    }
  }
  return names;
}

}  // namespace

std::string name_of(const Run& run) { return run.label.empty() ? run.device.name : run.label; }

std::string model_of(const DeviceInfo& device) { return model_of(device.name, device.type); }

std::vector<std::vector<std::string>> run_names(std::span<const Run> runs) {
  std::vector<Identity> identities;
  for (const Run& run : runs) {
    const DeviceInfo& device = run.device;
    identities.push_back({run.label.empty() ? model_of(device) : run.label, device.compute_units,
                          device.driver, device.platform_index, run.started});
  }
  return names_of(identities);
}

std::vector<std::vector<std::string>> run_names(std::span<const RunDigest> runs) {
  std::vector<Identity> identities;
  for (const RunDigest& run : runs) {
    identities.push_back({run.label.empty() ? model_of(run.device, run.type) : run.label,
                          run.compute_units, run.driver, run.platform_index, run.started});
  }
  return names_of(identities);
}

std::vector<std::string> run_titles(std::span<const Run> runs) {
  std::vector<std::string> titles;
  if (runs.size() == 1) return {name_of(runs.front())};
  for (const std::vector<std::string>& name : run_names(runs)) {
    titles.push_back(fmt::format("{}", fmt::join(name, ", ")));
  }
  return titles;
}

std::vector<std::string> device_facts(const DeviceInfo& device) {
  // For an imported device, lists only the facts in the file: zeros for unknown facts would look
  // like missing hardware.
  if (device.timer == Timer::imported) {
    std::vector<std::string> facts;
    if (!device.platform.empty()) facts.push_back(device.platform);
    if (!device.driver.empty()) facts.push_back(fmt::format("driver {}", device.driver));
    for (const auto& [name, value] : device.reported) {
      facts.push_back(fmt::format("{} {}", parameter_title(name), parameter_text(name, value)));
    }
    return facts;
  }
  return {fmt::format("{}, driver {}, {}", device.platform, device.driver, device.version),
          fmt::format("{}{}{}, {} memory, {} local, {} constant", to_word(device.type),
                      device.compute_units > 0 ? ", " : "",
                      units_text(device.compute_units, "compute unit"),
                      format_bytes(device.global_memory), format_bytes(device.local_memory),
                      format_bytes(device.constant_buffer))};
}

std::string units_text(std::int64_t compute_units, std::string_view unit) {
  if (compute_units <= 0) return {};
  return format_count(static_cast<std::uint64_t>(compute_units), unit);
}

std::string timer_text(const DeviceInfo& device) {
  switch (device.timer) {
    case Timer::clock:
      return clock_text(device.clock);
    case Timer::event:
      return "the driver's events around whole launches; times are slopes between two run lengths";
    case Timer::host:
    case Timer::wait:  // used for single points, never for a device
      return "the host's clock around whole launches; times are slopes between two run lengths";
    case Timer::imported:
      return "another tool, whose results were imported";
  }
  return {};
}

std::string result_text(const ProbeResult& result) {
  std::size_t samples = 0;
  for (const Point& point : result.points) samples += point.samples.size();
  const bool is_imported = samples == 0 && result.elapsed_seconds == 0.0;
  if (is_imported && result.status == Status::ok) {
    std::string findings = format_count(result.findings.size(), "finding");
    if (result.points.empty()) return findings;
    return fmt::format("{}, {}, no samples", format_count(result.points.size(), "point"), findings);
  }
  std::string amount =
      fmt::format("{}, {} in {}", format_count(result.points.size(), "point"),
                  format_count(samples, "sample"), format_seconds(result.elapsed_seconds));
  if (result.status == Status::ok) return amount;
  const std::string so_far = result.points.empty() ? "" : fmt::format(" ({})", amount);
  const std::string reason = result.reason.empty() ? "no reason given" : result.reason;
  switch (result.status) {
    case Status::unsupported:
      return "not supported: " + reason;
    case Status::unobservable:
      return "unobservable: " + reason;
    case Status::failed:
      return fmt::format("FAILED: {}{}", reason, so_far);
    case Status::interrupted:
      return fmt::format("INTERRUPTED: {}{}", reason, so_far);
    case Status::ok:
      break;
  }
  return amount;
}

std::string failures_text(const ProbeResult& result) {
  const auto has_failed = [](const Point& point) { return !point.failure.empty(); };
  const auto first = std::ranges::find_if(result.points, has_failed);
  if (first == result.points.end()) return {};
  const auto count = std::ranges::count_if(result.points, has_failed);
  return fmt::format("{} of {} could not be measured; the first, in {}: {}", count,
                     format_count(result.points.size(), "point"), first->series, first->failure);
}

}  // namespace clprobe::report
