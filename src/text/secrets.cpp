// SPDX-License-Identifier: Apache-2.0
#include "text/api/secrets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/api/text.hpp"

namespace clprobe {
namespace {

constexpr std::string_view hidden = "***";
constexpr std::string_view word_gaps = " \t\r\n";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }

/// Returns the words of a name in lower case: "db" and "password" of "dbPassword", "api" and "key"
/// of "API_KEY" and "--api-key".
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_hump = i > 0 && is_upper(c) && is_lower(name[i - 1]);
    if ((is_hump || !is_letter(c)) && !parts.back().empty()) parts.emplace_back();
    if (is_letter(c)) parts.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

bool is_secret_part(std::string_view part) {
  constexpr std::array<std::string_view, 12> words{"auth", "authorization", "bearer", "cookie",
                                                   "jwt",  "key",           "otp",    "pin",
                                                   "pw",   "pwd",           "sas",    "sig"};
  constexpr std::array<std::string_view, 10> endings{
      "password", "passwd", "passphrase",  "passcode",   "secret",
      "token",    "apikey", "credentials", "credential", "signature"};
  constexpr std::array<std::string_view, 3> no_secrets{"bypass", "compass", "multipass"};
  const auto ends = [&](std::string_view ending) { return part.ends_with(ending); };
  if (contains(words, part)) return true;
  if (std::ranges::any_of(endings, ends) || ends("pwd") || ends("secrets")) {
    return true;
  }
  const bool is_other = contains(no_secrets, part);
  return (ends("pass") && !is_other) || (ends("key") && part.size() > 6);
}

bool is_secret_name(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  if (!parts.empty() && parts.front() == "no") return false;
  return std::ranges::any_of(parts, is_secret_part);
}

/// Hides the text after the first "NAME=" or "NAME:" whose NAME is that of a secret, anywhere in
/// the word.
void hide_values(std::string& word) {
  for (std::size_t at = word.find_first_of("=:"); at != std::string::npos;
       at = word.find_first_of("=:", at + 1)) {
    // Skips quotes and spaces between name and separator, as in JSON and in source code.
    std::size_t end = word.find_last_not_of("\"'` \t", at == 0 ? 0 : at - 1);
    if (end == std::string::npos || end >= at || at + 1 == word.size()) continue;
    std::size_t begin = end + 1;
    while (begin > 0 && is_of_name(word[begin - 1])) --begin;
    std::string_view name = std::string_view(word).substr(begin, end + 1 - begin);
    if (begin == 0 && (name.starts_with("-D") || name.starts_with("-e"))) name.remove_prefix(2);
    if (!is_secret_name(name)) continue;
    word.resize(at + 1);
    word += hidden;
    return;
  }
}

/// Hides user and password in "scheme://user:password@host", and the password in
/// "user:password@host".
void hide_users(std::string& word) {
  constexpr std::string_view slashes = "://";
  for (std::size_t at = word.find(slashes); at != std::string::npos; at = word.find(slashes, at)) {
    at += slashes.size();
    const std::size_t end = std::min(word.find_first_of(" \t\n\"'", at), word.size());
    const std::size_t user = word.substr(at, end - at).rfind('@');
    if (user != std::string::npos) word.replace(at, user, hidden);
  }
  const std::size_t colon = word.find(':');
  const std::size_t user = word.rfind('@');
  const bool has_user = colon != std::string::npos && user != std::string::npos && colon < user &&
                        word.compare(colon, slashes.size(), slashes) != 0;
  if (has_user) word.replace(colon + 1, user - colon - 1, hidden);
}

/// Hides keys of known forms, and the text after the name of an HTTP authentication scheme such as
/// "Bearer" or after "-----BEGIN ".
void hide_keys(std::string& word) {
  constexpr std::array<std::string_view, 20> beginnings{
      "AKIA", "ASIA",  "AIza", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "hf_",
      "npm_", "pypi-", "sk-",  "sk_",  "rk_",  "xox",  "eyJ",  "dop_v1_",     "SG.",    "ya29."};
  constexpr std::size_t min_key = 16;
  for (const std::string_view begin : beginnings) {
    for (std::size_t at = word.find(begin); at != std::string::npos;
         at = word.find(begin, at + 1)) {
      if (at > 0 && (is_letter(word[at - 1]) || is_digit(word[at - 1]))) continue;
      std::size_t end = at;
      while (end < word.size() && is_of_name(word[end])) ++end;
      if (end - at >= min_key) word.replace(at, end - at, hidden);
    }
  }
  for (const std::string_view scheme : {"Bearer ", "Basic ", "-----BEGIN "}) {
    const std::size_t at = word.find(scheme);
    if (at != std::string::npos) word.replace(at + scheme.size(), std::string::npos, hidden);
  }
}

/// Kind of a word, as announced by the previous word: "-u" announces a user.
enum class Next { plain, secret, user };

/// Returns the kind of the word after `word`. `is_value`: the previous word announced a secret. If
/// `word` then is the name of an HTTP authentication scheme ("Bearer"), the secret follows `word`.
Next next_of(std::string_view word, bool is_value) {
  if (is_value && (word == "Bearer" || word == "Basic" || word == "Token")) return Next::secret;
  if (word == "-u" || word == "--user") return Next::user;
  if (word == "-p" || word == "-P") return Next::secret;
  const std::size_t end = word.find_first_of("=: ");
  const bool is_name =
      end == std::string_view::npos ? word.starts_with('-') : end + 1 == word.size();
  return is_name && is_secret_name(word) ? Next::secret : Next::plain;
}

bool is_short_number(std::string_view word) {
  return word.size() <= 3 && std::ranges::all_of(word, is_digit);
}

/// True for a password attached to its flag ("-phunter2"), but not for "-p8080" or "-print".
bool holds_secret(std::string_view word) {
  if (!word.starts_with("-p") || word.size() < 4) return false;
  const std::string_view value = word.substr(2);
  return !std::ranges::all_of(value, is_digit) &&
         value.find_first_of("0123456789") != std::string_view::npos &&
         value.find('=') == std::string_view::npos;
}

/// True for a number or a type of OpenCL C, which cannot be a secret, whatever the name of the
/// macro.
bool is_of_program(std::string_view value) {
  constexpr std::array<std::string_view, 10> types{"bool", "char",  "short",  "int",    "long",
                                                   "half", "float", "double", "size_t", "void"};
  constexpr std::size_t max_digits = 12;
  const bool is_number =
      !value.empty() && is_digit(value.front()) && value.size() <= max_digits &&
      value.find_first_not_of("0123456789abcdefABCDEFxXuUlL.") == std::string_view::npos;
  if (value.starts_with('u')) value.remove_prefix(1);
  return is_number || std::ranges::any_of(types, [&](std::string_view type) {
           return value.starts_with(type) && value.size() <= type.size() + 2;
         });
}

}  // namespace

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  Next next = Next::plain;
  for (const std::string& given : words) {
    std::string word = given;
    const Next after = next_of(word, next == Next::secret);
    const bool is_value = after == Next::plain && next != Next::plain;
    if (is_value && next == Next::secret && !is_short_number(word)) {
      word = hidden;
    } else if (is_value && next == Next::user && word.find(':') != std::string::npos) {
      word.replace(word.find(':') + 1, std::string::npos, hidden);
    } else if (holds_secret(word)) {
      word.replace(2, std::string::npos, hidden);
    } else {
      hide_users(word);
      hide_values(word);
      hide_keys(word);
    }
    shown.push_back(std::move(word));
    next = after;
  }
  return shown;
}

