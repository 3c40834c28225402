// SPDX-License-Identifier: Apache-2.0
// Images and samplers of a launch, made anew. Sees OpenCL.
#pragma once

#include <string>

#include "clprobe/device.hpp"
#include "clprobe/launch_image.hpp"

namespace clprobe::kernel {

/// In `buffer`, where that is not null. Throws Unsupported where the device has no such images.
cl::Memory make_image(const Session& session, const bundle::Image& image, cl_mem buffer = nullptr);

cl::Sampler make_sampler(const Session& session, const bundle::Sampler& sampler);

/// All pixels, row by row without anything between. Returns once they are there.
void write_pixels(const cl::CommandQueue& queue, const cl::Memory& to, const bundle::Image& image,
                  const std::string& pixels);
std::string read_pixels(const cl::CommandQueue& queue, const cl::Memory& from,
                        const bundle::Image& image);

/// On the device; both are such images.
void copy_pixels(const cl::CommandQueue& queue, const cl::Memory& from, const cl::Memory& to,
                 const bundle::Image& image);

}  // namespace clprobe::kernel
