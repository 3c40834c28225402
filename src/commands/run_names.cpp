// SPDX-License-Identifier: Apache-2.0
#include "commands/run_names.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

namespace clprobe::commands {
namespace {

/// The last `parts` parts of a path; all of it where it has no more.
std::string_view tail(std::string_view path, std::size_t parts) {
  std::size_t at = path.size();
  for (; parts > 0; --parts) {
    // From the root on there is no more; the whole path ends the search for a name.
    const std::size_t slash = at == 0 ? std::string_view::npos : path.rfind('/', at - 1);
    if (slash == std::string_view::npos) return path;
    at = slash;
  }
  return path.substr(at + 1);
}

bool tells_of_folders(std::string_view path) {
  return path.starts_with('/') || path.starts_with("../") ||
         path.find("/../") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> run_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names = paths;
  const std::set<std::string_view> distinct(paths.begin(), paths.end());
  std::set<std::string_view> unnamed;
  std::copy_if(distinct.begin(), distinct.end(), std::inserter(unnamed, unnamed.end()),
               tells_of_folders);
  for (std::size_t parts = 1; !unnamed.empty(); ++parts) {
    std::map<std::string_view, std::size_t> count;
    for (const std::string_view path : distinct) ++count[tail(path, parts)];
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string_view name = tail(paths[i], parts);
      const bool is_told = count[name] == 1 || name == paths[i];
      if (is_told && unnamed.contains(paths[i])) names[i] = name;
    }
    std::erase_if(unnamed, [&](std::string_view path) {
      const std::string_view name = tail(path, parts);
      return count[name] == 1 || name == path;
    });
  }
  return names;
}

}  // namespace clprobe::commands
