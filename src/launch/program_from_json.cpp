// SPDX-License-Identifier: Apache-2.0
// The program in launch.json.
#include <fmt/format.h>

#include <array>
#include <set>

#include "launch/json_parts.hpp"
#include "launch/scalar.hpp"

namespace clprobe::bundle {
namespace {

using includes::Include;
using json::Cursor;

constexpr std::size_t sha256_digits = 64;

/// Each text is one once; a header that there is none of would be read beyond the list.
std::vector<Include> read_includes(const Cursor& cursor, std::size_t headers) {
  if (cursor.is_missing()) return {};
  std::set<std::string> seen;
  return read_each(cursor, includes::max_includes, [&](const Cursor& each) {
    constexpr std::array<std::string_view, 2> keys{"written", "header"};
    const auto [written, header] = each.members(keys);
    Include include{.written = text_of(written, includes::max_written_bytes)};
    if (!seen.insert(include.written).second) written.refuse("each text only once");
    if (headers == 0) header.refuse("no header (the program has none)");
    include.header = number_up_to(header, 0, headers - 1);
    return include;
  });
}

Unit read_unit(const Cursor& cursor, std::size_t header_count) {
  constexpr std::array<std::string_view, 3> keys{"sha256", "options", "includes"};
  const auto [hash, options, list] = cursor.members(keys);
  Unit unit;
  if (!hash.is_missing()) unit.sha256 = hash_in(hash);
  if (!options.is_missing()) unit.options = text_of(options, max_options_bytes);
  unit.includes = read_includes(list, header_count);
  return unit;
}

Header read_header(const Cursor& cursor, std::size_t header_count) {
  constexpr std::array<std::string_view, 3> keys{"name", "sha256", "includes"};
  const auto [name, hash, list] = cursor.members(keys);
  Header header{.name = text_of(name)};
  if (!includes::is_safe_name(header.name)) {
    name.refuse("a file name of letters, digits, '.', '-' and '_'");
  }
  header.sha256 = hash_in(hash);
  header.includes = read_includes(list, header_count);
  return header;
}

}  // namespace

std::string text_of(const Cursor& cursor, std::size_t max_bytes) {
  std::string text = cursor.text();
  if (text.size() > max_bytes) cursor.refuse(fmt::format("at most {} bytes", max_bytes));
  if (text.find('\0') != std::string::npos) cursor.refuse("a string without null characters");
  return text;
}

std::string hash_in(const Cursor& cursor) {
  std::string text = text_of(cursor);
  const bool is_hash = text.size() == sha256_digits &&
                       text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hash) cursor.refuse("a SHA-256 in 64 lower-case hexadecimal digits");
  return text;
}

Program read_program(const Cursor& cursor) {
  if (cursor.is_missing()) return {.units = {Unit{}}};
  constexpr std::array<std::string_view, 3> keys{"units", "link_options", "headers"};
  const auto [units, link_options, headers] = cursor.members(keys);
  Program program;
  std::size_t header_count = 0;
  if (!headers.is_missing()) {
    header_count = headers.size_hint();
    program.headers = read_each(headers, includes::max_headers, [&](const Cursor& each) {
      return read_header(each, header_count);
    });
  }
  program.units = read_each(units, max_units,
                            [&](const Cursor& each) { return read_unit(each, header_count); });
  if (program.units.empty()) units.refuse("at least one unit");
  if (!link_options.is_missing()) program.link_options = text_of(link_options, max_options_bytes);
  return program;
}

}  // namespace clprobe::bundle
