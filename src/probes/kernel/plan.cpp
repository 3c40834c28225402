// SPDX-License-Identifier: Apache-2.0
// Plans the launches of a kernel to measure.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analysis/api/estimate.hpp"
#include "probes/kernel/kernel.hpp"

namespace clprobe::kernel {
namespace {

using prelude::Possibility;
using prelude::Setting;

bool is_usable(const prelude::Verdict& verdict) {
  return verdict.possibility == Possibility::usable;
}

std::optional<prelude::LaneMasks> lane_masks(const prelude::NdRange& range,
                                             const DeviceInfo& device) {
  return prelude::lane_masks(range, static_cast<std::uint64_t>(device.sub_group_size));
}

/// Adds the reasons from the device and the launch that forbid the removal of lanes.
void check_lanes(const prelude::NdRange& range, const DeviceInfo& device, prelude::Verdict& lanes) {
  if (runs_items_in_turn(device) || device.sub_group_size <= 1) {
    lanes = {Possibility::not_present,
             "the device runs the work-items of a group one after another"};
  } else if (is_usable(lanes) && !lane_masks(range, device)) {
    lanes = {Possibility::refused, "the kernel's work-groups do not consist of whole sub-groups"};
  }
}

/// Returns the size of the last cache; 0 if the size is uncertain. A GPU needs measured levels,
/// because its driver may report another cache. NVIDIA's driver reports 4 MiB on an H100 with 50
/// MiB of L2.
Bytes last_cache_of(const DeviceInfo& device, Bytes measured) {
  if (is_gpu(device) && measured.count == 0) return {};
  return std::max(reported_cache(device), measured);
}

class Planned {
 public:
  Planned(const DeviceInfo& device, const Request& request, const AskedLaunch& launch)
      : launch_(launch),
        runs_groups_at_once_(!runs_items_in_turn(device)),
        timer_(device.launch_timer == Timer::event ? Timer::event : Timer::wait),
        last_cache_(last_cache_of(device, request.known.last_cache)),
        levels_(request.known.levels),
        range_(range_for_prelude(launch.bundle.launch.range)),
        judgement_(judge_kernel(launch.bundle, device)) {
    refuse_if_it_throws(judgement_.entry,
                        [this] { static_cast<void>(prelude::entry_text(range_)); });
    refuse_if_it_throws(judgement_.renaming,
                        [this] { static_cast<void>(prelude::encode(range_, {})); });
    if (!is_instrumented() || !is_usable(judgement_.folding)) return;
    sweep_ = prelude::fold_sweep(range_);
    if (sweep_.size() > 1) return;
    judgement_.folding = {Possibility::refused, sweep_.empty()
                                                    ? "the driver chooses the work-group size"
                                                    : "the launch has only one work-group"};
  }

  [[nodiscard]] bool is_instrumented() const { return is_usable(judgement_.renaming); }
  [[nodiscard]] bool has_entry() const { return is_usable(judgement_.entry); }
  /// True if unused local memory can limit the number of resident groups on a compute unit.
  [[nodiscard]] bool is_padded() const { return has_entry() && runs_groups_at_once_; }
  /// True if concurrent copies can show waits. A CPU core runs copies one after another. Without
  /// events, the start and end of a concurrent launch are unknown.
  [[nodiscard]] bool has_chains() const { return runs_groups_at_once_ && timer_ == Timer::event; }
  [[nodiscard]] const std::vector<Setting>& sweep() const { return sweep_; }
  [[nodiscard]] std::uint64_t groups() const { return prelude::count_all_groups(range_); }

