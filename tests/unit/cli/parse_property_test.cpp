// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "app/cli/flags.hpp"
#include "app/cli/options.hpp"
#include "unit/example_probes.hpp"

namespace clprobe::cli {
namespace {

/// Random words: real flags and values, slips of the keyboard in them, and bytes.
class WordSource {
 public:
  explicit WordSource(unsigned seed) : random_(seed) {
    for (const Flag& flag : all_flags()) {
      words_.push_back("--" + std::string(flag.name));
      if (flag.short_name != '\0') words_.push_back("-" + std::string(1, flag.short_name));
      for (const std::string_view choice : flag.choices) words_.emplace_back(choice);
    }
    for (const ProbeFlags& probe : flags_of(example::probes())) {
      for (const Flag& flag : probe.flags) words_.push_back("--" + std::string(flag.name));
    }
    for (const char* word :
         {"latency", "bandwidth", "list", "explain", "report", "-", "--", "a.json", "x.csv",
          "1KiB-1GiB*2", "64K,1M", "30s", "16", "=", ",", "'", "\n"}) {
      words_.emplace_back(word);
    }
  }

  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

  std::string next() {
    std::string word = words_[below(words_.size())];
    const std::size_t kind = below(8);
    if (kind == 0) word += "=" + words_[below(words_.size())];
    if (kind == 1) word.insert(below(word.size() + 1), 1, byte());
    if (kind == 2) word[below(word.size())] = byte();
    if (kind == 3) word.erase(below(word.size()), 1);
    if (kind == 4) {
      word.assign(below(12), ' ');
      std::generate(word.begin(), word.end(), [this] { return byte(); });
    }
    return word;
  }

 private:
  // An argument of a process cannot contain a zero byte.
  char byte() { return static_cast<char>(1 + below(255)); }

  std::mt19937 random_;
  std::vector<std::string> words_{};
};

}  // namespace

TEST_CASE("whatever is typed: options, or a usage error of one line") {
  WordSource source(20240701);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> arguments(source.below(5));
    std::generate(arguments.begin(), arguments.end(), [&source] { return source.next(); });
    CAPTURE(arguments.size());
    std::string message = "options";
    try {
      parse(arguments, example::probes());
      ++accepted;
    } catch (const UsageError& error) {
      message = error.what();
    }
    REQUIRE_FALSE(message.empty());
    REQUIRE(std::none_of(message.begin(), message.end(),
                         [](unsigned char c) { return c < 0x20 || c == 0x7F; }));
  }
  // Otherwise the property above was seen for errors alone.
  CHECK(accepted > 100);
}

}  // namespace clprobe::cli
