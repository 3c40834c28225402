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
    KnownMethod{"latency", 1, 0x831d574d99e847d4},   KnownMethod{"stride", 1, 0x47c3f97446dcf2f7},
    KnownMethod{"bandwidth", 1, 0x73d792cf18dc5e6a}, KnownMethod{"transfer", 1, 0x3b4921a9f064873b},
    KnownMethod{"launch", 1, 0xdabebae898847db3},    KnownMethod{"clock", 2, 0x9422ded25c0160b6},
    KnownMethod{"banks", 1, 0x5cc91122c87ec36b},     KnownMethod{"inflight", 1, 0x2e7b5737ebea3309},
    KnownMethod{"stalls", 1, 0x154acd60fce2d002},    KnownMethod{"kernel", 2, 0x8fa65c29732557cf},
    KnownMethod{"compute", 1, 0xc9894a7fe25da3c8},   KnownMethod{"atomics", 1, 0x7d9f0a3d69783e7e},
    KnownMethod{"line", 1, 0xb4afda388772b67a},      KnownMethod{"pages", 1, 0xb4afda388772b67a},
    KnownMethod{"map", 1, 0xf528400048e65cd8},
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
