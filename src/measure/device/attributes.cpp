// SPDX-License-Identifier: Apache-2.0
// Attributes of a device, exactly as the driver reports them. The meaning of an attribute differs
// between vendors (docs/method.md), so that no measurement is corrected by attributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "measure/api/device.hpp"
#include "measure/device/queries.hpp"

// The headers of Debian 12 lack this constant.
#ifndef CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR
#define CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR 0x1076
#endif

namespace clprobe {
namespace {

enum class Width { u32, u64, size, text };

struct Attribute {
  cl_device_info name;
  const char* key;  // key in `DeviceInfo::reported`, including the unit
  Width width;
  const char* extension;  // extension that the device must support; empty: none
};

constexpr std::array attributes{
    Attribute{CL_DEVICE_VENDOR_ID, "vendor_id", Width::u32, ""},
    Attribute{CL_DEVICE_PROFILE, "profile", Width::text, ""},
    Attribute{CL_DEVICE_OPENCL_C_VERSION, "opencl_c_version", Width::text, ""},
    Attribute{CL_DEVICE_MAX_CLOCK_FREQUENCY, "max_clock_mhz", Width::u32, ""},
    Attribute{CL_DEVICE_ADDRESS_BITS, "address_bits", Width::u32, ""},
    Attribute{CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, "cache_type", Width::u32, ""},
    Attribute{CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "cache_bytes", Width::u64, ""},
    Attribute{CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "cache_line_bytes", Width::u32, ""},
    Attribute{CL_DEVICE_DOUBLE_FP_CONFIG, "double_fp_config", Width::u64, ""},
    Attribute{CL_DEVICE_SVM_CAPABILITIES, "svm_capabilities", Width::u64, ""},
    Attribute{CL_DEVICE_QUEUE_PROPERTIES, "queue_properties", Width::u64, ""},
    Attribute{CL_DEVICE_LOCAL_MEM_TYPE, "local_memory_type", Width::u32, ""},
    Attribute{CL_DEVICE_MAX_CONSTANT_ARGS, "max_constant_args", Width::u32, ""},
    Attribute{CL_DEVICE_HOST_UNIFIED_MEMORY, "host_unified_memory", Width::u32, ""},
    Attribute{CL_DEVICE_PROFILING_TIMER_RESOLUTION, "timer_resolution_ns", Width::size, ""},
    Attribute{CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, "work_group_multiple", Width::size, ""},
    Attribute{CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR, "kernel_clock_capabilities", Width::u64,
              "cl_khr_kernel_clock"},
    Attribute{CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, "nv_compute_capability_major", Width::u32,
              "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, "nv_compute_capability_minor", Width::u32,
              "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_WARP_SIZE_NV, "nv_warp_size", Width::u32, "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_REGISTERS_PER_BLOCK_NV, "nv_registers_per_block", Width::u32,
              "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV, "nv_kernel_exec_timeout", Width::u32,
              "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_INTEGRATED_MEMORY_NV, "nv_integrated_memory", Width::u32,
              "cl_nv_device_attribute_query"},
    Attribute{CL_DEVICE_BOARD_NAME_AMD, "amd_board_name", Width::text,
              "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD, "amd_simd_per_compute_unit", Width::u32,
              "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_WAVEFRONT_WIDTH_AMD, "amd_wavefront_width", Width::u32,
              "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_GLOBAL_MEM_CHANNELS_AMD, "amd_memory_channels", Width::u32,
              "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_LOCAL_MEM_BANKS_AMD, "amd_local_memory_banks", Width::u32,
              "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD, "amd_local_memory_bytes_per_cu",
              Width::u32, "cl_amd_device_attribute_query"},
    Attribute{CL_DEVICE_IP_VERSION_INTEL, "intel_ip_version", Width::u32,
              "cl_intel_device_attribute_query"},
    Attribute{CL_DEVICE_NUM_SLICES_INTEL, "intel_slices", Width::u32,
              "cl_intel_device_attribute_query"},
    Attribute{CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL, "intel_sub_slices_per_slice", Width::u32,
              "cl_intel_device_attribute_query"},
    Attribute{CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL, "intel_eus_per_sub_slice", Width::u32,
              "cl_intel_device_attribute_query"},
    Attribute{CL_DEVICE_NUM_THREADS_PER_EU_INTEL, "intel_threads_per_eu", Width::u32,
              "cl_intel_device_attribute_query"},
    Attribute{CL_DEVICE_COMPUTE_UNITS_BITFIELD_ARM, "arm_compute_units_bitfield", Width::u64,
              "cl_arm_core_id"},
    Attribute{CL_DEVICE_PAGE_SIZE_QCOM, "qcom_page_bytes", Width::u32, "cl_qcom_ext_host_ptr"},
};

std::optional<Value> read_attribute(const cl::Device& device, const Attribute& attribute) {
  const auto integer = [](auto value) -> std::optional<Value> {
    if (!value) return std::nullopt;
    return Value{static_cast<std::int64_t>(*value)};
  };
  switch (attribute.width) {
    case Width::u32:
      return integer(query<cl_uint>(device, attribute.name));
    case Width::u64:
      return integer(query<cl_ulong>(device, attribute.name));
    case Width::size:
      return integer(query<std::size_t>(device, attribute.name));
    case Width::text:
      break;
  }
  std::string text = query_text(device, attribute.name);
  if (text.empty()) return std::nullopt;
  return Value{std::move(text)};
}

std::string read_uuid(const cl::Device& device) {
  const auto bytes = query_bytes(device, CL_DEVICE_UUID_KHR);
  if (!bytes || bytes->size() != CL_UUID_SIZE_KHR) return "";
  std::string text;
  for (const char byte : *bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string read_pci(const cl::Device& device) {
  const auto pci = query<cl_device_pci_bus_info_khr>(device, CL_DEVICE_PCI_BUS_INFO_KHR);
  if (!pci) return "";
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci->pci_domain, pci->pci_bus, pci->pci_device,
                     pci->pci_function);
}

/// Returns the number of devices on the platform of `device`; 0 if unknown.
std::size_t count_on_platform(const cl::Device& device) {
  try {
    std::vector<cl::Device> all;
    cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getDevices(CL_DEVICE_TYPE_ALL, &all);
    return all.size();
  } catch (const cl::Error&) {
    return 0;
  }
}

}  // namespace

void read_attributes(const cl::Device& device, DeviceInfo& info) {
  const std::string extensions = " " + query_text(device, CL_DEVICE_EXTENSIONS) + " ";
  const auto lists = [&](std::string_view extension) {
    return extension.empty() ||
           extensions.find(fmt::format(" {} ", extension)) != std::string::npos;
  };
  for (const Attribute& attribute : attributes) {
    if (!lists(attribute.extension)) continue;
    if (auto value = read_attribute(device, attribute)) {
      info.reported.set(attribute.key, std::move(*value));
    }
  }
  if (lists("cl_khr_device_uuid")) info.uuid = read_uuid(device);
  if (lists("cl_khr_pci_bus_info")) info.pci = read_pci(device);
  if (const std::size_t count = count_on_platform(device); count != 0) {
    info.reported.set("devices_on_platform", static_cast<std::int64_t>(count));
  }
  info.reported.set("extensions", query_text(device, CL_DEVICE_EXTENSIONS));
}

std::optional<std::vector<char>> query_bytes(const cl::Device& device, cl_device_info name) {
  // Limit of the memory to allocate. Every valid answer is shorter.
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
