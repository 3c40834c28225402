// SPDX-License-Identifier: Apache-2.0
// Text into another program.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::system {

/// Runs `command` by the shell with `text` on its stdin and what this process has as stdout and
/// stderr, and waits for its end. `defaults` are variables that it gets where the environment has
/// none of the name. Returns its exit status, 128 and more where a signal ended it, and -1 where it
/// could not be started. That it does not read to the end is no error. Interrupts of the terminal
/// are its own meanwhile. Call `ignore_signals_of_writing` first.
int pipe_to(const std::string& command, std::string_view text,
            const std::vector<std::pair<std::string, std::string>>& defaults = {});

}  // namespace clprobe::system
