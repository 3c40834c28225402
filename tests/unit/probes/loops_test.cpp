// SPDX-License-Identifier: Apache-2.0
// No loop of any kernel is longer than every driver makes it: llvmpipe ends all loops of a
// work-item after 65,535 turns in all, and what stands behind them never happens. Told by what each
// probe plans and by what it says of its launches, without a device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clprobe/embedded.hpp"
#include "clprobe/registry.hpp"
#include "probes/shared/launch_size.hpp"
#include "probes/stride/stride.hpp"

namespace clprobe {
namespace {

constexpr std::uint64_t turns_of_llvmpipe = 65535;

DeviceInfo device(DeviceType type, std::int64_t units) {
  DeviceInfo info;
  info.name = "a device";
  info.type = type;
  info.isa = "spir";
  info.compute_units = units;
  info.max_work_group_size = type == DeviceType::cpu ? 4096 : 1024;
  info.sub_group_size = type == DeviceType::cpu ? 8 : 32;
  info.global_memory = gibibytes(32);
  info.max_allocation = gibibytes(8);
  info.local_memory = kibibytes(512);
  info.constant_buffer = kibibytes(64);
  info.cache_line = Bytes{64};
  info.image_buffer_pixels = 134217728;
  info.timer = info.launch_timer = Timer::event;
  return info;
}

DeviceInfo with_clock(DeviceInfo info) {
  info.timer = Timer::clock;
  info.clock = {ClockKind::intel, ClockRate::core_cycles, 0, 1, 2.0, 2.0, 2.0, 1.0};
  return info;
}

/// As llvmpipe of Mesa 22.3 says of itself.
DeviceInfo llvmpipe() {
  DeviceInfo info = device(DeviceType::cpu, 2);
  info.max_work_group_size = 1024;
  info.local_memory = kibibytes(32);
  info.cache_line = Bytes{};
  info.image_buffer_pixels = 65536;
  info.timer = info.launch_timer = Timer::host;
  return info;
}

/// All of them take SPIR, as drivers do that may end loops.
std::vector<DeviceInfo> devices() {
  const DeviceInfo gpu = device(DeviceType::gpu, 96);
  return {device(DeviceType::cpu, 1),
          device(DeviceType::cpu, 2),
          device(DeviceType::cpu, 64),
          with_clock(device(DeviceType::cpu, 2)),
          llvmpipe(),
          device(DeviceType::gpu, 1),
          gpu,
          with_clock(gpu)};
}

/// All words of each option that takes a list of words: operations, cases, forms of addresses.
Request request_for_all(const Probe& probe) {
  Request request;
  for (const Option& option : probe.options) {
    const auto* const choices = std::get_if<Choices>(&option.value);
    if (choices == nullptr) continue;
    request.own.set(option.name,
                    std::vector<std::string>(choices->words.begin(), choices->words.end()));
  }
  return request;
}

std::vector<Request> requests(const Probe& probe) {
  std::vector<Request> all{request_for_all(probe)};
  for (const Effort effort : {Effort::quick, Effort::normal, Effort::thorough}) {
    for (const Bytes max_memory : {Bytes{}, mebibytes(8), gibibytes(4)}) {
      Request request;
      request.effort = effort;
      request.max_memory = max_memory;
      all.push_back(request);
    }
  }
  return all;
}

/// The names of the kernels in a probe's file.
std::set<std::string> kernels_in(std::string_view id) {
  const std::string text = kernel_source(std::string(id) + ".cl", "");
  const std::regex kernel(R"(\bkernel\s+void\s+(\w+))");
  std::set<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), kernel), end; each != end; ++each) {
    // Not those of the headers before it, which all files share.
    if ((*each)[1].str().starts_with(id)) names.insert((*each)[1].str());
  }
  return names;
}

}  // namespace

TEST_CASE("no kernel of any plan has more turns than every driver makes") {
  for (const Probe* const probe : all_probes()) {
    if (probe->open == nullptr) continue;
    CAPTURE(probe->id);
    const bool says_loops = probe->loops != nullptr;
    REQUIRE(says_loops);
    std::set<std::string> declared;
    std::uint64_t points = 0;
    for (const DeviceInfo& info : devices()) {
      for (const Request& request : requests(*probe)) {
        for (const Point& point : probe->plan(info, request).points) {
          ++points;
          for (const KernelLoops& each : probe->loops(info, point)) {
            declared.insert(std::string(each.kernel));
            if (each.turns.value_or(0) <= turns_of_llvmpipe) continue;
            CAPTURE(info.compute_units);
            CAPTURE(to_word(info.type));
            CAPTURE(point.series);
            CAPTURE(each.kernel);
            CHECK(each.turns.value_or(0) <= turns_of_llvmpipe);
          }
        }
      }
    }
    CHECK(points > 100);
    // Whatever kernel there is has been looked at.
    const std::set<std::string> there = kernels_in(probe->id);
    CHECK_FALSE(there.empty());
    CHECK(declared == there);
  }
}

TEST_CASE("only the search of stalls and the streams of inflight have loops without a bound") {
  std::set<std::string> without;
  for (const Probe* const probe : all_probes()) {
    if (probe->loops == nullptr) continue;
    for (const DeviceInfo& info : devices()) {
      for (const Point& point : probe->plan(info, {}).points) {
        for (const KernelLoops& each : probe->loops(info, point)) {
          if (!each.turns) without.insert(std::string(each.kernel));
        }
      }
    }
  }
  CHECK(without == std::set<std::string>{"inflight_loaded", "stalls_search"});
}

TEST_CASE("a launch over memory of any size has enough work-items, on any device") {
  for (DeviceInfo info : devices()) {
    for (const char* const isa : {"spir", "nvptx", "x86"}) {
      info.isa = isa;
      for (std::uint64_t places = 1; places <= std::uint64_t{1} << 36U; places *= 2) {
        CAPTURE(places);
        for (const std::uint64_t near : {places, places + 1}) {
          const LaunchSize size = spread_over(info, near);
          CHECK(turns_over(size, near) <= turns_of_llvmpipe);
          CHECK(size.items % size.group == 0);
        }
      }
    }
  }
}

TEST_CASE("work-items that fill and check strides end their loops, whatever the pattern") {
  for (const bool is_cpu : {false, true}) {
    for (std::uint64_t words = 16; words <= std::uint64_t{1} << 32U; words *= 2) {
      for (std::uint64_t block = 1; block <= words; block *= 2) {
        const stride::Walk walk = stride::Walk::over({words, 0, block, 2 * block}, is_cpu);
        CAPTURE(words);
        CAPTURE(block);
        CHECK(walk.turns() <= turns_of_llvmpipe);
        CHECK(walk.walkers() * walk.each * walk.blocks_each >= words);
      }
    }
  }
}

}  // namespace clprobe
