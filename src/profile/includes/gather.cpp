// SPDX-License-Identifier: Apache-2.0
// Search for the headers that a text can include in any branch of #if.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "profile/api/prelude.hpp"
#include "profile/includes/scan.hpp"

namespace clprobe::includes {
namespace {

namespace fs = std::filesystem;

bool is_header_name(std::string_view text) {
  if (text.size() < 3) return false;
  const char close = text.front() == '"' ? '"' : text.front() == '<' ? '>' : '\0';
  return close != '\0' && text.find(close, 1) == text.size() - 1;
}

/// Macros of a text. A macro with two different definitions counts as unknown.
class Definitions {
 public:
  /// Adds the definition of a macro. `text`: the text after #define.
  void define(std::string_view text) {
    const std::string_view name = first_word(text);
    if (name.empty()) return;
    const std::string meaning(trimmed(text.substr(name.size())));
    const auto [known, is_new] = meanings_.try_emplace(std::string(name), meaning);
    if (!is_new && known->second != meaning) known->second.reset();
  }

  void undefine(std::string_view name) { meanings_[std::string(first_word(name))].reset(); }

  /// Returns the file name, with its quotes or brackets, for an operand of #include: `"a.h"`, NAME,
  /// or MACRO(FOLDER/a.h). The argument of a macro counts as a path after the names in it are
  /// replaced. Returns nothing if the operand has no known meaning.
  [[nodiscard]] std::optional<std::string> header_name(std::string_view operand) const {
    for (int i = 0; i < max_replaced && !is_header_name(operand); ++i) {
      const std::string_view name = first_word(operand);
      const std::string_view rest = trimmed(operand.substr(name.size()));
      if (!name.empty() && rest.size() > 2 && rest.front() == '(' && rest.back() == ')') {
        int left = max_replaced;
        return '"' + replaced(trimmed(rest.substr(1, rest.size() - 2)), left) + '"';
      }
      const std::string* const meaning = rest.empty() ? find(name) : nullptr;
      if (meaning == nullptr) return std::nullopt;
      operand = *meaning;
    }
    if (!is_header_name(operand)) return std::nullopt;
    return std::string(operand);
  }

 private:
  static constexpr int max_replaced = 100;  // maximum number of replaced names in one operand

  [[nodiscard]] const std::string* find(std::string_view name) const {
    const auto found = meanings_.find(name);
    return found == meanings_.end() || !found->second ? nullptr : &*found->second;
  }

  /// Returns the text with its names replaced by their definitions. At most `left` names are
  /// replaced, because definitions may be circular.
  [[nodiscard]] std::string replaced(std::string_view text, int& left) const {
    std::string made;
    while (!text.empty() && made.size() <= max_written_bytes) {
      const std::string_view word =
          text.substr(0, std::max<std::size_t>(first_word(text).size(), 1));
      const std::string* const meaning = left > 0 ? find(word) : nullptr;
      made += meaning != nullptr ? replaced(*meaning, --left) : std::string(word);
      text.remove_prefix(word.size());
    }
    return made;
  }

  std::map<std::string, std::optional<std::string>, std::less<>> meanings_{};
};

class Gathering {
 public:
  Gathering(std::string_view options, const Files& files)
      : options_(read_options(options)), files_(files) {
    for (const std::string& each : options_.definitions) definitions_.define(each);
  }

  Gathered run(std::string_view text) {
    read(0, text);
    // Headers that are named by macros are searched last, because other headers may define the
    // macros.
    while (look_for(false) || look_for(true)) continue;
    return std::move(gathered_);
  }

 private:
  /// Directive #include. `from`: 0 for the text itself, or the number of the including header, from
  /// 1.
  struct Wanted {
    std::size_t from{0};
    std::string written{};
    bool is_done{false};
  };

  void read(std::size_t from, std::string_view text) {
    std::set<std::string_view> seen;
    const Scanned scanned = scan(text);
    for (const Directive& each : scanned.directives) {
      if (each.name == "define") definitions_.define(each.rest);
      if (each.name == "undef") definitions_.undefine(each.rest);
      if (each.name != "include" || each.rest.size() > max_written_bytes) continue;
      if (seen.size() == max_includes || !seen.insert(each.rest).second) continue;
      wanted_.push_back({from, each.rest});
    }
  }

