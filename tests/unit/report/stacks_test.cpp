// SPDX-License-Identifier: Apache-2.0
// Stacks in reports and comparisons, on a made-up run.
#include "clprobe/stacks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "compare/api/compare.hpp"
#include "example_runs.hpp"
#include "golden.hpp"
#include "present/api/report.hpp"
#include "present/blocks.hpp"
#include "present/side_by_side.hpp"
#include "present/stacks.hpp"
#include "present/svg.hpp"
#include "text/api/text.hpp"
#include "unit/rendered.hpp"

namespace clprobe {
namespace {

Finding part(std::string_view bar, std::string_view view, std::string_view label, double share,
             double aside = 0.0) {
  Finding finding;
  finding.name = stack_part_name;
  finding.series = bar;
  finding.method = view;
  finding.label = label;
  finding.value = share;
  finding.low = share - aside;
  finding.high = share + aside;
  finding.unit = "share";
  return finding;
}

Finding time_of(std::string_view bar, double value, std::string_view unit) {
  Finding finding;
  finding.name = stack_time_name;
  finding.series = bar;
  finding.value = finding.low = finding.high = value;
  finding.unit = unit;
  return finding;
}

/// Two kernels in two views; a part that costs time, one that is not resolved, one that GSI does
/// not know.
Run stacks_run() {
  Run run = example_gpu_run();
  run.results.resize(1);
  ProbeResult& result = run.results.front();
  result.probe = "stalls";
  result.warnings.clear();
  result.points.resize(1);
  Finding lump = part("uts", stack_view_shapley, "waiting for memory", 0.25, 0.02);
  Finding unresolved = part("uts", stack_view_shapley, "control", 0.01, 0.03);
  unresolved.reason = "not resolved: the interval includes 0";
  Finding absorbed = part("uts", "noise", "arithmetic", 0.4, 0.1);
  absorbed.name = stack_absorbed_name;
  Finding both = part("uts", "interaction cost", "control + waiting for memory", -0.02, 0.01);
  both.name = stack_interaction_name;
  Finding first = part("uts", stack_view_shapley, "waiting for memory", 0.8, 0.1);
  first.name = stack_first_name;
  Finding other;
  other.name = "here";
  other.series = "time, utsd against uts";
  other.value = 0.09;
  result.findings = {time_of("uts", 3038637, "cycles"),
                     part("uts", stack_view_gsi, "idle", 0.0625),
                     part("uts", stack_view_gsi, "synchronization: acquire", 0.5),
                     part("uts", stack_view_gsi, "memory data: L2", 0.25),
                     part("uts", stack_view_gsi, "memory data: main memory", 0.0625),
                     part("uts", stack_view_gsi, "no stall", 0.125),
                     time_of("utsd", 120101, "cycles"),
                     part("utsd", stack_view_gsi, "memory data: L1 coalescing", 0.25),
                     part("utsd", stack_view_gsi, "no stall", 0.75),
                     part("uts", stack_view_shapley, "no stall", 0.79, 0.04),
                     lump,
                     part("uts", stack_view_shapley, "memory structural: full MSHR", -0.05, 0.02),
                     unresolved,
                     absorbed,
                     both,
                     first,
                     other};
  return run;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return lines;
}

std::size_t count_of(const std::string& text, char letter) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), letter));
}

}  // namespace

TEST_CASE("a cause is filled alike whatever stands beside it, and no two share a number") {
  const std::vector<std::string> few{"memory data", "unattributed"};
  const std::vector<std::string> many{"no stall", "memory data", "new", "other", "unattributed"};
  CHECK(report::category_numbers(few) == std::vector<std::size_t>{4, 9});
  CHECK(report::category_numbers(many) == std::vector<std::size_t>{0, 4, 11, 12, 9});
}

