// SPDX-License-Identifier: Apache-2.0
// The launches of cl/banks.cl.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"
#include "measure/api/device.hpp"
#include "probes/banks/access.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::banks {
namespace {

struct Buffers {
  explicit Buffers(Session& of) : session(of) {}

  /// Room for so many bytes.
  const cl::Buffer& offsets(std::uint64_t bytes) {
    if (bytes_ < bytes) {
      offsets_ = cl::Buffer(session.context(), CL_MEM_READ_ONLY, bytes);
      bytes_ = bytes;
    }
    return offsets_;
  }

  const cl::Buffer& results() {
    if (results_() == nullptr) {
      results_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                            2 * launches_of_model * sizeof(cl_ulong));
    }
    return results_;
  }

  /// One launch of one group, which leaves its ticks and its witness in `results`. The accesses and
  /// the expected witness are the caller's.
  Measurement launch(const cl::Kernel& kernel, std::uint64_t items) {
    const std::array<cl_ulong, 2> nothing{never, never};
    session.queue().enqueueWriteBuffer(results(), CL_TRUE, 0, sizeof nothing, nothing.data());
    const LaunchTimes times = session.launch(kernel, cl::NDRange(items), cl::NDRange(items));
    std::array<cl_ulong, 2> out{};
    session.queue().enqueueReadBuffer(results(), CL_TRUE, 0, sizeof out, out.data());
    Measurement measurement;
    if (session.info().clock.kind != ClockKind::none) measurement.sample.ticks = out[0];
    measurement.sample.event_ns = times.event_ns;
    measurement.sample.host_ns = times.host_ns;
    measurement.sample.witness = out[1];
    return measurement;
  }

  /// The largest group of this kernel.
  [[nodiscard]] std::uint64_t max_items(const cl::Kernel& kernel) const {
    return kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  }

  Session& session;

 private:
  cl::Buffer offsets_{};
  cl::Buffer results_{};
  std::uint64_t bytes_{0};
};

[[noreturn]] void refuse_group(std::uint64_t items, std::uint64_t max) {
  throw Unsupported(
      fmt::format("the driver runs this kernel with at most {} work-items, not {}", max, items));
}

/// Sum that banks_transpose makes, after an odd number of transpositions.
cl_ulong expected_witness(const Tile& tile) {
  const auto side = static_cast<std::uint32_t>(tile.side);
  std::uint32_t sum = 0;
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      sum += mixed((column * side + row) ^ ((row * side + column) << 16U));
    }
  }
  return sum;
}

/// Build options of the transposition.
std::string transpose_options_for(const DeviceInfo& device, const Tile& tile) {
  // A group of several work-items on a CPU (cl/clock.clh).
  return transpose_options(tile) +
         (runs_items_in_turn(device) ? std::string(clock_without_asm) : std::string());
}

/// The tile, ready to be transposed.
class Transposition {
 public:
  Transposition(std::shared_ptr<Buffers> buffers, const Point& point);

  [[nodiscard]] const Tile& tile() const { return tile_; }
  [[nodiscard]] const std::string& options() const { return options_; }
  Measurement run(std::uint64_t iterations);

 private:
  [[nodiscard]] std::uint64_t items() const {
    return static_cast<std::uint64_t>(tile_.side) * static_cast<std::uint64_t>(tile_.sub_groups);
  }

  std::shared_ptr<Buffers> buffers_;
  Session& session_;
  Tile tile_;
  std::string options_;
  cl::Kernel kernel_;
};

Transposition::Transposition(std::shared_ptr<Buffers> buffers, const Point& point)
    : buffers_(std::move(buffers)),
      session_(buffers_->session),
      tile_(shape_of<Tile>(point)),
      options_(transpose_options_for(session_.info(), tile_)),
      kernel_(session_.kernel("banks.cl", "banks_transpose", options_)) {
  const std::uint64_t max = buffers_->max_items(kernel_);
  if (items() > max) refuse_group(items(), max);
  const std::vector<std::uint32_t> places = places_of(tile_);
  const std::uint64_t bytes = places.size() * sizeof(cl_uint);
  const cl::Buffer& offsets = buffers_->offsets(bytes);
  session_.queue().enqueueWriteBuffer(offsets, CL_TRUE, 0, bytes, places.data());
  kernel_.setArg(0, offsets);
  kernel_.setArg(1, static_cast<cl_uint>(tile_.side));
  kernel_.setArg(4, never);
  kernel_.setArg(5, buffers_->results());
  // Drivers compile when a kernel is launched for the first time.
  static_cast<void>(run(1));
}

