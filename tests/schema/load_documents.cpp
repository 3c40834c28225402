// SPDX-License-Identifier: Apache-2.0
// Loads every run document of the repository with the strict loader. tests/results checks what the
// analysis makes of results/.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "clprobe/run.hpp"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Golden files hold other JSON too; in results/ all but the index are runs.
bool is_run(const std::filesystem::path& path, const std::string& text, bool is_result) {
  if (path.extension() != ".json" || path.filename() == "index.json") return false;
  return is_result || text.find("\"clprobe-run\"") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: load_documents SOURCE_FOLDER\n";
    return 2;
  }
  const std::filesystem::path source = argv[1];
  int checked = 0;
  int failures = 0;
  for (const char* const folder : {"tests/golden", "results"}) {
    if (!std::filesystem::is_directory(source / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read(entry.path());
      if (!is_run(entry.path(), text, folder != std::string("tests/golden"))) continue;
      ++checked;
      try {
        static_cast<void>(clprobe::runs_from_json(text));
      } catch (const clprobe::RunFormatError& error) {
        ++failures;
        std::cerr << std::filesystem::relative(entry.path(), source).string() << ": "
                  << error.what() << '\n';
      }
    }
  }
  std::cout << checked << " documents loaded, " << failures << " errors\n";
  return failures == 0 && checked > 0 ? 0 : 1;
}
