// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "clprobe/launch.hpp"
#include "probes/shared/expect_success.hpp"

namespace clprobe::kernel {
namespace {

using bundle::Image;
using bundle::ImageKind;

constexpr std::array<std::size_t, 3> from_the_first{};

std::array<std::size_t, 3> size_of_all(const Image& image) {
  const bundle::Sizes region = bundle::region_of(image);
  return {region[0], region[1], region[2]};
}

cl_mem_object_type type_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::image_1d:
      return CL_MEM_OBJECT_IMAGE1D;
    case ImageKind::image_1d_array:
      return CL_MEM_OBJECT_IMAGE1D_ARRAY;
    case ImageKind::image_1d_buffer:
      return CL_MEM_OBJECT_IMAGE1D_BUFFER;
    case ImageKind::image_2d:
      return CL_MEM_OBJECT_IMAGE2D;
    case ImageKind::image_2d_array:
      return CL_MEM_OBJECT_IMAGE2D_ARRAY;
    case ImageKind::image_3d:
      break;
  }
  return CL_MEM_OBJECT_IMAGE3D;
}

cl_mem_flags flags_of(bundle::Access access) {
  switch (access) {
    case bundle::Access::read_only:
      return CL_MEM_READ_ONLY;
    case bundle::Access::write_only:
      return CL_MEM_WRITE_ONLY;
    case bundle::Access::read_write:
      break;
  }
  return CL_MEM_READ_WRITE;
}

cl_image_desc description_of(const Image& image, cl_mem buffer) {
  cl_image_desc description{};
  description.image_type = type_of(image.kind);
  description.image_width = image.pixels[0];
  const bool is_line_array = image.kind == ImageKind::image_1d_array;
  if (is_line_array) description.image_array_size = image.pixels[1];
  if (!is_line_array) description.image_height = image.pixels[1];
  if (image.kind == ImageKind::image_2d_array) description.image_array_size = image.pixels[2];
  if (image.kind == ImageKind::image_3d) description.image_depth = image.pixels[2];
  description.image_row_pitch = image.row_bytes;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): OpenCL's
  description.mem_object = buffer;
  return description;
}

/// "1920 x 1080".
std::string sizes_text(const Image& image) {
  std::string text = std::to_string(image.pixels[0]);
  for (std::size_t i = 1; i < bundle::dimensions_of(image.kind); ++i) {
    text += " x " + std::to_string(image.pixels.at(i));
  }
  return text;
}

/// What a driver says of an image that its device does not have.
bool is_no_image_here(cl_int error) {
  constexpr std::array codes{
      CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_IMAGE_SIZE, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
      CL_INVALID_IMAGE_DESCRIPTOR,   CL_INVALID_OPERATION,  CL_INVALID_VALUE,
      CL_INVALID_BUFFER_SIZE};
  return std::find(codes.begin(), codes.end(), error) != codes.end();
}

}  // namespace

cl::Memory make_image(const Session& session, const Image& image, cl_mem buffer) {
  const cl_image_format format{static_cast<cl_channel_order>(image.order),
                               static_cast<cl_channel_type>(image.type)};
  const cl_image_desc description = description_of(image, buffer);
  cl_int error = CL_SUCCESS;
  cl_mem made = clCreateImage(session.context()(), flags_of(image.access), &format, &description,
                              nullptr, &error);
  const auto what = [&] {
    return fmt::format("{} image{} of {} pixels ({}, {}, {})", bundle::to_word(image.kind),
                       buffer == nullptr ? "" : " in a buffer", sizes_text(image),
                       bundle::to_word(image.order), bundle::to_word(image.type),
                       bundle::to_word(image.access));
  };
  if (is_no_image_here(error)) {
    throw Unsupported(fmt::format("this device has no {}: {}", what(),
                                  describe(cl::Error(error, "clCreateImage"))));
  }
  expect_success(error, "clCreateImage");
  cl::Memory owned(made, false);
  std::size_t pixel = 0;
  expect_success(clGetImageInfo(made, CL_IMAGE_ELEMENT_SIZE, sizeof pixel, &pixel, nullptr),
                 "clGetImageInfo");
  if (pixel == bundle::pixel_bytes(image)) return owned;
  throw Unsupported(fmt::format("a pixel of a {} has {} bytes on this device", what(), pixel));
}

cl::Sampler make_sampler(const Session& session, const bundle::Sampler& sampler) {
  const cl_bool is_normalized = sampler.is_normalized ? CL_TRUE : CL_FALSE;
  return {session.context(), is_normalized, static_cast<cl_addressing_mode>(sampler.addressing),
          static_cast<cl_filter_mode>(sampler.filter)};
}

void write_pixels(const cl::CommandQueue& queue, const cl::Memory& to, const Image& image,
                  const std::string& pixels) {
  const auto region = size_of_all(image);
  expect_success(clEnqueueWriteImage(queue(), to(), CL_TRUE, from_the_first.data(), region.data(),
                                     0, 0, pixels.data(), 0, nullptr, nullptr),
                 "clEnqueueWriteImage");
}

std::string read_pixels(const cl::CommandQueue& queue, const cl::Memory& from, const Image& image) {
  const auto region = size_of_all(image);
  std::string pixels(bundle::bytes_of_pixels(image).value_or(0), '\0');
  expect_success(clEnqueueReadImage(queue(), from(), CL_TRUE, from_the_first.data(), region.data(),
                                    0, 0, pixels.data(), 0, nullptr, nullptr),
                 "clEnqueueReadImage");
  return pixels;
}

void copy_pixels(const cl::CommandQueue& queue, const cl::Memory& from, const cl::Memory& to,
                 const Image& image) {
  const auto region = size_of_all(image);
  expect_success(clEnqueueCopyImage(queue(), from(), to(), from_the_first.data(),
                                    from_the_first.data(), region.data(), 0, nullptr, nullptr),
                 "clEnqueueCopyImage");
}

}  // namespace clprobe::kernel