Measurement Transposition::run(std::uint64_t iterations) {
  kernel_.setArg(2, static_cast<cl_uint>(lead_of_transpositions(iterations)));
  kernel_.setArg(3, static_cast<cl_uint>(iterations));
  Measurement measurement = buffers_->launch(kernel_, items());
  measurement.sample.accesses = iterations * tile_.accesses();
  measurement.expected_witness = expected_witness(tile_);
  return measurement;
}

/// Throws DeviceError, cl::Error, and Unsupported where the driver runs too few work-items.
Work prepare_transposition(const std::shared_ptr<Buffers>& buffers, const Point& point) {
  auto prepared = std::make_shared<Transposition>(buffers, point);
  constexpr std::uint64_t usual = 32;
  constexpr std::uint64_t usual_of_cpu = 256;
  Work work;
  work.accesses_per_iteration = prepared->tile().accesses();
  work.iterations = runs_items_in_turn(buffers->session.info()) ? usual_of_cpu : usual;
  work.max_iterations = max_transpositions();
  work.build = buffers->session.build_of("banks.cl", prepared->options());
  work.run = [prepared](std::uint64_t iterations) { return prepared->run(iterations); };
  return work;
}

/// A point, and what its launches make of it.
struct Launch {
  const AccessKind& kind;
  Shape shape;
  std::uint64_t lanes;
  std::uint64_t items;
  std::uint64_t chains;
  std::uint64_t steps;  ///< of a chain in an iteration
  std::uint32_t footprint;

  explicit Launch(const Point& point)
      : kind(kind_of(point.series)),
        shape(shape_of<Shape>(point)),
        lanes(static_cast<std::uint64_t>(shape.lanes)),
        items(shape.sub_groups * lanes),
        chains(kind.is_chain ? 1 : shape.instructions),
        steps(kind.is_chain ? chain_steps : 1),
        footprint(static_cast<std::uint32_t>(
            footprint_of(shape.pattern, shape.word_bytes, shape.lanes))) {}

  /// Accesses of one iteration, each of a whole sub-group. A chain's are counted once, however many
  /// sub-groups follow it side by side: each waits as long.
  [[nodiscard]] std::uint64_t accesses_per_iteration() const {
    return kind.is_chain ? steps : chains * (items / lanes);
  }
};

/// Moves an offset by so many accesses, as MOVED in cl/banks.cl.
std::uint32_t moved(std::uint32_t offset, std::uint32_t accesses) {
  constexpr std::uint32_t within = pattern_block_bytes - 1;
  return (offset & ~within) | ((offset + accesses * all_banks_bytes) & within);
}

/// Offset of a store after so many before it, as by `flip` in cl/banks.cl.
std::uint32_t flipped(std::uint32_t offset, std::uint64_t stores) {
  constexpr std::array<std::uint32_t, 4> hops{0, 1, 3, 2};
  return offset ^ hops[stores % hops.size()] * all_banks_bytes;
}

/// A row of offsets for each chain: the pattern, moved on so that no two chains begin alike.
std::vector<cl_uint> offset_table(const Launch& launch) {
  const Shape& shape = launch.shape;
  const std::vector<std::uint32_t> pattern =
      offsets_of(shape.pattern, shape.word_bytes, shape.lanes);
  std::vector<cl_uint> table;
  for (std::uint32_t chain = 0; chain < launch.chains; ++chain) {
    for (const std::uint32_t offset : pattern) table.push_back(moved(offset, chain));
  }
  return table;
}

/// GPUs' compilers give each work-item the registers of a group of 256 unless they are told of a
/// larger one. On CPUs the clock must do without assembly, since groups have several work-items.
std::string options_for(const DeviceInfo& device, const Launch& launch) {
  const std::string options = build_options(launch.kind, launch.shape);
  if (runs_items_in_turn(device)) return options + std::string(clock_without_asm);
  return launch.items <= usual_group ? options : options + large_group(launch.items);
}

/// Chains come back after 8 accesses: a kernel that does nothing must not end where they do.
std::uint64_t lead_for(std::uint64_t accesses) { return accesses % 2 == 0 ? 1 : 0; }

