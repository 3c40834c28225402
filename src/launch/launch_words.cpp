// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "clprobe/launch.hpp"
#include "clprobe/words.hpp"

namespace clprobe::bundle {
namespace {

constexpr std::array type_words{Word{Type::int8, "char"},     Word{Type::uint8, "uchar"},
                                Word{Type::int16, "short"},   Word{Type::uint16, "ushort"},
                                Word{Type::int32, "int"},     Word{Type::uint32, "uint"},
                                Word{Type::int64, "long"},    Word{Type::uint64, "ulong"},
                                Word{Type::float32, "float"}, Word{Type::float64, "double"}};
constexpr std::array fill_words{Word{Fill::zero, "zero"}, Word{Fill::iota, "iota"},
                                Word{Fill::random, "random"}, Word{Fill::value, "value"}};

}  // namespace

std::string_view to_word(Type type) { return word_in(type_words, type); }
std::string_view to_word(Fill fill) { return word_in(fill_words, fill); }

std::optional<Type> type_from_word(std::string_view word) { return value_in(type_words, word); }
std::optional<Fill> fill_from_word(std::string_view word) { return value_in(fill_words, word); }

std::uint64_t bytes_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return 1;
    case Type::int16:
    case Type::uint16:
      return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64:
      break;
  }
  return 8;
}

std::string text_file(std::string_view sha256) { return std::string(sha256) + ".cl"; }
std::string object_file(std::string_view sha256) { return std::string(sha256) + ".bin"; }

}  // namespace clprobe::bundle
