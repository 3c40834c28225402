// SPDX-License-Identifier: Apache-2.0
// The memory that the probe `inflight` loads from, and what its points share. Sees OpenCL.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "clprobe/device.hpp"
#include "probes/inflight/shape.hpp"
#include "probes/shared/store.hpp"

namespace clprobe::inflight {

/// What the loads go to, filled once; and how far they have got in it.
struct Lines {
  Store store{};
  std::uint64_t position{0};
};

/// What the points of an opened probe share: launches go on where those before them ended, whatever
/// their point.
struct Shared {
  Session& session;
  std::map<std::string, Lines> lines{};  ///< by target
  std::optional<Lines> stream{};
  KeptBuffer out{};
  KeptBuffer starts{};
  KeptBuffer progress{};

  explicit Shared(Session& of) : session(of) {}
};

/// The filled lines of a shape's target, made anew where they are of another size.
Lines& lines_for(Shared& shared, const Shape& shape);

/// Launches a kernel that takes the buffer, the mask and the words of a line, over so many places:
/// the words of all lines, or the lines.
void run_over(std::uint64_t places, Session& session, cl::Kernel kernel, const Lines& lines,
              const Shape& shape);

/// Prepares a point with streams (loaded_launch.cpp).
Work prepare_loaded(const std::shared_ptr<Shared>& shared, const Point& point);

inline cl_uint as_uint(std::uint64_t value) { return static_cast<cl_uint>(value); }

}  // namespace clprobe::inflight
