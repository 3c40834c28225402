// SPDX-License-Identifier: Apache-2.0
#include "profile/layer/layer.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace clprobe::layer {
namespace {

using bundle::Image;
using bundle::ImageKind;

using Region = std::array<std::size_t, 3>;
constexpr Region first{};

static_assert(static_cast<cl_uint>(ImageKind::image_2d) == CL_MEM_OBJECT_IMAGE2D &&
              static_cast<cl_uint>(ImageKind::image_1d_buffer) == CL_MEM_OBJECT_IMAGE1D_BUFFER);
static_assert(static_cast<cl_mem_flags>(bundle::Access::read_write) == CL_MEM_READ_WRITE &&
              static_cast<cl_mem_flags>(bundle::Access::write_only) == CL_MEM_WRITE_ONLY &&
              static_cast<cl_mem_flags>(bundle::Access::read_only) == CL_MEM_READ_ONLY);
static_assert(static_cast<cl_uint>(bundle::ChannelOrder::r) == CL_R &&
              static_cast<cl_uint>(bundle::ChannelOrder::depth) == CL_DEPTH &&
              static_cast<cl_uint>(bundle::ChannelOrder::srgb) == CL_sRGB &&
              static_cast<cl_uint>(bundle::ChannelOrder::abgr) == CL_ABGR);
static_assert(static_cast<cl_uint>(bundle::ChannelType::snorm_int8) == CL_SNORM_INT8 &&
              static_cast<cl_uint>(bundle::ChannelType::float32) == CL_FLOAT &&
              static_cast<cl_uint>(bundle::ChannelType::unorm_int_101010_2) ==
                  CL_UNORM_INT_101010_2);
static_assert(static_cast<cl_uint>(bundle::Addressing::none) == CL_ADDRESS_NONE &&
              static_cast<cl_uint>(bundle::Addressing::mirrored_repeat) ==
                  CL_ADDRESS_MIRRORED_REPEAT);
static_assert(static_cast<cl_uint>(bundle::Filter::linear) == CL_FILTER_LINEAR);

[[noreturn]] void refuse_image(const std::string& what) {
  throw Refusal("the kernel takes an image " + what);
}

/// Returns a property of an image; 0 if the driver does not report the property.
template <typename Value>
Value ask(cl_mem image, cl_image_info name) {
  Value value{};
  State::below().clGetImageInfo(image, name, sizeof value, &value, nullptr);
  return value;
}

ImageKind kind_of(cl_mem image) {
  cl_mem_object_type type = 0;
  State::below().clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, nullptr);
  const auto kind = static_cast<ImageKind>(type);
  if (to_word(kind).empty()) refuse_image("of an unknown kind");
  return kind;
}

bundle::Sizes pixels_of(cl_mem image, ImageKind kind) {
  bundle::Sizes pixels{ask<std::size_t>(image, CL_IMAGE_WIDTH)};
  if (kind == ImageKind::image_1d_array) pixels[1] = ask<std::size_t>(image, CL_IMAGE_ARRAY_SIZE);
  if (kind == ImageKind::image_2d || kind == ImageKind::image_2d_array ||
      kind == ImageKind::image_3d) {
    pixels[1] = ask<std::size_t>(image, CL_IMAGE_HEIGHT);
  }
  if (kind == ImageKind::image_2d_array) pixels[2] = ask<std::size_t>(image, CL_IMAGE_ARRAY_SIZE);
  if (kind == ImageKind::image_3d) pixels[2] = ask<std::size_t>(image, CL_IMAGE_DEPTH);
  return pixels;
}

bundle::Access access_of(cl_mem image) {
  cl_mem_flags flags = 0;
  State::below().clGetMemObjectInfo(image, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  if ((flags & CL_MEM_READ_ONLY) != 0) return bundle::Access::read_only;
  if ((flags & CL_MEM_WRITE_ONLY) != 0) return bundle::Access::write_only;
  return bundle::Access::read_write;
}

/// Returns a copy of the image, which the host may read and the caller releases. Throws Refusal.
cl_mem make_copy(cl_context context, cl_command_queue queue, cl_mem image, const Region& region) {
  const cl_icd_dispatch& below = State::below();
  const auto format = ask<cl_image_format>(image, CL_IMAGE_FORMAT);
  cl_image_desc description{};
  below.clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof description.image_type,
                           &description.image_type, nullptr);
  description.image_width = ask<std::size_t>(image, CL_IMAGE_WIDTH);
  description.image_height = ask<std::size_t>(image, CL_IMAGE_HEIGHT);
  description.image_depth = ask<std::size_t>(image, CL_IMAGE_DEPTH);
  description.image_array_size = ask<std::size_t>(image, CL_IMAGE_ARRAY_SIZE);
  cl_int error = CL_SUCCESS;
  cl_mem copy =
      below.clCreateImage(context, CL_MEM_READ_ONLY, &format, &description, nullptr, &error);
  if (copy == nullptr) refuse_image("that cannot be read or copied");
  error = below.clEnqueueCopyImage(queue, image, copy, first.data(), first.data(), region.data(), 0,
                                   nullptr, nullptr);
  if (error == CL_SUCCESS) error = below.clFinish(queue);
  if (error == CL_SUCCESS) return copy;
  below.clReleaseMemObject(copy);
  refuse_image("that cannot be read or copied");
}

}  // namespace

