// SPDX-License-Identifier: Apache-2.0
// What a replayed kernel reads and writes: made, put back, looked at. Sees OpenCL.
#include <fmt/format.h>

#include <algorithm>

#include "probes/kernel/images.hpp"
#include "probes/kernel/replay.hpp"

namespace clprobe::kernel {
namespace {

// As much as sub-buffers are aligned to on any device (CL_DEVICE_MEM_BASE_ADDR_ALIGN is 128 bytes
// to 4 KiB), so that the kernel's pointers stay as aligned as the program's were.
constexpr std::uint64_t guard_bytes = 4096;
constexpr char guard_byte = '\x5a';

bool holds_images(const bundle::Launch& launch, std::size_t object) {
  return std::any_of(launch.arguments.begin(), launch.arguments.end(),
                     [object](const bundle::Argument& each) {
                       return each.image.has_value() && each.object == object;
                     });
}

}  // namespace

/// Returns what they hold.
std::vector<std::string> Replay::fill_objects(const bundle::Bundle& bundle) {
  std::vector<std::string> held;
  for (const bundle::Object& each : bundle.launch.objects) {
    held.push_back(bundle::read_object(bundle, each, session_.seed()));
    objects_.push_back(make_object(objects_.size(), held.back()));
  }
  return held;
}

ReplayedObject Replay::make_object(std::size_t place, const std::string& held) const {
  const cl::CommandQueue& queue = session_.queue();
  const bundle::Object& object = bundle_.launch.objects.at(place);
  ReplayedObject made{.name = object.name, .bytes = object.bytes, .layout = object.image};
  if (made.layout) {
    made.image = make_image(session_, *made.layout);
    write_pixels(queue, made.image, *made.layout, held);
    return made;
  }
  if (!holds_images(bundle_.launch, place)) made.guard_bytes = guard_bytes;
  const std::uint64_t whole = object.bytes + 2 * made.guard_bytes;
  made.guarded = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, whole);
  queue.enqueueFillBuffer(made.guarded, guard_byte, 0, whole);
  queue.enqueueWriteBuffer(made.guarded, CL_TRUE, made.guard_bytes, object.bytes, held.data());
  return made;
}

/// Images, and the buffers that the kernel gets: what lies between two guards, or a part of it.
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
  viewed_.push_back(part);
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
    if (before[i] == behind_[i]) continue;
    ReplayedObject& object = objects_[i];
    if (object.layout) {
      object.pristine = make_image(session_, *object.layout);
      write_pixels(session_.queue(), *object.pristine, *object.layout, before[i]);
      continue;
    }
    cl::Buffer copy(session_.context(), CL_MEM_READ_WRITE, before[i].size());
    session_.queue().enqueueWriteBuffer(copy, CL_TRUE, 0, before[i].size(), before[i].data());
    object.pristine = copy;
  }
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
      throw VoidedPoint(fmt::format("the kernel wrote {} its buffer {}",
                                    at == 0 ? "before" : "behind", each.name));
    }
  }
}

}  // namespace clprobe::kernel
