// SPDX-License-Identifier: Apache-2.0
// What the probe measures: kernels, each a case of --case, with its points, its launch and its
// findings. stalls.cpp lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/probe.hpp"
#include "probes/shared/wanted_series.hpp"

namespace clprobe::stalls {

struct Shared;  // launch.hpp; sees OpenCL

/// The probe's options, and what it may take.
struct Asked {
  std::vector<std::string> cases{};  ///< empty: all
  Effort effort{Effort::normal};
  Bytes last_cache{};
  std::vector<KnownLatency> latencies{};
  Bytes max_memory{};  ///< 0: the probe's choice
  Bytes max_data{};    ///< of that, for the array that loads go to; 0: the probe's choice

  explicit Asked(const Request& request)
      : cases(request.own.words("case")),
        effort(request.effort),
        last_cache(request.known.last_cache),
        latencies(request.known.latencies),
        max_memory(request.max_memory),
        max_data(request.max_memory) {}

  /// Of a case that is run on request alone, or not.
  [[nodiscard]] bool wants(std::string_view name, bool is_on_request) const {
    if (cases.empty() && is_on_request) return effort == Effort::thorough;
    return is_wanted(cases, name);
  }
};

/// Bytes that points hold, by the buffer that they share; `own` is free again with the point.
struct Memory {
  std::uint64_t data{0};
  std::uint64_t copies{0};
  std::uint64_t results{0};
  std::uint64_t stamps{0};
  std::uint64_t own{0};

  void include(const Memory& other) {
    data = std::max(data, other.data);
    copies = std::max(copies, other.copies);
    results = std::max(results, other.results);
    stamps = std::max(stamps, other.stamps);
    own = std::max(own, other.own);
  }
  /// All but the arrays, whose sizes can be chosen.
  [[nodiscard]] std::uint64_t beside() const { return results + stamps + own; }
  [[nodiscard]] std::uint64_t total() const { return data + copies + beside(); }
};

/// The points of one bar: of one series.
using Points = std::vector<const Point*>;

struct Case {
  std::string_view name{};      ///< for --case, and the points' parameter `case`
  std::string_view formerly{};  ///< its name in older documents; empty: the same
  std::string_view what{};      ///< what its kernel does, for the manual
  bool is_on_request{false};    ///< runs where it is named, or time is given: --thorough
  std::vector<Point> (*points)(const DeviceInfo&, const Asked&){nullptr};
  Memory (*memory)(const Point&){nullptr};
  /// Of its kernel.
  KernelLoops (*loops)(const DeviceInfo&, const Point&){nullptr};
  /// How the kernel is built.
  std::string (*options)(const DeviceInfo&, const Point&){nullptr};
  /// Throws DeviceError, Unsupported and cl::Error.
  Work (*prepare)(Shared&, const Point&){nullptr};
  /// Adds what a bar's points say.
  void (*analyse)(std::string_view bar, const Points&, const DeviceInfo&,
                  std::vector<Finding>&){nullptr};
};

/// In the order in which they are planned.
std::span<const Case> all_cases();
/// By its name, or its name in older documents; null when there is none.
const Case* find_case(std::string_view name);

}  // namespace clprobe::stalls
