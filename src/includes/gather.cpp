// SPDX-License-Identifier: Apache-2.0
// Which files a text reaches.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "clprobe/includes.hpp"
#include "includes/directives.hpp"
#include "includes/letters.hpp"
#include "includes/macros.hpp"
#include "includes/options.hpp"

namespace clprobe::includes {
namespace {

namespace fs = std::filesystem;

/// An #include of a text, as it is written, and what became of it.
struct Wanted {
  std::size_t from{0};  // 0: the text itself, else a header, from 1
  std::string written{};
  std::string name{};     // behind the macros; empty: not known yet
  std::size_t header{0};  // from 1; 0: not found
};

class Gathering {
 public:
  Gathering(std::string_view options, const Files& files)
      : options_(read_options(options)), files_(files) {
    for (const std::string& each : options_.definitions) macros_.define(each);
  }

  Gathered run(std::string_view text) {
    add_includes(0, text);
    // A header that is found may define what the name of another one is made of.
    while (look_for_headers()) continue;
    return result();
  }

 private:
  void add_includes(std::size_t from, std::string_view text) {
    std::set<std::string_view> seen;
    const Scanned scanned = scan(text);
    for (const Directive& each : scanned.directives) {
      if (each.name == "define") macros_.define(each.rest);
      if (each.name == "undef") macros_.undefine(each.rest);
      const bool is_sane = seen.size() < max_includes && each.rest.size() <= max_written_bytes;
      const bool is_new = each.name == "include" && is_sane && seen.insert(each.rest).second;
      if (is_new) wanted_.push_back({from, each.rest, {}, 0});
    }
  }

  /// Whether there is anything new.
  bool look_for_headers() {
    bool is_any = false;
    // Each that is found may add some.
    for (std::size_t i = 0; i != wanted_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      if (!wanted_[i].name.empty()) continue;
      std::optional<std::string> name = macros_.header_name(wanted_[i].written);
      if (!name) continue;
      wanted_[i].name = std::move(*name);
      const std::size_t found = find(wanted_[i].name, wanted_[i].from);
      wanted_[i].header = found;
      is_any = true;
    }
    return is_any;
  }

  [[nodiscard]] fs::path absolute(const fs::path& path) const {
    return (fs::path(files_.working_folder) / path).lexically_normal();
  }

  /// From 1; 0 where there is none.
  std::size_t find(const std::string& name, std::size_t from) {
    const std::string path = name.substr(1, name.size() - 2);
    if (path.find('\0') != std::string::npos) return 0;
    if (path.front() == '/') return header_at(absolute(path));
    const bool is_quoted = name.front() == '"';
    if (is_quoted && from > 0) {
      const std::size_t beside = header_at(absolute(paths_.at(from - 1).parent_path() / path));
      if (beside > 0) return beside;
    }
    std::size_t found = 0;
    for (const std::string& folder : options_.folders) {
      found = header_at(absolute(fs::path(folder) / path));
      if (found > 0) break;
    }
    if (!is_quoted || from > 0) return found;
    return agreed(path, found);
  }

  /// The header beside the text, wherever that is. Where it may be in several folders all must have
  /// the same one, and the folders of options as well.
  std::size_t agreed(const std::string& path, std::size_t in_options) {
    std::size_t found = 0;
    for (const std::string& folder : files_.text_folders) {
      const std::size_t here = header_at(absolute(fs::path(folder) / path));
      if (here == 0) continue;
      if (found > 0 && !have_one_text(here, found)) return 0;
      if (found == 0) found = here;
    }
    if (found == 0) return in_options;
    return in_options == 0 || have_one_text(found, in_options) ? found : 0;
  }

  [[nodiscard]] bool have_one_text(std::size_t a, std::size_t b) const {
    return headers_.at(a - 1).text == headers_.at(b - 1).text;
  }

  std::size_t header_at(const fs::path& path) {
    const auto [known, is_new] = places_.try_emplace(path.string(), 0);
    if (!is_new) return known->second;
    if (headers_.size() == max_headers) return 0;
    std::optional<std::string> text = files_.read(path.string(), max_header_bytes - bytes_);
    if (!text) return 0;
    bytes_ += text->size();
    headers_.push_back({safe_name(path.string()), std::move(*text), {}});
    paths_.push_back(path);
    const std::size_t place = headers_.size();
    known->second = place;
    add_includes(place, headers_.back().text);
    return place;
  }

  /// What is still so now that all is known, without what nobody includes.
  Gathered result() {
    Gathered all;
    all.headers = headers_;
    for (const Wanted& each : wanted_) {
      if (each.header == 0 || macros_.header_name(each.written) != each.name) continue;
      std::vector<Include>& list =
          each.from == 0 ? all.includes : all.headers.at(each.from - 1).includes;
      list.push_back({each.written, each.header - 1});
    }
    return only_reached(all);
  }

  static Gathered only_reached(const Gathered& all) {
    Gathered kept;
    std::map<std::size_t, std::size_t> places;
    std::vector<std::size_t> order;
    const auto renumbered = [&](std::vector<Include> list) {
      for (Include& each : list) {
        const auto [place, is_new] = places.try_emplace(each.header, places.size());
        if (is_new) order.push_back(each.header);
        each.header = place->second;
      }
      return list;
    };
    kept.includes = renumbered(all.includes);
    // Each header may add some.
    for (std::size_t i = 0; i != order.size(); ++i) {  // NOLINT(modernize-loop-convert)
      Header header = all.headers.at(order[i]);
      header.includes = renumbered(std::move(header.includes));
      kept.headers.push_back(std::move(header));
    }
    return kept;
  }

  Options options_;
  const Files& files_;
  Macros macros_{};
  std::vector<Wanted> wanted_{};
  std::vector<Header> headers_{};
  std::vector<fs::path> paths_{};                             // of the headers
  std::map<std::string, std::size_t, std::less<>> places_{};  // of the headers, from 1, by path
  std::size_t bytes_{0};
};

}  // namespace

Gathered gather(std::string_view text, std::string_view options, const Files& files) {
  return Gathering(options, files).run(text);
}

}  // namespace clprobe::includes
