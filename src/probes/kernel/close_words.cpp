// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "profile/api/prelude.hpp"

namespace clprobe::kernel {
namespace {

/// True for pointers to float or to vectors of floats.
bool is_pointer_to_float(std::string_view declaration) {
  const std::size_t type = declaration.find("float");
  if (type == std::string_view::npos || declaration.find('*') == std::string_view::npos) {
    return false;
  }
  const auto is_of_name = [](char each) {
    return each == '_' || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
  };
  const std::size_t behind = type + std::string_view("float").size();
  const bool begins = type == 0 || !is_of_name(declaration[type - 1]);
  return begins && (behind >= declaration.size() || !is_of_name(declaration[behind]));
}

std::vector<float> floats_in(std::string_view bytes) {
  std::vector<float> words(bytes.size() / sizeof(float));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(float));
  return words;
}

std::vector<prelude::Parameter> parameters_of_kernel(const bundle::Bundle& bundle) {
  for (const std::string& text : bundle.texts) {
    for (const prelude::KernelPlace& each : prelude::find_kernels(text, bundle.launch.kernel)) {
      if (each.name == bundle.launch.kernel) return each.parameters;
    }
  }
  return {};
}

}  // namespace

std::vector<bool> objects_of_floats(const bundle::Bundle& bundle) {
  const std::vector<prelude::Parameter> parameters = parameters_of_kernel(bundle);
  const std::size_t objects = bundle.launch.objects.size();
  std::vector<bool> are_floats(objects, false);
  std::vector<bool> are_others(objects, false);
  for (std::size_t i = 0; i < bundle.launch.arguments.size(); ++i) {
    const bundle::Argument& argument = bundle.launch.arguments[i];
    const bool is_object = argument.kind == bundle::ArgumentKind::buffer ||
                           argument.kind == bundle::ArgumentKind::image;
    if (!is_object || argument.object >= objects) continue;
    const bool is_float = argument.kind == bundle::ArgumentKind::buffer && i < parameters.size() &&
                          is_pointer_to_float(parameters[i].text);
    (is_float ? are_floats : are_others)[argument.object] = true;
  }
  for (std::size_t i = 0; i < objects; ++i) are_floats[i] = are_floats[i] && !are_others[i];
  return are_floats;
}

bool are_close_floats(std::string_view first, std::string_view second) {
  // The error of a sum of a million floats in another order.
  constexpr double tolerance = 1e-3;
  if (first.size() != second.size() || first.size() % sizeof(float) != 0) return false;
  const std::vector<float> one = floats_in(first);
  const std::vector<float> other = floats_in(second);
  double low = 0.0;
  double high = 0.0;
  for (const float each : one) {
    if (!std::isfinite(each)) continue;
    low = std::min(low, static_cast<double>(each));
    high = std::max(high, static_cast<double>(each));
  }
  const double allowed = tolerance * (high - low);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(one[i]) == std::bit_cast<std::uint32_t>(other[i])) continue;
    // A comparison with what is no number is false.
    if (!(std::abs(static_cast<double>(one[i]) - static_cast<double>(other[i])) <= allowed)) {
      return false;
    }
  }
  return true;
}

}  // namespace clprobe::kernel