TEST_CASE("fills of a picture also differ in grey") {
  // Whichever of the usual causes a kernel lacks.
  const std::vector<std::string> usual{"compute data",    "memory structural", "memory data",
                                       "synchronization", "control",           "unattributed"};
  std::vector<Finding> findings;
  for (const std::string& cause : usual) findings.push_back(part("a", "shapley", cause, 1.0 / 6));
  const std::string svg = report::draw_stacks(stacks_in(findings), {});
  std::vector<std::string> fills;
  std::vector<double> greys;
  for (const std::string& cause : usual) {
    const std::size_t title = svg.find("<title>" + cause + ": ");
    REQUIRE(title != std::string::npos);
    const std::string fill = svg.substr(svg.rfind("fill=\"#", title) + 6, 7);
    const auto channel = [&](std::size_t at) { return std::stoi(fill.substr(at, 2), nullptr, 16); };
    greys.push_back(0.299 * channel(1) + 0.587 * channel(3) + 0.114 * channel(5));
    fills.push_back(fill);
  }
  for (std::size_t i = 0; i < usual.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      CAPTURE(fills[i] + fills[k]);
      CHECK(std::fabs(greys[i] - greys[k]) > 20.0);
    }
  }
}

TEST_CASE("a remark on a share says of which bars it is") {
  const auto bar = [](const char* name, const char* reason) {
    Stack stack;
    stack.bar = name;
    StackPart part;
    part.reason = reason;
    part.is_resolved = true;
    stack.parts = {part, part};
    return stack;
  };
  const std::vector<Stack> stacks{bar("one", "r"), bar("two", "r"), bar("three", "s"),
                                  bar("4", "")};
  CHECK(report::remarks_of(stacks) == std::vector<std::string>{"one; two: r", "three: s"});
}

TEST_CASE("findings become stacks by bar and view, parts in GSI's order") {
  const Run run = stacks_run();
  const auto stacks = stacks_in(run.results[0].findings);
  REQUIRE(stacks.size() == 3);
  CHECK(stacks[0].bar == "uts");
  CHECK(stacks[0].view == stack_view_gsi);
  CHECK(stacks[0].time == 3038637.0);
  CHECK(stacks[0].time_unit == "cycles");
  CHECK(stacks[1].bar == "utsd");
  CHECK(stacks[2].view == stack_view_shapley);
  CHECK(stack_labels(std::span(stacks).first(2)) ==
        std::vector<std::string>{"no stall", "memory data: L2", "memory data: main memory",
                                 "memory data: L1 coalescing", "synchronization: acquire", "idle"});
  CHECK(stack_category("memory data: L2") == "memory data");
  CHECK(stack_category("idle") == "idle");
}

TEST_CASE("a finding without a value or a label is no part") {
  Finding finding = part("uts", stack_view_gsi, "idle", 1.0);
  CHECK(is_stack_part(finding));
  finding.label.clear();
  CHECK_FALSE(is_stack_part(finding));
  finding.label = "idle";
  finding.value.reset();
  CHECK_FALSE(is_stack_part(finding));
  CHECK(stacks_in(std::span(&finding, 1)).empty());
}

TEST_CASE("the time of a stack is not told twice, that of others is kept") {
  const std::vector<Finding> findings{time_of("uts", 1.0, "cycles"),
                                      part("uts", stack_view_gsi, "idle", 1.0),
                                      time_of("imported", 1.0, "seconds")};
  const auto others = report::without_stacks(findings);
  REQUIRE(others.size() == 1);
  CHECK(others[0].series == "imported");
}

