// SPDX-License-Identifier: Apache-2.0
// A run document in less space, for pages that carry the raw data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace clprobe::report {

/// The same document with lists of objects turned into columns, repeats counted, and numbers that
/// JavaScript would change (above 2^53, and 11.0, which it writes as 11) kept as text. `unpack` in
/// html/report.js is the inverse. A key of the document that begins with $ gets a second one, so
/// that it is none of these:
///
///     {"$rows": n, "$columns": [[key, values], ...]}   n objects; null where a key is absent
///     {"$lengths": values, "$joined": values}          lists, one behind the other
///     {"$repeats": [value, count, value, count, ...]}  a list
///     {"$number": "18446744073709551615"}              a number
///     {"$base85": "...", "$width": n}                  natural numbers, n digits each; ~ is null
///     {"$words": [value, ...], "$at": numbers}         values, each once, and which of them
nlohmann::ordered_json pack(const nlohmann::ordered_json& document);

}  // namespace clprobe::report
