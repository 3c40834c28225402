// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clprobe/probe.hpp"

namespace clprobe {

/// The last sample of a visit that takes one. Throws as PreparedPoint::sample.
inline Sample sample_once(const PreparedPoint& prepared) {
  Sample sample;
  prepared.sample({.count = 1}, [&](const Sample& taken, const Parameters&) { sample = taken; });
  return sample;
}

}  // namespace clprobe