  [[nodiscard]] Point point(Shape shape) const;
  [[nodiscard]] Point instrumented(const Setting& setting) const {
    return point({.variant = Variant::instrumented, .setting = setting});
  }
  [[nodiscard]] Point resident(std::uint64_t padding_eighths) const {
    return point({.variant = Variant::resident, .padding_eighths = padding_eighths});
  }
  /// Returns `folding` with all other removable causes of the kernel removed.
  [[nodiscard]] Setting without_causes(Setting folding) const {
    for (const FactorRow& row : factor_rows) {
      if (row.without != nullptr) folding.*row.without = has(row);
    }
    return folding;
  }
  /// Adds the launches of the rewritten kernel: unchanged, without each set of its causes, without
  /// its loads alone and without its stores alone. `plain`: the measured plain launch.
  void add_rewritten(const Point& plain, std::vector<Point>& points) const;
  /// Adds points for each combination of the kernel's other causes, removed in addition to
  /// `folding`.
  void add_switched(const Setting& folding, std::vector<Point>& points) const;

 private:
  /// True if the kernel contains the cause of `row` and the cause can be removed.
  [[nodiscard]] bool has(const FactorRow& row) const {
    return row.verdict != nullptr && is_usable(judgement_.*row.verdict);
  }

  template <typename Action>
  static void refuse_if_it_throws(prelude::Verdict& verdict, const Action& action) {
    if (!is_usable(verdict)) return;
    try {
      action();
    } catch (const prelude::SettingError& error) {
      verdict = {Possibility::refused, error.what()};
    }
  }

  void add_facts(Point& point) const;

  const AskedLaunch& launch_;
  bool runs_groups_at_once_;
  Timer timer_;
  Bytes last_cache_;
  std::vector<KnownLevel> levels_;
  prelude::NdRange range_;
  prelude::Judgement judgement_;
  std::vector<Setting> sweep_{};
};

Point Planned::point(Shape shape) const {
  shape.bundle = launch_.bundle.id;
  shape.timer = timer_;
  if (range_.local != bundle::Sizes{}) {
    shape.groups = groups();
    if (shape.distinct_groups == 0) {
      shape.distinct_groups = prelude::count_distinct_groups(range_, shape.setting);
    }
  }
  Point point;
  point.series = launch_.label;
  for (const FactorRow& row : factor_rows) {
    const bool is_without = row.without != nullptr && shape.setting.*row.without;
    if (is_without && shape.variant == Variant::instrumented) {
      point.series += ", without " + std::string(row.cause.name);
    }
  }
  if (point.series == launch_.label) point.series += suffix_of(shape.variant);
  if (shape.variant == Variant::rewritten) {
    std::string_view between = " without ";
    const auto add_name = [&](std::string_view name) {
      point.series += std::string(between) + std::string(name);
      between = " and ";
    };
    for (const PartRow& row : part_rows) {
      if (shape.removed.test(ptx::index_of(row.part))) add_name(row.title);
    }
    if (shape.setting.without_functions) add_name("functions");
  }
  write_shape(shape, point);
  add_facts(point);
  return point;
}

void Planned::add_switched(const Setting& folding, std::vector<Point>& points) const {
  std::vector<const FactorRow*> causes;
  for (const FactorRow& row : factor_rows) {
    const bool is_possible =
        row.cause.name != row_of(Factor::lanes).cause.name || is_folded(folding);
    if (row.without != nullptr && has(row) && is_possible) causes.push_back(&row);
  }
  for (unsigned bits = 1; bits < 1U << causes.size(); ++bits) {
    Setting setting = folding;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      setting.*causes[i]->without = (bits >> i & 1U) != 0;
    }
    points.push_back(instrumented(setting));
  }
}

void Planned::add_rewritten(const Point& plain, std::vector<Point>& points) const {
  const std::vector<Removal> removals = removals_in(plain.facts);
  std::vector<Shape> shapes;
  for (std::uint32_t bits = 0; bits < 1U << removals.size(); ++bits) {
    shapes.push_back(shape_without(removals, bits));
  }
  // Measuring time may run out, so launches that lack few causes come first.
  const auto count = [](const Shape& each) {
    return each.removed.count() + (each.setting.without_functions ? 1 : 0);
  };
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const Shape& a, const Shape& b) { return count(a) < count(b); });
  ptx::Parts memory;
  for (const Removal& each : removals) {
    if (each.factor == Factor::memory) memory = each.parts;
  }
  if (memory.count() == 2) {
    for (const ptx::Part each : {ptx::Part::loads, ptx::Part::stores}) {
      Shape shape{.variant = Variant::rewritten};
      shape.removed.set(ptx::index_of(each));
      shapes.insert(shapes.begin() + 1, shape);
    }
  }
  for (Shape& each : shapes) {
    each.replays_branches = plain.facts.find(replayed_fact) != nullptr;
    points.push_back(point(each));
  }
}

