// SPDX-License-Identifier: Apache-2.0
// Launches of cl/map.cl. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/map/map.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/opencl.hpp"

namespace clprobe::map {
namespace {

using Words = std::vector<cl_uint>;

// Bytes between words of cl/map.cl that lie in separate lines.
constexpr std::uint64_t line = 128;
// Drivers spread one work-group per compute unit, but not strictly.
constexpr std::uint64_t groups_per_unit = 4;
constexpr int max_launches = 8;

/// Lines of 128 bytes that a kernel expects to be 0: claims, flags and tickets.
class Lines {
 public:
  /// Returns the buffer, with `count` lines of zeros.
  const cl::Buffer& cleared(Session& session, std::uint64_t count) {
    const cl::Buffer& buffer = buffer_.at_least(session, max_lines * line);
    const std::vector<unsigned char> zeros(count * line, 0);
    session.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, zeros.size(), zeros.data());
    return buffer;
  }

 private:
  static constexpr std::uint64_t max_lines = 4;
  KeptBuffer buffer_{};
};

/// The blocks of both parts, found once for all points.
struct Layout {
  std::array<Words, 2> parts{};  ///< near compute unit 0, and the other blocks
  std::array<Words, 2> rings{};  ///< blocks of the long rings
  bool has_split{false};
  bool unit_is_read{false};
};

/// State that all points share.
class State {
 public:
  explicit State(Session& used) : session(used) {}

  const Layout& layout(std::uint64_t blocks);
  /// Returns 0 or 1 for each compute unit: the part that is nearer.
  const Words& halves();
  cl::Kernel kernel(const char* name) { return spec.kernel(session, name); }
  /// Writes words to a buffer. Returns the buffer.
  const cl::Buffer& written(KeptBuffer& buffer, const Words& words);
  /// Size of a launch with work-groups of one work-item on all compute units.
  [[nodiscard]] LaunchSize on_all_units() const {
    return {units_of(session.info()) * (layout_.unit_is_read ? groups_per_unit : 1), 1};
  }

  Session& session;
  KernelSpec spec{"map.cl", ""};
  KeptBuffer memory{};
  KeptBuffer list{};
  KeptBuffer units{};
  KeptBuffer out{};
  Lines lines{};
  std::uint64_t gather_iterations{0};

 private:
  void fill(std::uint64_t blocks);
  void link(const Words& blocks);
  std::vector<double> scan(std::uint64_t unit, const Words& blocks);

