// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over the files of a folder, without libFuzzer. Usage: NAME FOLDER
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string held = text.str();
    const std::basic_string<std::uint8_t> bytes(held.begin(), held.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++files;
  }
  std::cout << files << " files replayed\n";
  return files > 0 ? 0 : 1;
}