TEST_CASE("bars are as long as their shares, on pages of any width") {
  const Run run = stacks_run();
  for (const int width : {40, 60, 80, 200}) {
    for (const bool is_unicode : {false, true}) {
      const std::string text =
          render_table(std::span(&run, 1), {.width = width, .unicode = is_unicode});
      for (const std::string& line : lines_of(text)) {
        CHECK(display_width(line) <= width);
      }
    }
  }
  const std::string text = render_table(std::span(&run, 1), {.width = 80});
  const auto lines = lines_of(text);
  const auto bar = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find(" utsd ") != std::string::npos;
  });
  REQUIRE(bar != lines.end());
  const auto cells = static_cast<double>(count_of(*bar, '#') + count_of(*bar, 'D'));
  CHECK(cells > 40);
  CHECK(std::abs(static_cast<double>(count_of(*bar, '#')) - 0.75 * cells) <= 1.0);
}

TEST_CASE("bars with relative times are as long as these, the longest one across the page") {
  Run run = stacks_run();
  std::vector<Finding>& findings = run.results[0].findings;
  const auto relative = [&](const char* bar, double value) {
    Finding finding = time_of(bar, value, "");
    finding.name = stack_relative_name;
    finding.method = "utsd";
    findings.push_back(finding);
  };
  const auto cells_of = [&](const std::string& bar) {
    const auto lines = lines_of(render_table(std::span(&run, 1), {.width = 80}));
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& each) {
      return each.find(" " + bar + " ") != std::string::npos;
    });
    REQUIRE(line != lines.end());
    return line->size() - line->find_last_of(' ') - 1;
  };
  const std::size_t all = cells_of("uts");
  CHECK(cells_of("utsd") == all);
  relative("uts", 4.0);
  relative("utsd", 1.0);
  CHECK(cells_of("uts") == all);
  CHECK(std::abs(4.0 * static_cast<double>(cells_of("utsd")) - static_cast<double>(all)) <= 2.0);
  CHECK(render_table(std::span(&run, 1), {.width = 200})
            .find("bar lengths show times relative to utsd") != std::string::npos);
  // A picture has them in per cent of the chosen one's time.
  CHECK(render_svg(std::span(&run, 1), "stalls").find(">400 %<") != std::string::npos);
}

TEST_CASE("what reports say of stacks") {
  const Run run = stacks_run();
  const std::span<const Run> runs(&run, 1);
  check_golden("stacks.txt", render_table(runs, {.width = 80, .all_points = true}));
  check_golden("stacks-ascii-60.txt", render_table(runs, {.width = 60, .unicode = false}));
  check_golden("stacks.md", render_markdown(runs));
  check_golden("stacks.svg", render_svg(runs, "stalls"));
}

TEST_CASE("a picture says where it comes from in whole parts, as many as fit") {
  Run run = stacks_run();
  run.started = "2026-01-02T10:00:00Z";
  run.tool.version = "1.2.3";
  run.device.platform = "Portable Computing Language";
  const auto has = [&](std::string_view text) {
    return render_svg(std::span(&run, 1), "stalls").find(text) != std::string::npos;
  };
  run.device.driver = "3.1";
  CHECK(has("Language, driver 3.1, 2026-01-02, clprobe 1.2.3</text>"));
  run.device.driver = "3.1+debian+a-long-one";
  CHECK(has("a-long-one, 2026-01-02</text>"));
  run.device.driver.append(40, 'x');
  CHECK(has("Portable Computing Language</text>"));
  run.device.platform.append(200, 'x');
  CHECK(has("xx…</text>"));
}

/// A case of which only two parts are resolved, and one none of whose shares is.
Run unresolved_run() {
  Run run = stacks_run();
  std::vector<Finding>& findings = run.results[0].findings;
  findings = {part("memory", stack_view_shapley, "memory data: L2", 0.6, 0.05)};
  for (const auto& [bar, label, share] : {std::tuple("memory", "compute data", -0.011),
                                          {"memory", "control", 0.02},
                                          {"memory", "memory structural: bank conflict", 0.001},
                                          {"chain", "control", 0.03}}) {
    Finding share_of = part(bar, stack_view_shapley, label, share, 0.04);
    share_of.reason = "not resolved: the interval includes 0";
    findings.push_back(share_of);
  }
  findings.push_back(part("memory", stack_view_shapley, "unattributed", 0.39, 0.05));
  return run;
}

