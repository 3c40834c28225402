// SPDX-License-Identifier: Apache-2.0
#include "probes/banks/transpose_launch.hpp"

#include <string>
#include <utility>
#include <vector>

#include "probes/shared/fields.hpp"
#include "probes/shared/mixed.hpp"
#include "probes/shared/work_group.hpp"

namespace clprobe::banks {
namespace {

/// What banks_transpose adds up, after an odd number of transpositions.
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

}  // namespace

std::string transpose_options_for(const DeviceInfo& device, const Tile& tile) {
  // A group of several work-items on a CPU (cl/clock.clh).
  return transpose_options(tile) +
         (runs_items_in_turn(device) ? std::string(clock_without_asm) : std::string());
}

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

}  // namespace clprobe::banks
