// SPDX-License-Identifier: Apache-2.0
#include "present/checkup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "present/api/page.hpp"
#include "present/api/report.hpp"
#include "present/description.hpp"
#include "present/device_text.hpp"

namespace clprobe::report {
namespace {

// Warnings about the driver or the device. Other warnings concern the host, or limits of a run.
constexpr std::array<std::string_view, 10> driver_warnings{
    "event_times_false",  "clock_refused", "pointers_refused", "calibration_failed",
    "drift_not_followed", "too_fast",      "rate_too_high",    "above_reported_peak",
    "narrow_link",        "device_failed"};

bool has_warning(const Run& run, std::string_view code) {
  const auto is_it = [&](const Warning& each) { return each.code == code; };
  return std::ranges::any_of(run.warnings, is_it) ||
         std::ranges::any_of(run.results, [&](const ProbeResult& result) {
           return std::ranges::any_of(result.warnings, is_it);
         });
}

class Examiner {
 public:
  Examiner(std::span<const Probe* const> probes, const Run& run)
      : run_(run), description_(describe(probes, run)) {}

  std::vector<Check> examine() {
    check_results();
    check_timers();
    check_sub_groups();
    check_levels();
    for (const Warning& each : run_.warnings) add_warning(each, {});
    for (const ProbeResult& result : run_.results) {
      for (const Warning& each : result.warnings) add_warning(each, result.probe + ": ");
    }
    std::ranges::stable_sort(checks_, {}, &Check::health);
    return std::move(checks_);
  }

 private:
  void add(Health health, std::string topic, std::string text) {
    checks_.push_back({health, std::move(topic), std::move(text)});
  }

  /// Failed points and probes are problems. Kernels return a checksum, so each sample of the others
  /// had the right result.
  void check_results() {
    std::size_t samples = 0;
    for (const ProbeResult& result : run_.results) {
      for (const Point& point : result.points) samples += point.samples.size();
      if (result.status == Status::failed) {
        add(Health::problem, "results", fmt::format("{}: {}", result.probe, result.reason));
      } else if (const std::string failures = failures_text(result); !failures.empty()) {
        add(Health::problem, "results", fmt::format("{}: {}", result.probe, failures));
      }
    }
    if (samples == 0) {
      add(Health::problem, "results", "no sample was measured");
    } else {
      add(Health::good, "results",
          fmt::format("{} of {} had the right checksums", format_count(samples, "sample"),
                      format_count(run_.results.size(), "probe")));
    }
  }

  void check_timers() {
    const DeviceInfo& device = run_.device;
    if (is_simulated(device)) {
      add(Health::noted, "clock", "a simulated device has no driver and counts its own cycles");
      return;
    }
    if (device.launch_timer == Timer::event) {
      add(Health::good, "event times", "agree with the host's clock");
    } else if (!has_warning(run_, "event_times_false")) {
      add(Health::noted, "event times", "not used");
    }
    if (device.clock.kind != ClockKind::none) {
      add(Health::good, "clock", timer_text(device));
    } else if (!has_warning(run_, "clock_refused")) {
      add(Health::noted, "clock", "kernels cannot read a clock on this device");
    }
    if (device.pointers_stay_valid) {
      add(Health::good, "pointers", "stay valid from launch to launch");
    }
  }

  void check_sub_groups() {
    const std::int64_t size = run_.device.sub_group_size;
    const std::optional<double> together = value_of("local.lanes_together");
    if (size < 1 || !together) return;
    std::string text = fmt::format(
        "the driver reports {} work-items; local memory serves {:.0f} together", size, *together);
    if (*together > static_cast<double>(size)) {
      add(Health::problem, "sub-groups", text + ", so sub-groups are larger than reported");
    } else {
      add(Health::good, "sub-groups", std::move(text));
    }
  }

  /// A level that is farther away takes longer, and no load takes less than a cycle.
  void check_levels() {
    std::string text;
    double before = 0.0;
    bool is_rising = true;
    for (const auto& [name, remark] : description_.levels) {
      const std::optional<double> latency = value_of(name + ".latency");
      if (!latency) continue;
      is_rising = is_rising && *latency > before;
      before = *latency;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_seconds(*latency));
      const std::optional<double> cycles = value_of(name + ".latency_cycles");
      if (cycles && *cycles < 1.0) {
        add(Health::problem, "latency",
            fmt::format("{} takes {:.2g} cycles: no load is that fast", name, *cycles));
      }
    }
    if (text.empty()) return;
    if (is_rising) {
      add(Health::good, "latency", std::move(text));
    } else {
      add(Health::problem, "latency", text + ": a farther level is faster than a nearer one");
    }
  }

  void add_warning(const Warning& warning, std::string_view prefix) {
    const bool is_driver =
        std::ranges::find(driver_warnings, warning.code) != driver_warnings.end();
    add(is_driver ? Health::problem : Health::noted, brief_warning(warning.code),
        fmt::format("{}{}", prefix, describe_warning(warning)));
  }

  [[nodiscard]] std::optional<double> value_of(std::string_view name) const {
    const auto found = std::ranges::find(description_.numbers, name, &DeviceNumber::name);
    return found == description_.numbers.end() ? std::nullopt : found->value;
  }

  const Run& run_;
  Description description_;
  std::vector<Check> checks_{};
};

std::string_view word_of(Health health) {
  switch (health) {
    case Health::good:
      return "ok";
    case Health::noted:
      return "note";
    case Health::problem:
      break;
  }
  return "PROBLEM";
}

}  // namespace

std::vector<Check> checks_of(std::span<const Probe* const> probes, const Run& run) {
  return Examiner(probes, run).examine();
}

}  // namespace clprobe::report

namespace clprobe {

bool has_problem(std::span<const Probe* const> probes, const Run& run) {
  return std::ranges::any_of(report::checks_of(probes, run), [](const report::Check& each) {
    return each.health == report::Health::problem;
  });
}

std::string checkup_text(std::span<const Probe* const> probes, std::span<const Run> runs,
                         const TableStyle& style) {
  using report::Health;
  report::Page page(style);
  const auto line = [&](std::string_view text) { page.prose("", text, report::Ink::plain); };
  for (const Run& run : runs) {
    const DeviceInfo& device = run.device;
    line(fmt::format("{}, driver {}, {}", device.name, device.driver, device.version));
    std::size_t problems = 0;
    for (const report::Check& each : report::checks_of(probes, run)) {
      problems += each.health == Health::problem ? 1 : 0;
      page.prose(fmt::format(" {:<7}  {:<18} ", report::word_of(each.health), each.topic),
                 each.text,
                 each.health == Health::problem ? report::Ink::caution : report::Ink::plain);
    }
    line(problems == 0 ? "No problem was found."
                       : fmt::format("{} found. To report, attach the file of -o FILE.json.",
                                     format_count(problems, "problem")));
  }
  return page.text();
}

}  // namespace clprobe