TEST_CASE("a cause that one run resolves is not resolved in a run whose interval includes 0") {
  std::vector<Run> runs{unresolved_run(), unresolved_run()};
  runs[1].results[0].findings[0].value = 0.001;
  runs[1].results[0].findings[0].reason = "not resolved: the interval includes 0";
  std::string cells;
  for (const auto& row : report::SideBySide(runs).table("stalls", report::Form::whole).rows) {
    if (row[0].text == "memory:") cells += row[2].text + " " + row[3].text + " " + row[4].text;
  }
  CHECK(cells == "L2 60 % not resolved");
}

std::size_t times_in(const std::string& text, std::string_view words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("shares that are not resolved are a line per bar, and in no table") {
  const Run run = unresolved_run();
  const std::span<const Run> runs(&run, 1);
  const std::string line =
      "memory: not resolved: compute data, control, memory structural: bank conflict (each within "
      "6.0 % of 0)";
  std::string in_page;
  for (const report::Block& block : report::shares_blocks(run.results[0].findings)) {
    if (const auto* const table = std::get_if<report::Table>(&block)) {
      in_page += report::to_html(*table);
    } else if (const auto* const prose = std::get_if<report::Prose>(&block)) {
      in_page += prose->text + '\n';
    }
  }
  for (const std::string& text :
       {render_table(runs, {.width = 120, .all_points = true}), render_markdown(runs), in_page}) {
    CAPTURE(text);
    CHECK(times_in(text, line) == 1);
    CHECK(times_in(text, "chain: not resolved: control (within 7.0 % of 0)") == 1);
    CHECK(times_in(text, ": not resolved: ") == 2);
    CHECK(times_in(text, "bank conflict") == 1);
    CHECK(times_in(text, "60.0 ±5.0") == 1);
    CHECK(times_in(text, "-1.1") == 0);
  }
  // Interactions, whose labels name two causes, as well.
  Run pairs = run;
  for (Finding& each : pairs.results[0].findings) each.name = stack_interaction_name;
  CHECK(times_in(render_table(std::span<const Run>(&pairs, 1), {.all_points = true}),
                 "not resolved") == 2);
  // The document keeps each.
  CHECK(times_in(to_json(runs), "not resolved") == 4);
}

TEST_CASE("what no run resolves is a line per bar in a comparison, and what one does is a row") {
  const Run before = unresolved_run();
  Run after = before;
  Finding& control = after.results[0].findings[2];
  REQUIRE(control.label == "control");
  control.value = 0.3;
  control.low = 0.28;
  control.high = 0.32;
  control.reason.clear();
  const auto texts_of = [&](const Run& other) {
    const std::vector<RunDigest> digests{digest(before, "a"), digest(other, "b")};
    const Comparison made = compare(digests, 0, 0.03);
    // The verdicts are counted all the same, and are in the document.
    CHECK(std::count_if(made.rows.begin(), made.rows.end(),
                        [](const ComparedRow& row) { return row.probe == "stalls"; }) == 6);
    return std::vector{render_comparison_table(made, digests, {.width = 140, .all_points = true}),
                       render_comparison_markdown(made, digests)};
  };
  for (const std::string& text : texts_of(before)) {
    CAPTURE(text);
    CHECK(times_in(text, "in all runs not resolved: ") == 2);
    CHECK(times_in(text,
                   "compute data, control, memory structural: bank conflict (each within "
                   "6.0 % of 0)") == 1);
    CHECK(times_in(text, "control") == 2);
  }
  for (const std::string& text : texts_of(after)) {
    CAPTURE(text);
    CHECK(times_in(text,
                   "compute data, memory structural: bank conflict (each within 5.1 % of "
                   "0)") == 1);
    CHECK(times_in(text, "30") >= 1);
  }
}

TEST_CASE("text of a file is text in stacks") {
  Run run = stacks_run();
  const std::string evil = "</script><script>alert(1)</script>\x1b[31m";
  for (Finding& finding : run.results[0].findings) {
    if (finding.series == "utsd") finding.series = evil;
    if (finding.label == "idle") finding.label = evil;
  }
  const std::span<const Run> runs(&run, 1);
  for (const std::string& text : {render_html(runs), render_svg(runs, "stalls"),
                                  render_table(runs, {}), render_markdown(runs)}) {
    CHECK(text.find('\x1b') == std::string::npos);
  }
  CHECK(render_html(runs).find("<script>alert") == std::string::npos);
  CHECK(render_svg(runs, "stalls").find("<script>") == std::string::npos);
}

TEST_CASE("a bar of nothing, and one of nothing but what costs time, are drawn as empty") {
  Run run = stacks_run();
  for (const double share : {0.0, -0.5}) {
    run.results[0].findings = {part("uts", stack_view_shapley, "idle", share)};
    const std::span<const Run> runs(&run, 1);
    CHECK(render_table(runs, {}).find("idle") != std::string::npos);
    CHECK(render_svg(runs, "stalls").find("nan") == std::string::npos);
    CHECK_FALSE(render_html(runs).empty());
  }
}

TEST_CASE("what an account counted is no setting of the point") {
  Run before = stacks_run();
  Run after = before;
  before.results[0].points[0].facts.set("gsi_no_stall_cycles", 12.5);
  after.results[0].points[0].facts.set("gsi_no_stall_cycles", 13.5);
  const std::vector<RunDigest> digests{digest(before, "a"), digest(after, "b")};
  const Comparison made = compare(digests, 0, 0.03);
  REQUIRE(made.curves.size() == 1);
  CHECK(made.curves[0].note.empty());
  CHECK(made.curves[0].matched == 1);
}

TEST_CASE("compare matches parts by view and label, whatever their order") {
  const Run before = stacks_run();
  Run after = before;
  std::vector<Finding>& findings = after.results[0].findings;
  std::reverse(findings.begin(), findings.end());
  const auto changed = std::find_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.label == "synchronization: acquire";
  });
  changed->value = changed->low = changed->high = 0.25;
  const std::vector<RunDigest> digests{digest(before, "a"), digest(after, "b")};
  const Comparison made = compare(digests, 0, 0.03);
  CHECK(made.unmatched.empty());
  for (const ComparedRow& row : made.rows) {
    const Finding& finding = row.baseline->finding;
    CAPTURE(finding.label);
    REQUIRE(row.cells[1].finding != nullptr);
    CHECK(row.cells[1].finding->finding.label == finding.label);
    const bool is_changed = finding.label == "synchronization: acquire";
    CHECK((row.cells[1].judgement.verdict == Verdict::same) != is_changed);
  }
}