  Layout layout_{};
  bool is_laid_out_{false};
  Words halves_{};
};

const cl::Buffer& State::written(KeptBuffer& buffer, const Words& words) {
  const std::uint64_t bytes = words.size() * sizeof(cl_uint);
  const cl::Buffer& to = buffer.at_least(session, bytes);
  session.queue().enqueueWriteBuffer(to, CL_TRUE, 0, bytes, words.data());
  return to;
}

void State::fill(std::uint64_t blocks) {
  const cl::Buffer& to = memory.at_least(session, blocks * block_bytes);
  cl::Kernel fill = kernel("map_fill");
  set_arguments(fill, 0, to, static_cast<cl_uint>(blocks * block_words));
  launch_over(session, fill, spread_over(session.info(), blocks * block_words));
}

void State::link(const Words& blocks) {
  cl::Kernel link = kernel("map_link");
  const cl::Buffer& results = out.at_least(session, sizeof(cl_ulong));
  set_arguments(link, 0, memory.at_least(session, 1), written(list, blocks),
                static_cast<cl_uint>(blocks.size()), results);
  launch_over(session, link, spread_over(session.info(), blocks.size() * block_nodes));
  layout_.unit_is_read = read_values<cl_ulong>(session, results, 1).front() == 1;
}

/// Returns the ticks of each block for one compute unit.
std::vector<double> State::scan(std::uint64_t unit, const Words& blocks) {
  // Less than 0.1 s even at 2000 cycles per addition and 1 GHz.
  constexpr std::size_t max_blocks = 2048;
  cl::Kernel scan = kernel("map_scan");
  std::vector<double> ticks;
  for (std::size_t begin = 0; begin < blocks.size(); begin += max_blocks) {
    const std::size_t end = std::min(begin + max_blocks, blocks.size());
    const Words some(blocks.begin() + static_cast<std::ptrdiff_t>(begin),
                     blocks.begin() + static_cast<std::ptrdiff_t>(end));
    const cl::Buffer& results = out.at_least(session, (1 + max_blocks) * sizeof(cl_ulong));
    std::vector<cl_ulong> found{0};
    for (int tries = 0; found.front() != 1; ++tries) {
      if (tries == max_launches) {
        throw Unsupported(fmt::format("no work-group ran on compute unit {}", unit));
      }
      constexpr cl_ulong none = 0;
      session.queue().enqueueWriteBuffer(results, CL_TRUE, 0, sizeof(none), &none);
      set_arguments(scan, 0, memory.at_least(session, 1), lines.cleared(session, 1),
                    static_cast<cl_uint>(unit), written(list, some),
                    static_cast<cl_uint>(some.size()), cl_uint{0}, never, results);
      launch_over(session, scan, on_all_units());
      found = read_values<cl_ulong>(session, results, 1 + some.size());
    }
    ticks.insert(ticks.end(), found.begin() + 1, found.end());
  }
  return ticks;
}

const Layout& State::layout(std::uint64_t blocks) {
  if (is_laid_out_) return layout_;
  fill(blocks);
  Words all(blocks);
  std::iota(all.begin(), all.end(), 0U);
  link({0});  // tells whether the compute unit's number can be read; block 0 is linked anew below
  // The first scan is not used: the device may still run at a low clock, and translates addresses
  // for the first time.
  scan(0, all);
  const std::vector<double> ticks = scan(0, all);
  const std::optional<Split> split = find_split(ticks);
  layout_.has_split = split.has_value();
  for (std::size_t block = 0; block < blocks; ++block) {
    const bool is_second = split ? ticks[block] > split->limit : block % 2 == 1;
    layout_.parts[is_second ? 1 : 0].push_back(static_cast<cl_uint>(block));
  }
  for (std::size_t part = 0; part < 2; ++part) {
    Words& ring = layout_.rings[part];
    ring = layout_.parts[part];
    ring.resize(std::min<std::size_t>(ring.size(), max_ring_blocks));
    link(ring);
  }
  is_laid_out_ = true;
  return layout_;
}

const Words& State::halves() {
  if (!halves_.empty()) return halves_;
  constexpr std::size_t max_of_part = 16;
  const auto of_part = static_cast<std::ptrdiff_t>(
      std::min({max_of_part, layout_.rings[0].size(), layout_.rings[1].size()}));
  Words few;
  for (const Words& ring : layout_.rings) {
    few.insert(few.end(), ring.begin(), ring.begin() + of_part);
  }
  for (std::uint64_t unit = 0; unit < units_of(session.info()); ++unit) {
    const std::vector<double> ticks = scan(unit, few);
    const double first = std::accumulate(ticks.begin(), ticks.begin() + of_part, 0.0);
    const double second = std::accumulate(ticks.begin() + of_part, ticks.end(), 0.0);
    halves_.push_back(first <= second ? 0 : 1);
  }
  return halves_;
}

/// Launches until the kernel has written its results, since no work-group may have run on the
/// compute unit. Throws Unsupported with the reason `why`.
template <typename Launch>
Measurement launch_until_written(const Launch& launch, std::string_view why) {
  for (int tries = 0; tries < max_launches; ++tries) {
    Measurement measurement = launch();
    if (measurement.sample.witness != never) return measurement;
  }
  throw Unsupported(std::string(why));
}

/// A chain from one compute unit in one part.
class Chain {
 public:
  Chain(std::shared_ptr<State> state, bool is_load, const UnitShape& shape)
      : state_(std::move(state)),
        is_load_(is_load),
        shape_(shape),
        layout_(state_->layout(shape.blocks)),
        ring_(layout_.rings[shape.part]),
        kernel_(state_->kernel(is_load ? "map_load" : "map_atomic")) {}

