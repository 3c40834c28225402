// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"

namespace clprobe {
namespace {

/// Returns the name of a point for messages: "latency (global, 64 KiB)".
std::string describe_point(const Probe& probe, const Point& point) {
  const auto size = point.parameters.integer_or("working_set_bytes", -1);
  if (size < 0) return fmt::format("{} ({})", probe.id, point.series);
  return fmt::format("{} ({}, {})", probe.id, point.series,
                     format_bytes({static_cast<std::uint64_t>(size)}));
}

/// Runs `action`, and converts an OpenCL exception to a DeviceError of one line that names the
/// point.
template <typename Action>
auto translated(const std::string& where, Action action) {
  try {
    return action();
  } catch (const cl::Error& error) {
    throw DeviceError(fmt::format("{} in {}", describe(error), where));
  }
}

}  // namespace

class PointPreparer::State {
 public:
  explicit State(Session& session) : session_(session) {}

  Work prepare(const Probe& probe, const Point& point) {
    const std::string where = checked_description(probe, point);
    if (!has_memory_of_its_own(session_.info())) close_others(probe);
    Work work;
    try {
      work = prepare_opened(probe, point, where);
    } catch (const Unsupported&) {
      throw;
    } catch (const DeviceError&) {
      // A second attempt follows after the memory of all probes and kept points is freed.
      const bool had_others = close_others(probe);
      if (kept_.empty() && !had_others) throw;
      kept_.clear();
      opened_.erase(&probe);
      work = prepare_opened(probe, point, where);
    }
    return with_translated_errors(std::move(work), where);
  }

  Work prepare_kept(const Probe& probe, const Point& point) {
    const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) {
      return each.probe == &probe && each.point == point;
    });
    if (kept != kept_.end()) return kept->work;
    const std::string where = checked_description(probe, point);
    Work work = translated(where, [&] { return probe.open(session_)(point); });
    kept_.push_back({&probe, point, with_translated_errors(std::move(work), where)});
    return kept_.back().work;
  }

 private:
  /// A prepared point whose memory stays allocated.
  struct Kept {
    const Probe* probe;
    Point point;
    Work work;
  };

  static std::string checked_description(const Probe& probe, const Point& point) {
    std::string where = describe_point(probe, point);
    if (probe.open == nullptr) throw Unsupported(fmt::format("{} has no kernel", where));
    return where;
  }

  static Work with_translated_errors(Work work, const std::string& where) {
    work.run = [run = std::move(work.run), where](std::uint64_t iterations) {
      return translated(where, [&] { return run(iterations); });
    };
    return work;
  }

  /// Returns true for a GPU whose buffers use no host memory, according to the driver.
  static bool has_memory_of_its_own(const DeviceInfo& device) {
    return is_gpu(device) && device.reported.integer_or("host_unified_memory", 1) == 0;
  }

  Work prepare_opened(const Probe& probe, const Point& point, const std::string& where) {
    auto opened = opened_.find(&probe);
    if (opened == opened_.end()) {
      opened =
          opened_.emplace(&probe, translated(where, [&] { return probe.open(session_); })).first;
    }
    return translated(where, [&] { return opened->second(point); });
  }

  /// Frees the buffers of all other probes. Returns whether there were any buffers to free.
  bool close_others(const Probe& probe) {
    return std::erase_if(opened_, [&](const auto& each) { return each.first != &probe; }) > 0;
  }

  Session& session_;
  /// Probes with open buffers: the current probe and, on a GPU with its own memory, others until a
  /// preparation fails. Initialising 1 GiB takes as long as measuring a hundred points.
  std::map<const Probe*, Preparer> opened_{};
  std::vector<Kept> kept_{};
};

PointPreparer::PointPreparer(Session& session) : state_(std::make_unique<State>(session)) {}
PointPreparer::~PointPreparer() = default;

Work PointPreparer::prepare(const Probe& probe, const Point& point) {
  return state_->prepare(probe, point);
}
Work PointPreparer::prepare_kept(const Probe& probe, const Point& point) {
  return state_->prepare_kept(probe, point);
}

}  // namespace clprobe
