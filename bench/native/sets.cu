// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe bandwidth` on an NVIDIA GPU: moving a working set again and again.
//
//   sets_cuda REPEATS MODE SET_BYTES [MODE SET_BYTES...]
//
// MODE is a series of clprobe's: read, read-own, read-one-unit, write, copy, update, these three
// with -one-unit, local, image; or read-rotating, in which many small blocks read pieces of one
// set, neighbours far from each other, as gpu-benches' gpu-l2-cache does; read-past-l1, by loads
// that L1 does not keep; or read-together, in which all blocks begin at the same place. Each is
// tried with several sizes of blocks. One JSON object on stdout: of each pair the bytes per second
// of each repeat by events, of the fastest size, and the median of each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "rates.cuh"

namespace {

using native::Array;

constexpr unsigned loads = 4;  // in flight in each thread

__global__ void fill(uint4* data, std::uint64_t count) {
  const std::uint64_t all = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += all) {
    const unsigned word = static_cast<unsigned>(i * 2654435761u);
    data[i] = make_uint4(word, word ^ 0x9e3779b9u, word * 3u, ~word);
  }
}

__device__ void add(uint4& sum, const uint4& value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

/// Where a block of threads walks: over `pieces` of loads * blockDim.x vectors, from one on, round
/// and round.
struct Walk {
  std::uint64_t first;
  unsigned start;
  unsigned pieces;
  unsigned turns;
};

/// Calls `move` with the thread's first vector of each piece.
template <typename Move>
__device__ void go_round(const Walk& walk, Move move) {
  unsigned piece = walk.start;
  for (unsigned turn = 0; turn < walk.turns; ++turn) {
    move((walk.first + piece) * (loads * blockDim.x) + threadIdx.x, turn);
    piece = piece + 1 == walk.pieces ? 0 : piece + 1;
  }
}

/// All blocks walk over one region, from starts far from each other, or each over its own.
__device__ Walk walk_of_block(unsigned pieces, unsigned turns, unsigned stride, bool is_shared) {
  if (!is_shared) return {std::uint64_t{blockIdx.x} * pieces, 0, pieces, turns};
  const std::uint64_t place = std::uint64_t{blockIdx.x} * stride % gridDim.x;
  return {0, static_cast<unsigned>(place * pieces / gridDim.x), pieces, turns};
}

template <bool IsPastL1>
__global__ void read(const uint4* __restrict__ data, unsigned pieces, unsigned turns,
                     unsigned stride, bool is_shared, unsigned* out) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  go_round(walk_of_block(pieces, turns, stride, is_shared), [&](std::uint64_t at, unsigned) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      const uint4* const each = data + at + n * blockDim.x;
      value[n] = IsPastL1 ? __ldcg(each) : *each;
    }
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) add(sum, value[n]);
  });
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

__global__ void read_texels(cudaTextureObject_t data, unsigned pieces, unsigned turns,
                            unsigned stride, unsigned* out) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  go_round(walk_of_block(pieces, turns, stride, true), [&](std::uint64_t at, unsigned) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      value[n] = tex1Dfetch<uint4>(data, static_cast<int>(at + n * blockDim.x));
    }
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) add(sum, value[n]);
  });
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

/// Each block has a copy of the beginning.
__global__ void read_local(const uint4* __restrict__ data, unsigned pieces, unsigned turns,
                           unsigned* out) {
  extern __shared__ uint4 set[];
  for (unsigned i = threadIdx.x; i < pieces * loads * blockDim.x; i += blockDim.x) set[i] = data[i];
  __syncthreads();
  uint4 sum = make_uint4(0, 0, 0, 0);
  go_round(Walk{0, 0, pieces, turns}, [&](std::uint64_t at, unsigned) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = set[static_cast<unsigned>(at) + n * blockDim.x];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) add(sum, value[n]);
  });
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

/// Each block reads `turns` pieces, `stride` from one to the next.
__global__ void read_rotating(const uint4* __restrict__ data, unsigned pieces, unsigned turns,
                              unsigned stride, unsigned* out) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (unsigned i = 0; i < turns; ++i) {
    const std::uint64_t turn = std::uint64_t{i} * gridDim.x + blockIdx.x;
    const uint4* const begin = data + turn * stride % pieces * loads * blockDim.x + threadIdx.x;
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = begin[n * blockDim.x];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) add(sum, value[n]);
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

// What is written changes from turn to turn, so that no compiler may leave out all but the last.
__global__ void write(uint4* __restrict__ data, unsigned pieces, unsigned turns) {
  go_round(walk_of_block(pieces, turns, 0, false), [&](std::uint64_t at, unsigned turn) {
    const unsigned word = static_cast<unsigned>(at) * 4 + turn;
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      const unsigned each = word + n * blockDim.x * 4;
      data[at + n * blockDim.x] = make_uint4(each, each + 1, each + 2, each + 3);
    }
  });
}

