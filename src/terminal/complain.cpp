// SPDX-License-Identifier: Apache-2.0
#include "terminal/complain.hpp"

#include <exception>
#include <string>

#include "system/standard_streams.hpp"
#include "text/text.hpp"

namespace clprobe::terminal {

void complain(std::string_view message) noexcept {
  try {
    // One write, so that lines of several processes do not mix.
    system::write_to_stderr("clprobe: " + message_line(message) + "\n");
  } catch (const std::exception&) {
    system::write_to_stderr("clprobe: no memory is left for an error message\n");
  }
}

}  // namespace clprobe::terminal
