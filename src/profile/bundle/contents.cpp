// SPDX-License-Identifier: Apache-2.0
// Bytes of buffers that a person describes.
#include <bit>
#include <cstring>
#include <numeric>
#include <random>

#include "profile/api/bundle.hpp"
#include "profile/bundle/scalar.hpp"

namespace clprobe::bundle {

static_assert(std::endian::native == std::endian::little,
              "bundles store numbers in the little-endian order of OpenCL devices");

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
  const std::uint64_t bytes = contents.count * bytes_of(contents.type);
  if (contents.fill == Fill::zero) return std::string(bytes, '\0');
  if (contents.fill == Fill::value) {
    return repeated(scalar_of(contents.type, contents.value), bytes);
  }
  const bool is_random = contents.fill == Fill::random;
  constexpr double steps = 1U << 24U;  // a float represents all numbers of so many steps exactly
  std::mt19937_64 random(seed);
  std::string all;
  all.reserve(bytes);
  for (std::uint64_t i = 0; i < contents.count; ++i) {
    const std::uint64_t bits = is_random ? random() : i;
    // Random numbers are below 1: they do not overflow in a few sums and products.
    const double number =
        is_random ? static_cast<double>(bits >> 40U) / steps : static_cast<double>(i);
    all += is_floating(contents.type) ? scalar_of(contents.type, number)
                                      : integer_of(contents.type, bits);
  }
  return all;
}

}  // namespace clprobe::bundle