__global__ void copy(const uint4* __restrict__ from, uint4* __restrict__ to, unsigned pieces,
                     unsigned turns) {
  go_round(walk_of_block(pieces, turns, 0, false), [&](std::uint64_t at, unsigned turn) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = from[at + n * blockDim.x];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      add(value[n], make_uint4(turn, turn, turn, turn));
      to[at + n * blockDim.x] = value[n];
    }
  });
}

__global__ void update(uint4* data, unsigned pieces, unsigned turns, unsigned more) {
  go_round(walk_of_block(pieces, turns, 0, false), [&](std::uint64_t at, unsigned) {
    uint4 value[loads];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) value[n] = data[at + n * blockDim.x];
#pragma unroll
    for (unsigned n = 0; n < loads; ++n) {
      add(value[n], make_uint4(more, more, more, more));
      data[at + n * blockDim.x] = value[n];
    }
  });
}

enum class Kind { read, past_l1, together, rotating, local, image, write, copy, update };

struct Grid {
  unsigned threads;
  unsigned blocks_of_unit;
};

struct Mode {
  const char* name;
  Kind kind;
  bool is_shared;  ///< one region for all
  bool is_one;     ///< one block alone
  std::vector<Grid> grids;
};

const std::vector<Mode>& modes() {
  // Of several blocks that share a set and a unit, those behind find in its cache what the first
  // one has just read.
  static const std::vector<Mode> all{
      {"read", Kind::read, true, false, {{512, 1}, {1024, 1}}},
      {"read-own", Kind::read, false, false, {{512, 1}, {1024, 1}}},
      {"read-one-unit", Kind::read, true, true, {{512, 1}, {1024, 1}}},
      {"read-past-l1", Kind::past_l1, true, false, {{512, 1}, {1024, 1}}},
      {"read-together", Kind::together, true, false, {{512, 1}, {1024, 1}}},
      {"read-rotating", Kind::rotating, true, false, {{256, 8}}},
      {"write", Kind::write, false, false, {{64, 32}, {256, 8}, {1024, 2}}},
      {"copy", Kind::copy, false, false, {{64, 32}, {256, 8}, {1024, 2}}},
      {"update", Kind::update, false, false, {{64, 32}, {256, 8}, {1024, 2}}},
      {"write-one-unit", Kind::write, false, true, {{512, 1}, {1024, 1}}},
      {"copy-one-unit", Kind::copy, false, true, {{512, 1}, {1024, 1}}},
      {"update-one-unit", Kind::update, false, true, {{512, 1}, {1024, 1}}},
      {"local", Kind::local, true, false, {{256, 1}, {512, 1}}},
      {"image", Kind::image, true, false, {{512, 1}, {1024, 1}}}};
  return all;
}

cudaTextureObject_t texels_of(uint4* data, std::uint64_t bytes) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<uint4>();
  resource.res.linear.sizeInBytes = bytes;
  cudaTextureDesc texture{};
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  native::check(cudaCreateTextureObject(&object, &resource, &texture, nullptr),
                "cudaCreateTextureObject");
  return object;
}

/// A step that meets all of `count` places before it meets one again.
unsigned stride_over(std::uint64_t count) {
  auto stride = static_cast<std::uint64_t>(static_cast<double>(count) * 0.618);
  while (std::gcd(stride, count) != 1) ++stride;
  return static_cast<unsigned>(stride);
}

/// How a set is shared out among blocks of threads.
struct Shape {
  unsigned threads;
  unsigned blocks;
  unsigned regions;
  unsigned pieces;  ///< of a region
  std::uint64_t piece_bytes;

  [[nodiscard]] std::uint64_t bytes() const { return piece_bytes * pieces * regions; }
};

Shape shape_of(const Mode& mode, Grid grid, std::uint64_t set_bytes, unsigned units) {
  Shape shape{grid.threads, mode.is_one ? 1 : units * grid.blocks_of_unit, 1, 0,
              std::uint64_t{16} * loads * grid.threads};
  const std::uint64_t pieces = set_bytes / (mode.kind == Kind::copy ? 2 : 1) / shape.piece_bytes;
  if (!mode.is_shared) {
    // A set of its own, or a part of one.
    const bool is_part = mode.kind != Kind::read;
    if (is_part && pieces < shape.blocks) shape.blocks = static_cast<unsigned>(pieces);
    shape.regions = shape.blocks;
    shape.pieces = static_cast<unsigned>(is_part && pieces != 0 ? pieces / shape.blocks : pieces);
    return shape;
  }
  shape.pieces = static_cast<unsigned>(pieces);
  return shape;
}

