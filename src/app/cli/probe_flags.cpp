// SPDX-License-Identifier: Apache-2.0
// Options of probes as rows of the table of flags.
#include <algorithm>
#include <utility>

#include "app/cli/flags.hpp"

namespace clprobe::cli {
namespace {

ValueKind kind_of(const ValueSpec& value) {
  if (std::holds_alternative<Choice>(value)) return ValueKind::choice;
  if (std::holds_alternative<TracePath>(value)) return ValueKind::file;
  const auto* const words = std::get_if<Choices>(&value);
  return words != nullptr && !words->words.empty() ? ValueKind::choices : ValueKind::text;
}

std::span<const std::string_view> choices_of(const ValueSpec& value) {
  if (const auto* const one = std::get_if<Choice>(&value)) return one->words;
  if (const auto* const some = std::get_if<Choices>(&value)) return some->words;
  return {};
}

Option option_of_series(std::span<const std::string_view> names) {
  return {
      .name = series_option,
      .value_name = "LIST",
      .summary = "series of points to measure (default: all)",
      .details =
          "Series of points to measure, as a comma list. Default: all that the device supports.",
      .value = Choices{names}};
}

}  // namespace

ProbeFlags::ProbeFlags(const Probe& of)
    : probe(&of), options(of.options.begin(), of.options.end()) {
  for (const Series& each : of.series) series_names.push_back(each.name);
  if (!series_names.empty()) options.push_back(option_of_series(series_names));
  for (const Option& option : options) {
    flags.push_back({.name = option.name,
                     .value_name = option.value_name,
                     .kind = kind_of(option.value),
                     .category = Category::of_probe,
                     .commands = bit(Command::measure),
                     .summary = option.summary,
                     .details = option.details,
                     .choices = choices_of(option.value),
                     .spec = &option.value});
  }
}

const Flag* ProbeFlags::find(std::string_view name) const {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [name](const Flag& each) { return each.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

std::vector<ProbeFlags> flags_of(std::span<const Probe* const> probes) {
  std::vector<ProbeFlags> all;
  all.reserve(probes.size());
  for (const Probe* const probe : probes) all.emplace_back(*probe);
  return all;
}

}  // namespace clprobe::cli
