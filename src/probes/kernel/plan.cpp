// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/kernel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "clprobe/estimate.hpp"
#include "clprobe/kernel_causes.hpp"
#include "probes/kernel/shape.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Possibility;

std::optional<prelude::LaneMasks> lane_masks(const prelude::NdRange& range,
                                             const DeviceInfo& device) {
  return prelude::lane_masks(range, static_cast<std::uint64_t>(device.sub_group_size));
}

/// What of the device and the launch speaks against taking lanes away, besides the text.
void look_at_lanes(const prelude::NdRange& range, const DeviceInfo& device,
                   prelude::Verdict& lanes) {
  if (runs_items_in_turn(device) || device.sub_group_size <= 1) {
    lanes = {Possibility::not_present, "a core runs its work-items one after another"};
  } else if (lanes.possibility == Possibility::usable && !lane_masks(range, device)) {
    lanes = {Possibility::refused, "its work-groups do not consist of whole sub-groups"};
  }
}

using prelude::Possibility;
using prelude::Setting;

/// Of a GPU what its driver reports may be another cache than the last (NVIDIA's: 4 MiB of an H100
/// with 50), and the parts of main memory and of that cache would be wrong: 0 without measured
/// levels.
Bytes last_cache_of(const DeviceInfo& device, Bytes measured) {
  if (is_gpu(device) && measured.count == 0) return {};
  return std::max(reported_cache(device), measured);
}

/// One kernel, and what may be done to it.
class Planned {
 public:
  Planned(const DeviceInfo& device, const Request& request, const AskedLaunch& launch)
      : launch_(launch),
        is_padded_(!runs_items_in_turn(device)),
        timer_(device.launch_timer == Timer::event ? Timer::event : Timer::wait),
        last_cache_(last_cache_of(device, request.known.last_cache)),
        levels_(request.known.levels),
        range_(range_for_prelude(launch.bundle.launch.range)),
        judgement_(judge_kernel(launch.bundle, device)) {
    check_entry();
    if (judgement_.renaming.possibility != Possibility::usable) return;
    try {
      static_cast<void>(prelude::encode(range_, {}));
    } catch (const prelude::SettingError& error) {
      judgement_.renaming = {Possibility::refused, error.what()};
      return;
    }
    if (judgement_.folding.possibility != Possibility::usable) return;
    sweep_ = prelude::fold_sweep(range_);
    if (sweep_.size() > 1) return;
    judgement_.folding = {Possibility::refused, sweep_.empty()
                                                    ? "the driver chooses the work-group size"
                                                    : "the launch has only one work-group"};
  }

  [[nodiscard]] bool is_instrumented() const {
    return judgement_.renaming.possibility == Possibility::usable;
  }
  [[nodiscard]] bool is_entered() const {
    return judgement_.entry.possibility == Possibility::usable;
  }
  /// Whether a compute unit runs several groups at once, which local memory may limit.
  [[nodiscard]] bool is_padded() const { return is_entered() && is_padded_; }
  [[nodiscard]] const std::vector<Setting>& sweep() const { return sweep_; }
  [[nodiscard]] const prelude::NdRange& range() const { return range_; }
  [[nodiscard]] const std::string& label() const { return launch_.label; }

  [[nodiscard]] Point plain(Caches caches) const {
    return point_of({.caches = caches}, caches == Caches::warm ? warm_suffix : "");
  }
  /// Groups that do what few do find in the caches what these have touched: what is taken away is
  /// waiting for memory, also for the first of them.
  [[nodiscard]] Point instrumented(const Setting& setting, std::string_view suffix) const {
    const Caches caches = is_folded(setting) ? Caches::warm : Caches::cold;
    return point_of({.caches = caches, .text = Text::instrumented, .setting = setting}, suffix);
  }