void Planned::add_facts(Point& point) const {
  const std::uint64_t bytes = bundle::object_bytes(launch_.bundle.launch);
  point.facts.set(buffer_bytes_fact, static_cast<std::int64_t>(bytes));
  if (last_cache_.count > 0) {
    point.facts.set(last_cache_fact, static_cast<std::int64_t>(last_cache_.count));
  }
  for (const KnownLevel& each : levels_) {
    const auto index = static_cast<std::size_t>(each.level) - 1;
    if (each.level < 1 || index >= max_levels || each.capacity.count == 0) continue;
    point.facts.set(fact_at(level_fact, index), static_cast<std::int64_t>(each.capacity.count));
  }
  const auto add_absence = [&](std::string_view factor, const prelude::Verdict& verdict) {
    if (is_usable(verdict)) return;
    const bool is_there = verdict.possibility == Possibility::refused;
    point.facts.set(absence_of(factor), is_there ? verdict.reason : std::string(not_present));
  };
  for (const FactorRow& row : factor_rows) {
    if (row.verdict == nullptr) continue;
    add_absence(row.cause.name, is_instrumented() ? judgement_.*row.verdict : judgement_.renaming);
  }
  add_absence(entry_factor, judgement_.entry);
}

std::vector<Planned> planned_kernels(const DeviceInfo& device, const Request& request) {
  std::vector<Planned> all;
  all.reserve(request.launches.size());
  for (const AskedLaunch& each : request.launches) all.emplace_back(device, request, each);
  return all;
}

/// True for working-set reductions that --quick omits: every second reduction, except the first and
/// the last.
bool is_left_out(std::size_t index, std::size_t count, Effort effort) {
  return effort == Effort::quick && index % 2 == 1 && index + 1 < count;
}

/// Returns the sizes of padding to measure, in eighths of the local memory that the kernel leaves
/// free.
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

std::optional<Point> whole_waves(const Planned& kernel, std::span<const Point> points) {
  if (!kernel.has_entry()) return std::nullopt;
  const Point* const all = find_measured(kernel.resident(0), points);
  if (all == nullptr) return std::nullopt;
  const std::int64_t resident = all->facts.integer_or(resident_fact, 0);
  const std::uint64_t groups = groups_of_whole_waves(
      kernel.groups(), static_cast<std::uint64_t>(std::max<std::int64_t>(0, resident)));
  if (groups == 0) return std::nullopt;
  return kernel.point({.variant = Variant::whole_waves, .distinct_groups = groups});
}

/// Working-set reduction with the least time.
struct Fastest {
  const Setting* setting{nullptr};
  double ns{0.0};
};

std::optional<Fastest> find_fastest(const Planned& kernel, const DeviceInfo& device,
                                    std::span<const Point> points) {
  std::optional<Fastest> fastest;
  for (std::size_t i = 1; i < kernel.sweep().size(); ++i) {
    const Setting& setting = kernel.sweep()[i];
    const Point* const point = find_measured(kernel.instrumented(setting), points);
    const std::optional<Estimate> time = point == nullptr ? std::nullopt : estimate(*point, device);
    if (time && (!fastest || time->ns < fastest->ns)) fastest = {&setting, time->ns};
  }
  return fastest;
}

