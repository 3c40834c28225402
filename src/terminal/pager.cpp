// SPDX-License-Identifier: Apache-2.0
#include "terminal/pager.hpp"

#include <unistd.h>

#include <cstdlib>

#include "system/pipe_to.hpp"
#include "terminal/output.hpp"
#include "terminal/terminal.hpp"

namespace clprobe::terminal {

std::optional<std::string> pager_of(const char* pager, std::string_view term) {
  if (term.empty() || term == "dumb") return std::nullopt;
  const std::string command = pager == nullptr ? "less" : pager;
  if (command.empty() || command == "cat") return std::nullopt;
  return command;
}

void show_page(std::string_view text) {
  const char* const term = std::getenv("TERM");
  const std::optional<std::string> pager =
      pager_of(std::getenv("PAGER"), term == nullptr ? "" : term);
  // As git has it: less ends where the text fits on the screen (F), shows colours (R), and leaves
  // what it showed (X); with LESS set it does as it is told.
  if (pager && is_terminal(STDOUT_FILENO) &&
      system::pipe_to(*pager + " 2>/dev/null", text, {{"LESS", "FRX"}, {"LV", "-c"}}) == 0) {
    return;
  }
  OutputFile("-").commit(text);
}

}  // namespace clprobe::terminal
