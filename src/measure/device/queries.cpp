// SPDX-License-Identifier: Apache-2.0
#include "measure/device/queries.hpp"

namespace clprobe {

std::optional<std::vector<char>> query_bytes(const cl::Device& device, cl_device_info name) {
  // Longer than any answer, and short enough to make place for.
  constexpr std::size_t max_size = std::size_t{1} << 20U;
  std::size_t size = 0;
  if (clGetDeviceInfo(device(), name, 0, nullptr, &size) != CL_SUCCESS || size > max_size) {
    return std::nullopt;
  }
  std::vector<char> bytes(size);
  if (size != 0 && clGetDeviceInfo(device(), name, size, bytes.data(), nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return bytes;
}

std::string query_text(const cl::Device& device, cl_device_info name) {
  const auto bytes = query_bytes(device, name);
  if (!bytes) return "";
  const std::string text(bytes->begin(), std::find(bytes->begin(), bytes->end(), '\0'));
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace clprobe
