// SPDX-License-Identifier: Apache-2.0
// JSON between the layer and clprobe: the survey that a process leaves, and the launches that the
// layer is to capture. Surveys are written in somebody else's process, so that the reader checks
// everything.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "profile/api/survey.hpp"

namespace clprobe::survey {

using Json = nlohmann::json;

// nlohmann finds these functions by the types' namespace.
void to_json(Json& json, ProgramKind kind);
void from_json(const Json& json, ProgramKind& kind);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Process, id, name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockCheck, host_min_ns, host_max_ns, event_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, hash, kind)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Signature, kernel, program, device, dimensions, global, local)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sum, launches, timed, total_ns, min_ns, max_ns, estimated)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimedLaunch, ordinal, ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Row, signature, sum, uses_svm, typical)

void to_json(Json& json, ProgramKind kind) { json = to_word(kind); }

void from_json(const Json& json, ProgramKind& kind) {
  const std::optional<ProgramKind> known = program_kind_from_word(json.get<std::string>());
  if (!known) throw FormatError("a survey has an unknown kind of program");
  kind = *known;
}

namespace {

// The layer writes at most 20,000 rows of a few kB each.
constexpr std::size_t max_rows = 100'000;
constexpr std::size_t max_wanted = 100;

/// Returns the document on one line, in ASCII; bytes of names that are not UTF-8 become U+FFFD.
std::string one_line(const Json& document) {
  return document.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Parses text and calls `read` with the document; turns errors of nlohmann into FormatError.
template <typename Read>
auto read_document(std::string_view text, const Json::parser_callback_t& check, const Read& read) {
  try {
    return read(Json::parse(text, check));
  } catch (const Json::parse_error&) {
    throw FormatError("a survey is truncated, or is not JSON");
  } catch (const Json::exception&) {
    throw FormatError("a survey lacks a value, or has a value of another type");
  }
}

/// Refuses negative and fractional numbers and those beyond 64 bits: nlohmann would convert them.
bool expect_counts(int /*depth*/, Json::parse_event_t /*event*/, const Json& value) {
  if (value.is_number() && !value.is_number_unsigned()) {
    throw FormatError("a survey has a number that is not a count");
  }
  return true;
}

void expect_sound(const Row& row) {
  if (row.signature.dimensions > 3) {
    throw FormatError("a survey has a launch of more than three dimensions");
  }
  if (row.sum.timed > row.sum.launches) {
    throw FormatError("a survey has more times than launches");
  }
  if (row.sum.estimated > row.sum.launches - row.sum.timed) {
    throw FormatError("a survey has more times and estimates than launches");
  }
}

Gap gap_from_word(std::string_view word) {
  const std::span<const GapRow> gaps = all_gaps();
  const auto found =
      std::find_if(gaps.begin(), gaps.end(), [&](const GapRow& each) { return each.word == word; });
  if (found == gaps.end()) throw FormatError("a survey has an unknown reason");
  return found->gap;
}

}  // namespace

std::string to_text(const Survey& survey) {
  Json gaps = Json::object();
  for (const auto& [gap, count] : survey.gaps) {
    gaps[std::string(all_gaps()[static_cast<std::size_t>(gap)].word)] = count;
  }
  return one_line({{"processes", survey.processes},
                   {"clock", survey.clock},
                   {"rows", survey.rows},
                   {"gaps", std::move(gaps)}});
}

Survey from_text(std::string_view text) {
  return read_document(text, expect_counts, [](const Json& document) {
    if (document.at("rows").size() > max_rows) throw FormatError("a survey has too many rows");
    Survey survey{.processes = document.at("processes"),
                  .rows = document.at("rows"),
                  .clock = document.at("clock")};
    for (const Row& each : survey.rows) expect_sound(each);
    for (const auto& [word, count] : document.at("gaps").items()) {
      survey.gaps[gap_from_word(word)] = count.get<std::uint64_t>();
    }
    return survey;
  });
}

std::string to_utf8(std::string_view text) { return Json::parse(one_line(text)); }

std::string wanted_to_text(std::span<const Wanted> wanted) {
  Json list = Json::array();
  for (const Wanted& each : wanted) {
    list.push_back({{"kernel", each.kernel},
                    {"ordinal", each.ordinal},
                    {"launches", each.launches},
                    {"share", each.share},
                    {"mean_ns", each.mean_ns}});
    if (each.signature) list.back()["signature"] = *each.signature;
  }
  return one_line(list);
}

std::vector<Wanted> wanted_from_text(std::string_view text) {
  return read_document(text, nullptr, [](const Json& list) {
    if (!list.is_array()) throw FormatError("the text is not a list of launches");
    if (list.size() > max_wanted) throw FormatError("a list of launches is too long");
    std::vector<Wanted> all;
    all.reserve(list.size());
    for (const Json& each : list) {
      Wanted wanted{.kernel = each.at("kernel"),
                    .ordinal = each.at("ordinal"),
                    .launches = each.at("launches"),
                    .share = each.at("share"),
                    .mean_ns = each.at("mean_ns")};
      if (each.contains("signature")) wanted.signature = each.at("signature").get<Signature>();
      all.push_back(std::move(wanted));
    }
    return all;
  });
}

}  // namespace clprobe::survey
