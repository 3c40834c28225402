// SPDX-License-Identifier: Apache-2.0
// Which headers are nothing when they are included once more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "includes/directives.hpp"

namespace clprobe::includes {

/// What a header says of itself.
struct Guard {
  bool is_once{false};  ///< has #pragma once outside of all conditions
  std::string macro{};  ///< that the whole of it stands behind; empty: none
  [[nodiscard]] bool is_any() const { return is_once || !macro.empty(); }
};

Guard find_guard(const Scanned& header);

/// Who defines and who undefines a macro, among all texts of a program.
class Definers {
 public:
  void add(const Scanned& text);
  void add_name(std::string_view name);

  /// Whether the macro is defined in one text alone, and nowhere undefined: where it is defined,
  /// the header that it guards has been read.
  [[nodiscard]] bool is_trusted(std::string_view macro) const;

 private:
  std::map<std::string, std::size_t, std::less<>> texts_{};
  std::set<std::string, std::less<>> undefined_{};
};

bool is_if(const Directive& directive);

}  // namespace clprobe::includes