  Measurement run(std::uint64_t iterations) {
    const std::uint64_t nodes = ring_.size() * block_nodes;
    const std::uint64_t hops = iterations * hops_per_iteration;
    const std::uint64_t warm = warm_hops(is_load_, nodes, hops);
    Session& session = state_->session;
    const auto launch = [&] {
      const cl::Buffer& out = state_->out.at_least(session, 2 * sizeof(cl_ulong));
      set_arguments(kernel_, 0, state_->memory.at_least(session, 1),
                    state_->lines.cleared(session, 1), static_cast<cl_uint>(shape_.unit),
                    static_cast<cl_uint>(node_word(ring_, 0)), cl_uint{0},
                    static_cast<cl_uint>(warm), static_cast<cl_uint>(iterations), never, out);
      return timed_launch(session, kernel_, state_->on_all_units(), out, hops);
    };
    Measurement measurement = launch_until_written(
        launch, fmt::format("no work-group ran on compute unit {}", shape_.unit));
    measurement.expected_witness = node_word(ring_, (warm + hops) % nodes);
    return measurement;
  }

  [[nodiscard]] Work work() const {
    // 512 additions, or a lap of the ring.
    Work work;
    work.accesses_per_iteration = hops_per_iteration;
    work.iterations = is_load_ ? ring_.size() : 64;
    work.max_iterations = max_iterations - 2 * max_ring_blocks * block_nodes;
    const std::size_t near = layout_.has_split ? layout_.parts[0].size() : 0;
    work.facts.set("near_blocks", static_cast<std::int64_t>(near));
    work.facts.set("unit_is_read", std::int64_t{layout_.unit_is_read ? 1 : 0});
    return work;
  }

 private:
  std::shared_ptr<State> state_;
  bool is_load_;
  UnitShape shape_;
  const Layout& layout_;
  const Words& ring_;
  cl::Kernel kernel_;
};

/// A gather of all blocks by all compute units.
class Gather {
 public:
  Gather(std::shared_ptr<State> state, const GatherShape& shape)
      : state_(std::move(state)), kernel_(state_->kernel("map_gather")) {
    const Layout& layout = state_->layout(shape.blocks);
    if (!layout.has_split) throw Unsupported("all compute units reach all blocks alike");
    if (!layout.unit_is_read) {
      throw Unsupported("kernels cannot read the number of their compute unit");
    }
    const Words& halves = state_->halves();
    if (std::count(halves.begin(), halves.end(), 0U) < 2 ||
        std::count(halves.begin(), halves.end(), 1U) < 2) {
      throw Unsupported("the same blocks are near all compute units");
    }
    check_group(state_->session, kernel_, group);
    lists_ = order_blocks(shape.order, layout.parts, halves);
    const std::vector<std::uint32_t> sums = sums_of_blocks(shape.blocks);
    for (const std::uint32_t block : lists_.blocks) sum_ += sums[block];
    for (const Words& ring : layout.rings) sum_ += sum_of_ring(ring);
  }

  Measurement run(std::uint64_t iterations) {
    Session& session = state_->session;
    const std::uint64_t units = units_of(session.info());
    const std::uint64_t groups = units * groups_of_unit;
    const cl::Buffer& out = state_->out.at_least(session, (1 + groups) * sizeof(cl_ulong));
    set_arguments(kernel_, 0, state_->memory.at_least(session, 1),
                  state_->written(state_->list, lists_.blocks),
                  state_->written(state_->units, lists_.list_of_unit), static_cast<cl_uint>(units),
                  static_cast<cl_uint>(lists_.first_chunks),
                  static_cast<cl_uint>(lists_.second_chunks), static_cast<cl_uint>(iterations),
                  state_->lines.cleared(session, 2), out);
    Measurement measurement =
        timed_launch(session, kernel_, {groups * group, group}, out, iterations * loads(), groups);
    // The sums of the work-groups are modulo 2^32, and so is their sum.
    measurement.sample.witness = static_cast<cl_uint>(measurement.sample.witness);
    measurement.expected_witness = static_cast<cl_uint>(sum_ * iterations);
    return measurement;
  }

