// SPDX-License-Identifier: Apache-2.0
// What a probe measures changes with its kernel, and then its method has another version.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/registry.hpp"
#include "text/api/embedded.hpp"

namespace clprobe {
namespace {

/// The text without comments, and with one blank for any number of blanks and ends of lines.
std::string tokens_of(std::string_view text) {
  std::string tokens;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_long = text.substr(i, 2) == "/*";
    if (is_long || text.substr(i, 2) == "//") {
      const std::size_t end = text.find(is_long ? "*/" : "\n", i);
      i = end == std::string_view::npos ? text.size() : end + (is_long ? 1 : 0);
    }
    const bool is_blank =
        i >= text.size() || is_long || std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (!is_blank) tokens += text[i];
    if (is_blank && !tokens.empty() && tokens.back() != ' ') tokens += ' ';
  }
  return tokens;
}

/// Hash "FNV-1a" of Fowler, Noll and Vo, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

struct KnownMethod {
  std::string_view probe;
  int method;
  std::uint64_t tokens;
};

constexpr std::array known{
    KnownMethod{"latency", 1, 0x8ed1abc96a8a898d},   KnownMethod{"stride", 1, 0xf21aea862f9186ac},
    KnownMethod{"bandwidth", 1, 0x7f1fdd7ae593a639}, KnownMethod{"transfer", 1, 0xcddc4059f3800818},
    KnownMethod{"launch", 1, 0x7e2f720c1aceb1ba},    KnownMethod{"clock", 2, 0x4f9b8d13a4299561},
    KnownMethod{"banks", 1, 0x270b8844c9851798},     KnownMethod{"inflight", 1, 0xe21f1f7bcb6482de},
    KnownMethod{"stalls", 1, 0xa0b655d4f53073d},     KnownMethod{"kernel", 2, 0x88490449a834bcec},
    KnownMethod{"compute", 1, 0xb200b93f7939bccc},   KnownMethod{"atomics", 1, 0xcb89bbc96a2cf359},
    KnownMethod{"line", 1, 0x4d743fb68b77d997},      KnownMethod{"pages", 1, 0x4d743fb68b77d997},
    KnownMethod{"map", 1, 0xf16cd1d0d1808064},
};

}  // namespace

TEST_CASE("a kernel whose tokens change has its probe's method decided anew") {
  std::size_t kernels = 0;
  std::vector<const Probe*> probes(all_probes().begin(), all_probes().end());
  probes.push_back(replay_probe());
  for (const Probe* const each : probes) {
    const Probe& probe = *each;
    if (probe.open == nullptr) continue;
    ++kernels;
    CAPTURE(probe.id);
    const std::uint64_t tokens = hash_of(tokens_of(kernel_source(std::string(probe.id) + ".cl")));
    INFO(
        fmt::format("If the kernel measures something else now, raise Probe::method. Then write "
                    "its tokens here: {{\"{}\", {}, {:#x}}}",
                    probe.id, probe.method, tokens));
    bool is_known = false;
    for (const KnownMethod& one : known) {
      is_known |= one.probe == probe.id && one.method == probe.method && one.tokens == tokens;
    }
    CHECK(is_known);
  }
  CHECK(kernels == known.size());
}

TEST_CASE("comments and blanks are no tokens") {
  CHECK(tokens_of("a /* b\n */ c // d\n  e") == tokens_of("a c\n\ne"));
  CHECK(tokens_of("a b") != tokens_of("ab"));
}

}  // namespace clprobe
