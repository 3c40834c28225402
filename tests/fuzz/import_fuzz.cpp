// SPDX-License-Identifier: Apache-2.0
// Any bytes as another tool's results: refused with one plain line, or a document that reads back.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "import/api/import.hpp"
#include "present/api/report.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  clprobe::ImportHints hints;
  hints.file = "file";
  try {
    const std::vector<clprobe::Run> runs = clprobe::import_runs(text, hints);
    const std::string written = clprobe::to_json(runs);
    static_cast<void>(clprobe::runs_from_json(written));
    static_cast<void>(clprobe::formats::table.runs(runs, {}));
  } catch (const clprobe::RunFormatError& error) {
    for (const char c : std::string_view(error.what())) {
      if (c >= 0x20 && c < 0x7f) continue;
      std::cerr << "FINDING: the message is no plain line: " << error.what() << '\n';
      std::abort();
    }
  }
  return 0;
}