  Work work() {
    constexpr double wanted_ns = 1e6;
    constexpr std::uint64_t max_laps = 10000;
    if (state_->gather_iterations == 0) {
      static_cast<void>(run(1));
      state_->gather_iterations = iterations_for(wanted_ns, max_laps, [&](std::uint64_t tried) {
        const Sample sample = run(tried).sample;
        return static_cast<double>(sample.event_ns.value_or(sample.host_ns));
      });
    }
    Work work;
    work.accesses_per_iteration = loads();
    work.iterations = state_->gather_iterations;
    work.max_iterations = max_laps;
    return work;
  }

 private:
  static constexpr std::uint64_t group = 256;
  static constexpr std::uint64_t groups_of_unit = 8;

  [[nodiscard]] std::uint64_t loads() const { return lists_.blocks.size() * group; }

  std::shared_ptr<State> state_;
  cl::Kernel kernel_;
  Lists lists_{};
  std::uint64_t sum_{0};
};

/// Exchanges between two compute units.
class HandOver {
 public:
  HandOver(std::shared_ptr<State> state, const HandOverShape& shape)
      : state_(std::move(state)), shape_(shape), kernel_(state_->kernel("map_hand_over")) {}

  Measurement run(std::uint64_t iterations) {
    Session& session = state_->session;
    // A CPU's thread needs milliseconds to start, and llvmpipe ends loops early.
    constexpr cl_uint usual_polls = 50000;
    constexpr cl_uint polls_of_cpu = 1U << 22U;
    const bool is_cpu = runs_items_in_turn(session.info());
    const bool is_patient = is_cpu && !may_cut_loops(session.info());
    const LaunchSize size{units_of(session.info()) * (is_cpu ? 1 : groups_per_unit), 1};
    const auto launch = [&] {
      const cl::Buffer& out = state_->out.at_least(session, 2 * sizeof(cl_ulong));
      set_arguments(kernel_, 0, state_->lines.cleared(session, 4),
                    static_cast<cl_uint>(shape_.first), static_cast<cl_uint>(shape_.second),
                    static_cast<cl_uint>(iterations), is_patient ? polls_of_cpu : usual_polls,
                    never, out);
      return timed_launch(session, kernel_, size, out, 2 * iterations);
    };
    Measurement measurement =
        launch_until_written(launch, "the two work-groups did not run at the same time");
    measurement.expected_witness = 2 * (warm + iterations);
    return measurement;
  }

  [[nodiscard]] static Work work() {
    Work work;
    work.accesses_per_iteration = 2;
    work.iterations = 200;
    work.max_iterations = 1000;
    return work;
  }

 private:
  static constexpr std::uint64_t warm = 8;

  std::shared_ptr<State> state_;
  HandOverShape shape_;
  cl::Kernel kernel_;
};

Work prepare(const std::shared_ptr<State>& state, const Point& point) {
  const auto prepared = [&](const auto& timed) {
    Work work = timed->work();
    work.build = state->spec.build(state->session);
    work.run = [timed](std::uint64_t iterations) { return timed->run(iterations); };
    return work;
  };
  if (point.series == gather_series) {
    return prepared(std::make_shared<Gather>(state, shape_of<GatherShape>(point)));
  }
  if (point.series == hand_over_series) {
    return prepared(std::make_shared<HandOver>(state, shape_of<HandOverShape>(point)));
  }
  return prepared(
      std::make_shared<Chain>(state, point.series == load_series, shape_of<UnitShape>(point)));
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& /*device*/, std::uint64_t /*seed*/,
                                  const Point& /*point*/) {
  return {{"", ""}};
}

Preparer open(Session& session) {
  return [state = std::make_shared<State>(session)](const Point& point) {
    return prepare(state, point);
  };
}

}  // namespace clprobe::map
