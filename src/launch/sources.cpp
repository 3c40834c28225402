// SPDX-License-Identifier: Apache-2.0
// Which bundles a process is to replay, as text in its environment.
#include <cstdlib>
#include <utility>

#include "clprobe/launch.hpp"

namespace clprobe::bundle {
namespace {

/// Removes the text up to the separator, and returns what stood before it.
std::string take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  std::string part(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

void check_path(const std::string& path) {
  if (path.find_first_of("\n\t") == std::string::npos) return;
  throw FormatError("a path contains a line break or a tab: rename the folder");
}

}  // namespace

Bundle read_source(const Source& source) {
  if (source.kernel_file.empty()) return read_bundle(source.launch, source.headers);
  return read_described(source.kernel_file, source.launch, source.headers);
}

std::string to_environment(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& each : sources) {
    for (const std::string& path : {each.launch, each.kernel_file, each.headers}) check_path(path);
    text += each.launch + '\t' + each.kernel_file + '\t' + each.headers + '\n';
  }
  return text;
}

std::vector<Source> sources_of_environment() {
  const char* const value = std::getenv(sources_variable.data());
  std::vector<Source> sources;
  for (std::string_view text = value == nullptr ? "" : value; !text.empty();) {
    Source source;
    source.launch = take(text, '\t');
    source.kernel_file = take(text, '\t');
    source.headers = take(text, '\n');
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace clprobe::bundle
