// SPDX-License-Identifier: Apache-2.0
// Somebody else's program, from its start to its end.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clprobe::system {

/// End of a program: by a signal, otherwise with a status.
struct ProgramEnd {
  int status{0};
  int signal{0};  ///< number of the signal; 0: none
  double seconds{0.0};

  [[nodiscard]] bool is_success() const { return signal == 0 && status == 0; }
};

/// Runs `words`, of which the first is looked for as a shell does, and waits for its end. It has
/// this process's stdin, stderr and variables, with `variables` besides; what it writes to stdout
/// goes to stderr, since stdout is for our results. An interrupt is its own to answer: where it
/// does not end by itself, it is asked to (SIGTERM) after a second and ended after six. Throws
/// std::system_error where it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& words,
                       const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clprobe::system
