// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "present/api/report.hpp"
#include "text/api/text.hpp"
#include "unit/golden.hpp"
#include "unit/hidden_text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

using survey::Gap;
using survey::ProgramKind;
using survey::Row;

Row row(std::string kernel, survey::Program program, std::uint64_t launches, std::uint64_t ns) {
  return {.signature = {.kernel = std::move(kernel),
                        .program = program,
                        .device = "NVIDIA H200",
                        .dimensions = 2,
                        .global = {4096, 128},
                        .local = {64, 4}},
          .sum = {.launches = launches,
                  .timed = launches,
                  .total_ns = launches * ns,
                  .min_ns = ns,
                  .max_ns = ns}};
}

SurveyedApp example() {
  SurveyedApp app{.words = {"app", "--fast"},
                  .started = "2026-11-25T12:00:00Z",
                  .tool = {"0.1.0", "0123456789ab", "g++ 12.2.0"},
                  .wall_s = 2.5};
  app.survey.processes = {{4711, "app"}};
  app.survey.rows = {row("multiply", {0xabcdef0123456789U, ProgramKind::source}, 1000, 700'000),
                     row("copy", {1, ProgramKind::source}, 20, 9'000'000),
                     row("copy", {2, ProgramKind::binary}, 2, 4'000'000),
                     row("start", {3, ProgramKind::unknown}, 1, 1500),
                     row("never", {3, ProgramKind::unknown}, 2, 0)};
  app.survey.rows[0].sum.timed = 250;
  app.survey.rows[0].sum.estimated = 750;
  app.survey.rows[1].signature.local = {};
  app.survey.rows[2].uses_svm = true;
  app.survey.rows[3].signature.dimensions = 0;
  app.survey.rows[4].sum.timed = 0;
  app.survey.gaps = {{Gap::unfinished, 2}, {Gap::refused, 1}, {Gap::device_queue, 3}};
  return app;
}

}  // namespace

TEST_CASE("a survey is shown as it was read last") {
  const SurveyedApp app = example();
  CHECK(golden_difference("survey.txt", render_survey_table(app, {})) == "");
  CHECK(golden_difference("survey.json", render_survey_json(app)) == "");
  CHECK(golden_difference("survey.csv", render_survey_csv(app)) == "");
  CHECK(golden_difference("survey.md", render_survey_markdown(app)) == "");
}

TEST_CASE("of many rows the first twenty are shown, or all") {
  SurveyedApp app = example();
  app.survey.rows.clear();
  for (int i = 0; i < 50; ++i) {
    app.survey.rows.push_back(row("kernel_" + std::to_string(i), {}, 1, 9));
  }
  const std::string few = render_survey_table(app, {});
  CHECK(few.find("kernel_19\n") != std::string::npos);
  CHECK(few.find("kernel_20\n") == std::string::npos);
  CHECK(few.find("-v also shows 30 kernels with 60.0 % of the device time\n") != std::string::npos);
  const std::string all = render_survey_table(app, {.all_points = true});
  CHECK(all.find("kernel_49\n") != std::string::npos);
  CHECK(all.find("more") == std::string::npos);
}

TEST_CASE("launches of one kernel in several sizes are one line, or one for each size") {
  SurveyedApp app = example();
  app.survey.rows = {row("scan", {}, 10, 600), row("copy", {}, 5, 600), row("scan", {}, 10, 100)};
  app.survey.rows[2].signature.global = {64, 0, 0};
  const std::string kernels = render_survey_table(app, {});
  CHECK(kernels.find("70.0 %") != std::string::npos);
  CHECK(kernels.find("2 sizes") != std::string::npos);
  CHECK(kernels.find("*: together 100 % of the device time") != std::string::npos);
  CHECK(kernels.find("-v also shows a row for each size\n") != std::string::npos);
  const std::string sizes = render_survey_table(app, {.all_points = true});
  CHECK(sizes.find("60.0 %") != std::string::npos);
  CHECK(sizes.find("10.0 %") != std::string::npos);
  CHECK(sizes.find("-v") == std::string::npos);
}

