// SPDX-License-Identifier: Apache-2.0
#include "probes/stalls/cases/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/stacks.hpp"
#include "measure/api/device.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/finding.hpp"
#include "probes/shared/permutation.hpp"
#include "probes/stalls/bars.hpp"
#include "probes/stalls/case.hpp"
#include "probes/stalls/launch.hpp"

namespace clprobe::stalls::search {
namespace {

// Number of nodes by default, as in the thesis, and with --quick.
constexpr std::uint32_t usual_nodes = 8192;
constexpr std::uint32_t few_nodes = 1024;
// Number of dependent operations per node.
constexpr std::uint32_t steps_of_node = 64;
// Maximum number of groups, each of which has its own queue. Groups that cannot run at once only
// wait.
constexpr std::int64_t max_groups = 256;
constexpr std::uint32_t children_of_root = 64;
constexpr std::uint32_t children_of_node = 8;
// One in this number of nodes has children. A node then has more than one child on average, so that
// the tree grows.
constexpr std::uint32_t one_in = 6;
// Time of `utsd` relative to `uts` under GPU coherence. Alsop 2016, section 6.1, states -91 %.
constexpr double utsd_of_thesis = 0.09;

constexpr PhaseLabel labels[]{
    {"locks", "synchronization: lock"},
    {"queues", "memory data: queue"},
    {"nodes", "no stall: node processing"},
    {"no work", "idle: no work"},
    // Phases in documents of older versions, which divided the waits in another way.
    {"lock", "synchronization: lock, of polls that found work"},
    {"queue", "memory data: queue, or waiting for the common lock"},
    {"nothing to do", "idle: no work, or waiting for locks"},
};

/// Adds the share of the search's time in which a group holds the common lock. The time runs from
/// the first group's beginning to the last group's end. Only one group holds the lock at a time.
void add_lock_use(std::string_view bar, const Points& points, const DeviceInfo& device,
                  std::vector<Finding>& findings) {
  const auto held = phase_time(points, phase_holds, device);
  const auto span = phase_time(points, phase_span, device);
  if (!held || !span || !(span->ns_interval.low > 0.0)) return;
  const double groups = shape_of<Shape>(*points.front()).groups;
  const double share = groups * held->ns / span->ns;
  const double most = groups * held->ns_interval.high / span->ns_interval.low;
  findings.push_back(finding_of(lock_use_name, bar, "share", "in-kernel clock of the lock holders",
                                share, groups * held->ns_interval.low / span->ns_interval.high,
                                std::max(share, std::min(1.0, most))));
}

// Indices of the ticks and of the stamps in a group's results, as cl/stalls_search.clh stores them.
constexpr std::size_t first_of_ticks = 2;
constexpr std::size_t first_of_stamps = 8;
constexpr cl_uint empty = ~cl_uint{0};
// Maximum number of attempts to take a lock, which take about a second. A pause of up to 16 atomics
// follows each failed attempt.
constexpr cl_uint budget = 1U << 16U;
// Number of polls without a node after which a group ends.
constexpr cl_uint patience = 1U << 14U;
constexpr std::uint32_t seed_of_tree = 1;
// Number of searches per sample if only the host's clock times them.
constexpr std::uint64_t searches_by_host = 8;
constexpr std::uint64_t max_searches = 64;

struct Results {
  std::uint64_t nodes{0};
  cl_uint value{0};
  std::array<std::uint64_t, std::size(all_phases)> ticks{};
  std::uint64_t unbooked{0};    ///< ticks of `all` that no phase covers, or that two phases cover
  std::vector<Stamp> stamps{};  ///< stamp of each group
};

class Search {
 public:
  Search(Session& session, Queues queues, const Point& point);

  Measurement run(std::uint64_t searches);

 private:
  void empty_slots();
  LaunchTimes launch();
  [[nodiscard]] Results read_results() const;
  [[nodiscard]] std::uint64_t ticks_of(const Results& results) const;

