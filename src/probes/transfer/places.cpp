// SPDX-License-Identifier: Apache-2.0
#include "probes/transfer/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "probes/shared/expect_success.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/transfer/series.hpp"

namespace clprobe::transfer {
namespace {

constexpr std::uint64_t word_bytes = Shape::word_bytes;
// Of a kernel that visits the marks: a work-item each, in more than one group, so that a CPU's
// driver may use all of its cores.
constexpr std::uint64_t mark_group = 64;

/// Words that nothing can compress.
void fill_words(void* begin, Bytes size) {
  // Copies of the first part: no link looks so far for what it has seen before.
  constexpr std::uint64_t part = mebibytes(1).count;
  auto* const bytes = static_cast<std::byte*>(begin);
  auto* const words = static_cast<std::uint32_t*>(begin);
  const std::uint64_t made = std::min(part, size.count);
  for (std::uint64_t w = 0; w < made / word_bytes; ++w) {
    words[w] = mixed(static_cast<std::uint32_t>(w));
  }
  for (std::uint64_t at = made; at < size.count; at += part) {
    std::memcpy(bytes + at, bytes, std::min(part, size.count - at));
  }
}

cl_ulong words_of(Bytes size) { return size.count / word_bytes; }

}  // namespace

Pinned::Pinned(Session& session, cl::CommandQueue queue, Bytes size)
    : queue_(std::move(queue)),
      buffer_(session.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size.count),
      begin_(queue_.enqueueMapBuffer(buffer_, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size.count)) {
}

Pinned::~Pinned() {
  clEnqueueUnmapMemObject(queue_(), buffer_(), begin_, 0, nullptr, nullptr);
  clFinish(queue_());
}

SharedVirtual::SharedVirtual(const Session& session, Bytes size)
    : context_(session.context()),
      begin_(clSVMAlloc(context_(), CL_MEM_READ_WRITE, size.count, 0)) {
  if (begin_ == nullptr) throw cl::Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clSVMAlloc");
}

SharedVirtual::~SharedVirtual() { clSVMFree(context_(), begin_); }

Places::Places(Session& session, Bytes size)
    : session_(session),
      size_(size),
      queue_(session.context(), session.device()),
      second_queue_(session.context(), session.device()) {}

Places::Bind Places::bind(const cl::Buffer& buffer) {
  return [buffer](cl::Kernel& kernel) { kernel.setArg(0, buffer); };
}

Places::Bind Places::bind_shared_virtual() {
  return [begin = shared_virtual()](cl::Kernel& kernel) {
    expect_success(clSetKernelArgSVMPointer(kernel(), 0, begin), "clSetKernelArgSVMPointer");
  };
}

void Places::fill(const Bind& bind) {
  cl::Kernel kernel = session_.kernel(file, "transfer_fill", "");
  bind(kernel);
  const LaunchSize size = spread_over(session_.info(), words_of(size_));
  kernel.setArg(1, words_of(size_));
  session_.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

const cl::Buffer& Places::filled(cl::Buffer& buffer, cl_mem_flags flags) {
  if (buffer() == nullptr) {
    buffer = cl::Buffer(session_.context(), CL_MEM_READ_WRITE | flags, size_.count);
    fill(bind(buffer));
  }
  return buffer;
}

const cl::Buffer& Places::device() { return filled(device_, 0); }
const cl::Buffer& Places::other() { return filled(other_, 0); }
const cl::Buffer& Places::mappable() { return filled(mappable_, CL_MEM_ALLOC_HOST_PTR); }

void* Places::ordinary() {
  if (ordinary_ == nullptr) {
    ordinary_ = std::make_unique<HostMemory>(size_);
    fill_words(ordinary_->begin(), size_);
  }
  return ordinary_->begin();
}

void* Places::filled_pinned(std::unique_ptr<Pinned>& pinned) {
  if (pinned == nullptr) {
    pinned = std::make_unique<Pinned>(session_, queue_, size_);
    fill_words(pinned->begin(), size_);
  }
  return pinned->begin();
}

void* Places::pinned_source() { return filled_pinned(source_); }
void* Places::pinned_target() { return filled_pinned(target_); }

void* Places::shared_virtual() {
  if (shared_ == nullptr) {
    shared_ = std::make_unique<SharedVirtual>(session_, size_);
    fill(bind_shared_virtual());
  }
  return shared_->begin();
}

void Places::launch_for(const Marks& marks, cl::Kernel& kernel) {
  kernel.setArg(1, cl_ulong{marks.words()});
  kernel.setArg(2, cl_uint{marks.count()});
  kernel.setArg(3, cl_uint{marks.launch()});
  const auto max_group =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, session_.info().max_work_group_size));
  const std::uint64_t group = std::min(mark_group, max_group);
  const std::uint64_t groups = std::max<std::uint64_t>(2, (marks.count() + group - 1) / group);
  session_.launch(kernel, cl::NDRange(groups * group), cl::NDRange(group));
}

void Places::mark(const Bind& bind, const Marks& marks) {
  cl::Kernel kernel = session_.kernel(file, "transfer_mark", "");
  bind(kernel);
  launch_for(marks, kernel);
}

std::uint64_t Places::sum_in(const Bind& bind, const Marks& marks) {
  cl::Kernel kernel = session_.kernel(file, "transfer_gather", "");
  bind(kernel);
  const std::uint64_t bytes = marks.count() * word_bytes;
  const cl::Buffer& found = found_.at_least(session_, bytes);
  kernel.setArg(4, found);
  launch_for(marks, kernel);
  std::vector<std::uint32_t> values(marks.count());
  session_.queue().enqueueReadBuffer(found, CL_TRUE, 0, bytes, values.data());
  return sum_of_marks(values);
}

std::uint64_t Places::total_in(const Bind& bind, std::uint64_t words) {
  cl::Kernel kernel = session_.kernel(file, "transfer_total", "");
  bind(kernel);
  const LaunchSize size = spread_over(session_.info(), words);
  const cl::Buffer& totals = found_.at_least(session_, size.items * sizeof(cl_ulong));
  kernel.setArg(1, cl_ulong{words});
  kernel.setArg(2, totals);
  session_.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
  std::vector<cl_ulong> sums(size.items);
  session_.queue().enqueueReadBuffer(totals, CL_TRUE, 0, sums.size() * sizeof(cl_ulong),
                                     sums.data());
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

void Places::clear(const Bind& bind, std::uint64_t words) {
  cl::Kernel kernel = session_.kernel(file, "transfer_clear", "");
  bind(kernel);
  const LaunchSize size = spread_over(session_.info(), words);
  kernel.setArg(1, cl_ulong{words});
  session_.launch(kernel, cl::NDRange(size.items), cl::NDRange(size.group));
}

template <typename Action>
auto Places::while_mapped(cl_map_flags flags, std::uint64_t words, Action action) {
  void* const begin = queue_.enqueueMapBuffer(mappable(), CL_TRUE, flags, 0, words * word_bytes);
  const auto result = action({static_cast<std::uint32_t*>(begin), words});
  queue_.enqueueUnmapMemObject(mappable(), begin);
  queue_.finish();
  return result;
}

void Places::mark_mapped(const Marks& marks) {
  while_mapped(CL_MAP_READ | CL_MAP_WRITE, marks.words(), [&](std::span<std::uint32_t> words) {
    marks.write_to(words);
    return true;
  });
}

std::uint64_t Places::sum_in_mapped(const Marks& marks) {
  return while_mapped(CL_MAP_READ, marks.words(),
                      [&](std::span<std::uint32_t> words) { return marks.sum_in(words); });
}

}  // namespace clprobe::transfer
