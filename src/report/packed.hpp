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
///     {"$base85": "...", "$count": n, "$nulls": text}  natural numbers in blocks; see below
///     {"$words": values, "$at": numbers}               values, each once, and which of them
///
/// Naturals are text in base 85, in blocks of 32: how many digits the least number of the block
/// has, that number, how many digits the range has (the largest less the least), the range, and
/// what each number has above the least. Up to 7 digits of range these are the digits of one number
/// to the base range + 1, first number first, of ceil(count * log(range + 1) / log(85) + 1e-9)
/// digits; else they have as many digits each as the range. `$nulls`, where there are any, is the
/// same kind of text with a 1 for each null; the number in its place says nothing.
nlohmann::ordered_json pack(const nlohmann::ordered_json& document);

}  // namespace clprobe::report
