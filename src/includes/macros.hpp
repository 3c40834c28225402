// SPDX-License-Identifier: Apache-2.0
// Macros, as far as names of headers are made of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

struct Piece {
  enum class Kind : std::uint8_t { word, number, quoted, sign };
  Kind kind{Kind::sign};
  std::string text{};
  bool follows_space{false};

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct Macro {
  bool takes_arguments{false};
  std::vector<std::string> parameters{};
  std::vector<Piece> body{};

  friend bool operator==(const Macro&, const Macro&) = default;
};

class Macros {
 public:
  /// What stands behind #define.
  void define(std::string_view text);
  /// From now on, and before, nobody knows what the name stands for.
  void undefine(std::string_view name);

  /// What an operand of #include becomes, `"..."` or `<...>`. Nothing where it becomes something
  /// else, or a macro has no definition that is certain.
  [[nodiscard]] std::optional<std::string> header_name(std::string_view operand) const;

 private:
  std::map<std::string, Macro, std::less<>> macros_{};
  std::set<std::string, std::less<>> uncertain_{};
};

}  // namespace clprobe::includes
