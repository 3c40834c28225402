// SPDX-License-Identifier: Apache-2.0
// How long the launches of a point are, by what its first ones took. Pure.
#pragma once

#include <cstdint>
#include <functional>

namespace clprobe {

/// How many iterations, 1 to `most`, make a launch about `wanted_ns` long. `ns_of` launches so many
/// and returns what that took, in ns; it is asked for more until a quarter of that time is seen.
/// Two launches that agree count, or the least of three: one whose core somebody else had for
/// milliseconds looked long enough with one iteration, and to start launches was then most of what
/// they took. The first one may be slow for other reasons.
std::uint64_t iterations_for(double wanted_ns, std::uint64_t most,
                             const std::function<double(std::uint64_t iterations)>& ns_of);

}  // namespace clprobe