  /// All groups, with so much of the local memory that the kernel leaves.
  [[nodiscard]] Point entered(std::uint64_t padding_eighths) const {
    return point_of({.text = Text::entered, .padding_eighths = padding_eighths}, at_once_suffix);
  }
  /// What is left with all causes gone, and others beside it.
  [[nodiscard]] Point bare_beside(const Setting& setting, Beside what) const {
    return point_of(
        {.caches = Caches::warm, .text = Text::bare, .setting = setting, .beside = what},
        std::string(bare_suffix) + std::string(word_in(beside_words, what)));
  }
  /// `folding` without all that the kernel has of the other causes.
  [[nodiscard]] Setting bare(Setting folding) const {
    for (const RemovableCause& each : removable_causes) folding.*each.without = has(each);
    return folding;
  }
  /// Whether others beside what is left say something: where a core would run one behind the other
  /// they do not, nor where no event says when.
  [[nodiscard]] bool has_chains() const { return is_padded_ && timer_ == Timer::event; }
  /// The first groups alone.
  [[nodiscard]] Point first_groups(std::uint64_t groups) const {
    return point_of({.text = Text::entered, .distinct_groups = groups}, whole_waves_suffix);
  }

  /// That many groups, of which none goes on into the kernel.
  [[nodiscard]] Point ending_groups(std::uint64_t groups) const {
    return point_of({.text = Text::entered, .distinct_groups = groups, .ends_at_once = true},
                    ending_suffix);
  }
  [[nodiscard]] std::uint64_t groups() const { return prelude::count_all_groups(range_); }

  /// `folding`, without barriers, atomics, fences, special functions, and without lanes where it
  /// folds, in each combination of what the kernel has.
  void add_switched(const Setting& folding, std::vector<Point>& points) const {
    for (unsigned bits = 1; bits < 1U << removable_causes.size(); ++bits) {
      Setting setting = folding;
      std::string suffix;
      bool is_possible = true;
      for (std::size_t i = 0; i < removable_causes.size(); ++i) {
        if ((bits >> i & 1U) == 0) continue;
        const RemovableCause& cause = removable_causes.at(i);
        is_possible = is_possible && has(cause) &&
                      (cause.factor != KernelFactor::lanes || is_folded(folding));
        setting.*cause.without = true;
        suffix += cause.suffix;
      }
      if (is_possible) points.push_back(instrumented(setting, suffix));
    }
  }

 private:
  /// Whether the kernel has that cause and may lose it.
  [[nodiscard]] bool has(const RemovableCause& cause) const {
    return (judgement_.*cause.verdict).possibility == Possibility::usable;
  }

  Point point_of(Shape shape, std::string_view suffix) const {
    shape.bundle = launch_.bundle.id;
    shape.timer = timer_;
    if (range_.local != bundle::Sizes{}) {
      shape.groups = groups();
      if (shape.distinct_groups == 0) {
        shape.distinct_groups = prelude::count_distinct_groups(range_, shape.setting);
      }
    }
    Point point;
    point.series = launch_.label + std::string(suffix);
    write_shape(shape, point);
    add_facts(point);
    return point;
  }

  void add_facts(Point& point) const {
    const std::uint64_t bytes = bundle::object_bytes(launch_.bundle.launch);
    point.facts.set(buffer_bytes_fact, static_cast<std::int64_t>(bytes));
    if (last_cache_.count > 0) {
      point.facts.set(last_cache_fact, static_cast<std::int64_t>(last_cache_.count));
    }
    for (const KnownLevel& each : levels_) {
      const auto place = static_cast<std::size_t>(each.level) - 1;
      const bool is_numbered = each.level > 0 && place < level_facts.size();
      if (!is_numbered || each.capacity.count == 0) continue;
      point.facts.set(std::string(level_facts.at(place)),
                      static_cast<std::int64_t>(each.capacity.count));
    }
    const auto verdict_of = [this](const prelude::Verdict& own) -> const prelude::Verdict& {
      return is_instrumented() ? own : judgement_.renaming;
    };
    add_absence(point, "memory", verdict_of(judgement_.folding));
    for (const RemovableCause& each : removable_causes) {
      add_absence(point, word_in(factor_words, each.factor), verdict_of(judgement_.*each.verdict));
    }
    add_absence(point, entry_factor, judgement_.entry);
  }

