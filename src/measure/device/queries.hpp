// SPDX-License-Identifier: Apache-2.0
// Device attributes by the C interface: the C++ one throws where a refusal is an ordinary answer.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "measure/api/device.hpp"

namespace clprobe {

/// The bytes of an attribute; nothing when the driver refuses it.
std::optional<std::vector<char>> query_bytes(const cl::Device& device, cl_device_info name);

/// A text attribute without the blanks and the zero that drivers put around it; empty when refused.
std::string query_text(const cl::Device& device, cl_device_info name);

/// A scalar attribute; nothing when refused, or when the driver answers with another size.
template <typename Type>
std::optional<Type> query(const cl::Device& device, cl_device_info name) {
  const auto bytes = query_bytes(device, name);
  if (!bytes || bytes->size() != sizeof(Type)) return std::nullopt;
  Type value{};
  std::memcpy(&value, bytes->data(), sizeof(Type));
  return value;
}

}  // namespace clprobe