  Session& session_;
  Queues queues_;
  Shape shape_;
  std::string phase_;
  Tree tree_;
  cl_uint expected_value_;
  cl::Kernel kernel_;
  cl::Buffer children_;
  cl::Buffer control_;
  cl::Buffer slots_;
  cl::Buffer counts_;
};

Search::Search(Session& session, Queues queues, const Point& point)
    : session_(session),
      queues_(queues),
      shape_(shape_of<Shape>(point)),
      phase_(phase_of(point)),
      tree_(make_tree(shape_.nodes, seed_of_tree)),
      expected_value_(search_result(tree_, shape_.steps)),
      kernel_(session.kernel(kernel_file, "stalls_search", options_of(session.info(), point))) {
  require_group(session, kernel_, front);
  const cl::Context& context = session.context();
  const auto words = [&](std::uint64_t count) {
    return cl::Buffer(context, CL_MEM_READ_WRITE, count * sizeof(cl_uint));
  };
  children_ = words(tree_.children.size());
  control_ = words((shape_.groups + 2) * queue_words);
  slots_ = words(slots_of_queue(shape_.nodes) * queues_of(queues_, shape_.groups));
  counts_ = cl::Buffer(context, CL_MEM_READ_WRITE, shape_.groups * result_words * sizeof(cl_ulong));
  session.queue().enqueueWriteBuffer(children_, CL_TRUE, 0, tree_.children.size() * sizeof(cl_uint),
                                     tree_.children.data());
  kernel_.setArg(0, children_);
  cl_uint index = 1;
  for (const cl_uint value : {cl_uint{tree_.nodes()}, cl_uint{queues_ == Queues::one ? 1U : 0U},
                              static_cast<cl_uint>(slots_of_queue(shape_.nodes) - 1), shape_.steps,
                              patience, budget, step_multiplier, step_addend, empty}) {
    kernel_.setArg(index++, value);
  }
  kernel_.setArg(index++, never);
  kernel_.setArg(index++, control_);
  kernel_.setArg(index++, slots_);
  kernel_.setArg(index, counts_);
  empty_slots();
}

void Search::empty_slots() {
  session_.queue().enqueueFillBuffer(slots_, empty, 0, slots_.getInfo<CL_MEM_SIZE>());
  session_.queue().finish();
}

/// Runs one search. All slots are empty afterwards.
LaunchTimes Search::launch() {
  std::vector<cl_uint> control((shape_.groups + 2) * queue_words, 0);
  control[queue_words + 2] = 1;  // tail of the common queue, whose only node is the root
  const cl_uint root = 0;
  const cl::CommandQueue& queue = session_.queue();
  queue.enqueueWriteBuffer(control_, CL_TRUE, 0, control.size() * sizeof(cl_uint), control.data());
  queue.enqueueWriteBuffer(slots_, CL_TRUE, 0, sizeof root, &root);
  const LaunchTimes times =
      session_.launch(kernel_, cl::NDRange(shape_.groups * front), cl::NDRange(front));
  std::array<cl_uint, 2> all{};  // words `done` and `aborted` of the control data
  queue.enqueueReadBuffer(control_, CL_TRUE, 0, sizeof all, all.data());
  if (all[1] != 0 || all[0] < tree_.nodes()) {
    empty_slots();
    throw Unsupported(
        fmt::format("no progress: a work-group waited {} times for a lock that another work-group "
                    "held; {} of {} nodes were done",
                    budget, all[0], tree_.nodes()));
  }
  return times;
}

Results Search::read_results() const {
  std::vector<cl_ulong> counts(shape_.groups * result_words);
  session_.queue().enqueueReadBuffer(counts_, CL_TRUE, 0, counts.size() * sizeof(cl_ulong),
                                     counts.data());
  Results results;
  for (std::uint64_t group = 0; group < shape_.groups; ++group) {
    const std::size_t own = group * result_words;
    results.nodes += counts[own];
    results.value += static_cast<cl_uint>(counts[own + 1]);
    std::uint64_t rest = counts[own + first_of_ticks + phases_of_all];
    for (std::size_t k = 0; k < results.ticks.size(); ++k) {
      const std::uint64_t ticks = counts[own + first_of_ticks + k];
      results.ticks.at(k) += ticks;
      if (k < phases_of_all) rest -= ticks;
    }
    results.unbooked += rest;
    results.stamps.push_back({.shared_began = counts[own + first_of_stamps],
                              .shared_ended = counts[own + first_of_stamps + 1]});
  }
  return results;
}

/// Returns the mean ticks of the phase over all groups; phase_ticks() for the tail and the span.
std::uint64_t Search::ticks_of(const Results& results) const {
  for (std::size_t k = 0; k < std::size(all_phases); ++k) {
    if (all_phases[k] == phase_) return results.ticks.at(k) / shape_.groups;
  }
  return static_cast<std::uint64_t>(
      std::llround(ticks_of_shared(session_.info()) * phase_ticks(phase_, results.stamps)));
}

Measurement Search::run(std::uint64_t searches) {
  Measurement measurement;
  Sample& sample = measurement.sample;
  sample.accesses = searches;
  const bool has_clock = session_.info().clock.kind != ClockKind::none;
  std::uint64_t event_ns = 0;
  std::uint64_t ticks = 0;
  bool has_events = true;
  for (std::uint64_t k = 0; k < searches; ++k) {
    const LaunchTimes times = launch();
    event_ns += times.event_ns.value_or(0);
    has_events = has_events && times.event_ns.has_value();
    sample.host_ns += times.host_ns;
    const Results results = read_results();
    ticks += ticks_of(results);
    sample.witness =
        sample.witness * 31 + (results.nodes << 32U) + results.value + results.unbooked;
    measurement.expected_witness =
        measurement.expected_witness * 31 + (std::uint64_t{tree_.nodes()} << 32U) + expected_value_;
  }
  if (has_events) sample.event_ns = event_ns;
  if (has_clock && !phase_.empty()) sample.ticks = ticks;
  return measurement;
}

}  // namespace

Tree make_tree(std::uint32_t nodes, std::uint32_t seed) {
  Tree tree;
  tree.children.push_back(1);
  std::uint32_t made = 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const bool is_last = node + 1 == made;  // only the last node that exists can extend the tree
    std::uint32_t count = 0;
    if (node == 0) {
      count = children_of_root;
    } else if (is_last || mixed(node ^ mixed(seed)) % one_in == 0) {
      count = children_of_node;
    }
    made += std::min(count, nodes - made);
    tree.children.push_back(made);
  }
  return tree;
}

