// SPDX-License-Identifier: Apache-2.0
#include "report/survey_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace clprobe::report {
namespace {

using survey::Row;
using survey::Survey;

std::string_view made_from(survey::ProgramKind kind) {
  switch (kind) {
    case survey::ProgramKind::source:
      return "";
    case survey::ProgramKind::binary:
      return "from a binary";
    case survey::ProgramKind::intermediate:
      return "from IL";
    case survey::ProgramKind::built_in:
      return "built in";
    case survey::ProgramKind::unknown:
      return "from an unknown program";
  }
  return "";
}

}  // namespace

std::string sizes_text(const survey::Signature& of, const survey::Sizes& sizes,
                       std::string_view unchosen) {
  if (of.dimensions == 0) return "various";
  if (sizes == survey::Sizes{}) return std::string(unchosen);
  return fmt::format(
      "{}",
      fmt::join(sizes.begin(), sizes.begin() + std::min<std::uint32_t>(of.dimensions, 3), "x"));
}

std::string program_text(const survey::Program& program) {
  return fmt::format("{:016x}", program.hash);
}

std::string share_text(const Row& row, const survey::Sum& total) {
  return row.sum.timed == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * row.sum.share_of(total));
}

std::string total_time(const survey::Sum& sum) {
  if (sum.timed == 0) return "-";
  return format_seconds(static_cast<double>(sum.total_ns) / ns_per_second);
}

std::string survey_summary(const SurveyedApp& app) {
  const survey::Sum total = app.survey.total();
  std::set<std::pair<std::string, survey::Program>> kernels;
  for (const Row& row : app.survey.rows) {
    kernels.emplace(row.signature.kernel, row.signature.program);
  }
  if (total.launches == 0) return "no kernel launch";
  return fmt::format("{} of device time in {} of {}",
                     format_seconds(static_cast<double>(total.total_ns) / ns_per_second),
                     total.launches == 1 ? "1 launch" : fmt::format("{} launches", total.launches),
                     format_count(kernels.size(), "kernel"));
}

std::vector<std::string> gap_texts(const Survey& survey, bool of_launches) {
  std::vector<std::string> texts;
  for (const survey::GapRow& row : survey::all_gaps()) {
    const auto found = survey.gaps.find(row.gap);
    const bool is_there = found != survey.gaps.end() && found->second > 0;
    if (!is_there || survey::is_of_launches(row.gap) != of_launches) continue;
    const std::string count = found->second == 1 ? fmt::format("1 {}", row.noun)
                                                 : fmt::format("{} {}", found->second, row.plural);
    texts.push_back(fmt::format("{} {}", count, row.reason));
  }
  return texts;
}

std::string estimated_text(const Survey& survey) {
  const std::uint64_t count = survey.total().estimated;
  if (count == 0) return "";
  return fmt::format("{} untimed, to keep the app fast; each counts as the mean of its row",
                     count == 1 ? "1 launch is" : fmt::format("{} launches are", count));
}

std::string doubt_text(const Survey& survey) {
  if (!survey::has_doubtful_times(survey)) return "";
  const double factor = survey::event_clock_factor(survey.clock);
  if (factor != 1.0) {
    return fmt::format(
        "times are {:.2g}x too {}: during {} of the host's clock the driver's event "
        "clock advanced {}; shares are unaffected",
        factor > 1.0 ? factor : 1.0 / factor, factor > 1.0 ? "short" : "long",
        format_seconds(static_cast<double>(survey.clock.host_min_ns) / ns_per_second),
        format_seconds(static_cast<double>(survey.clock.event_ns) / ns_per_second));
  }
  return fmt::format(
      "no launch took longer than {} by the driver's events, so times and shares are meaningless",
      format_seconds(static_cast<double>(survey.total().max_ns) / ns_per_second));
}

std::set<std::string> shared_names(const Survey& survey) {
  std::map<std::string, survey::Program> programs;
  std::set<std::string> shared;
  for (const Row& row : survey.rows) {
    const auto [found, is_new] = programs.emplace(row.signature.kernel, row.signature.program);
    if (!is_new && found->second != row.signature.program) shared.insert(found->first);
  }
  return shared;
}

std::string remark_of(const Row& row, const std::set<std::string>& shared) {
  std::vector<std::string> parts;
  if (shared.contains(row.signature.kernel)) {
    constexpr std::size_t enough_digits = 8;  // as in the short hash of a commit
    parts.push_back("program " + program_text(row.signature.program).substr(0, enough_digits));
  }
  const std::string_view from = made_from(row.signature.program.kind);
  if (!from.empty()) parts.emplace_back(from);
  if (row.uses_svm) parts.emplace_back("SVM");
  if (row.sum.estimated > 0) parts.push_back(fmt::format("{} estimated", row.sum.estimated));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string end_text(const SurveyedApp& app) {
  if (app.signal != 0) {
    return fmt::format("was ended by signal {} ({})", app.signal, ::strsignal(app.signal));
  }
  return app.status == 0 ? "" : fmt::format("ended with status {}", app.status);
}

std::vector<std::string> devices_of(const Survey& survey) {
  std::vector<std::string> devices;
  for (const Row& row : survey.rows) {
    const std::string& device = row.signature.device;
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace clprobe::report
