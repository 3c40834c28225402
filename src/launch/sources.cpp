// SPDX-License-Identifier: Apache-2.0
// Which bundles a process is to replay, as text in its environment.
#include <cstdlib>

#include "clprobe/launch.hpp"

namespace clprobe::bundle {
namespace {

/// A line of the text, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

void check_path(const std::string& path) {
  if (path.find_first_of("\n\t") == std::string::npos) return;
  throw FormatError("a path with a line end or a tab: rename the folder");
}

}  // namespace

Bundle read_source(const Source& source) {
  return source.kernel_file.empty() ? read_bundle(source.launch)
                                    : read_described(source.kernel_file, source.launch);
}

std::string to_environment(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& each : sources) {
    check_path(each.launch);
    check_path(each.kernel_file);
    text += each.launch + '\t' + each.kernel_file + '\n';
  }
  return text;
}

std::vector<Source> sources_of_environment() {
  const char* const value = std::getenv(sources_variable.data());
  std::vector<Source> sources;
  for (std::string_view text = value == nullptr ? "" : value; !text.empty();) {
    const std::string_view line = take_line(text);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    sources.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
  }
  return sources;
}

}  // namespace clprobe::bundle
