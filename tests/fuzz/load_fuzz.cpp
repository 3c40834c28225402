// SPDX-License-Identifier: Apache-2.0
// Any bytes as a run document: refused with one plain line, or read, and then the same whichever
// parser read it, written and read again without a change, and analysed, shown and compared as
// `report` and `compare` do.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/analyse_again.hpp"
#include "clprobe/run.hpp"
#include "hostile/show.hpp"

namespace {

[[noreturn]] void fail(std::string_view what, std::string_view detail) {
  std::cerr << "FINDING: " << what << ": " << detail << '\n';
  std::abort();
}

void check_one_plain_line(std::string_view message) {
  for (const char c : message) {
    if (c < 0x20 || c >= 0x7f) fail("the message is no plain line", message);
  }
  if (message.empty()) fail("the message is empty", "");
}

void check_accepted(const std::vector<clprobe::Run>& runs) {
  const std::string written = clprobe::to_json(runs);
  if (clprobe::runs_from_json(written) != runs) {
    fail("it does not survive writing", written);
  }
}

void show_all(std::string_view text) {
  std::vector<clprobe::Run> runs;
  try {
    runs = clprobe::commands::analysed_runs_from_json(text);
  } catch (const clprobe::RunFormatError& error) {
    check_one_plain_line(error.what());
    return;
  }
  static_cast<void>(clprobe::hostile::show_reports(runs));
  if (runs.empty()) return;
  static_cast<void>(clprobe::hostile::show_comparisons(runs.front(), runs));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  std::vector<clprobe::Run> runs;
  try {
    runs = clprobe::runs_from_json(text);
  } catch (const clprobe::RunFormatError& error) {
    check_one_plain_line(error.what());
    return 0;
  }
  check_accepted(runs);
  show_all(text);
  return 0;
}