  static void add_absence(Point& point, std::string_view factor, const prelude::Verdict& verdict) {
    if (verdict.possibility == Possibility::usable) return;
    const bool is_there = verdict.possibility == Possibility::refused;
    point.facts.set(absence_of(factor), is_there ? verdict.reason : std::string(not_present));
  }

  /// What of the launch speaks against an entry, besides the text.
  void check_entry() {
    if (!is_entered()) return;
    try {
      static_cast<void>(prelude::entry_text(range_));
    } catch (const prelude::SettingError& error) {
      judgement_.entry = {Possibility::refused, error.what()};
    }
  }

  const AskedLaunch& launch_;
  bool is_padded_;
  Timer timer_;
  Bytes last_cache_;
  std::vector<KnownLevel> levels_;
  prelude::NdRange range_;
  prelude::Judgement judgement_;
  std::vector<Setting> sweep_{};
};

std::vector<Planned> planned_of(const DeviceInfo& device, const Request& request) {
  std::vector<Planned> all;
  for (const AskedLaunch& each : request.launches) all.emplace_back(device, request, each);
  return all;
}

/// A quick look leaves every other folding out, but neither end.
bool is_left_out(std::size_t place, std::size_t count, Effort effort) {
  return effort == Effort::quick && place % 2 == 1 && place + 1 < count;
}

/// Eighths of the local memory that a kernel leaves; 0 is the kernel as it is.
std::vector<std::uint64_t> paddings(Effort effort) {
  if (effort == Effort::quick) return {4, 6, 8};
  return {1, 2, 3, 4, 5, 6, 7, 8};
}

const Point* find_measured(const Point& wanted, std::span<const Point> points) {
  const auto point = std::find_if(points.begin(), points.end(), [&](const Point& each) {
    return each.series == wanted.series && each.parameters == wanted.parameters;
  });
  return point == points.end() || !point->failure.empty() ? nullptr : &*point;
}

/// With copies of it beside it, and loads.
void add_bare(const Planned& kernel, const Setting& folding, double ns, Effort effort,
              std::vector<Point>& points) {
  // A sample has eight copies, or the kernel twice and noise of four times its time.
  const double max_ns = effort == Effort::quick ? 10e6 : 50e6;
  if (!kernel.has_chains() || ns > max_ns) return;
  for (const Beside what : {Beside::copies, Beside::scattered}) {
    points.push_back(kernel.bare_beside(kernel.bare(folding), what));
  }
}

/// The launch without its last wave, where it has one that is partly filled.
std::optional<Point> whole_waves(const Planned& kernel, std::span<const Point> points) {
  if (!kernel.is_entered()) return std::nullopt;
  const Point* const all = find_measured(kernel.entered(0), points);
  if (all == nullptr) return std::nullopt;
  const std::int64_t resident = all->facts.integer_or(resident_fact, 0);
  const std::uint64_t groups =
      groups_of_whole_waves(shape_of<Shape>(*all).groups,
                            static_cast<std::uint64_t>(std::max<std::int64_t>(0, resident)));
  if (groups == 0) return std::nullopt;
  return kernel.first_groups(groups);
}

/// Of the sweep's points the fastest: its place there, and its time.
struct Fastest {
  std::size_t place{0};
  double ns{0.0};
};
std::optional<Fastest> find_fastest(const Planned& kernel, const DeviceInfo& device,
                                    std::span<const Point> points) {
  std::optional<Fastest> found;
  for (std::size_t i = 1; i < kernel.sweep().size(); ++i) {
    const Point* const point =
        find_measured(kernel.instrumented(kernel.sweep()[i], folded_suffix), points);
    if (point == nullptr) continue;
    const std::optional<Estimate> time = estimate(*point, device);
    if (!time || (found && time->ns >= found->ns)) continue;
    found = Fastest{i, time->ns};
  }
  return found;
}

}  // namespace

