// SPDX-License-Identifier: Apache-2.0
// Writes every kernel file of clprobe with the build options that the probes' plans need on made-up
// devices, one build per line, for compile_kernels.py.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "clprobe/device_info.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/registry.hpp"

namespace clprobe {
namespace {

DeviceInfo device(DeviceType type, std::string_view isa, std::int64_t max_group) {
  DeviceInfo info;
  info.name = "a device";
  info.type = type;
  info.isa = isa;
  info.version = "OpenCL 3.0";
  info.compute_units = 16;
  info.max_work_group_size = max_group;
  info.sub_group_size = type == DeviceType::cpu ? 8 : 32;
  info.global_memory = gibibytes(160);
  info.max_allocation = gibibytes(40);
  info.local_memory = kibibytes(64);
  info.constant_buffer = kibibytes(64);
  info.cache_line = Bytes{128};
  info.image_buffer_pixels = 134217728;
  info.reported.set("double_fp_config", std::int64_t{1});
  info.reported.set("nv_compute_capability_major", std::int64_t{8});
  info.reported.set("extensions", std::string("cl_khr_int64_base_atomics"));
  info.timer = info.launch_timer = Timer::event;
  return info;
}

DeviceInfo with_clock(DeviceInfo info, ClockKind kind) {
  info.timer = Timer::clock;
  info.clock = {kind, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return info;
}

std::vector<DeviceInfo> devices() {
  const DeviceInfo gpu = device(DeviceType::gpu, "nvptx", 1024);
  const DeviceInfo cpu = device(DeviceType::cpu, "x86", 4096);
  return {gpu, with_clock(gpu, ClockKind::nvidia),
          with_clock(device(DeviceType::gpu, "spir", 256), ClockKind::intel), cpu,
          with_clock(cpu, ClockKind::cpu)};
}

/// Requests for all series and each word of each option that takes words, with little memory and
/// with much.
std::vector<Request> requests(const Probe& probe) {
  std::vector<Request> all(1);
  for (const Series& each : probe.series) all.front().series.emplace_back(each.name);
  const auto add = [&](std::string_view option, std::vector<std::string> words) {
    all.push_back(all.front());
    all.back().own.set(option, std::move(words));
  };
  for (const Option& option : probe.options) {
    if (const auto* const list = std::get_if<Choices>(&option.value)) {
      add(option.name, {list->words.begin(), list->words.end()});
    } else if (const auto* const one = std::get_if<Choice>(&option.value)) {
      for (const std::string_view word : one->words) add(option.name, {std::string(word)});
    }
  }
  std::vector<Request> large = all;
  for (Request& each : all) each.max_memory = gibibytes(1);
  for (Request& each : large) each.max_memory = gibibytes(40);
  all.insert(all.end(), large.begin(), large.end());
  all.push_back({.effort = Effort::thorough});
  return all;
}

/// The options without the digits of large numbers, such as sizes: builds that differ in these
/// alone count once.
std::string without_sizes(std::string_view options) {
  constexpr std::size_t few_digits = 2;
  std::string kept;
  for (std::size_t i = 0; i < options.size();) {
    std::size_t end = i;
    while (end < options.size() && std::isdigit(static_cast<unsigned char>(options[end])) != 0) {
      ++end;
    }
    if (end - i <= few_digits) kept += options.substr(i, std::max<std::size_t>(end - i, 1));
    i = std::max(end, i + 1);
  }
  return kept;
}

/// As compile_kernels.py reads it.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    line += letter == '\n' ? std::string("\\n") : std::string(1, letter);
  }
  return line;
}

void write_builds(const Probe& probe) {
  std::set<std::string> written;
  const auto write = [&](const KernelVariant& each) {
    if (!written.insert(without_sizes(each.options)).second) return;
    fmt::print("{}.cl\t{}\t{}\n", probe.id, each.options, on_one_line(each.preamble));
  };
  if (probe.builds == nullptr) return write({});
  for (const DeviceInfo& info : devices()) {
    for (const Request& request : requests(probe)) {
      for (const Point& point : probe.plan(info, request).points) {
        for (const KernelVariant& each : probe.builds(info, request.seed, point)) write(each);
      }
    }
  }
}

}  // namespace
}  // namespace clprobe

int main() {
  fmt::print("facts.cl\t\t\nticks.cl\t\t\n");
  for (const clprobe::Probe* const probe : clprobe::all_probes()) {
    if (probe->open != nullptr) clprobe::write_builds(*probe);
  }
  clprobe::write_builds(*clprobe::replay_probe());
  return 0;
}
