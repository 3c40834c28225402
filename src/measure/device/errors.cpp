// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/api/device.hpp"

namespace clprobe {
namespace {

struct CodeName {
  cl_int code;
  const char* name;
};

constexpr std::array code_names{
    CodeName{-1, "CL_DEVICE_NOT_FOUND"},
    CodeName{-2, "CL_DEVICE_NOT_AVAILABLE"},
    CodeName{-3, "CL_COMPILER_NOT_AVAILABLE"},
    CodeName{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    CodeName{-5, "CL_OUT_OF_RESOURCES"},
    CodeName{-6, "CL_OUT_OF_HOST_MEMORY"},
    CodeName{-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    CodeName{-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    CodeName{-11, "CL_BUILD_PROGRAM_FAILURE"},
    CodeName{-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    CodeName{-15, "CL_COMPILE_PROGRAM_FAILURE"},
    CodeName{-30, "CL_INVALID_VALUE"},
    CodeName{-33, "CL_INVALID_DEVICE"},
    CodeName{-34, "CL_INVALID_CONTEXT"},
    CodeName{-36, "CL_INVALID_COMMAND_QUEUE"},
    CodeName{-38, "CL_INVALID_MEM_OBJECT"},
    CodeName{-40, "CL_INVALID_IMAGE_SIZE"},
    CodeName{-43, "CL_INVALID_BUILD_OPTIONS"},
    CodeName{-44, "CL_INVALID_PROGRAM"},
    CodeName{-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    CodeName{-46, "CL_INVALID_KERNEL_NAME"},
    CodeName{-48, "CL_INVALID_KERNEL"},
    CodeName{-49, "CL_INVALID_ARG_INDEX"},
    CodeName{-50, "CL_INVALID_ARG_VALUE"},
    CodeName{-51, "CL_INVALID_ARG_SIZE"},
    CodeName{-52, "CL_INVALID_KERNEL_ARGS"},
    CodeName{-54, "CL_INVALID_WORK_GROUP_SIZE"},
    CodeName{-55, "CL_INVALID_WORK_ITEM_SIZE"},
    CodeName{-59, "CL_INVALID_OPERATION"},
    CodeName{-61, "CL_INVALID_BUFFER_SIZE"},
    CodeName{-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    CodeName{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    CodeName{-9999, "illegal access (NVIDIA)"},
};

}  // namespace

bool is_refusal(cl_int code) {
  // In a group of one a size error means that the kernel's resources leave room for no work-item.
  // Build errors come from drivers that compile at the first launch.
  constexpr std::array refusals{
      CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,   CL_OUT_OF_HOST_MEMORY,
      CL_BUILD_PROGRAM_FAILURE,         CL_INVALID_ARG_SIZE,   CL_INVALID_KERNEL_ARGS,
      CL_INVALID_WORK_GROUP_SIZE,       CL_INVALID_BUFFER_SIZE};
  return std::find(refusals.begin(), refusals.end(), code) != refusals.end();
}

std::string describe(const cl::Error& error) {
  const auto* const found =
      std::find_if(code_names.begin(), code_names.end(),
                   [&](const CodeName& each) { return each.code == error.err(); });
  const char* const name = found == code_names.end() ? "unknown error" : found->name;
  return fmt::format("{}: {} ({})", error.what(), name, error.err());
}

}  // namespace clprobe
