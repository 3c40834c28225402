// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/api/device.hpp"
#include "measure/device/queries.hpp"

namespace clprobe {

std::optional<std::int64_t> required_sub_group(const cl::Device& device) {
  constexpr std::size_t wanted = 16;
  const auto type = query<cl_device_type>(device, CL_DEVICE_TYPE).value_or(0);
  const std::string extensions = query_text(device, CL_DEVICE_EXTENSIONS);
  const bool can_require = extensions.find("cl_intel_required_subgroup_size") != std::string::npos;
  if ((type & CL_DEVICE_TYPE_GPU) == 0 || !can_require) return std::nullopt;
  const auto bytes = query_bytes(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  if (!bytes || bytes->size() < sizeof(std::size_t)) return std::nullopt;
  std::vector<std::size_t> sizes(bytes->size() / sizeof(std::size_t));
  std::memcpy(sizes.data(), bytes->data(), sizes.size() * sizeof(std::size_t));
  const bool has_wanted = std::find(sizes.begin(), sizes.end(), wanted) != sizes.end();
  return static_cast<std::int64_t>(has_wanted ? wanted
                                              : *std::min_element(sizes.begin(), sizes.end()));
}

namespace {

DeviceType type_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::gpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceType::cpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return DeviceType::accelerator;
  return DeviceType::other;
}

/// Returns the number of lanes that execute together: the size that kernels require, a vendor's
/// attribute, which is exact, the preferred multiple of the work-group size, or 1.
std::int64_t sub_group_size(const cl::Device& device) {
  if (const auto lanes = required_sub_group(device)) return *lanes;
  struct Row {
    std::string_view extension;
    cl_device_info name;
  };
  constexpr std::array rows{Row{"cl_nv_device_attribute_query", CL_DEVICE_WARP_SIZE_NV},
                            Row{"cl_amd_device_attribute_query", CL_DEVICE_WAVEFRONT_WIDTH_AMD}};
  const std::string extensions = query_text(device, CL_DEVICE_EXTENSIONS);
  for (const Row& row : rows) {
    if (extensions.find(row.extension) == std::string::npos) continue;
    const cl_uint lanes = query<cl_uint>(device, row.name).value_or(0U);
    if (lanes > 0) return lanes;
  }
  const auto multiple =
      query<std::size_t>(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE).value_or(0);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(multiple));
}

/// Error of a device that does not report a mandatory attribute.
struct MissingAttribute : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns an attribute on which plans depend. Throws MissingAttribute if the driver does not
/// report the attribute. A guessed value could make a working device seem unsupported, or make
/// clprobe reject valid options.
template <typename Type>
Type required(const cl::Device& device, cl_device_info name, std::string_view what) {
  const std::optional<Type> answer = query<Type>(device, name);
  if (!answer) throw MissingAttribute(fmt::format("does not report its {}", what));
  return *answer;
}

/// Returns `name` if it has visible characters; otherwise a name that can be shown and selected:
/// "unnamed device".
std::string readable(std::string name, std::string_view kind) {
  const bool is_visible = std::any_of(name.begin(), name.end(), [](char letter) {
    return static_cast<unsigned char>(letter) > ' ' && letter != '\x7f';
  });
  return is_visible ? std::move(name) : fmt::format("unnamed {}", kind);
}

DeviceInfo basic_info(const cl::Device& device) {
  DeviceInfo info;
  info.vendor = query_text(device, CL_DEVICE_VENDOR);
  info.driver = query_text(device, CL_DRIVER_VERSION);
  info.version = query_text(device, CL_DEVICE_VERSION);
  info.type = type_of(required<cl_device_type>(device, CL_DEVICE_TYPE, "type"));
  info.name = readable(query_text(device, CL_DEVICE_NAME), to_word(info.type));
  info.compute_units =
      required<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, "number of compute units");
  info.max_work_group_size = static_cast<std::int64_t>(
      required<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, "maximum work-group size"));
  info.sub_group_size = sub_group_size(device);
  info.global_memory.count =
      required<std::uint64_t>(device, CL_DEVICE_GLOBAL_MEM_SIZE, "memory size");
  info.max_allocation.count =
      required<std::uint64_t>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, "maximum buffer size");
  info.local_memory.count =
      required<std::uint64_t>(device, CL_DEVICE_LOCAL_MEM_SIZE, "local memory size");
  info.constant_buffer.count =
      required<std::uint64_t>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "constant memory size");
  info.cache_line.count = query<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE).value_or(0U);
  if (query<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT).value_or(CL_FALSE) == CL_TRUE) {
    info.image_buffer_pixels = static_cast<std::int64_t>(
        query<std::size_t>(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE).value_or(0));
  }
  return info;
}

std::string platform_text(const cl::Platform& platform) {
  try {
    const std::string name = platform.getInfo<CL_PLATFORM_NAME>();
    // Some drivers include the final zero.
    return readable(name.substr(0, name.find('\0')), "platform");
  } catch (const cl::Error&) {
    return readable("", "platform");
  }
}

std::vector<cl::Device> devices_of(const cl::Platform& platform, std::string& problem) {
  // Limit of the memory to allocate. No machine has this many devices.
  constexpr cl_uint max_devices = 4096;
  std::vector<cl::Device> devices;
  cl_uint count = 0;
  if (clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count) == CL_SUCCESS &&
      count > max_devices) {
    problem = fmt::format("the platform reports {} devices, which is implausible", count);
    return devices;
  }
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (devices.empty()) problem = "no devices";
  } catch (const cl::Error& error) {
    problem = error.err() == CL_DEVICE_NOT_FOUND ? "no devices" : describe(error);
  }
  return devices;
}

}  // namespace

Enumeration enumerate_devices() {
  Enumeration found;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    constexpr cl_int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR: the loader found no drivers
    if (error.err() != no_platform) found.problems.push_back({"", describe(error)});
  }
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    const std::string platform_name = platform_text(platforms[p]);
    std::string problem;
    const std::vector<cl::Device> devices = devices_of(platforms[p], problem);
    if (!problem.empty()) found.problems.push_back({platform_name, problem});
    for (std::size_t d = 0; d < devices.size(); ++d) {
      DeviceInfo info;
      try {
        info = basic_info(devices[d]);
      } catch (const MissingAttribute& missing) {
        found.problems.push_back({platform_name, fmt::format("device {} {}", d, missing.what())});
        continue;
      }
      info.index = static_cast<int>(found.devices.size());
      info.platform_index = fmt::format("{}:{}", p, d);
      info.platform = platform_name;
      found.devices.push_back({devices[d], std::move(info)});
    }
  }
  return found;
}

std::optional<FoundDevice> find_neighbour(const DeviceInfo& device, int number) {
  const std::string platform = device.platform_index.substr(0, device.platform_index.find(':'));
  const std::string wanted = fmt::format("{}:{}", platform, number);
  for (FoundDevice& each : enumerate_devices().devices) {
    if (each.info.platform_index != wanted) continue;
    read_attributes(each.device, each.info);
    return std::move(each);
  }
  return std::nullopt;
}

}  // namespace clprobe