prelude::NdRange range_for_prelude(const bundle::NdRange& range) {
  prelude::NdRange same{.dimensions = range.dimensions, .offset = range.offset};
  const bool has_local = range.local != bundle::Sizes{};
  for (std::size_t i = 0; i < same.global.size(); ++i) {
    const bool is_used = i < range.dimensions;
    same.global[i] = is_used ? range.global[i] : 1;
    if (has_local) same.local[i] = is_used ? range.local[i] : 1;
  }
  return same;
}

prelude::Judgement judge_kernel(const bundle::Bundle& bundle, const DeviceInfo& device) {
  prelude::Program program{.sources = bundle.texts};
  for (const bundle::Unit& unit : bundle.launch.program.units) {
    program.options += (program.options.empty() ? "" : " ") + unit.options;
  }
  prelude::Judgement judgement = prelude::judge(program, bundle.launch.kernel);
  look_at_lanes(range_for_prelude(bundle.launch.range), device, judgement.lanes);
  return judgement;
}

prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device) {
  prelude::Switches switches{.barriers = judgement.barriers.possibility == Possibility::usable,
                             .atomics = judgement.atomics.possibility == Possibility::usable,
                             .fences = judgement.fences.possibility == Possibility::usable,
                             .assembly = judgement.has_fence_assembly};
  if (judgement.lanes.possibility == Possibility::usable) {
    switches.lanes = lane_masks(range, device);
  }
  return switches;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  // What matters most first, of all kernels: time may run out.
  result.is_ordered = true;
  const std::vector<Planned> kernels = planned_of(device, request);
  for (const Planned& each : kernels) {
    for (const Caches caches : {Caches::cold, Caches::warm}) {
      result.points.push_back(each.plain(caches));
    }
    if (each.is_instrumented()) result.points.push_back(each.instrumented({}, folded_suffix));
    if (each.is_entered()) result.points.push_back(each.entered(0));
  }
  for (const Planned& each : kernels) {
    if (!each.is_instrumented()) continue;
    for (std::size_t i = 1; i < each.sweep().size(); ++i) {
      if (is_left_out(i, each.sweep().size(), request.effort)) continue;
      result.points.push_back(each.instrumented(each.sweep()[i], folded_suffix));
    }
    each.add_switched({}, result.points);
  }
  for (const Planned& each : kernels) {
    if (!each.is_entered()) continue;
    result.points.push_back(each.ending_groups(1));
    if (each.groups() > 1) result.points.push_back(each.ending_groups(each.groups()));
  }
  for (const Planned& each : kernels) {
    if (!each.is_padded()) continue;
    for (const std::uint64_t eighths : paddings(request.effort)) {
      result.points.push_back(each.entered(eighths));
    }
  }
  for (const AskedLaunch& each : request.launches) {
    // What is written to has a copy.
    result.memory.count += 2 * bundle::object_bytes(each.bundle.launch);
  }
  return result;
}

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  std::vector<Point> more;
  const std::vector<Planned> kernels = planned_of(device, request);
  for (const Planned& each : kernels) {
    if (auto point = whole_waves(each, points)) more.push_back(std::move(*point));
    const std::optional<Fastest> fastest = find_fastest(each, device, points);
    if (!fastest) continue;
    const Setting& folding = each.sweep()[fastest->place];
    each.add_switched(folding, more);
    for (const Setting& window : prelude::windows_of(each.range(), folding)) {
      if (window != folding) more.push_back(each.instrumented(window, ", other groups"));
    }
    add_bare(each, folding, fastest->ns, request.effort, more);
  }
  return more;
}

}  // namespace clprobe::kernel
