// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel/copies.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "probes/kernel/span.hpp"

namespace clprobe::kernel {
namespace {

enum class Timed { every_launch, first_and_last };

/// So many in each of the queues, in turn, so that none is a launch ahead. All queues are flushed
/// at once, and launches that nobody asks the time of have no event: both cost a driver of
/// NVIDIA's more than the launch itself.
std::vector<Span> run(std::span<const cl::CommandQueue> queues, std::uint64_t launches, Timed timed,
                      const Copies::Launcher& launch) {
  std::vector<cl::Event> events;
  for (std::uint64_t i = 0; i < launches; ++i) {
    const bool is_timed = timed == Timed::every_launch || i == 0 || i + 1 == launches;
    for (const cl::CommandQueue& queue : queues) {
      launch(queue, is_timed ? &events.emplace_back() : nullptr);
    }
  }
  for (const cl::CommandQueue& queue : queues) queue.flush();
  for (const cl::CommandQueue& queue : queues) queue.finish();
  std::vector<Span> spans(events.size());
  std::transform(events.begin(), events.end(), spans.begin(), span_of);
  return spans;
}

}  // namespace

Copies::Copies(Session& session, std::uint64_t count, Launcher launch)
    : launch_(std::move(launch)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    queues_.emplace_back(session.context(), session.device(), CL_QUEUE_PROFILING_ENABLE);
  }
}

double Copies::alone_ns(std::uint64_t launches) {
  std::vector<Span> spans =
      run(std::span(queues_).first(1), launches, Timed::every_launch, launch_);
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end(),
                   [](const Span& a, const Span& b) { return a.ns() < b.ns(); });
  return middle->ns();
}

double Copies::each_ns(std::uint64_t launches) {
  const std::vector<Span> spans = run(queues_, launches, Timed::first_and_last, launch_);
  Span whole = spans.front();
  for (const Span& each : spans) {
    whole.begin = std::min(whole.begin, each.begin);
    whole.end = std::max(whole.end, each.end);
  }
  return whole.ns() / static_cast<double>(launches * queues_.size());
}

}  // namespace clprobe::kernel
