// SPDX-License-Identifier: Apache-2.0
// Any bytes as the texts of a program and its headers, parted by zeros: the options, the text, and
// files called 0 to 9. What is found is put in once, and nothing is left to put in.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/api/prelude.hpp"

namespace {

namespace includes = clprobe::includes;

[[noreturn]] void fail(std::string_view what) {
  std::cerr << "FINDING: " << what << '\n';
  std::abort();
}

std::string take_part(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  std::string part(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

void check(const includes::Gathered& found) {
  const auto check_list = [&](const std::vector<includes::Include>& list) {
    for (const includes::Include& each : list) {
      if (each.header >= found.headers.size()) fail("a header beyond the list");
    }
  };
  check_list(found.includes);
  for (const includes::Header& each : found.headers) {
    check_list(each.includes);
    if (!includes::is_safe_name(each.name)) fail("a name that may be a path");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string all(bytes, bytes + size);
  std::string_view rest = all;
  const std::string options = take_part(rest);
  const std::string text = take_part(rest);
  std::map<std::string, std::string> disk;
  for (char name = '0'; name <= '9' && !rest.empty(); ++name) {
    disk[std::string("/") + name] = take_part(rest);
  }
  const includes::Files files{
      .read = [&](const std::string& path, std::size_t max_bytes) -> std::optional<std::string> {
        const auto found = disk.find(path);
        if (found == disk.end() || found->second.size() > max_bytes) return std::nullopt;
        return found->second;
      },
      .working_folder = "/",
      .text_folders = {"/"}};
  const includes::Gathered found = includes::gather(text, options, files);
  check(found);
  const includes::Whole whole = includes::whole_text(text, options, found);
  if (!whole.refusal.empty()) return 0;
  if (whole.text.size() > includes::max_whole_bytes) fail("a longer text than there may be");
  const includes::Whole again = includes::whole_text(whole.text, options, {});
  if (again.refusal.empty() && again.text != whole.text) fail("something is left to put in");
  const std::string kept = includes::without_folders(options);
  if (includes::without_folders(kept) != kept) fail("a folder is left in the options");
  return 0;
}
