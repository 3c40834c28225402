// SPDX-License-Identifier: Apache-2.0
// Bytes of buffers that a person describes.
#include <bit>
#include <cstring>
#include <numeric>
#include <random>

#include "clprobe/launch.hpp"
#include "launch/scalar.hpp"

namespace clprobe::bundle {

static_assert(std::endian::native == std::endian::little, "bytes are those of OpenCL devices");

namespace {

template <typename Number>
std::string bytes_of_number(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Repeats `pattern`, by doubling: a gigabyte is a few copies.
std::string repeated(const std::string& pattern, std::uint64_t bytes) {
  std::string all = pattern;
  all.reserve(bytes);
  while (all.size() < bytes) all.append(all, 0, bytes - all.size());
  return all;
}

/// Returns 0, 1, 2, ...; integers wrap around.
std::string counted(const Contents& contents) {
  std::string all;
  all.reserve(contents.count * bytes_of(contents.type));
  for (std::uint64_t i = 0; i < contents.count; ++i) {
    all += is_floating(contents.type) ? scalar_of(contents.type, static_cast<double>(i))
                                      : integer_of(contents.type, i);
  }
  return all;
}

/// Returns integers of random bits, or numbers from 0 to below 1, which do not overflow in a few
/// sums and products.
std::string drawn(const Contents& contents, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string all;
  all.reserve(contents.count * bytes_of(contents.type));
  // A float represents all these numbers exactly.
  constexpr double steps = 1U << 24U;
  for (std::uint64_t i = 0; i < contents.count; ++i) {
    const std::uint64_t bits = random();
    all += is_floating(contents.type)
               ? scalar_of(contents.type, static_cast<double>(bits >> 40U) / steps)
               : integer_of(contents.type, bits);
  }
  return all;
}

}  // namespace

bool is_floating(Type type) { return type == Type::float32 || type == Type::float64; }

std::string integer_of(Type type, std::uint64_t bits) {
  return bytes_of_number(bits).substr(0, bytes_of(type));
}

std::string scalar_of(Type type, double number) {
  if (type == Type::float32) return bytes_of_number(static_cast<float>(number));
  if (type == Type::float64) return bytes_of_number(number);
  const bool is_negative = number < 0.0;
  const auto magnitude = static_cast<std::uint64_t>(is_negative ? -number : number);
  return integer_of(type, is_negative ? ~magnitude + 1 : magnitude);
}

std::uint64_t object_bytes(const Launch& launch) {
  return std::accumulate(launch.objects.begin(), launch.objects.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Object& each) { return sum + each.bytes; });
}

std::string make_contents(const Contents& contents, std::uint64_t seed) {
  switch (contents.fill) {
    case Fill::zero:
      break;
    case Fill::iota:
      return counted(contents);
    case Fill::random:
      return drawn(contents, seed);
    case Fill::value:
      return repeated(scalar_of(contents.type, contents.value),
                      contents.count * bytes_of(contents.type));
  }
  return std::string(contents.count * bytes_of(contents.type), '\0');
}

}  // namespace clprobe::bundle
