// SPDX-License-Identifier: Apache-2.0
// Buffers and images of a replayed kernel, and the comparison of their floats. Uses OpenCL.
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "measure/api/device.hpp"
#include "probes/kernel/kernel.hpp"
#include "probes/shared/opencl.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"

namespace clprobe::kernel {
namespace {

using bundle::Image;
using bundle::ImageKind;

constexpr std::array<std::size_t, 3> from_the_first{};

std::array<std::size_t, 3> size_of_all(const Image& image) {
  const bundle::Sizes region = bundle::region_of(image);
  return {region[0], region[1], region[2]};
}

cl_image_desc description_of(const Image& image, cl_mem buffer) {
  cl_image_desc description{};
  description.image_type = static_cast<cl_mem_object_type>(image.kind);
  description.image_width = image.pixels[0];
  const bool is_line_array = image.kind == ImageKind::image_1d_array;
  if (is_line_array) description.image_array_size = image.pixels[1];
  if (!is_line_array) description.image_height = image.pixels[1];
  if (image.kind == ImageKind::image_2d_array) description.image_array_size = image.pixels[2];
  if (image.kind == ImageKind::image_3d) description.image_depth = image.pixels[2];
  description.image_row_pitch = image.row_bytes;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): the type is OpenCL's
  description.mem_object = buffer;
  return description;
}

/// Returns the sizes of an image as text: "1920 x 1080".
std::string sizes_text(const Image& image) {
  std::string text = std::to_string(image.pixels[0]);
  for (std::size_t i = 1; i < bundle::dimensions_of(image.kind); ++i) {
    text += " x " + std::to_string(image.pixels.at(i));
  }
  return text;
}

/// True for OpenCL errors that mean that the device does not support an image.
bool is_no_image_here(cl_int error) {
  constexpr std::array codes{
      CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_IMAGE_SIZE, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
      CL_INVALID_IMAGE_DESCRIPTOR,   CL_INVALID_OPERATION,  CL_INVALID_VALUE,
      CL_INVALID_BUFFER_SIZE};
  return std::find(codes.begin(), codes.end(), error) != codes.end();
}

/// Creates an image, whose pixels are in `buffer` unless `buffer` is null. Throws Unsupported if
/// the device does not support the image.
cl::Memory make_image(const Session& session, const Image& image, cl_mem buffer) {
  const cl_image_format format{static_cast<cl_channel_order>(image.order),
                               static_cast<cl_channel_type>(image.type)};
  const cl_image_desc description = description_of(image, buffer);
  cl_int error = CL_SUCCESS;
  cl_mem made = clCreateImage(session.context()(), static_cast<cl_mem_flags>(image.access), &format,
                              &description, nullptr, &error);
  const auto what = [&] {
    return fmt::format("{} image{} of {} pixels ({}, {}, {})", bundle::to_word(image.kind),
                       buffer == nullptr ? "" : " in a buffer", sizes_text(image),
                       bundle::to_word(image.order), bundle::to_word(image.type),
                       bundle::to_word(image.access));
  };
  if (is_no_image_here(error)) {
    throw Unsupported(fmt::format("this device does not support a {}: {}", what(),
                                  describe(cl::Error(error, "clCreateImage"))));
  }
  expect_success(error, "clCreateImage");
  cl::Memory owned(made, false);
  std::size_t pixel = 0;
  expect_success(clGetImageInfo(made, CL_IMAGE_ELEMENT_SIZE, sizeof pixel, &pixel, nullptr),
                 "clGetImageInfo");
  if (pixel == bundle::pixel_bytes(image)) return owned;
  throw Unsupported(fmt::format("a pixel of a {} has an unexpected size of {} bytes on this device",
                                what(), pixel));
}

cl::Sampler make_sampler(const Session& session, const bundle::Sampler& sampler) {
  const cl_bool is_normalized = sampler.is_normalized ? CL_TRUE : CL_FALSE;
  return {session.context(), is_normalized, static_cast<cl_addressing_mode>(sampler.addressing),
          static_cast<cl_filter_mode>(sampler.filter)};
}

/// Writes all pixels of the image from rows without gaps, and waits for the end of the transfer.
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

// Size in bytes of a guard region. Devices require sub-buffers to be aligned to 128 bytes up to 4
// KiB (CL_DEVICE_MEM_BASE_ADDR_ALIGN). With guard regions of 4 KiB, the program's pointers keep
// their alignment on any device.
constexpr std::uint64_t guard_bytes = 4096;
constexpr char guard_byte = '\x5a';

bool holds_images(const bundle::Launch& launch, std::size_t object) {
  return std::any_of(launch.arguments.begin(), launch.arguments.end(),
                     [object](const bundle::Argument& each) {
                       return each.image.has_value() && each.object == object;
                     });
}

/// True if the parameter's declaration is a pointer to the type `name` or to a vector of it.
bool is_pointer_to(std::string_view declaration, std::string_view name) {
  const std::size_t type = declaration.find(name);
  if (type == std::string_view::npos || declaration.find('*') == std::string_view::npos) {
    return false;
  }
  const auto is_of_name = [](char each) {
    return each == '_' || (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
  };
  const std::size_t behind = type + name.size();
  const bool begins = type == 0 || !is_of_name(declaration[type - 1]);
  return begins && (behind >= declaration.size() || !is_of_name(declaration[behind]));
}

std::vector<float> floats_in(std::string_view bytes) {
  std::vector<float> words(bytes.size() / sizeof(float));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(float));
  return words;
}

std::vector<prelude::Parameter> parameters_of_kernel(const bundle::Bundle& bundle) {
  for (std::size_t i = 0; i < bundle.texts.size(); ++i) {
    if (bundle.launch.program.units[i].form != bundle::Form::text) continue;
    const std::string& text = bundle.texts[i];
    for (const prelude::KernelPosition& each : prelude::find_kernels(text, bundle.launch.kernel)) {
      if (each.name == bundle.launch.kernel) return each.parameters;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> Replay::fill_objects(const bundle::Bundle& bundle) {
  std::vector<std::string> held;
  for (const bundle::Object& each : bundle.launch.objects) {
    held.push_back(bundle::read_object(bundle, each, session_.seed()));
    objects_.push_back(make_object(objects_.size(), held.back()));
  }
  return held;
}

ReplayedObject Replay::make_object(std::size_t index, const std::string& held) const {
  const cl::CommandQueue& queue = session_.queue();
  const bundle::Object& object = bundle_.launch.objects.at(index);
  ReplayedObject made{.name = object.name, .bytes = object.bytes, .layout = object.image};
  if (made.layout) {
    made.image = make_image(session_, *made.layout, nullptr);
    write_pixels(queue, made.image, *made.layout, held);
    return made;
  }
  if (!holds_images(bundle_.launch, index)) made.guard_bytes = guard_bytes;
  const std::uint64_t whole = object.bytes + 2 * made.guard_bytes;
  made.guarded = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, whole);
  queue.enqueueFillBuffer(made.guarded, guard_byte, 0, whole);
  queue.enqueueWriteBuffer(made.guarded, CL_TRUE, made.guard_bytes, object.bytes, held.data());
  return made;
}

/// Creates the kernel's samplers and memory arguments: images, whole buffers without their guard
/// regions, and sub-buffers.
void Replay::make_parts() {
  for (const bundle::Argument& each : bundle_.launch.arguments) {
    if (each.sampler) samplers_.push_back(make_sampler(session_, *each.sampler));
    const bool is_memory =
        each.kind == bundle::ArgumentKind::buffer || each.kind == bundle::ArgumentKind::image;
    if (is_memory) parts_.push_back(make_part(each));
  }
}

cl::Memory Replay::make_part(const bundle::Argument& argument) {
  ReplayedObject& object = objects_.at(argument.object);
  if (object.layout) return object.image;
  const std::uint64_t bytes = argument.bytes == 0 ? object.bytes : argument.bytes;
  const cl_buffer_region region{object.guard_bytes + argument.origin, bytes};
  const bool is_all = object.guard_bytes == 0 && bytes == object.bytes;
  cl::Buffer part = is_all ? object.guarded
                           : object.guarded.createSubBuffer(CL_MEM_READ_WRITE,
                                                            CL_BUFFER_CREATE_TYPE_REGION, &region);
  if (!argument.image) return part;
  image_buffers_.push_back(part);
  return make_image(session_, *argument.image, part());
}

void Replay::set_arguments(cl::Kernel& kernel) const {
  cl_uint index = 0;
  auto part = parts_.begin();
  auto sampler = samplers_.begin();
  for (const bundle::Argument& each : bundle_.launch.arguments) {
    switch (each.kind) {
      case bundle::ArgumentKind::buffer:
      case bundle::ArgumentKind::image:
        kernel.setArg(index, *part++);
        break;
      case bundle::ArgumentKind::sampler:
        kernel.setArg(index, *sampler++);
        break;
      case bundle::ArgumentKind::local:
        kernel.setArg(index, each.bytes, nullptr);
        break;
      case bundle::ArgumentKind::value:
        kernel.setArg(index, each.value.size(), each.value.data());
        break;
      case bundle::ArgumentKind::null:
        kernel.setArg(index, cl::Buffer());
        break;
    }
    ++index;
  }
}

std::string Replay::read(const ReplayedObject& object) const {
  if (object.layout) return read_pixels(session_.queue(), object.image, *object.layout);
  std::string bytes(object.bytes, '\0');
  session_.queue().enqueueReadBuffer(object.guarded, CL_TRUE, object.guard_bytes, bytes.size(),
                                     bytes.data());
  return bytes;
}

void Replay::keep_pristine(const std::vector<std::string>& before) {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (before[i] == after_first_[i]) continue;
    ReplayedObject& object = objects_[i];
    if (object.layout) {
      object.pristine = make_image(session_, *object.layout, nullptr);
      write_pixels(session_.queue(), *object.pristine, *object.layout, before[i]);
      continue;
    }
    cl::Buffer copy(session_.context(), CL_MEM_READ_WRITE, before[i].size());
    session_.queue().enqueueWriteBuffer(copy, CL_TRUE, 0, before[i].size(), before[i].data());
    object.pristine = copy;
  }
}

/// Restores the objects, and keeps copies also of those that the program's launch does not change.
void Replay::keep_all_pristine() {
  restore();
  for (ReplayedObject& each : objects_) {
    if (each.pristine) continue;
    if (each.layout) {
      each.pristine = make_image(session_, *each.layout, nullptr);
      copy_pixels(session_.queue(), each.image, *each.pristine, *each.layout);
      continue;
    }
    const cl::Buffer copy(session_.context(), CL_MEM_READ_WRITE, each.bytes);
    session_.queue().enqueueCopyBuffer(each.guarded, copy, each.guard_bytes, 0, each.bytes);
    each.pristine = copy;
  }
  session_.queue().finish();
}

void Replay::restore() {
  const cl::CommandQueue& queue = session_.queue();
  for (const ReplayedObject& each : objects_) {
    if (!each.pristine) continue;
    if (each.layout) {
      copy_pixels(queue, *each.pristine, each.image, *each.layout);
      continue;
    }
    const cl::Buffer pristine((*each.pristine)(), true);
    queue.enqueueCopyBuffer(pristine, each.guarded, 0, each.guard_bytes, each.bytes);
  }
  queue.finish();
}

void Replay::check_guards() const {
  const std::string untouched(guard_bytes, guard_byte);
  std::string guard(guard_bytes, '\0');
  for (const ReplayedObject& each : objects_) {
    if (each.guard_bytes == 0) continue;
    for (const std::uint64_t at : {std::uint64_t{0}, guard_bytes + each.bytes}) {
      session_.queue().enqueueReadBuffer(each.guarded, CL_TRUE, at, guard.size(), guard.data());
      if (guard == untouched) continue;
      // The guard region is repaired, so that later launches are not blamed for this write.
      session_.queue().enqueueWriteBuffer(each.guarded, CL_TRUE, at, untouched.size(),
                                          untouched.data());
      throw VoidedPoint(fmt::format("the kernel wrote {} of its buffer {}",
                                    at == 0 ? "before the start" : "past the end", each.name));
    }
  }
}

std::vector<bool> objects_of(std::string_view type, const bundle::Bundle& bundle) {
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
                          is_pointer_to(parameters[i].text, type);
    (is_float ? are_floats : are_others)[argument.object] = true;
  }
  for (std::size_t i = 0; i < objects; ++i) are_floats[i] = are_floats[i] && !are_others[i];
  return are_floats;
}

bool are_close_floats(std::string_view first, std::string_view second) {
  // Maximum difference of two sums of a million floats in different orders, as a share of the
  // range.
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
    // The negated comparison rejects NaN, because comparisons with NaN are false.
    if (!(std::abs(static_cast<double>(one[i]) - static_cast<double>(other[i])) <= allowed)) {
      return false;
    }
  }
  return true;
}

}  // namespace clprobe::kernel
