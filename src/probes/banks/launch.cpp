// SPDX-License-Identifier: Apache-2.0
// Launches of cl/banks.cl. Uses OpenCL.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/banks/access.hpp"
#include "probes/banks/transpose.hpp"
#include "probes/shared/fields.hpp"
#include "probes/shared/opencl.hpp"
#include "probes/shared/permutation.hpp"

namespace clprobe::banks {
namespace {

constexpr std::string_view file = "banks.cl";

/// Buffers that all points share.
struct Buffers {
  explicit Buffers(Session& of) : session(of) {}

  const cl::Buffer& filled_offsets(const std::vector<cl_uint>& contents) {
    const std::uint64_t bytes = contents.size() * sizeof(cl_uint);
    const cl::Buffer& buffer = offsets.at_least(session, bytes);
    session.queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, contents.data());
    return buffer;
  }

  const cl::Buffer& all_results() {
    return results.at_least(session, 2 * launches_of_model * sizeof(cl_ulong));
  }

  /// Returns the driver's maximum work-group size for a kernel.
  [[nodiscard]] std::uint64_t max_items(const cl::Kernel& kernel) const {
    return kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(session.device());
  }

  Session& session;
  KeptBuffer offsets{};
  KeptBuffer results{};
};

[[noreturn]] void refuse_group(std::uint64_t items, std::uint64_t max) {
  throw Unsupported(
      fmt::format("the driver runs this kernel with at most {} work-items per work-group, but the "
                  "probe needs {}",
                  max, items));
}

/// Returns the checksum of the kernel banks_transpose after an odd number of transpositions.
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

std::string transpose_options_for(const DeviceInfo& device, const Tile& tile) {
  return transpose_options(tile) +
         (runs_items_in_turn(device) ? std::string(clock_without_asm) : std::string());
}

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
      kernel_(session_.kernel(file, "banks_transpose", options_)) {
  const std::uint64_t max = buffers_->max_items(kernel_);
  if (items() > max) refuse_group(items(), max);
  set_arguments(kernel_, 0, buffers_->filled_offsets(offsets_of(tile_)),
                static_cast<cl_uint>(tile_.side));
  set_arguments(kernel_, 4, never, buffers_->all_results());
  // The result of this launch is dropped, since some drivers compile at the first launch.
  static_cast<void>(run(1));
}

Measurement Transposition::run(std::uint64_t iterations) {
  set_arguments(kernel_, 2, static_cast<cl_uint>(lead_of_transpositions(iterations)),
                static_cast<cl_uint>(iterations));
  Measurement measurement = timed_launch(session_, kernel_, {items(), items()},
                                         buffers_->all_results(), iterations * tile_.accesses());
  measurement.expected_witness = expected_witness(tile_);
  return measurement;
}

/// Prepares a transposition and launches it once. Throws DeviceError and cl::Error. Throws
/// Unsupported if the driver refuses the work-group.
Work prepare_transposition(const std::shared_ptr<Buffers>& buffers, const Point& point) {
  auto prepared = std::make_shared<Transposition>(buffers, point);
  constexpr std::uint64_t usual = 32;
  constexpr std::uint64_t usual_of_cpu = 256;
  Work work;
  work.accesses_per_iteration = prepared->tile().accesses();
  work.iterations = runs_items_in_turn(buffers->session.info()) ? usual_of_cpu : usual;
  work.max_iterations = max_transpositions();
  work.build = buffers->session.build_of(file, prepared->options());
  work.run = [prepared](std::uint64_t iterations) { return prepared->run(iterations); };
  return work;
}

/// Numbers of work-items, lanes, chains and accesses of a point's launches.
struct Launch {
  const AccessKind& kind;
  Shape shape;
  std::uint64_t lanes;
  std::uint64_t items;
  std::uint64_t chains;
  std::uint64_t steps;  ///< accesses of a chain per iteration
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

  /// Returns the number of accesses in one iteration. An access is that of a whole sub-group. In
  /// load-latency, the chains of all sub-groups count once, since they wait at the same time.
  [[nodiscard]] std::uint64_t accesses_per_iteration() const {
    return kind.is_chain ? steps : chains * (items / lanes);
  }
};

/// Returns the offset after a number of accesses, as MOVED in cl/banks.cl does.
std::uint32_t moved(std::uint32_t offset, std::uint32_t accesses) {
  constexpr std::uint32_t within = pattern_block_bytes - 1;
  return (offset & ~within) | ((offset + accesses * all_banks_bytes) & within);
}

/// Returns the offset of the store that follows `stores` earlier stores, as `flip` in cl/banks.cl
/// does.
std::uint32_t flipped(std::uint32_t offset, std::uint64_t stores) {
  constexpr std::array<std::uint32_t, 4> hops{0, 1, 3, 2};
  return offset ^ hops[stores % hops.size()] * all_banks_bytes;
}

/// Returns one row of offsets per chain. Each row is the pattern, moved so that all chains start
/// at different offsets.
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

std::string options_for(const DeviceInfo& device, const Launch& launch) {
  const std::string options = build_options(launch.kind, launch.shape);
  if (runs_items_in_turn(device)) return options + std::string(clock_without_asm);
  return launch.items <= usual_group ? options : options + large_group(launch.items);
}

/// Returns the number of untimed accesses per chain, which makes the total number odd. Chains
/// return to their start after 8 accesses, and a kernel that does nothing would then have the right
/// checksum.
std::uint64_t lead_for(std::uint64_t accesses) { return accesses % 2 == 0 ? 1 : 0; }

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
  void set_all_arguments();
  [[nodiscard]] cl_ulong witness_after(std::uint64_t accesses) const;
  void set_launch(std::uint64_t rounds, std::uint64_t iterations);
  Measurement run_long(std::uint64_t iterations);
  Measurement run_single(std::uint64_t launches);