TEST_CASE("a page says how long a part is, and what it saves of the program where that is known") {
  Run run = stacks_run();
  std::vector<Finding>& findings = run.results.front().findings;
  Finding share;
  share.name = stack_app_share_name;
  share.series = "uts";
  share.value = 0.5;
  findings = {time_of("uts, folded", 1e-3, "seconds"),
              part("uts, folded", stack_view_shapley, "memory data", 0.5),
              part("uts, folded", stack_view_shapley, "synchronization: barrier", 0.25),
              part("uts, folded", stack_view_shapley, "control", -0.05),
              part("uts, folded", stack_view_shapley, stack_remainder, 0.3),
              part("other", stack_view_shapley, "memory data", 1.0),
              part("uts, folded", stack_view_gsi, "memory data", 1.0),
              share};
  findings[2].reason = "at least: groups write the same lines";
  const std::vector<Run> runs{run};
  const std::string html = render_html(runs);
  const auto shows = [&](std::string_view text) { return html.find(text) != std::string::npos; };
  // An account of cycles says nothing of what is saved.
  CHECK(shows("<title>memory data: 100.0 %, 1.00 ms</title>"));
  CHECK(
      shows("<title>memory data: 50.0 %, 500 µs, removal saves at most 25 % of the program&#39;s"));
  CHECK(shows("250 µs, removal saves at least 12.5 % of the program&#39;s device time</title>"));
  CHECK(shows("<title>control: -5.0 %, -50.0 µs</title>"));
  CHECK(shows("<title>unattributed: 30.0 %, 300 µs</title>"));
  // Neither its time is known nor how much of the program it is.
  CHECK(shows("<title>memory data: 100.0 %</title>"));
}