/// Launches so many turns of each block.
void launch(const Mode& mode, const Shape& shape, unsigned turns, uint4* data, uint4* to,
            cudaTextureObject_t texels, unsigned* out) {
  const unsigned stride =
      mode.kind == Kind::together
          ? 0  // all from the beginning
          : stride_over(mode.kind == Kind::rotating ? shape.pieces : std::max(1U, shape.blocks));
  switch (mode.kind) {
    case Kind::read:
    case Kind::together:
      read<false>
          <<<shape.blocks, shape.threads>>>(data, shape.pieces, turns, stride, mode.is_shared, out);
      break;
    case Kind::past_l1:
      read<true>
          <<<shape.blocks, shape.threads>>>(data, shape.pieces, turns, stride, mode.is_shared, out);
      break;
    case Kind::rotating:
      read_rotating<<<shape.blocks, shape.threads>>>(data, shape.pieces, turns, stride, out);
      break;
    case Kind::local:
      read_local<<<shape.blocks, shape.threads, shape.bytes()>>>(data, shape.pieces, turns, out);
      break;
    case Kind::image:
      read_texels<<<shape.blocks, shape.threads>>>(texels, shape.pieces, turns, stride, out);
      break;
    case Kind::write:
      write<<<shape.blocks, shape.threads>>>(data, shape.pieces, turns);
      break;
    case Kind::copy:
      copy<<<shape.blocks, shape.threads>>>(data, to, shape.pieces, turns);
      break;
    case Kind::update:
      update<<<shape.blocks, shape.threads>>>(data, shape.pieces, turns, turns);
      break;
  }
  native::check(cudaGetLastError(), "launch");
}

native::Rates measure(const Mode& mode, const Shape& shape, unsigned repeats) {
  const std::uint64_t vectors = shape.bytes() / sizeof(uint4);
  const Array<uint4> data(vectors);
  const Array<uint4> to(mode.kind == Kind::copy ? vectors : 1);
  const Array<unsigned> out(std::uint64_t{shape.blocks} * shape.threads);
  fill<<<8192, 256>>>(data.get(), vectors);
  if (mode.kind == Kind::copy) fill<<<8192, 256>>>(to.get(), vectors);
  const cudaTextureObject_t texels =
      mode.kind == Kind::image ? texels_of(data.get(), shape.bytes()) : 0;
  // Once over the set: each block over its own part, or all together over one. Of local memory each
  // has its own.
  const bool is_together = mode.is_shared && mode.kind != Kind::local;
  const unsigned turns =
      is_together ? (shape.pieces + shape.blocks - 1) / shape.blocks : shape.pieces;
  const double directions = mode.kind == Kind::copy || mode.kind == Kind::update ? 2.0 : 1.0;
  const double bytes = directions * static_cast<double>(shape.piece_bytes) * turns * shape.blocks;
  native::Rates rates = native::rates_of(
      [&](std::uint64_t times) {
        launch(mode, shape, static_cast<unsigned>(turns * times), data.get(), to.get(), texels,
               out.get());
      },
      bytes, repeats);
  if (texels != 0) native::check(cudaDestroyTextureObject(texels), "cudaDestroyTextureObject");
  return rates;
}

/// Of the sizes of blocks the fastest one's rates.
void measure_and_print(const Mode& mode, std::uint64_t set_bytes, unsigned repeats,
                       unsigned units) {
  std::vector<double> best;
  std::printf("{\"mode\": \"%s\", \"set_bytes\": %llu, \"medians\": {", mode.name,
              static_cast<unsigned long long>(set_bytes));
  bool is_first = true;
  for (const Grid& grid : mode.grids) {
    const Shape shape = shape_of(mode, grid, set_bytes, units);
    if (shape.pieces == 0) continue;
    const native::Rates rates = measure(mode, shape, repeats);
    std::printf("%s\"%u x %u, %llu times\": %.6g", is_first ? "" : ", ", shape.blocks,
                shape.threads, static_cast<unsigned long long>(rates.times),
                native::median(rates.all));
    is_first = false;
    if (native::median(rates.all) > native::median(best)) best = rates.all;
  }
  std::printf("}, \"bytes_per_second\": [");
  for (std::size_t n = 0; n < best.size(); ++n) std::printf("%s%.6g", n != 0 ? ", " : "", best[n]);
  std::printf("]}");
}

const Mode* mode_named(const std::string& name) {
  for (const Mode& mode : modes()) {
    if (name == mode.name) return &mode;
  }
  std::fprintf(stderr, "sets_cuda: there is no mode %s\n", name.c_str());
  std::exit(2);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4 || count % 2 != 0) {
    std::fprintf(stderr, "usage: sets_cuda REPEATS MODE SET_BYTES [MODE SET_BYTES...]\n");
    return 2;
  }
  cudaDeviceProp device{};
  native::check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const auto units = static_cast<unsigned>(device.multiProcessorCount);
  const auto repeats = static_cast<unsigned>(std::strtoul(words[1], nullptr, 10));
  native::warm_up([&] { native::hold_stream<<<units, 1024>>>(2'000'000); });
  std::printf("{\"sets\": [");
  for (int n = 2; n < count; n += 2) {
    if (n != 2) std::printf(", ");
    measure_and_print(*mode_named(words[n]), std::strtoull(words[n + 1], nullptr, 10), repeats,
                      units);
  }
  std::printf("]}\n");
  return 0;
}