TEST_CASE("kernels of one name in two programs say which, and of several devices on which") {
  SurveyedApp app = example();
  const std::string one = in_one_line(render_survey_table(app, {}));
  CHECK(one.find("program 00000000") != std::string::npos);
  CHECK(one.find("program abcdef01") == std::string::npos);
  CHECK(one.find("on NVIDIA H200, on") == std::string::npos);
  app.survey.rows[1].signature.device = "CPU";
  CHECK(in_one_line(render_survey_table(app, {.width = 200})).find(", on CPU") !=
        std::string::npos);
}

TEST_CASE("of a long name the beginning and the end are shown") {
  SurveyedApp app = example();
  app.survey.rows[0].signature.kernel = "begin_" + std::string(200, 'x') + "_end";
  const std::string text = render_survey_table(app, {});
  CHECK(text.find("  begin_xxx") != std::string::npos);
  CHECK(text.find("xxx_end") != std::string::npos);
}

TEST_CASE("how a program ended is said") {
  SurveyedApp app = example();
  app.status = 3;
  CHECK(in_one_line(render_survey_table(app, {})).find("; the program ended with status 3") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(render_survey_json(app)).at("status") == 3);
  app.signal = 11;
  CHECK(in_one_line(render_survey_table(app, {})).find("was killed by signal 11 (Segm") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(render_survey_json(app)).at("status").is_null());
}

TEST_CASE("times that are none are not shown without a word") {
  SurveyedApp app = example();
  CHECK(render_survey_table(app, {}).find("beware") == std::string::npos);
  for (Row& each : app.survey.rows) each.sum.max_ns = 1;
  for (const std::string& text : {render_survey_table(app, {}), render_survey_markdown(app)}) {
    CHECK(in_one_line(text).find("event times, no launch took longer than 1.00 ns") !=
          std::string::npos);
  }
  CHECK(nlohmann::json::parse(render_survey_json(app)).at("has_doubtful_times") == true);
}

TEST_CASE("times of an event clock that disagrees with the host's have a warning") {
  SurveyedApp app = example();
  app.survey.clock = {50'000'000, 51'000'000, 1'190'476};
  CHECK(in_one_line(render_survey_table(app, {}))
            .find("warning: times are 42x too short: while the host's clock advanced 50.0 ms, the "
                  "driver's event clock advanced 1.19 ms; shares are unaffected") !=
        std::string::npos);
  app.survey.clock = {50'000'000, 51'000'000, 153'000'000};
  CHECK(in_one_line(render_survey_table(app, {})).find("times are 3x too long") !=
        std::string::npos);
}

TEST_CASE("without launches there is no table") {
  SurveyedApp app = example();
  app.survey.rows.clear();
  app.survey.gaps.clear();
  CHECK(render_survey_table(app, {}) == "app: 2.50 s, no kernel launch\n");
}

TEST_CASE("hidden characters in names are not shown, and lines fit") {
  SurveyedApp app = example();
  app.words[0] += all_hidden();
  for (Row& each : app.survey.rows) {
    each.signature.kernel += all_hidden();
    each.signature.device += all_hidden() + std::string(200, 'x');
  }
  app.survey.rows[0].signature.kernel = "=cmd|,\"`*_[x](y)<b>";
  app.survey.rows[1].sum.total_ns = std::numeric_limits<std::uint64_t>::max();
  for (const int width : {40, 80, 200}) {
    std::string text = render_survey_table(app, {.width = width});
    CHECK(first_hidden(text) == "");
    std::string_view rest = text;
    while (!rest.empty()) CHECK(display_width(next_line(rest)) <= width);
  }
  for (const std::string& text :
       {render_survey_csv(app), render_survey_markdown(app), render_survey_json(app)}) {
    CHECK(first_hidden(text) == "");
  }
  CHECK(render_survey_csv(app).find("\"'=cmd|,\"\"`*_[x](y)<b>\"") != std::string::npos);
  CHECK(render_survey_markdown(app).find("| =cmd\\|,\"\\`\\*\\_\\[x\\](y)\\<b\\> |") !=
        std::string::npos);
}

}  // namespace clprobe
