// SPDX-License-Identifier: Apache-2.0
// Images and samplers of the application, as their driver describes them. Each function throws
// Refusal.
#pragma once

#include <stdexcept>
#include <string>

#include "profile/api/bundle.hpp"
#include "profile/layer/opencl.hpp"

namespace clprobe::layer {

/// The reason why a launch is not captured; it completes "is not captured: ".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `lies_in_buffer`: the image has no memory of its own.
bundle::Image describe_image(cl_mem image, bool lies_in_buffer);

bundle::Sampler describe_sampler(cl_sampler sampler);

/// Returns all pixels without gaps between rows. Reads a copy if the host may not read the image.
std::string read_image(cl_context context, cl_command_queue queue, cl_mem image,
                       const bundle::Image& what);

}  // namespace clprobe::layer