  /// Searches for the headers whose names are literal, or for those whose names come from macros.
  /// Returns false if the file name of no further #include became known.
  bool look_for(bool with_macros) {
    bool is_any = false;
    for (std::size_t i = 0; i != wanted_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      const Wanted each = wanted_[i];  // copied, because found headers add elements to `wanted_`
      if (each.is_done || is_header_name(each.written) == with_macros) continue;
      const std::optional<std::string> name = definitions_.header_name(each.written);
      if (!name) continue;
      wanted_[i].is_done = is_any = true;
      const std::optional<fs::path> path = find(*name, each.from);
      const std::optional<std::size_t> header = path ? add(*path) : std::nullopt;
      if (!header) continue;
      std::vector<Include>& list =
          each.from == 0 ? gathered_.includes : gathered_.headers[each.from - 1].includes;
      list.push_back({each.written, *header});
    }
    return is_any;
  }

  [[nodiscard]] fs::path absolute(const fs::path& path) const {
    return (fs::path(files_.working_folder) / path).lexically_normal();
  }

  /// Returns the path of a header; nothing if the header is not found. `name`: the file name with
  /// its quotes or brackets. `from`: 0 if the text includes the header, or the number of the
  /// including header.
  std::optional<fs::path> find(const std::string& name, std::size_t from) {
    const std::string path = name.substr(1, name.size() - 2);
    if (path.empty() || path.find('\0') != std::string::npos) return std::nullopt;
    const bool is_quoted = name.front() == '"';
    if (path.front() == '/') return first_in({""}, path);
    if (is_quoted && from > 0) {
      const std::string folder = paths_[from - 1].parent_path().string();
      if (auto found = first_in({folder}, path)) return found;
    }
    std::optional<fs::path> in_options = first_in(options_.folders, path);
    if (!is_quoted || from > 0) return in_options;
    // The driver may put the text into any of `text_folders`, so the headers in these folders and
    // in the folders of -I must be equal.
    std::optional<fs::path> chosen;
    for (const std::string& folder : files_.text_folders) {
      const std::optional<fs::path> here = first_in({folder}, path);
      if (here && chosen && text_at(*here) != text_at(*chosen)) return std::nullopt;
      if (!chosen) chosen = here;
    }
    if (!chosen || !in_options) return chosen ? chosen : in_options;
    return text_at(*chosen) == text_at(*in_options) ? chosen : std::nullopt;
  }

  std::optional<fs::path> first_in(const std::vector<std::string>& folders,
                                   const std::string& path) {
    for (const std::string& folder : folders) {
      const fs::path here = absolute(fs::path(folder) / path);
      if (text_at(here)) return here;
    }
    return std::nullopt;
  }

  /// Returns the text of a file; nothing if the file cannot be read. Each file is read only once.
  const std::optional<std::string>& text_at(const fs::path& path) {
    const auto [known, is_new] = texts_.try_emplace(path.string());
    if (is_new) known->second = files_.read(path.string(), max_header_bytes - bytes_);
    if (is_new && known->second) bytes_ += known->second->size();
    return known->second;
  }

  /// Returns the index of a header in `gathered_.headers`, after adding a new header; nothing if
  /// the limit of headers is reached.
  std::optional<std::size_t> add(const fs::path& path) {
    const auto known = std::find(paths_.begin(), paths_.end(), path);
    const auto index = static_cast<std::size_t>(known - paths_.begin());
    if (known != paths_.end()) return index;
    if (index == max_headers) return std::nullopt;
    paths_.push_back(path);
    gathered_.headers.push_back({safe_name(path.string()), *text_at(path), {}});
    read(index + 1, *text_at(path));
    return index;
  }

  Options options_;
  const Files& files_;
  Definitions definitions_{};
  std::vector<Wanted> wanted_{};
  Gathered gathered_{};
  std::vector<fs::path> paths_{};  // paths of the headers, in the order of their indices
  std::map<std::string, std::optional<std::string>, std::less<>> texts_{};
  std::size_t bytes_{0};
};

}  // namespace

Gathered gather(std::string_view text, std::string_view options, const Files& files) {
  return Gathering(options, files).run(text);
}

}  // namespace clprobe::includes
