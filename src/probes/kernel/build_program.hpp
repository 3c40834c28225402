// SPDX-License-Identifier: Apache-2.0
// Somebody's program, from the texts and options of a bundle. Sees OpenCL.
#pragma once

#include <string>

#include "clprobe/device.hpp"
#include "clprobe/launch.hpp"

namespace clprobe::kernel {

/// With `preamble` in front of each text. Throws DeviceError with the first line of the build log.
cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble = {});

/// The same bundle as it is built behind a text of ours (prelude::without_redefinitions).
bundle::Bundle without_redefinitions(const bundle::Bundle& bundle);

/// For the document: without the folders that options name.
KernelBuild build_of(const bundle::Bundle& bundle);

}  // namespace clprobe::kernel