/// Adds the concurrent launches of the kernel with all causes removed.
void add_concurrent(const Planned& kernel, Effort effort, const Fastest& fastest,
                    std::vector<Point>& more) {
  // Slower kernels get no concurrent launches: a sample runs the kernel at least eight times as
  // copies, or twice with loads that take four times as long.
  const double max_ns = effort == Effort::quick ? 10e6 : 50e6;
  if (!kernel.has_chains() || fastest.ns > max_ns) return;
  for (const Variant each : {Variant::copies, Variant::next_to_loads}) {
    more.push_back(
        kernel.point({.variant = each, .setting = kernel.without_causes(*fastest.setting)}));
  }
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
    if (unit.form != bundle::Form::text) {
      return prelude::all_refused("the program has no OpenCL C text");
    }
    program.options += (program.options.empty() ? "" : " ") + unit.options;
  }
  prelude::Judgement judgement = prelude::judge(program, bundle.launch.kernel);
  check_lanes(range_for_prelude(bundle.launch.range), device, judgement.lanes);
  return judgement;
}

prelude::Switches switches_of(const prelude::Judgement& judgement, const prelude::NdRange& range,
                              const DeviceInfo& device) {
  prelude::Switches switches{.barriers = is_usable(judgement.barriers),
                             .atomics = is_usable(judgement.atomics),
                             .fences = is_usable(judgement.fences),
                             .assembly = judgement.has_fence_assembly};
  if (is_usable(judgement.lanes)) switches.lanes = lane_masks(range, device);
  return switches;
}

Plan plan(const DeviceInfo& device, const Request& request) {
  Plan result;
  // The points are in order of importance over all kernels, because the measuring time may run out.
  result.is_ordered = true;
  const std::vector<Planned> kernels = planned_kernels(device, request);
  for (const Planned& each : kernels) {
    result.points.push_back(each.point({.variant = Variant::plain}));
    result.points.push_back(each.point({.variant = Variant::warm}));
    if (each.is_instrumented()) result.points.push_back(each.instrumented({}));
    if (each.has_entry()) result.points.push_back(each.resident(0));
  }
  for (const Planned& each : kernels) {
    if (!each.is_instrumented()) continue;
    for (std::size_t i = 1; i < each.sweep().size(); ++i) {
      if (is_left_out(i, each.sweep().size(), request.effort)) continue;
      result.points.push_back(each.instrumented(each.sweep()[i]));
    }
    // With PTX, refine() decides after the plain launch whether to rewrite the kernel instead.
    if (!gives_ptx(device)) each.add_switched({}, result.points);
  }
  for (const Planned& each : kernels) {
    if (each.has_entry()) result.points.push_back(each.point({.variant = Variant::ending}));
  }
  for (const Planned& each : kernels) {
    if (!each.is_padded()) continue;
    for (const std::uint64_t eighths : paddings(request.effort)) {
      result.points.push_back(each.resident(eighths));
    }
  }
  for (const AskedLaunch& each : request.launches) {
    // The factor 2 is for the copy that the replay keeps of each object that the kernel writes.
    result.memory.count += 2 * bundle::object_bytes(each.bundle.launch);
  }
  return result;
}

std::vector<Point> refine(const DeviceInfo& device, const Request& request,
                          std::span<const Point> points) {
  std::vector<Point> more;
  for (const Planned& each : planned_kernels(device, request)) {
    if (auto point = whole_waves(each, points)) more.push_back(std::move(*point));
    const Point* const plain = find_measured(each.point({.variant = Variant::plain}), points);
    const std::optional<Fastest> fastest = find_fastest(each, device, points);
    const bool is_rewritten = plain != nullptr && can_rewrite(plain->facts);
    if (is_rewritten) each.add_rewritten(*plain, more);
    if (!is_rewritten && gives_ptx(device) && each.is_instrumented()) each.add_switched({}, more);
    if (!fastest) continue;
    if (!is_rewritten) each.add_switched(*fastest->setting, more);
    const Setting without_causes = each.without_causes(*fastest->setting);
    if (is_rewritten && without_causes != *fastest->setting) {
      more.push_back(each.instrumented(without_causes));
    }
    add_concurrent(each, request.effort, *fastest, more);
  }
  return more;
}

}  // namespace clprobe::kernel
