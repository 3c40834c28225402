// SPDX-License-Identifier: Apache-2.0
// Atomics in a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "prelude/reach.hpp"

namespace clprobe::prelude {

enum class AtomicKind : std::uint8_t {
  update,  ///< add, inc, or ...: a load and a store, and nobody waits
  /// The same of OpenCL 2.0, fetch_add, fetch_or ...: of types that the prelude leaves alone.
  typed_update,
  exchange,  ///< xchg, cmpxchg, and loads and stores of OpenCL 2.0: of these locks are made
  fence,
  unknown,  ///< those of extensions
};

struct AtomicCall {
  std::string_view name{};
  AtomicKind kind{AtomicKind::unknown};
  std::string_view target{};  ///< the name of the memory; empty where it is not clear
  /// Whether a statement does more with it than this call; a macro's is taken to be used.
  bool is_result_used{true};
};

/// In all that is reached, built-in ones.
std::vector<AtomicCall> find_atomics(const Reach& reach);

}  // namespace clprobe::prelude
