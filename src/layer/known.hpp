// SPDX-License-Identifier: Apache-2.0
// What a capture has to know of the application's objects, by their handles. Nothing here calls a
// driver, so that no call of the application waits for another one's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "clprobe/includes.hpp"
#include "layer/opencl.hpp"

namespace clprobe::layer {

/// The texts and options that a program was made from, or why it cannot be made again.
struct KnownProgram {
  struct Unit {
    std::string text{};
    std::string options{};
    includes::Gathered headers{};  ///< that the driver found when the program was built
  };
  std::vector<Unit> units{};
  std::string link_options{};
  std::string problem{};
};

/// As clSetKernelArg got it.
struct KnownArgument {
  std::size_t bytes{0};
  bool has_value{false};
  std::string value{};
  std::string problem{};
};

struct KnownKernel {
  std::string name{};
  std::shared_ptr<const KnownProgram> program{};
  std::vector<std::optional<KnownArgument>> arguments{};
  std::string problem{};
};

/// A memory object. `root` is the buffer that a part is of, else itself. Of an image the driver
/// says the rest.
struct KnownMemory {
  cl_mem root{nullptr};
  bool is_image{false};
  cl_mem lies_in{nullptr};  ///< of an image: the buffer or image whose memory it has, if any
  std::uint64_t origin{0};
  std::uint64_t bytes{0};
  std::string problem{};  ///< what it is that cannot be captured: "a pipe"
};

class Known {
 public:
  void note_program(cl_program program, KnownProgram what);
  [[nodiscard]] KnownProgram program(cl_program program) const;

  void note_kernel(cl_kernel kernel, std::string_view name, cl_program program);
  void note_clone(cl_kernel kernel, cl_kernel copy);
  void note_argument(cl_kernel kernel, cl_uint index, KnownArgument argument);
  void note_kernel_problem(cl_kernel kernel, std::string_view problem);
  [[nodiscard]] std::optional<KnownKernel> kernel(cl_kernel kernel) const;

  void note_memory(cl_mem memory, KnownMemory what);
  /// A part of `whole`, which may be a part itself.
  void note_part(cl_mem memory, cl_mem whole, std::uint64_t origin, std::uint64_t bytes);
  void forget_memory(cl_mem memory);
  [[nodiscard]] std::optional<KnownMemory> memory(cl_mem memory) const;

  void note_sampler(cl_sampler sampler);
  void forget_sampler(cl_sampler sampler);
  [[nodiscard]] bool is_sampler(const void* handle) const;

 private:
  mutable std::mutex mutex_{};
  std::unordered_map<cl_program, std::shared_ptr<const KnownProgram>> programs_{};
  std::unordered_map<cl_kernel, KnownKernel> kernels_{};
  std::unordered_map<cl_mem, KnownMemory> memories_{};
  std::unordered_set<const void*> samplers_{};
};

}  // namespace clprobe::layer
