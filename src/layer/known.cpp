// SPDX-License-Identifier: Apache-2.0
#include "layer/known.hpp"

#include <utility>

namespace clprobe::layer {
namespace {

// OpenCL's own kernels have some dozens at most, and a wild index must not take all memory.
constexpr cl_uint max_arguments = 1024;

}  // namespace

void Known::note_program(cl_program program, KnownProgram what) {
  auto kept = std::make_shared<const KnownProgram>(std::move(what));
  const std::lock_guard lock(mutex_);
  programs_[program] = std::move(kept);
}

KnownProgram Known::program(cl_program program) const {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(program);
  if (found != programs_.end()) return *found->second;
  return {.problem = "its program was created by an extension"};
}

void Known::note_kernel(cl_kernel kernel, std::string_view name, cl_program program) {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(program);
  kernels_[kernel] = {.name = std::string(name),
                      .program = found == programs_.end() ? nullptr : found->second};
}

void Known::note_clone(cl_kernel kernel, cl_kernel copy) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return;
  KnownKernel same = found->second;
  kernels_[copy] = std::move(same);
}

void Known::note_argument(cl_kernel kernel, cl_uint index, KnownArgument argument) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || index >= max_arguments) return;
  auto& arguments = found->second.arguments;
  if (arguments.size() <= index) arguments.resize(std::size_t{index} + 1);
  arguments[index] = std::move(argument);
}

void Known::note_kernel_problem(cl_kernel kernel, std::string_view problem) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end()) found->second.problem = problem;
}

std::optional<KnownKernel> Known::kernel(cl_kernel kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return std::nullopt;
  return found->second;
}

void Known::note_memory(cl_mem memory, KnownMemory what) {
  const std::lock_guard lock(mutex_);
  if (what.root == nullptr) what.root = memory;
  memories_[memory] = std::move(what);
}

void Known::note_part(cl_mem memory, cl_mem whole, std::uint64_t origin, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(whole);
  if (found == memories_.end()) return;
  KnownMemory part = found->second;
  part.origin += origin;
  part.bytes = bytes;
  memories_[memory] = std::move(part);
}

void Known::forget_memory(cl_mem memory) {
  const std::lock_guard lock(mutex_);
  memories_.erase(memory);
}

std::optional<KnownMemory> Known::memory(cl_mem memory) const {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(memory);
  if (found == memories_.end()) return std::nullopt;
  return found->second;
}

void Known::note_sampler(cl_sampler sampler) {
  const std::lock_guard lock(mutex_);
  samplers_.insert(sampler);
}

void Known::forget_sampler(cl_sampler sampler) {
  const std::lock_guard lock(mutex_);
  samplers_.erase(sampler);
}

bool Known::is_sampler(const void* handle) const {
  const std::lock_guard lock(mutex_);
  return samplers_.contains(handle);
}

}  // namespace clprobe::layer
