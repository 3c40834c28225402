// SPDX-License-Identifier: Apache-2.0
// Queries of device attributes by the C interface of OpenCL. The C++ interface is not used, since
// it throws if a driver refuses an attribute.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "measure/api/device.hpp"

namespace clprobe {

/// Returns the bytes of an attribute; nothing if the driver refuses the query.
std::optional<std::vector<char>> query_bytes(const cl::Device& device, cl_device_info name);

/// Returns a text attribute without surrounding blanks and without the final zero; empty if the
/// driver refuses the query.
std::string query_text(const cl::Device& device, cl_device_info name);

/// Returns the sub-group size that clprobe's kernels require on this device; nothing if the device
/// has one size, or chooses it well. Intel's compiler chooses a size for each kernel, and an access
/// of 32 lanes takes two messages on Gen9 and Xe-HPG. Hence 16, if the device supports it.
std::optional<std::int64_t> required_sub_group(const cl::Device& device);

/// Returns a scalar attribute; nothing if the driver refuses the query, or if the answer has
/// another size than `Type`.
template <typename Type>
std::optional<Type> query(const cl::Device& device, cl_device_info name) {
  const auto bytes = query_bytes(device, name);
  if (!bytes || bytes->size() != sizeof(Type)) return std::nullopt;
  Type value{};
  std::memcpy(&value, bytes->data(), sizeof(Type));
  return value;
}

}  // namespace clprobe
