// SPDX-License-Identifier: Apache-2.0
// What images and samplers of the application are, as their driver reports it. Each function throws
// Refusal.
#pragma once

#include <stdexcept>
#include <string>

#include "clprobe/launch_image.hpp"
#include "layer/opencl.hpp"

namespace clprobe::layer {

/// Why a launch is not captured; what a person reads after "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `lies_in_buffer`: it has no memory of its own.
bundle::Image describe_image(cl_mem image, bool lies_in_buffer);

bundle::Sampler describe_sampler(cl_sampler sampler);

/// All of its pixels, row by row without anything between; of an image that the host may not read
/// those of a copy.
std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const bundle::Image& what);

}  // namespace clprobe::layer