/// The group's accesses, ready to be launched.
class Accesses {
 public:
  Accesses(std::shared_ptr<Buffers> buffers, const Point& point);

  [[nodiscard]] const Launch& launch() const { return launch_; }
  [[nodiscard]] const std::string& options() const { return options_; }

  Measurement run(std::uint64_t iterations) {
    return launch_.kind.is_single ? run_single(iterations) : run_long(iterations);
  }

 private:
  void launch_first();
  void fit_group();
  void set_arguments();
  [[nodiscard]] cl_ulong witness_after(std::uint64_t accesses) const;
  void set_launch(std::uint64_t rounds, std::uint64_t iterations);
  Measurement run_long(std::uint64_t iterations);
  Measurement run_single(std::uint64_t launches);

  std::shared_ptr<Buffers> buffers_;
  Session& session_;
  Launch launch_;
  std::string options_;
  std::vector<cl_uint> table_;
  cl::Buffer offsets_;
  cl::Buffer out_;
  cl::Kernel kernel_;
};

Accesses::Accesses(std::shared_ptr<Buffers> buffers, const Point& point)
    : buffers_(std::move(buffers)),
      session_(buffers_->session),
      launch_(point),
      options_(options_for(session_.info(), launch_)),
      table_(offset_table(launch_)),
      offsets_(buffers_->offsets(launch_.lanes * max_instructions * sizeof(cl_uint))),
      out_(buffers_->results()),
      kernel_(session_.kernel("banks.cl", "banks_access", options_)) {
  session_.queue().enqueueWriteBuffer(offsets_, CL_TRUE, 0, table_.size() * sizeof(cl_uint),
                                      table_.data());
  launch_first();
}

/// Launches once, with as many work-items as the driver runs of this kernel. One that was built for
/// a large group is tried: NVIDIA's driver says 256 of it all the same.
void Accesses::launch_first() {
  set_arguments();
  const std::string plain_options = build_options(launch_.kind, launch_.shape);
  if (options_ != plain_options && !runs_items_in_turn(session_.info())) {
    try {
      session_.launch(kernel_, cl::NDRange(launch_.items), cl::NDRange(launch_.items));
      return;
    } catch (const cl::Error&) {
      options_ = plain_options;
      kernel_ = session_.kernel("banks.cl", "banks_access", options_);
      set_arguments();
    }
  }
  fit_group();
  session_.launch(kernel_, cl::NDRange(launch_.items), cl::NDRange(launch_.items));
}

/// If only the rate counts, takes the largest group that the driver runs; if the number is the
/// question, refuses another one.
void Accesses::fit_group() {
  const std::uint64_t max = buffers_->max_items(kernel_);
  if (launch_.items <= max) return;
  if (launch_.kind.is_single || max < launch_.lanes) refuse_group(launch_.items, max);
  launch_.items = max / launch_.lanes * launch_.lanes;
}

void Accesses::set_arguments() {
  kernel_.setArg(0, offsets_);
  kernel_.setArg(1, static_cast<cl_uint>(launch_.lanes));
  kernel_.setArg(2, cl_uint{launch_.footprint});
  kernel_.setArg(3, cl_uint{all_banks_bytes});
  kernel_.setArg(7, never);
  kernel_.setArg(8, cl_uint{0});
  kernel_.setArg(9, out_);
  set_launch(1, 1);
}

/// Sum that banks_access makes: the place of every chain of every item, or what it stored last.
cl_ulong Accesses::witness_after(std::uint64_t accesses) const {
  cl_uint sum = 0;
  for (std::uint64_t item = 0; item < launch_.items; ++item) {
    cl_uint of_item = 0;
    for (std::uint64_t chain = 0; chain < launch_.chains; ++chain) {
      const cl_uint begin = table_[chain * launch_.lanes + item % launch_.lanes];
      of_item += launch_.kind.is_store ? flipped(begin, accesses - 1)
                                       : moved(begin, static_cast<std::uint32_t>(accesses % 8));
    }
    sum += mixed(of_item + static_cast<cl_uint>(item));
  }
  return sum;
}