  std::shared_ptr<Buffers> buffers_;
  Session& session_;
  Launch launch_;
  std::string options_;
  std::vector<cl_uint> table_;
  cl::Kernel kernel_;
};

Accesses::Accesses(std::shared_ptr<Buffers> buffers, const Point& point)
    : buffers_(std::move(buffers)),
      session_(buffers_->session),
      launch_(point),
      options_(options_for(session_.info(), launch_)),
      table_(offset_table(launch_)),
      kernel_(session_.kernel(file, "banks_access", options_)) {
  launch_first();
}

/// Launches once. A kernel that was built for a large group is launched even if the driver reports
/// a smaller maximum: NVIDIA's driver reports 256 work-items for kernels that can run with more. If
/// this launch fails, builds the kernel without the group size, and reduces the work-group.
void Accesses::launch_first() {
  set_all_arguments();
  const std::string plain_options = build_options(launch_.kind, launch_.shape);
  if (options_ != plain_options && !runs_items_in_turn(session_.info())) {
    try {
      launch_over(session_, kernel_, {launch_.items, launch_.items});
      return;
    } catch (const cl::Error&) {
      options_ = plain_options;
      kernel_ = session_.kernel(file, "banks_access", options_);
      set_all_arguments();
    }
  }
  fit_group();
  launch_over(session_, kernel_, {launch_.items, launch_.items});
}

/// Reduces the work-group to the driver's maximum, in whole sub-groups. Throws Unsupported if that
/// is less than one sub-group, or less than the conflict model needs.
void Accesses::fit_group() {
  const std::uint64_t max = buffers_->max_items(kernel_);
  if (launch_.items <= max) return;
  if (launch_.kind.is_single || max < launch_.lanes) refuse_group(launch_.items, max);
  launch_.items = max / launch_.lanes * launch_.lanes;
}

void Accesses::set_all_arguments() {
  set_arguments(kernel_, 0, buffers_->filled_offsets(table_), static_cast<cl_uint>(launch_.lanes),
                cl_uint{launch_.footprint}, cl_uint{all_banks_bytes});
  set_arguments(kernel_, 7, never, cl_uint{0}, buffers_->all_results());
  set_launch(1, 1);
}

/// Returns the checksum of banks_access: the sum of a hash per work-item, of its number and the
/// final offsets of its chains. For stores, the final offset is the offset that was stored last.
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
  set_arguments(kernel_, 4, static_cast<cl_uint>(lead_for(rounds * iterations * launch_.steps)),
                static_cast<cl_uint>(rounds), static_cast<cl_uint>(iterations));
}

/// Measures one launch that runs a loop of accesses.
Measurement Accesses::run_long(std::uint64_t iterations) {
  set_launch(1, iterations);
  const std::uint64_t accesses = iterations * launch_.steps;
  Measurement measurement =
      timed_launch(session_, kernel_, {launch_.items, launch_.items}, buffers_->all_results(),
                   iterations * launch_.accesses_per_iteration());
  measurement.expected_witness = witness_after(accesses + lead_for(accesses));
  return measurement;
}

/// Measures up to 100 launches with one result each. The ticks of the sample are the sum of the
/// results, less the overhead of all pairs of clock reads except one. The analysis subtracts the
/// overhead of one pair.
Measurement Accesses::run_single(std::uint64_t launches) {
  set_launch(rounds_of_model, 1);
  const std::uint64_t count = std::min(launches, launches_of_model);
  const cl::Buffer& results = buffers_->all_results();
  const std::vector<cl_ulong> nothing(2 * count, never);
  session_.queue().enqueueWriteBuffer(results, CL_TRUE, 0, nothing.size() * sizeof(cl_ulong),
                                      nothing.data());
  Measurement measurement;
  measurement.sample.host_ns = host_ns_of([&] {
    for (std::uint64_t launch = 0; launch < count; ++launch) {
      kernel_.setArg(8, static_cast<cl_uint>(launch));
      session_.queue().enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(launch_.items),
                                            cl::NDRange(launch_.items));
    }
    session_.queue().finish();
  });
  const auto out = read_values<cl_ulong>(session_, results, 2 * count);
  const std::uint64_t accesses = rounds_of_model;
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
  return measurement;
}

/// Returns the number of iterations of a launch, except for the conflict model. A CPU core needs
/// more iterations than a GPU: the core starts a launch at a lower clock and with cold caches. On
/// one CPU, launches below 1 us took 1.5 times as long in every other run.
std::uint64_t iterations_of(const DeviceInfo& device, const AccessKind& kind) {
  if (runs_items_in_turn(device)) return kind.is_chain ? 512 : 4096;
  return kind.is_chain ? 64 : 32;
}

Work prepare(const std::shared_ptr<Buffers>& buffers, const Point& point) {
  auto accesses = std::make_shared<Accesses>(buffers, point);
  const Launch& launch = accesses->launch();
  Work work;
  // The driver may have run fewer sub-groups than planned, so the actual number becomes a fact.
  work.facts.set("sub_groups", static_cast<std::int64_t>(launch.items / launch.lanes));
  work.accesses_per_iteration = launch.accesses_per_iteration();
  if (launch.kind.is_single) {
    work.iterations = launches_of_model;
    work.max_iterations = launches_of_model;
  } else {
    work.iterations = iterations_of(buffers->session.info(), launch.kind);
    work.max_iterations = max_timed(launch.footprint, launch.items);
  }
  work.build = buffers->session.build_of(file, accesses->options());
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