std::string options_without_secrets(std::string_view options) {
  std::string shown;
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t begin = std::min(options.find_first_not_of(word_gaps, at), options.size());
    const std::size_t end = std::min(options.find_first_of(word_gaps, begin), options.size());
    shown += options.substr(at, begin - at);
    const std::string_view word = options.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    const bool is_of_it =
        equals == std::string_view::npos || is_of_program(word.substr(equals + 1));
    shown += is_of_it ? std::string(word) : without_secrets({std::string(word)}).front();
    at = end;
  }
  return shown;
}

namespace {

/// True for characters of names: letters, digits, underscores and bytes of UTF-8.
bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return is_letter || (byte >= '0' && byte <= '9') || byte == '_' || byte >= 0x80;
}

/// True if the character at `at` belongs to a word that is a path or an address.
bool is_in_path(std::string_view text, std::size_t at) {
  constexpr std::string_view blanks = " \t\n";
  const std::size_t before = text.find_last_of(blanks, at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view word = text.substr(begin, text.find_first_of(blanks, at) - begin);
  return word.find_first_of("/\\@") != std::string_view::npos;
}

bool matches_at(std::string_view text, std::size_t at, const Place& place) {
  if (!text.substr(at).starts_with(place.path)) return false;
  const std::size_t end = at + place.path.size();
  const bool is_folder = place.path.front() == '/';
  if (end < text.size() && is_name_byte(text[end])) return false;
  // A folder "/home/al" does not match "/home/al-2", but the word "alice" matches
  // "/tmp/alice-cache".
  if (is_folder && end < text.size() && text[end] == '-') return false;
  const bool is_within = at > 0 && is_name_byte(text[at - 1]);
  // A folder with at least two components matches anywhere ("/home/alice" in "-I/home/alice" and
  // "/mnt/home/alice"); a folder with one component ("/root") does not match within "/opt/root".
  const bool is_deep = place.path.find('/', 1) != std::string::npos;
  return is_folder ? is_deep || !is_within : !is_within && is_in_path(text, at);
}

}  // namespace

std::string hide_places(std::string_view text, std::span<const Place> places) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Place* longest = nullptr;
    for (const Place& place : places) {
      // Skips places of one character: a single letter identifies nobody, and "/" occurs in every
      // path.
      if (place.path.size() < 2 || !matches_at(text, at, place)) continue;
      if (longest == nullptr || place.path.size() > longest->path.size()) longest = &place;
    }
    if (longest == nullptr) {
      shown += text[at++];
    } else {
      shown += longest->shown;
      at += longest->path.size();
    }
  }
  return shown;
}

}  // namespace clprobe
