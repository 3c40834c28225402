// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/flags.hpp"
#include "app/cli/options.hpp"
#include "app/cli/values.hpp"
#include "clprobe/registry.hpp"
#include "unit/example_probes.hpp"

namespace clprobe::cli {
namespace {

using Words = std::vector<std::string>;

Options parsed(const Words& arguments) { return parse(arguments, example::probes()); }

/// What was typed for one of the example probes.
const ProbeOptions& asked(const Options& options, std::string_view probe) {
  const auto found = options.of_probe.find(probe);
  REQUIRE(found != options.of_probe.end());
  return found->second;
}

/// Formats as messages list them.
std::string names_of(bool (*has)(const Writer&)) { return join_choices(format_names(has)); }

/// File extensions as messages list them.
std::string endings() {
  std::vector<std::string_view> all;
  for (const Writer* const each : writers()) {
    if (each->ending.starts_with('.')) all.push_back(each->ending);
  }
  return join_choices(all);
}

/// The message of the usage error, or nothing when there was none.
std::string message_of(const Words& arguments) {
  try {
    parsed(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

struct Refused {
  Words arguments;
  std::string message;
};

void check_refused(const std::vector<Refused>& cases) {
  for (const Refused& each : cases) CHECK(message_of(each.arguments) == each.message);
}

}  // namespace

TEST_CASE("a share is up to 100 %, and a number that is written twice counts once") {
  CHECK(parse_share("100%") == 1.0);
  CHECK(parse_share("0.5 %") == doctest::Approx(0.005));
  CHECK_THROWS_AS(parse_share("100.5%"), UsageError);
  CHECK_THROWS_AS(parse_share("3"), UsageError);
  CHECK(parse_wholes("1-3,2-4,1", 1, 9) == std::vector{1, 2, 3, 4});
  CHECK(parse_count("64K") == 65536);
  CHECK(parse_count("2^16") == 65536);
  CHECK_THROWS_AS(parse_count("64KiB"), UsageError);
}

TEST_CASE("nothing typed: measure all probes, a table on stdout") {
  const Options options = parsed({});
  CHECK(options.command == Command::measure);
  CHECK(options.words.empty());
  CHECK(options.outputs.empty());
  CHECK(options.format == find_writer("table"));
  CHECK(options.of_probe.empty());
  CHECK(options.max_memory == Bytes{});
  CHECK(options.effort == Effort::normal);
  CHECK(options.seed == 42);
  CHECK_FALSE(options.time_budget.has_value());
}

TEST_CASE("probes and flags in any order") {
  const Options options =
      parsed({"latency", "--device=0:1", "-v", "bandwidth", "latency", "--seed", "7", "--dry-run"});
  CHECK(options.words == Words{"latency", "bandwidth"});
  CHECK(options.device == "0:1");
  CHECK(options.verbosity == 1);
  CHECK(options.seed == 7);
  CHECK(options.dry_run);
  CHECK(parsed({"-dH200,all", "-q"}).device == "H200,all");
  CHECK(parsed({"-qd", "1"}).device == "1");
  CHECK(parsed({"--seed", "18446744073709551615"}).seed == 18446744073709551615U);
  CHECK(parsed({"--", "latency"}).words == Words{"latency"});
  // Between files of `compare` it parts two sides, and options may follow.
  const Options sides = parsed({"compare", "a", "b", "--", "c", "--fail-on", "worse"});
  CHECK(sides.words == Words{"a", "b", "c"});
  CHECK(sides.first_side == 2);
  CHECK(sides.fail_on == FailOn::worse);
  CHECK(parsed({"compare", "a", "--", "b", "--", "--c"}).words == Words{"a", "b", "--c"});
  CHECK(parsed({"compare", "--", "--a", "b"}).words == Words{"--a", "b"});
  CHECK(parsed({"compare", "--", "--a", "b"}).first_side == 0);
}

TEST_CASE("commands and their words") {
  CHECK(parsed({"list"}).command == Command::list);
  CHECK(parsed({"list"}).words.empty());
  CHECK(parsed({"--json", "list"}).command == Command::list);
  CHECK(parsed({"explain", "latency"}).words == Words{"latency"});
  CHECK(parsed({"version"}).command == Command::version);
  CHECK(parsed({"help"}).command == Command::help);
  CHECK(parsed({"help"}).words.empty());
  CHECK(parsed({"help", "report"}).words == Words{"report"});
  CHECK(parsed({"report", "a.json", "--help"}).words == Words{"report"});
  CHECK(parsed({"help", "latency", "latency"}).words == Words{"latency"});
  CHECK(parsed({"explain"}).words.empty());
  CHECK(parsed({"explain", "cache", "or", "far"}).words == Words{"cache or far"});
  CHECK(parsed({"explain", "latency", "--full"}).full);
  const Options report = parsed({"report", "a,b.json", "b.json", "a,b.json", "-f", "markdown"});
  CHECK(report.command == Command::report);
  CHECK(report.words == Words{"a,b.json", "b.json", "a,b.json"});
  CHECK(report.shown_probes.empty());
  const Options part =
      parsed({"report", "a.json", "latency", "./latency", "--series", "global,local"});
  CHECK(part.words == Words{"a.json", "./latency"});
  CHECK(part.shown_probes == Words{"latency"});
  CHECK(part.series == "global,local");
  const Options sides = parsed({"compare", "latency", "a", "b", "--", "c", "bandwidth"});
  CHECK(sides.words == Words{"a", "b", "c"});
  CHECK(sides.first_side == 2);
  CHECK(sides.shown_probes == Words{"latency", "bandwidth"});
  CHECK(parsed({"report", "-"}).words == Words{"-"});
  CHECK(parsed({"describe", "-d", "1", "--quick"}).words.empty());
  CHECK(parsed({"describe", "a.json", "./latency", "-o", "b.txt"}).words ==
        Words{"a.json", "./latency"});
  CHECK(parsed({"--generate", "zsh"}).command == Command::generate);
  CHECK(parsed({"--generate", "zsh"}).words == Words{"zsh"});
  CHECK(parsed({"--worker", "1"}).command == Command::worker);
  CHECK(parsed({"--worker", "1"}).words == Words{"1"});
  CHECK(parsed({"nonsense", "--version"}).command == Command::version);
  CHECK(parsed({"--version", "-h", "--version", "--generate", "man"}).command == Command::help);
  CHECK(parsed({"list", "--help"}).words == Words{"list"});
}

TEST_CASE("sizes") {
  const auto sizes = [](const std::string& text) {
    return asked(parsed({"latency", "--sizes", text}), "latency").own.sizes("sizes");
  };
  CHECK(sizes("64KiB") == std::vector{SizeRange{kibibytes(64), kibibytes(64), 0.0}});
  CHECK(sizes("1K-1G") == std::vector{SizeRange{kibibytes(1), gibibytes(1), 0.0}});
  CHECK(sizes("1KiB-1GiB*1.5") == std::vector{SizeRange{kibibytes(1), gibibytes(1), 1.5}});
  CHECK(sizes("4096,1MiB-1MiB*2") == std::vector{SizeRange{Bytes{4096}, Bytes{4096}, 0.0},
                                                 SizeRange{mebibytes(1), mebibytes(1), 2.0}});
}

TEST_CASE("values of every kind") {
  const Options options = parsed({"latency", "--series", "global,local,global", "--step", "128",
                                  "--unroll", "64", "--address", "offset", "bandwidth", "--grid",
                                  "2^20", "--operation", "copy,read,copy", "--loads", "1-3,8,2"});
  const ProbeOptions& latency = asked(options, "latency");
  CHECK(latency.series == Words{"global", "local"});
  CHECK(latency.own.size("step") == Bytes{128});
  CHECK(latency.own.number("unroll") == 64U);
  CHECK(latency.own.word("address") == "offset");
  CHECK_FALSE(latency.own.has("sizes"));
  CHECK(latency.own.sizes("sizes").empty());
  const ProbeOptions& bandwidth = asked(options, "bandwidth");
  CHECK(bandwidth.own.number("grid") == 1U << 20U);
  CHECK(bandwidth.own.words("operation") == Words{"copy", "read"});
  CHECK(bandwidth.own.numbers("loads") == std::vector{1, 2, 3, 8});
  CHECK(bandwidth.series.empty());
}

TEST_CASE("the global values") {
  const Options options = parsed({"--max-memory", "2GiB", "--time-budget", "2min", "--thorough"});
  CHECK(options.max_memory == gibibytes(2));
  CHECK(options.effort == Effort::thorough);
  CHECK(options.time_budget->count() == 120.0);
  CHECK(parsed({"--time-budget", "500ms"}).time_budget->count() == 0.5);
  CHECK(parsed({"--time-budget", "1.5h"}).time_budget->count() == 5400.0);
  CHECK(parsed({"--quick", "--quick"}).effort == Effort::quick);
  CHECK(parsed({"--color", "never"}).colour == ColourMode::never);
}

TEST_CASE("units and the clock of what is imported") {
  const auto hertz = [](const char* rate) {
    return parsed({"import", "a.txt", "--clock-rate", rate}).clock_hertz;
  };
  CHECK(parsed({"import", "a.txt"}).clock_hertz == 0.0);
  CHECK(hertz("1.98GHz") == doctest::Approx(1.98e9));
  CHECK(hertz("1980 MHz") == doctest::Approx(1.98e9));
  CHECK(hertz("1kHz") == 1e3);
  CHECK(hertz("1000GHz") == 1e12);
  CHECK(hertz("1000Hz") == 1e3);
  CHECK(parsed({"import", "a.txt", "--time-unit", "cycles"}).time_unit == TimeUnit::cycles);
}

TEST_CASE("options follow their probe, and those of an only probe stand anywhere") {
  const auto grid = [](const Words& words) {
    return asked(parsed(words), "bandwidth").own.number("grid");
  };
  CHECK(grid({"bandwidth", "--grid", "64"}) == 64U);
  CHECK(grid({"--grid", "64", "bandwidth"}) == 64U);
  CHECK(grid({"--grid=64", "-v", "bandwidth", "bandwidth"}) == 64U);
  CHECK(grid({"latency", "--unroll", "2", "bandwidth", "--grid", "64"}) == 64U);
  CHECK(grid({"bandwidth", "--grid", "64", "latency", "--unroll", "2"}) == 64U);
  // A value is no word, whatever it looks like.
  CHECK(parsed({"bandwidth", "-d", "latency"}).words == Words{"bandwidth"});
  CHECK(parsed({"bandwidth", "-d", "latency"}).device == "latency");
  // A name may repeat between probes, and clprobe's own flags stand anywhere.
  const Options both = parsed({"latency", "--step", "64", "-q", "bandwidth", "--step", "20"});
  CHECK(asked(both, "latency").own.size("step") == Bytes{64});
  CHECK(asked(both, "bandwidth").own.size("step") == Bytes{20});
  CHECK(both.verbosity == -1);
  check_refused({
      {{"latency", "--grid", "64"}, "--grid belongs to bandwidth: write it after `bandwidth`"},
      {{"--grid", "64"}, "--grid belongs to bandwidth: write it after `bandwidth`"},
      {{"--grid", "64", "latency", "bandwidth"},
       "--grid belongs to bandwidth: write it after `bandwidth`"},
      {{"bandwidth", "latency", "--grid", "64"},
       "--grid belongs to bandwidth: write it after `bandwidth`"},
      {{"--step", "64"},
       "--step belongs to latency or bandwidth: write it after one of them, as in `latency`"},
      {{"latency", "--step", "64", "latency", "--step", "64"},
       "--step is given twice: leave one out"},
      {{"latency", "--fail-on", "worse"},
       "--fail-on belongs to fleet report or compare, not to measuring: leave it out"},
  });
}

TEST_CASE("every option of every probe is refused by every other one, with its owner's name") {
  for (const Probe* const owner : all_probes()) {
    const ProbeFlags own(*owner);
    for (const Probe* const other : all_probes()) {
      const ProbeFlags theirs(*other);
      for (const Option& option : own.options) {
        if (theirs.find(option.name) != nullptr) continue;
        CAPTURE(option.name);
        std::string message;
        try {
          parse({std::string(other->id), "--" + std::string(option.name), "1"}, all_probes());
        } catch (const UsageError& error) {
          message = error.what();
        }
        CHECK(message.starts_with("--" + std::string(option.name) + " belongs to "));
        CHECK(message.find(owner->id) != std::string::npos);
      }
    }
  }
}

TEST_CASE("no option of a probe has the name of a flag that measuring knows") {
  for (const Probe* const probe : all_probes()) {
    for (const Flag& flag : ProbeFlags(*probe).flags) {
      CAPTURE(flag.name);
      const Flag* const global = find_flag(flag.name);
      CHECK((global == nullptr || (global->commands & bit(Command::measure)) == 0));
      CHECK_FALSE(flag.summary.empty());
      CHECK_FALSE(flag.details.empty());
      CHECK(flag.details.back() == '.');
      CHECK(flag.summary.back() != '.');
      CHECK_FALSE(flag.value_name.empty());
      for (const std::string_view choice : flag.choices) {
        CHECK_NOTHROW(
            parse({std::string(probe->id), "--" + std::string(flag.name), std::string(choice)},
                  all_probes()));
      }
    }
  }
}

TEST_CASE("a request has the probe's own options and the global ones") {
  const Options options = parsed({"--seed", "7", "--quick", "--max-memory", "64MiB", "latency",
                                  "--series", "local", "--unroll", "2", "bandwidth"});
  const Request latency = request_for(example::latency, options);
  CHECK(latency.seed == 7);
  CHECK(latency.effort == Effort::quick);
  CHECK(latency.max_memory == mebibytes(64));
  CHECK(latency.series == Words{"local"});
  CHECK(latency.own.number("unroll") == 2U);
  const Request bandwidth = request_for(example::bandwidth, options);
  CHECK(bandwidth.seed == 7);
  CHECK(bandwidth.series.empty());
  CHECK_FALSE(bandwidth.own.has("unroll"));
}

TEST_CASE("a probe's time has a unit, or is one of milliseconds") {
  const Milliseconds spec{30, 36'000'000};
  const auto read = [&](std::string_view text) {
    return std::get<std::uint64_t>(read_value(spec, text));
  };
  CHECK(read("5s") == 5000U);
  CHECK(read("500ms") == 500U);
  CHECK(read("500") == 500U);
  CHECK(read("2min") == 120'000U);
  CHECK(read("10h") == 36'000'000U);
  CHECK(read("0.03s") == 30U);
  for (const char* const refused : {"5", "29ms", "10.1h", "s", "5 s", "5d", "-5s", ""}) {
    CAPTURE(refused);
    std::string message;
    try {
      static_cast<void>(read(refused));
    } catch (const UsageError& error) {
      message = error.what();
    }
    CHECK(message == "'" + std::string(refused) +
                         "' is not a valid time: write a time from 30ms to 10h, such as 500ms, 5s "
                         "or 2min; numbers without a unit are milliseconds");
  }
}

TEST_CASE("help of a probe") {
  CHECK(parsed({"latency", "--help"}).command == Command::help);
  CHECK(parsed({"latency", "--help"}).words == Words{"latency"});
  CHECK(parsed({"-h", "nonsense", "bandwidth"}).words == Words{"bandwidth"});
}

TEST_CASE("each output has the format of its ending, streams that of stdout") {
  const Options options =
      parsed({"-o", "a,b.json", "-oc.CSV", "--output=d/e.md", "-o", "f.txt", "-o", "-", "-o",
              "/dev/null", "-o", "/dev/shm/g.json", "-f", "csv"});
  CHECK(options.outputs ==
        std::vector{Output{"a,b.json", find_writer("json")}, Output{"c.CSV", find_writer("csv")},
                    Output{"d/e.md", find_writer("markdown")},
                    Output{"f.txt", find_writer("table")}, Output{"-", find_writer("csv")},
                    Output{"/dev/null", find_writer("csv")},
                    Output{"/dev/shm/g.json", find_writer("json")}});
  CHECK(parsed({"-o", "a.html", "-o", "latency.svg"}).outputs ==
        std::vector{Output{"a.html", find_writer("html")},
                    Output{"latency.svg", find_writer("svg")}});
  CHECK(parsed({"-f", "html"}).format == find_writer("html"));
  CHECK(parsed({"-f", "svg"}).format == find_writer("svg"));
  CHECK(parsed({"--json"}).format == find_writer("json"));
  CHECK(parsed({"--json", "-f", "json"}).format == find_writer("json"));
}

TEST_CASE("what is not known is quoted, with the nearest word and what to do") {
  check_refused({
      {{"latncy"},
       "unknown probe or command 'latncy': did you mean 'latency'? `clprobe list` shows all "
       "probes"},
      {{"ilst"},
       "unknown probe or command 'ilst': did you mean 'list'? `clprobe list` shows all probes"},
      {{"latency", "ilst"}, "unknown probe 'ilst': `clprobe list` shows all probes"},
      {{"xyzzy"}, "unknown probe or command 'xyzzy': `clprobe list` shows all probes"},
      {{""}, "unknown probe or command '': `clprobe list` shows all probes"},
      {{"latency", "list"}, "'list' is a command: write it as the first word"},
      {{"--sise", "1"},
       "unknown option '--sise': did you mean '--sizes'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"--sise=1"},
       "unknown option '--sise': did you mean '--sizes'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"-json"},
       "unknown option '-json': did you mean '--json'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"-x"}, "unknown option '-x': `clprobe help` and `clprobe help PROBE` list the options"},
      {{"-?"}, "unknown option '-?': `clprobe help` and `clprobe help PROBE` list the options"},
      {{"--j"}, "unknown option '--j': `clprobe help` and `clprobe help PROBE` list the options"},
      {{"--colour=auto"},
       "unknown option '--colour': did you mean '--color'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"-l"}, "unknown option '-l': use `clprobe list`"},
      {{"--iterations", "5"},
       "unknown option '--iterations': clprobe repeats a measurement until its interval is narrow "
       "enough; use --thorough or --time-budget TIME to measure longer"},
      {{"latency", "--size", "1MB"},
       "unknown option '--size': did you mean '--sizes'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"latency,stride"},
       "unknown probe 'latency,stride': separate probes with spaces, as in `clprobe latency "
       "stride`"},
      {{"run", "latency"}, "unknown word 'run': leave it out; `clprobe PROBE...` runs probes"},
      {{"list-devices"}, "unknown word 'list-devices': use `clprobe list`"},
      {{"--list"},
       "--list belongs to profile, not to measuring: leave it out, or use `clprobe list`"},
      {{"-f", "jsno"},
       "--format: unknown value 'jsno': did you mean 'json'? choose " +
           names_of(
               [](const Writer& each) { return each.runs != nullptr || each.fleet != nullptr; })},
      {{"latency", "--series", "global,loacl"},
       "--series: unknown value 'loacl': did you mean 'local'? choose global or local"},
      {{"--generate", "tcsh"},
       "--generate: unknown value 'tcsh': choose man, bash, zsh, fish, schema or "
       "device-schema"},
      {{"-o", "run.jsn"},
       "--output: 'run.jsn' has no known file extension: did you mean '.json'? end the name in " +
           endings()},
      {{"-o", "run"}, "--output: 'run' has no known file extension: end the name in " + endings()},
  });
}

TEST_CASE("values that cannot be meant") {
  check_refused({
      {{"latency", "--sizes", "0"},
       "--sizes: '0' is not a valid size: write a whole number of bytes above 0, such as 128, "
       "64KiB or 1GiB"},
      {{"latency", "--sizes", "1M-1K"},
       "--sizes: '1M-1K' is in descending order: write the smaller size first"},
      {{"latency", "--sizes", "1K*2"},
       "--sizes: '1K*2' has a ratio but only one size: write a range such as 1KiB-1GiB*2"},
      {{"latency", "--sizes", "1K-1M*1"},
       "--sizes: '1K-1M*1' needs a ratio above 1 after '*': write a number such as 2 or 1.2"},
      {{"latency", "--sizes", "1K-1G*1.001"},
       "--sizes: '1K-1G*1.001' has more than 1000 sizes: write a larger ratio after '*'"},
      {{"latency", "--step", "20"},
       "--step: '20' is not a multiple of 8 bytes: write a multiple such as 64"},
      {{"latency", "--unroll", "65"},
       "--unroll: '65' is out of range: write a whole number from 1 to 64"},
      {{"--time-budget", "30"},
       "--time-budget: '30' is not a valid time: write a time above 0 and up to 1000 hours, such "
       "as 500ms, 30s, 2min or 1h"},
      {{"import", "a.txt", "--clock-rate", "1.98"},
       "--clock-rate: '1.98' is not a valid clock rate: write a number with its unit, such as "
       "1.98GHz or 1980MHz"},
      {{"--device="}, "--device needs a value: write --device DEVICE"},
      {{"--device"}, "--device needs a value: write --device DEVICE"},
      {{"-o"}, "--output needs a value: write --output FILE"},
      {{"bandwidth", "--grid", "1000"}, "--grid: 1000 is not a power of two: choose 512 or 1024"},
      {{"-d", "--json"}, "--device needs a value: write --device DEVICE"},
      {{"--json=yes"}, "--json takes no value: leave out '=yes'"},
  });
  for (const char* rate : {"GHz", "0GHz", "999Hz", "1001GHz", "-1GHz", "1ghz", "1.98 Gz"}) {
    CAPTURE(rate);
    CHECK(message_of({"import", "a.txt", "--clock-rate", rate}).find("not a valid clock rate") !=
          std::string::npos);
  }
  for (const char* sizes : {",", "1K,", "-", "1K-", "-1K", "1K-2K-3K", "1K-2K*", "1K-2K*nan",
                            "1K-2K*2*2", "1K-0", "0-1K", "64Q", "1K-1M*-2", "1K-1M*inf"}) {
    CAPTURE(sizes);
    CHECK(message_of({"latency", "--sizes", sizes}).substr(0, 9) == "--sizes: ");
  }
  for (const char* time : {"", "0s", "-1s", "1", "s", "1 s", "1m", "nan", "1e9h", "5000h"}) {
    CAPTURE(time);
    CHECK_FALSE(message_of({"--time-budget=" + std::string(time)}).empty());
  }
  for (const char* number : {"", "-1", "1.5", "0x10", " 1", "18446744073709551616"}) {
    CAPTURE(number);
    CHECK_FALSE(message_of({"--seed=" + std::string(number)}).empty());
  }
}

TEST_CASE("what contradicts itself or would be ignored") {
  check_refused({
      {{"--quick", "--thorough"}, "--quick and --thorough cannot be combined: choose one"},
      {{"-q", "-v"}, "--quiet and --verbose cannot be combined: choose one"},
      {{"-vq"}, "--quiet and --verbose cannot be combined: choose one"},
      {{"--json", "-f", "csv"}, "--json and --format 'csv' cannot be combined: choose one"},
      {{"--seed", "1", "--seed", "1"}, "--seed is given twice: leave one out"},
      {{"-o", "a.json", "-o", "./a.json"}, "--output names './a.json' twice: leave one out"},
      {{"list", "latency"}, "list takes no arguments: leave out 'latency'"},
      {{"version", "latency"}, "version takes no arguments: leave out 'latency'"},
      {{"help", "--json"},
       "--json belongs to measuring, list, report, fleet report, compare, import or profile, not "
       "to help: leave "
       "it out"},
      {{"help", "latnecy"},
       "unknown probe or command 'latnecy': did you mean 'latency'? `clprobe help` lists them"},
      {{"hlep"},
       "unknown probe or command 'hlep': did you mean 'help'? `clprobe list` shows all probes"},
      {{"explain", "--full"}, "--full needs a probe: use `clprobe explain PROBE --full`"},
      {{"describe", "a.json", "--quick"},
       "--quick applies to measurements, not to files: leave out the option or the files"},
      {{"describe", "latency"},
       "describe measures with all probes: leave out 'latency', or name a saved run"},
      {{"describe", "a.json", ""},
       "describe needs files: use `clprobe describe FILE...` with JSON files saved with -o"},
      {{"report"},
       "report needs files: use `clprobe report FILE... [PROBE...]` with JSON files saved with "
       "-o"},
      {{"report", "a.json", "--sizes", "1K"}, "--sizes does not apply to report: leave it out"},
      {{"list", "-o", "a.json"},
       "--output belongs to measuring, report, describe, doctor, fleet report, compare, import or "
       "profile, not "
       "to list: "
       "leave it out"},
      {{"--generate", "man", "latency"},
       "--generate takes no further arguments: leave out 'latency'"},
      {{"--generate", "man", "--quick"},
       "--quick belongs to measuring, describe, doctor, compare --live or profile, not to "
       "--generate: "
       "leave it out"},
  });
}

TEST_CASE("flags: unique names, and a text for everything") {
  std::vector<std::string> names;
  for (const Flag& flag : all_flags()) {
    CAPTURE(flag.name);
    names.emplace_back(flag.name);
    if (flag.short_name != '\0') names.emplace_back(1, flag.short_name);
    CHECK_FALSE(flag.summary.empty());
    CHECK_FALSE(flag.details.empty());
    CHECK(flag.details.back() == '.');
    CHECK(flag.summary.back() != '.');
    CHECK(flag.commands != 0);
    CHECK(static_cast<bool>(flag.update));
    CHECK(flag.value_name.empty() == (flag.kind == ValueKind::none));
    const bool has_choices = flag.kind == ValueKind::choice || flag.kind == ValueKind::choices;
    CHECK(flag.choices.empty() != has_choices);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("every choice of every flag is accepted") {
  for (const Flag& flag : all_flags()) {
    for (const std::string_view choice : flag.choices) {
      CAPTURE(flag.name);
      Words words{"--" + std::string(flag.name), std::string(choice)};
      const Writer* const writer = flag.name == "format" ? find_writer(choice) : nullptr;
      if (writer != nullptr && writer->runs == nullptr) {
        words.insert(words.end(), {"fleet", "report", "a"});
        CHECK_NOTHROW(parsed(words));
        continue;
      }
      // With a command that knows it.
      for (const CommandRow& row : all_commands()) {
        if (row.word.empty() || (flag.commands & bit(Command::measure)) != 0) continue;
        if ((flag.commands & bit(row.command)) == 0) continue;
        std::string_view command = row.word;
        if (has_verb(row)) {
          // A condition of fleets; `compare` has others.
          const bool is_of_compare = choice == "never" || choice == "worse" || choice == "changed";
          if (is_of_compare) continue;
          words.emplace_back(first_word(row));
          command.remove_prefix(first_word(row).size() + 1);
        }
        words.insert(words.end(), {std::string(command), "a.json"});
        break;
      }
      CHECK_NOTHROW(parsed(words));
    }
  }
}

TEST_CASE("compare --live has probes and their options, and two sides") {
  const Options live = parsed({"compare", "--live", "bandwidth", "--grid", "64", "--b-env", "A=1=2",
                               "--b-env", "B=", "--a-env", "C=3", "--b-device", "1", "--runs",
                               "r.json", "--time-budget", "5s"});
  CHECK(live.command == Command::live);
  CHECK(live.words == Words{"bandwidth"});
  CHECK(asked(live, "bandwidth").own.number("grid") == 64U);
  using Variables = std::vector<std::pair<std::string, std::string>>;
  CHECK(live.environments[0] == Variables{{"C", "3"}});
  CHECK(live.environments[1] == Variables{{"A", "1=2"}, {"B", ""}});
  CHECK(live.other_device == "1");
  CHECK(live.runs_file == "r.json");
  // A first look is enough, unless more is asked for; the flag may stand anywhere.
  CHECK(live.effort == Effort::quick);
  CHECK(parsed({"--live", "compare", "--thorough"}).effort == Effort::thorough);
  CHECK(parsed({"compare", "bandwidth", "--live", "bandwidth"}).words == Words{"bandwidth"});
  CHECK(parsed({"compare", "a.json", "b.json"}).command == Command::compare);
  CHECK(parsed({"compare", "a.json", "b.json"}).effort == Effort::normal);
  check_refused({
      {{"compare", "--live", "latency", "--grid", "64"},
       "--grid belongs to bandwidth: write it after `bandwidth`"},
      {{"compare", "--live", "--b-env", "A"}, "--b-env: 'A' has no '=': write NAME=VALUE"},
      {{"compare", "--live", "--a-env", "=1"},
       "--a-env: '=1' has no name before '=': write NAME=VALUE"},
      {{"compare", "--live", "--baseline", "a.json"},
       "--baseline belongs to compare, not to compare --live: leave it out"},
      {{"compare", "a.json", "--device", "1"},
       "--device belongs to measuring, list, describe, doctor, compare --live or profile, not to "
       "compare: leave it out"},
      {{"compare", "--live", "-o", "./a.json", "--runs", "a.json"},
       "--runs and -o both name 'a.json': write the runs to another file"},
      {{"latency", "--live"}, "--live belongs to compare, not to measuring: leave it out"},
      {{"compare", "--live", "latency", "--", "bandwidth"},
       "-- does not apply to compare --live: describe side B with --b-device and --b-env"},
  });
}

TEST_CASE("profile has a program, whose words are its own") {
  for (const Words& before : {Words{"profile"}, Words{"profile", "--list"}}) {
    Words words = before;
    words.insert(words.end(), {"--", "./app", "--json", "--nosuch", "list", "--", "-x", ""});
    const Options options = parsed(words);
    CHECK(options.command == Command::profile);
    CHECK(options.app == Words{"./app", "--json", "--nosuch", "list", "--", "-x", ""});
    CHECK(options.words.empty());
    CHECK(options.format == find_writer("table"));
  }
  CHECK(parsed({"--json", "profile", "-o", "a.csv", "--", "app"}).format == find_writer("json"));
  CHECK(parsed({"profile", "-v", "--", "app"}).verbosity == 1);
  // A program may take longer words than we do.
  CHECK(parsed({"profile", "--", "app", std::string(5000, 'x')}).app[1].size() == 5000);
  const std::string how =
      "profile needs a program or a captured launch: use `clprobe profile -- PROGRAM` or "
      "`clprobe profile FOLDER`";
  const std::string either =
      "--kernel-file launches a kernel without its application: leave out the application or "
      "folder";
  const std::string compared =
      names_of([](const Writer& each) { return each.comparison != nullptr; });
  const std::string surveyed = names_of([](const Writer& each) { return each.survey != nullptr; });
  check_refused({
      {{"profile"}, how},
      {{"profile", "--list"}, how},
      {{"profile", "--"}, how},
      {{"profile", "--", ""}, how},
      {{"profile", "./app", "--fast"},
       "unknown option '--fast': `clprobe help` and `clprobe help PROBE` list the options"},
      {{"profile", "--list", "app", "--", "-x"},
       "'app' needs -- before it: use `clprobe profile -- app`"},
      {{"profile", "--list", "app"},
       "--list needs a program: use `clprobe profile --list ... -- PROGRAM`"},
      {{"profile", "--keep", "a", "b"},
       "--keep needs a program: use `clprobe profile --keep ... -- PROGRAM`"},
      {{"profile", "--kernel-file", "a.cl", "--launch", "b.json", "--", "app"}, either},
      {{"profile", "--kernel-file", "a.cl", "--launch", "b.json", "folder"}, either},
      {{"profile", "--launch", "b.json"},
       "--launch needs the kernel's source: add --kernel-file FILE.cl"},
      {{"profile", "--kernel", "sum:0", "--", "app"},
       "--kernel: '0' is not a launch number: write sum:1 for the first launch"},
      {{"profile", "--kernel", ":2", "--", "app"},
       "--kernel: the name is empty: write NAME or NAME:N"},
      {{"compare", "a.json", "b.json", "-o", "latency.svg"},
       "--output: compare writes " + compared +
           ", not svg; `clprobe report` writes this format for the same files"},
      {{"compare", "a.json", "b.json", "-f", "curves"},
       "--format: compare writes " + compared +
           ", not curves; `clprobe report` writes this format for the same files"},
      {{"profile", "--list", "-f", "html", "--", "app"},
       "--format: profile --list writes " + surveyed + ", not html"},
      {{"profile", "--list", "-o", "findings.csv", "--", "app"},
       "--output: profile --list writes " + surveyed + ", not findings"},
      {{"profile", "--list", "--levels", "l.json", "--", "app"},
       "--levels does not apply to profile --list: leave one of them out"},
      {{"profile", "--max-memory", "1G", "--", "app"},
       "--max-memory belongs to measuring, describe, doctor or compare --live, not to profile: "
       "leave it "
       "out"},
      {{"profile", "--sizes", "4K", "--", "app"},
       "--sizes does not apply to profile: leave it out"},
      {{"profile", "--lsit", "--", "app"},
       "unknown option '--lsit': did you mean '--list'? `clprobe help` and `clprobe help PROBE` "
       "list the options"},
      {{"report", "a.json", "--list"},
       "--list belongs to profile, not to report: leave it out, or use `clprobe list`"},
  });
  CHECK(message_of({std::string(5000, 'x'), "profile", "--", "app"}).find("has 5000 bytes") !=
        std::string::npos);
}

TEST_CASE("profile has bundles, or a kernel without a program, in their place") {
  CHECK(parsed({"profile", "a", "b/c"}).words == Words{"a", "b/c"});
  const Options kernel = parsed({"profile", "--kernel-file", "k.cl", "--launch", "k.json"});
  CHECK(kernel.kernel_file == "k.cl");
  CHECK(kernel.launch_file == "k.json");
  CHECK(parsed({"profile", "--levels", "l.json", "a"}).levels_file == "l.json");
  const Options named =
      parsed({"profile", "--kernel", "sum:7", "--keep", "here", "-d", "0", "-q", "--", "app"});
  CHECK(named.kernel == "sum");
  CHECK(named.kernel_launch == 7);
  CHECK(named.keep_folder == "here");
  CHECK(named.device == "0");
  CHECK(parsed({"profile", "--kernel", "sum", "--", "app"}).kernel_launch == 0);
  CHECK(parsed({"profile", "-f", "html", "--", "app"}).format == find_writer("html"));
}

TEST_CASE("words as long as an attacker likes") {
  for (const std::size_t size : {100U, 4096U, 4097U, 1000000U}) {
    for (const char* start : {"--", "--device=", "-d", "-", "", "--grid="}) {
      const std::string message = message_of({std::string(start) + std::string(size, 'x')});
      CHECK(message.size() < 400);
    }
  }
}

}  // namespace clprobe::cli
