// SPDX-License-Identifier: Apache-2.0
#include "example_runs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "hidden_text.hpp"

namespace clprobe {
namespace {

// Noise that is the same everywhere: the standard's distributions differ between libraries.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  // Between 1 and 1 + `most`: noise only adds time.
  double factor(double most) {
    return 1.0 + most * static_cast<double>(next() >> 40U) / 16777216.0;
  }

 private:
  std::uint64_t state_;
};

struct Plateau {
  double time{0.0};            // cycles or ns
  double capacity_bytes{0.0};  // 0: the last one
};

// What a random chase takes on average: the share of a working set that fits hits.
double chase_time(const std::vector<Plateau>& plateaus, double working_set_bytes) {
  double time = 0.0;
  double nearer = 0.0;
  for (const Plateau& plateau : plateaus) {
    const bool is_last = plateau.capacity_bytes == 0.0;
    const double within = is_last ? 1.0 : std::min(1.0, plateau.capacity_bytes / working_set_bytes);
    time += plateau.time * (within - nearer);
    nearer = within;
  }
  return time;
}

// Four sizes in each octave, without logarithms, which differ in the last bit between machines.
std::vector<std::int64_t> sizes_between(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t octave = first; octave <= last; octave *= 2) {
    for (const std::int64_t quarters : {4, 5, 6, 7}) {
      if (octave / 4 * quarters <= last) sizes.push_back(octave / 4 * quarters);
    }
  }
  return sizes;
}

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;
constexpr double gpu_cycles_per_ns = 1.98;

Point clocked_point(const std::string& series, std::int64_t size, double cycles, Noise& noise) {
  Point point{.series = series,
              .parameters = {{"working_set_bytes", size},
                             {"step_bytes", std::int64_t{128}},
                             {"unroll", std::int64_t{16}},
                             {"address", std::string("pointer")}},
              .facts = {{"buffer_bytes", size}}};
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    Sample sample{.accesses = 65536, .witness = noise.next(), .visit = visit};
    const double ticks = 65536.0 * cycles * noise.factor(0.004);
    sample.ticks = static_cast<std::uint64_t>(ticks) + 2U;
    sample.event_ns = static_cast<std::uint64_t>(ticks / gpu_cycles_per_ns) + 6000U;
    sample.host_ns = *sample.event_ns + 9000U + (noise.next() & 1023U);
    point.samples.push_back(sample);
  }
  return point;
}

Point event_point(std::int64_t size, double ns, Noise& noise) {
  Point point{.series = "global",
              .parameters = {{"working_set_bytes", size},
                             {"step_bytes", std::int64_t{64}},
                             {"unroll", std::int64_t{16}},
                             {"address", std::string("index")}},
              .facts = {{"page_kind", std::string("huge")}}};
  for (std::uint64_t visit = 0; visit < 3; ++visit) {
    for (const std::uint64_t accesses : {100000U, 300000U}) {
      Sample sample{.accesses = accesses, .witness = noise.next(), .visit = visit};
      const double time = static_cast<double>(accesses) * ns * noise.factor(0.004);
      sample.event_ns = static_cast<std::uint64_t>(time) + 21000U;
      sample.host_ns = *sample.event_ns + 30000U;
      point.samples.push_back(sample);
    }
  }
  return point;
}

/// One level's findings, as the probe `latency` makes them.
struct FoundLevel {
  double ns{0.0};
  double cycles{0.0};  // 0: not known
  double bytes{0.0};   // 0: not reached
  std::string step{};
  std::string reason{};
};

/// What the probe declares of its findings and points.
void declare_latency(ProbeResult& result) {
  result.view.x = "working_set_bytes";
  for (Finding& finding : result.findings) {
    finding.better = usual_direction(finding.unit);
    if (finding.name == "capacity") finding.better = Better::more;
    if (finding.name == "latency" || finding.name == "capacity") finding.role = Role::headline;
  }
}

void add_levels(ProbeResult& result, const std::string& series,
                const std::vector<FoundLevel>& levels) {
  constexpr double aside = 0.004;
  int number = 0;
  for (const FoundLevel& level : levels) {
    Finding finding{.name = "latency", .series = series, .level = ++number};
    finding.method = "segmentation";
    const auto add = [&](const char* name, double value, const char* unit, double below,
                         double above) {
      finding.name = name;
      finding.value = value;
      finding.low = value * (1.0 - below);
      finding.high = value * (1.0 + above);
      finding.unit = unit;
      result.findings.push_back(finding);
    };
    add("latency", level.ns * 1e-9, "seconds", aside / 2, aside);
    if (level.cycles > 0.0) add("cycles", level.cycles, "cycles", aside / 2, aside);
    if (level.bytes > 0.0) {
      add("capacity", level.bytes, "bytes", 0.06, 0.09);
      Finding step{.name = "step", .series = series, .level = number, .label = level.step};
      step.reason = level.reason;
      step.method = "one node per page";
      result.findings.push_back(step);
    } else {
      Finding open{.name = "capacity", .series = series, .level = number, .unit = "bytes"};
      open.reason = level.reason;
      result.findings.push_back(open);
    }
  }
}

