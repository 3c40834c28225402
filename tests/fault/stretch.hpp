// SPDX-License-Identifier: Apache-2.0
// Launches that take longer, by every timer alike.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fault.hpp"

namespace clprobe::fault {

/// The sources of a program whose launches are stretched, with a clock that runs faster by the same
/// share; nothing where they are not stretched, or read no clock.
std::optional<std::string> stretched_source(cl_uint count, const char** texts,
                                            const size_t* lengths);

/// The sources with loops that make half of their turns; nothing where no fault says so.
std::optional<std::string> shortened_source(cl_uint count, const char** texts,
                                            const size_t* lengths);

/// Notes whether the launches of the program that was just made are stretched.
void note_program(cl_program program, bool is_stretched);

/// Around a launch, and the wait for it.
void begin_launch(cl_kernel kernel);
void note_event(const cl_event* event);
void end_launch();

/// By how much the launch of this event ended later, if it is the last one and is stretched.
cl_ulong stretch_of(cl_event event);

/// Whether the sources are of a program whose launches are stretched.
bool is_meant(cl_uint count, const char** texts, const size_t* lengths);

}  // namespace clprobe::fault