Image describe_image(cl_mem image, bool lies_in_buffer) {
  if (ask<cl_uint>(image, CL_IMAGE_NUM_SAMPLES) > 1) refuse_image("with several samples per pixel");
  if (ask<cl_uint>(image, CL_IMAGE_NUM_MIP_LEVELS) > 1) refuse_image("with several mip levels");
  Image what;
  what.kind = kind_of(image);
  const auto format = ask<cl_image_format>(image, CL_IMAGE_FORMAT);
  what.order = static_cast<bundle::ChannelOrder>(format.image_channel_order);
  what.type = static_cast<bundle::ChannelType>(format.image_channel_data_type);
  // Bundles need words for the order and the type, and the pixel size that the words imply must be
  // the driver's.
  const bool is_known = !to_word(what.order).empty() && !to_word(what.type).empty() &&
                        pixel_bytes(what) == ask<std::size_t>(image, CL_IMAGE_ELEMENT_SIZE);
  if (!is_known) refuse_image("of an unknown format");
  what.access = access_of(image);
  what.pixels = pixels_of(image, what.kind);
  for (std::uint32_t i = 0; i < dimensions_of(what.kind); ++i) {
    if (what.pixels.at(i) == 0) refuse_image("whose sizes the driver does not report");
  }
  const bool is_flat = what.kind == ImageKind::image_2d;
  if (lies_in_buffer && is_flat) what.row_bytes = ask<std::size_t>(image, CL_IMAGE_ROW_PITCH);
  return what;
}

bundle::Sampler describe_sampler(cl_sampler sampler) {
  const auto ask_sampler = [sampler](cl_sampler_info name, auto& value) {
    if (State::below().clGetSamplerInfo(sampler, name, sizeof value, &value, nullptr) !=
        CL_SUCCESS) {
      throw Refusal("the kernel takes a sampler that the driver does not describe");
    }
  };
  cl_bool is_normalized = CL_FALSE;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
  ask_sampler(CL_SAMPLER_NORMALIZED_COORDS, is_normalized);
  ask_sampler(CL_SAMPLER_ADDRESSING_MODE, addressing);
  ask_sampler(CL_SAMPLER_FILTER_MODE, filter);
  const bundle::Sampler what{is_normalized == CL_TRUE, static_cast<bundle::Addressing>(addressing),
                             static_cast<bundle::Filter>(filter)};
  const bool is_known = !to_word(what.addressing).empty() && !to_word(what.filter).empty();
  if (!is_known) throw Refusal("the kernel takes a sampler of an unknown kind");
  return what;
}

std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const Image& what) {
  const cl_icd_dispatch& below = State::below();
  const std::optional<std::uint64_t> bytes = bytes_of_pixels(what);
  if (!bytes || *bytes > bundle::max_capture_bytes) refuse_image("of more than 2 GiB");
  const bundle::Sizes sizes = region_of(what);
  const Region region{sizes[0], sizes[1], sizes[2]};
  std::string held(*bytes, '\0');
  const auto read_all = [&](cl_mem from) {
    return below.clEnqueueReadImage(queue, from, CL_TRUE, first.data(), region.data(), 0, 0,
                                    held.data(), 0, nullptr, nullptr);
  };
  cl_int error = read_all(image);
  if (error == CL_INVALID_OPERATION) {
    cl_mem copy = make_copy(context, queue, image, region);
    error = read_all(copy);
    below.clReleaseMemObject(copy);
  }
  if (error == CL_SUCCESS) return held;
  refuse_image("that cannot be read (OpenCL error " + std::to_string(error) + ")");
}

}  // namespace clprobe::layer