ProbeResult gpu_latency() {
  ProbeResult result{.probe = "latency", .unit = Unit::seconds};
  result.elapsed_seconds = 5.214;
  result.kernels = {{"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     "-cl-std=CL1.2 -DUNROLL=16 -DADDRESS_POINTER"}};
  Noise noise(2025);
  const std::vector<Plateau> global{
      {32.0, 192.0 * kib}, {280.6, 24.0 * mib}, {520.0, 50.0 * mib}, {905.0, 0.0}};
  for (const std::int64_t size : sizes_between(kib, 1024 * mib)) {
    const double cycles = chase_time(global, static_cast<double>(size));
    result.points.push_back(clocked_point("global", size, cycles, noise));
  }
  for (const std::int64_t pages : sizes_between(4096 * kib, 1024 * mib)) {
    if (pages % (16 * mib) == 0) {
      result.points.push_back(clocked_point("global-pages", pages, 300.0, noise));
    }
  }
  for (const std::int64_t size : sizes_between(kib, 64 * kib)) {
    const double cycles = chase_time({{34.0, 2.0 * kib}, {104.0, 0.0}}, static_cast<double>(size));
    result.points.push_back(clocked_point("constant-argument", size, 38.9, noise));
    result.points.push_back(clocked_point("constant-program", size, cycles, noise));
  }
  for (const std::int64_t size : sizes_between(kib, 48 * kib)) {
    result.points.push_back(clocked_point("local", size, 23.0, noise));
  }
  add_levels(
      result, "global",
      {{16.16, 32.0, 192.0 * kib, "cache", ""},
       {141.7, 280.6, 24.6 * mib, "cache-or-far",
        "the next level ends at about twice this size: it may be another cache, or the far half of "
        "this one; latency by working set does not tell which"},
       {262.6, 520.0, 50.2 * mib, "unknown", "the curve with one node per page is too short"},
       {457.1, 905.0, 0.0, "", "not reached: the largest size that was measured is 1 GiB"}});
  const std::string end = "not reached: the largest size that was measured is 64 KiB";
  add_levels(result, "constant-argument", {{19.6, 38.9, 0.0, "", end}});
  add_levels(result, "constant-program",
             {{17.2, 34.0, 2.0 * kib, "cache", ""}, {52.5, 104.0, 0.0, "", end}});
  add_levels(result, "local",
             {{11.6, 23.0, 0.0, "", "not reached: the largest size that was measured is 48 KiB"}});
  result.findings.push_back({.name = "latency",
                             .series = "image",
                             .method = "plan",
                             .reason = "the device has no images"});
  result.warnings = {{"clock_drift", {{"drift_share", 0.041}}}};
  declare_latency(result);
  return result;
}

Run example_run() {
  Run run;
  run.tool = {"0.1.0", "97142c5", "GCC 12.2.0, Release"};
  run.started = "2026-01-02T03:04:05Z";
  run.arguments = {"latency", "-o", "run.json"};
  run.seed = 42;
  run.host = {"Example CPU 3000", "Debian GNU/Linux 12 (bookworm)", "6.1.0", 16};
  return run;
}

}  // namespace

Run example_gpu_run() {
  Run run = example_run();
  DeviceInfo& device = run.device;
  device = {.platform_index = "0:0", .platform = "NVIDIA CUDA", .name = "NVIDIA H200"};
  device.type = DeviceType::gpu;
  device.vendor = "NVIDIA Corporation";
  device.driver = "580.159.03";
  device.version = "OpenCL 3.0 CUDA";
  device.uuid = "00112233445566778899aabbccddeeff";
  device.pci = "0000:01:00.0";
  device.isa = "nvptx";
  device.compute_units = 132;
  device.sub_group_size = 32;
  device.max_work_group_size = 1024;
  device.global_memory = Bytes{150109880320};
  device.max_allocation = Bytes{37527470080};
  device.local_memory = kibibytes(48);
  device.constant_buffer = kibibytes(64);
  device.cache_line = Bytes{128};
  device.pointers_stay_valid = true;
  device.clock = {
      ClockKind::nvidia, ClockRate::core_cycles, 2, 1, gpu_cycles_per_ns, 1.978, 1.982, 0.99999};
  device.timer = Timer::clock;
  device.reported = {{"max_clock_frequency_mhz", std::int64_t{1980}},
                     {"global_mem_cache_bytes", std::int64_t{34603008}},
                     {"extensions", std::string("cl_khr_global_int32_base_atomics cl_nv_pragma")}};
  run.results.push_back(gpu_latency());
  return run;
}

Run example_cpu_run() {
  Run run = example_run();
  DeviceInfo& device = run.device;
  device = {.index = 1, .platform_index = "1:0", .platform = "Portable Computing Language"};
  device.name = "pthread-AMD EPYC 9V74 80-Core Processor";
  device.type = DeviceType::cpu;
  device.vendor = "AuthenticAMD";
  device.driver = "3.1";
  device.version = "OpenCL 3.0 PoCL HSTR: pthread-x86_64";
  device.isa = "x86";
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.global_memory = gibibytes(6);
  device.max_allocation = gibibytes(2);
  device.local_memory = kibibytes(512);
  device.constant_buffer = kibibytes(512);
  device.cache_line = Bytes{64};
  device.timer = Timer::event;
  ProbeResult result{.probe = "latency", .unit = Unit::seconds};
  result.elapsed_seconds = 17.9;
  Noise noise(7);
  const std::vector<Plateau> global{
      {1.36, 32.0 * kib}, {4.1, 1024.0 * kib}, {16.2, 24.0 * mib}, {131.0, 0.0}};
  for (const std::int64_t size : sizes_between(kib, 512 * mib)) {
    result.points.push_back(
        event_point(size, chase_time(global, static_cast<double>(size)), noise));
  }
  const std::string end = "not reached: the largest size that was measured is 512 MiB";
  add_levels(result, "global",
             {{1.36, 0.0, 32.0 * kib, "cache", ""},
              {4.1, 0.0, 1010.0 * kib, "cache", ""},
              {16.2, 0.0, 23.4 * mib, "translation", ""},
              {131.0, 0.0, 0.0, "", end}});
  result.warnings = {
      {"small_pages", {{"page_bytes", std::int64_t{4096}}}, WarningSource::analysis},
      {"colder_than_usual", {{"room_temperature", 11.5}, {"fan", std::string("off")}}}};
  declare_latency(result);
  run.results.push_back(result);
  return run;
}

Run example_broken_run() {
  Run run = example_gpu_run();
  run.interrupted = true;
  run.device.index = 2;
  run.device.name = "Example GPU";
  run.warnings = {
      {"clock_refused",
       {{"clock", std::string("khr-device")}, {"reason", std::string("it stands still")}}}};
  ProbeResult& latency = run.results.front();
  latency.status = Status::interrupted;
  latency.reason = "stopped by the user";
  latency.findings.clear();
  latency.warnings.clear();
  latency.points.resize(24);
  latency.points[22].samples.clear();
  latency.points[22].failure = "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5) at 48 KiB";
  latency.points[23].samples.clear();
  latency.points[23].failure = latency.points[22].failure;
  ProbeResult stride{.probe = "stride", .unit = Unit::seconds};
  stride.status = Status::failed;
  stride.reason = "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): line 3: unknown type";
  ProbeResult banks{.probe = "banks", .unit = Unit::seconds};
  banks.status = Status::unobservable;
  banks.reason = "local memory is emulated in global memory";
  run.results.push_back(stride);
  run.results.push_back(banks);
  return run;
}

namespace {

/// What the probe would declare of its findings.
void declare_banks(std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 6> remarks{
      "second_best",      "bic_margin", "line_r2", "model_r2", "largest_deviation_share",
      "largest_deviation"};
  for (Finding& finding : findings) {
    finding.better = usual_direction(finding.unit);
    const bool is_remark = std::find(remarks.begin(), remarks.end(), finding.name) != remarks.end();
    if (is_remark) finding.role = Role::remark;
    if (finding.name == "banks") finding.role = Role::headline;
  }
}

}  // namespace

Run example_banks_run() {
  Run run = example_gpu_run();
  ProbeResult result{.probe = "banks", .unit = Unit::seconds};
  result.view = {.kind = ViewKind::heat_map, .x = "stride_words", .y = "word_bytes"};
  result.elapsed_seconds = 2.41;
  Noise noise(11);
  const auto ways = [](std::int64_t stride, std::int64_t word) {
    const std::int64_t together = 128 / word;
    return static_cast<double>((stride == 0 ? 1 : std::gcd(stride, together)) * word) / 4.0;
  };
  const auto add = [&](const char* series, std::int64_t stride, std::int64_t word, double cycles) {
    Point point{
        .series = series,
        .parameters = {
            {"word_bytes", word}, {"pattern", std::string("stride")}, {"stride_words", stride}}};
    Sample sample{.accesses = 65536, .witness = noise.next()};
    sample.ticks = static_cast<std::uint64_t>(65536.0 * cycles * noise.factor(0.004)) + 2U;
    sample.host_ns = *sample.ticks;
    point.samples = {sample};
    result.points.push_back(std::move(point));
  };
  for (const std::int64_t word : {4, 8, 16}) {
    for (std::int64_t stride = 0; stride <= 65; ++stride) {
      add("load-latency", stride, word, 31.8 + 2.0 * ways(stride, word));
      add("load-throughput", stride, word, 0.05 + ways(stride, word));
    }
  }
  const auto find = [&](const char* name, const char* series, double value, const char* unit,
                        double aside) {
    result.findings.push_back({.name = name,
                               .series = series,
                               .value = value,
                               .low = value * (1.0 - aside),
                               .high = value * (1.0 + aside),
                               .unit = unit,
                               .method = "made up"});
  };
  find("banks", "local memory", 32, "count", 0.0);
  find("bank_width", "local memory", 4, "bytes", 0.0);
  find("lanes_together", "local memory", 32, "count", 0.0);
  result.findings.push_back(
      {.name = "second_best", .series = "local memory", .label = "16 x 8 B, 32 lanes"});
  find("bic_margin", "local memory", 812.4, "", 0.0);
  for (const char* const series : {"load-latency 4 B", "load-throughput 4 B"}) {
    find("conflict_free", series, 33.8, "cycles", 0.004);
    find("cost_per_way", series, 2.0, "cycles", 0.011);
    find("line_r2", series, 0.9991, "", 0.0);
  }
  find("bandwidth", "load-throughput 4 B", 241.5e9, "bytes_per_second", 0.0);
  find("bytes_per_cycle", "load-throughput 4 B", 121.9, "bytes_per_cycle", 0.0);
  find("c1", "load-model", 1.013, "cycles", 0.002);
  find("c2", "load-model", 61.2, "cycles", 0.21);
  find("model_r2", "load-model", 0.99987, "", 0.0);
  find("largest_deviation", "load-model", 118.0, "cycles", 0.0);
  find("largest_deviation_share", "load-model", 0.62, "share", 0.0);
  declare_banks(result.findings);
  run.results = {result};
  return run;
}

Run example_hostile_run() {
  Run run = example_broken_run();
  run.interrupted = false;
  run.results.resize(1);
  ProbeResult& latency = run.results.front();
  latency.status = Status::ok;
  latency.points.resize(8);
  const std::string escape = "\x1b[31m\x1b]0;owned\x07" + all_hidden();
  run.device.name = escape + "=cmd|' /C calc'!A0, \"quoted\" | `pipe` *bold* <b> \xff\xfe 漢字 µ";
  const std::string csi{'\xC2', '\x9B'};  // C1: the same as ESC [
  const std::string right_to_left{'\xE2', '\x80', '\xAE'};
  run.device.driver = "1.0\r\n\t2" + csi + "31m" + right_to_left + "reversed";
  run.device.platform = escape;
  latency.reason = escape;
  latency.points[0].series = escape + "series,with\"all|of it";
  latency.points[1].parameters.set("page_kind", Value{escape + "@page"});
  latency.points[2].failure = escape + "\nfailed";
  latency.findings = {{.name = "lat" + escape, .series = escape, .level = 1, .label = escape},
                      {.name = "late", .series = "global", .reason = escape}};
  latency.warnings = {{"odd" + escape, {{"fact" + escape, Value{escape}}}}};
  return run;
}

namespace {

std::uint64_t scaled(std::uint64_t time, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(time) * factor);
}

/// Where a level of `global` ends; far away where that was not reached.
double end_of(const ProbeResult& latency, int level) {
  for (const Finding& each : latency.findings) {
    const bool is_end = each.series == "global" && each.name == "capacity" && each.level == level;
    if (is_end && each.value) return *each.value;
  }
  return level < 1 ? 0.0 : HUGE_VAL;
}

}  // namespace

void slow_level(ProbeResult& latency, int level, double factor) {
  const double from = end_of(latency, level - 1);
  const double to = end_of(latency, level);
  for (Finding& finding : latency.findings) {
    const bool is_slower = finding.series == "global" && finding.level == level && finding.value;
    if (!is_slower || finding.unit == "bytes") continue;
    finding.value = *finding.value * factor;
    finding.low = *finding.low * factor;
    finding.high = *finding.high * factor;
  }
  for (Point& point : latency.points) {
    const auto size = static_cast<double>(point.parameters.integer_or("working_set_bytes", 0));
    if (point.series != "global" || size <= from || size > to) continue;
    for (Sample& sample : point.samples) {
      sample.host_ns = scaled(sample.host_ns, factor);
      if (sample.event_ns) sample.event_ns = scaled(*sample.event_ns, factor);
      if (sample.ticks) sample.ticks = scaled(*sample.ticks, factor);
    }
  }
}

}  // namespace clprobe