void Accesses::set_launch(std::uint64_t rounds, std::uint64_t iterations) {
  kernel_.setArg(4, static_cast<cl_uint>(lead_for(rounds * iterations * launch_.steps)));
  kernel_.setArg(5, static_cast<cl_uint>(rounds));
  kernel_.setArg(6, static_cast<cl_uint>(iterations));
}

/// One launch with a loop of accesses.
Measurement Accesses::run_long(std::uint64_t iterations) {
  set_launch(1, iterations);
  const std::uint64_t accesses = iterations * launch_.steps;
  Measurement measurement = buffers_->launch(kernel_, launch_.items);
  measurement.sample.accesses = iterations * launch_.accesses_per_iteration();
  measurement.expected_witness = witness_after(accesses + lead_for(accesses));
  return measurement;
}

/// Many launches, each with a place for its result, and one reading of them all. The ticks of the
/// sample are their sum, without the empty clock pairs but one, which the sample still has.
Measurement Accesses::run_single(std::uint64_t launches) {
  set_launch(rounds_of_model, 1);
  const std::uint64_t count = std::min(launches, launches_of_model);
  std::vector<cl_ulong> out(2 * count, never);
  session_.queue().enqueueWriteBuffer(out_, CL_TRUE, 0, out.size() * sizeof(cl_ulong), out.data());
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t launch = 0; launch < count; ++launch) {
    kernel_.setArg(8, static_cast<cl_uint>(launch));
    session_.queue().enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(launch_.items),
                                          cl::NDRange(launch_.items));
  }
  session_.queue().finish();
  const auto end = std::chrono::steady_clock::now();
  session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, out.size() * sizeof(cl_ulong), out.data());
  const std::uint64_t accesses = rounds_of_model;
  Measurement measurement;
  measurement.expected_witness = witness_after(accesses + lead_for(accesses));
  measurement.sample.witness = measurement.expected_witness;
  measurement.sample.accesses = count * launch_.accesses_per_iteration();
  const std::uint64_t pair = session_.info().clock.overhead_ticks;
  std::uint64_t ticks = 0;
  for (std::uint64_t launch = 0; launch < count; ++launch) {
    ticks += out[2 * launch] - std::min(out[2 * launch], launch == 0 ? 0 : pair);
    if (out[2 * launch + 1] != measurement.expected_witness) {
      measurement.sample.witness = out[2 * launch + 1];
    }
  }
  measurement.sample.ticks = ticks;
  measurement.sample.host_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  return measurement;
}

/// About as many accesses of a sub-group for chains as for independent ones. A CPU's core begins a
/// launch slowly, at a lower clock and with cold caches, and it is alone with the whole sample:
/// where that took less than a microsecond, it said one and a half times as much in every other
/// run of one machine.
std::uint64_t iterations_of(const DeviceInfo& device, const AccessKind& kind) {
  if (runs_items_in_turn(device)) return kind.is_chain ? 512 : 4096;
  return kind.is_chain ? 64 : 32;
}

Work prepare(const std::shared_ptr<Buffers>& buffers, const Point& point) {
  auto accesses = std::make_shared<Accesses>(buffers, point);
  const Launch& launch = accesses->launch();
  Work work;
  // There may be fewer sub-groups than planned.
  work.facts.set("sub_groups", static_cast<std::int64_t>(launch.items / launch.lanes));
  work.accesses_per_iteration = launch.accesses_per_iteration();
  if (launch.kind.is_single) {
    work.iterations = launches_of_model;
    work.max_iterations = launches_of_model;
  } else {
    work.iterations = iterations_of(buffers->session.info(), launch.kind);
    work.max_iterations = max_timed(launch.footprint, launch.items);
  }
  work.build = buffers->session.build_of("banks.cl", accesses->options());
  work.run = [accesses](std::uint64_t iterations) { return accesses->run(iterations); };
  return work;
}

}  // namespace

std::vector<KernelVariant> builds(const DeviceInfo& device, std::uint64_t /*seed*/,
                                  const Point& point) {
  if (is_transposition(point)) {
    return {{transpose_options_for(device, shape_of<Tile>(point)), ""}};
  }
  return {{options_for(device, Launch(point)), ""}};
}

Preparer open(Session& session) {
  return [buffers = std::make_shared<Buffers>(session)](const Point& point) {
    return is_transposition(point) ? prepare_transposition(buffers, point)
                                   : prepare(buffers, point);
  };
}

}  // namespace clprobe::banks