TEST_CASE("a cause with parts has a picture of its own, beside the baseline where there is one") {
  std::vector<Finding> findings{part("a", stack_view_gsi, "no stall", 0.5),
                                part("a", stack_view_gsi, "memory data: L1", 0.125),
                                part("a", stack_view_gsi, "memory data: L2", 0.375),
                                part("b", stack_view_gsi, "no stall", 0.75),
                                part("b", stack_view_gsi, "memory data: L1", 0.25),
                                part("c", stack_view_gsi, "no stall", 1.0)};
  std::vector<Stack> stacks = stacks_in(findings);
  CHECK(report::divided_categories(stacks) == std::vector<std::string>{"memory data"});
  std::vector<Stack> alone = report::stacks_of_category(stacks, "memory data");
  REQUIRE(alone.size() == 2);  // of c it takes nothing
  CHECK(alone[0].parts[0].label == "L1");
  CHECK(alone[0].parts[0].share == doctest::Approx(0.25));
  CHECK(alone[0].parts[1].share == doctest::Approx(0.75));
  CHECK(alone[1].parts[0].share == doctest::Approx(1.0));
  CHECK_FALSE(alone[0].relative);
  for (Stack& stack : stacks) stack.baseline = "a";
  stacks[0].relative = 1.0;
  stacks[1].relative = 4.0;
  alone = report::stacks_of_category(stacks, "memory data");
  CHECK(*alone[0].relative == doctest::Approx(1.0));
  CHECK(*alone[1].relative == doctest::Approx(2.0));  // 4 times as long, half the share
  Run run = example_gpu_run();
  run.results[0].findings = findings;
  const auto figures = report::figures_of(std::span(&run, 1), run.results[0].probe);
  REQUIRE(figures.size() == 2);
  CHECK(figures[1].title == "memory data alone, one cause per cycle (GSI)");
  CHECK(figures[1].svg.find("<title>L2: 75.0 %") != std::string::npos);
}

TEST_CASE("a bar of which a part is not known is not drawn, and its other parts are told") {
  Run run = stacks_run();
  const std::vector<Run> whole{run};
  Finding unknown = part("uts", stack_view_shapley, "compute data", 0.0);
  unknown.value = unknown.low = unknown.high = std::nullopt;
  unknown.reason = "not known: compute data would be 951.0 ±80.7 % of the time";
  run.results.front().findings.push_back(unknown);
  const std::vector<Run> broken{run};
  for (const Stack& stack : stacks_in(run.results.front().findings)) {
    CHECK(stack.is_whole == (stack.bar != "uts" || stack.view != stack_view_shapley));
  }
  CHECK(render_table(whole, {}).find("not drawn") == std::string::npos);
  CHECK(render_table(broken, {.all_points = true}).find("not drawn: a share is unknown") !=
        std::string::npos);
  CHECK(render_table(broken, {.all_points = true}).find("25.0 ±2.0") != std::string::npos);
  CHECK(render_svg(whole, "stalls").find("not drawn") == std::string::npos);
  CHECK(render_html(broken).find("not drawn") != std::string::npos);
  CHECK(render_html(whole).find("not drawn") == std::string::npos);
}

}  // namespace clprobe
