// SPDX-License-Identifier: Apache-2.0
// Entry points of a layer for the OpenCL loaders ocl-icd 2.3 and Khronos. Interface: CL/cl_layer.h.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "profile/layer/layer.hpp"

namespace clprobe::layer {
namespace {

constexpr std::string_view layer_name = "clprobe survey";

/// Returns the table of wrappers for the loader. A null function in the table leaves calls of the
/// function unchanged.
cl_icd_dispatch& own_table() {
  static cl_icd_dispatch table{};
  return table;
}

}  // namespace
}  // namespace clprobe::layer

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): OpenCL names the function and its parameters
__attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info param_name, std::size_t param_value_size, void* param_value,
               std::size_t* param_value_size_ret) {
  using namespace clprobe::layer;
  if (param_name == CL_LAYER_API_VERSION) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return answer(&version, sizeof(version), param_value_size, param_value, param_value_size_ret);
  }
  if (param_name == CL_LAYER_NAME) {
    return answer(layer_name.data(), layer_name.size() + 1, param_value_size, param_value,
                  param_value_size_ret);
  }
  return CL_INVALID_VALUE;
}

// NOLINTNEXTLINE(readability-identifier-naming): OpenCL names the function
__attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint num_entries, const cl_icd_dispatch* target_dispatch, cl_uint* num_entries_ret,
            const cl_icd_dispatch** layer_dispatch_ret) {
  using namespace clprobe::layer;
  if (target_dispatch == nullptr || num_entries_ret == nullptr || layer_dispatch_ret == nullptr) {
    return CL_INVALID_VALUE;
  }
  // If OPENCL_LAYERS named the layer twice, the layer would call itself endlessly.
  static bool is_loaded = false;
  if (is_loaded) return CL_INVALID_OPERATION;
  is_loaded = true;
  constexpr std::size_t known = sizeof(cl_icd_dispatch) / sizeof(void*);
  const std::size_t shared = std::min<std::size_t>(num_entries, known);
  cl_icd_dispatch below{};
  std::memcpy(&below, target_dispatch, shared * sizeof(void*));
  State::set_below(below);
  if (!survey_folder().empty()) {
    wrap_queues(own_table());
    wrap_programs(own_table());
    wrap_launches(own_table());
    if (is_capturing()) wrap_objects(own_table());
    State::get().begin();
  }
  *num_entries_ret = static_cast<cl_uint>(shared);
  *layer_dispatch_ret = &own_table();
  return CL_SUCCESS;
}

}  // extern "C"
