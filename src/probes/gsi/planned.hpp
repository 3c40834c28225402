// SPDX-License-Identifier: Apache-2.0
// What the tests of the probe ask it for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clprobe/probe.hpp"

namespace clprobe::gsi {

extern const Probe probe;

inline Request request_for(std::vector<std::string> cases) {
  Request request;
  request.own.set("case", std::move(cases));
  return request;
}

}  // namespace clprobe::gsi
