// SPDX-License-Identifier: Apache-2.0
// Programs that no driver has seen, and what each of them tells. Sees OpenCL.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "clprobe/device.hpp"
#include "probes/launch/series.hpp"

namespace clprobe::launch {

/// Three series want programs that are new. A compiler takes so long that each program is built for
/// all of them: who comes first has one measured, the others take what it told of them.
class NewPrograms {
 public:
  /// Each work-item adds so much to the counter.
  NewPrograms(Session& session, cl::CommandQueue queue, cl::Buffer counter, cl_uint each_adds);

  /// In ns: what a program took to be built or to be built again, each with a first launch, or what
  /// its first launch with a work-group of two took, after one of one.
  std::uint64_t next_time(Manner manner);
  /// What the launches of the last call have added to the counter.
  [[nodiscard]] cl_uint added() const { return added_; }
  /// What nobody has come for: launches that went wrong tell nothing.
  void forget() { times_.clear(); }

 private:
  void measure_one();
  [[nodiscard]] std::int64_t new_number();
  [[nodiscard]] cl::Kernel build(std::int64_t number) const;
  void launch(const cl::Kernel& kernel, cl_uint items);

  Session& session_;
  cl::CommandQueue queue_;
  cl::Buffer counter_;
  cl_uint each_adds_;
  cl_uint added_{0};
  std::int64_t count_{0};
  std::map<Manner, std::deque<std::uint64_t>> times_{};
};

}  // namespace clprobe::launch