std::uint32_t search_result(const Tree& tree, std::uint32_t steps) {
  std::uint32_t sum = 0;
  for (std::uint32_t node = 0; node < tree.nodes(); ++node) {
    std::uint32_t x = node;
    for (std::uint32_t k = 0; k < steps; ++k) x = step(x);
    sum += mixed(x);
  }
  return sum;
}

std::uint64_t slots_of_queue(std::uint32_t nodes) { return std::bit_ceil(std::uint64_t{nodes}); }

std::uint64_t queues_of(Queues queues, std::uint32_t groups) {
  return queues == Queues::one ? 1 : std::uint64_t{groups} + 1;
}

std::vector<Point> points_of(Queues queues, const DeviceInfo& device, const Options& requested) {
  Shape shape;
  shape.name = name_of(queues);
  shape.timer = to_word(device.launch_timer);
  shape.nodes = requested.effort == Effort::quick ? few_nodes : usual_nodes;
  shape.groups =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(device.compute_units, 1, max_groups));
  shape.steps = steps_of_node;
  Point usual;
  usual.series = shape.name;
  write_shape(shape, usual);
  std::vector<Point> points{usual};
  if (device.timer != Timer::clock) return points;
  for (const std::string_view phase : all_phases) points.push_back(with_phase(usual, phase));
  add_tail(points, usual, device);
  return points;
}

Memory memory_of(Queues queues, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
  const std::uint64_t slots = slots_of_queue(shape.nodes) * queues_of(queues, shape.groups);
  const std::uint64_t control = (std::uint64_t{shape.groups} + 2) * queue_words;
  Memory memory;
  memory.own = (shape.nodes + 1 + slots + control) * word_bytes +
               shape.groups * result_words * sizeof(std::uint64_t);
  return memory;
}

void analyse(std::string_view bar, const Points& points, const DeviceInfo& device,
             std::vector<Finding>& findings) {
  for (const Point* const point : points) {
    if (!phase_of(*point).empty() || !point->failure.empty()) continue;
    if (auto best = cpu_time_finding(bar, *point, device)) {
      findings.push_back(*std::move(best));
    } else if (const auto time = estimate(*point, device)) {
      findings.push_back(time_finding(bar, time->ns, time->ns_interval, "median"));
    }
  }
  const auto all = phase_time(points, phase_all, device);
  if (!all) {
    findings.push_back(without_value(
        stack_part_name, bar, stack_view_clock,
        "without an in-kernel clock, clprobe cannot distinguish waiting from work", "share"));
    return;
  }
  add_clock_parts(bar, phase_times(points, device, labels), all->ns, points, findings);
  add_lock_use(bar, points, device, findings);
}

void add_speed_up(std::vector<Finding>& findings) {
  const auto time_in = [&](std::string_view bar) -> const Finding* {
    for (const Finding& each : findings) {
      if (each.name == stack_time_name && each.series == bar && each.value) return &each;
    }
    return nullptr;
  };
  const Finding* const one = time_in(one_queue);
  const Finding* const each = time_in(queue_per_group);
  if (one == nullptr || each == nullptr || !(*one->low > 0.0)) return;
  constexpr std::string_view what = "utsd, time, against uts";
  findings.push_back(finding_of(stack_ratio_name, what, "", "ratio of two bars",
                                *each->value / *one->value, *each->low / *one->high,
                                *each->high / *one->low));
  Finding thesis = finding_of(stack_thesis_name, what, "", "Alsop 2016, chapter 6");
  thesis.source = Source::reported;
  thesis.value = utsd_of_thesis;
  findings.push_back(std::move(thesis));
}

std::string options_of(const DeviceInfo& device, const Point& /*point*/) {
  return part_options(2, true, device);
}

Work prepare(Queues queues, Shared& shared, const Point& point) {
  Session& session = shared.session;
  const auto search = std::make_shared<Search>(session, queues, point);
  shared.launch_first(options_of(session.info(), point), [&] { search->run(1); });
  Work work;
  const bool is_by_host = shape_of<Shape>(point).timer == to_word(Timer::host);
  work.iterations = is_by_host ? searches_by_host : 1;
  work.max_iterations = is_by_host ? max_searches : 1;
  // The number of samples is limited: a search on a GPU takes ten times as long as a launch of
  // another case.
  if (is_gpu(session.info())) work.max_samples = 2;
  work.build = session.build_of(kernel_file, options_of(session.info(), point));
  work.run = [search](std::uint64_t searches) { return search->run(searches); };
  return work;
}

}  // namespace clprobe::stalls::search
