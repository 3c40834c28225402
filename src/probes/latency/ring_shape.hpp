// SPDX-License-Identifier: Apache-2.0
// One point of the probe `latency`: a ring of nodes. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "clprobe/words.hpp"
#include "probes/shared/fields.hpp"

namespace clprobe::latency {

/// What a node holds; the numbers of the first three are ADDRESS in cl/latency.cl.
enum class AddressForm { pointer = 0, index = 1, offset = 2, automatic = 3 };

inline constexpr std::array address_table{
    Word{AddressForm::automatic, "auto"}, Word{AddressForm::pointer, "pointer"},
    Word{AddressForm::index, "index"}, Word{AddressForm::offset, "offset"}};

inline std::string_view to_word(AddressForm form) { return word_in(address_table, form); }

/// A point.
struct RingShape {
  std::uint64_t working_set_bytes{0};
  std::uint64_t step_bytes{64};  ///< from node to node
  std::uint64_t line_bytes{
      64};  ///< nodes that are further apart are spread over the lines of their step
  AddressForm address{AddressForm::index};
  std::uint64_t unroll{16};
  std::uint64_t buffer_bytes{0};  ///< what it is cut from

  template <typename Visitor>
  void visit(Visitor& fields) {
    fields.whole("working_set_bytes", working_set_bytes, from_1);
    fields.whole("step_bytes", step_bytes, from_1);
    fields.whole("line_bytes", line_bytes, from_1);
    fields.word("address", address, address_table);
    fields.whole("unroll", unroll, count_from_1);
    fields.fact("buffer_bytes", buffer_bytes);
  }

  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(working_set_bytes / step_bytes);
  }

  /// Byte offset of a node, as node_offset() in cl/latency.cl.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t node) const {
    const std::uint64_t share = static_cast<std::uint32_t>(node * 2654435761U);  // of 2^32
    const std::uint64_t lines = step_bytes / line_bytes;
    return node * step_bytes + ((share * lines) >> 32U) * line_bytes;
  }
};

}  // namespace clprobe::latency
