// SPDX-License-Identifier: Apache-2.0
#include "measure/worker/protocol.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <string_view>

#include "measure/device/driver_words.hpp"
#include "measure/worker/drivers.hpp"
#include "run/api/json.hpp"

namespace clprobe {

using json::Json;

ChildLost broken_answer(const std::exception& error) {
  return ChildLost(fmt::format("the driver's process sent an invalid response: {}",
                               clean_driver_words(error.what())));
}

Json answer_of(const std::string& line) {
  Json answer = reading([&] { return json::parse(line); });
  const auto text_of = [&](const char* key) {
    return clean_driver_words(reading([&] { return answer.at(key).get<std::string>(); }));
  };
  if (answer.contains("unsupported")) throw Unsupported(text_of("unsupported"));
  if (answer.contains("voided")) throw VoidedPoint(text_of("voided"));
  if (answer.contains("error")) throw DeviceError(text_of("error"));
  return answer;
}

Json request(ChildProcess& child, const Json& question, const WorkerSettings& settings) {
  return answer_of(child.ask(json::one_line(question), settings.timeout, settings.cancelled));
}

std::unique_ptr<ChildProcess> start_child(const WorkerSettings& settings) {
  return std::make_unique<ChildProcess>(settings.drivers ? settings.drivers->path() : "",
                                        settings.environment);
}

Json opening(int device_index, const WorkerSettings& settings) {
  return {{"do", "open"},
          {"device", device_index},
          {"seed", settings.seed},
          {"keeps_memory", settings.keeps_memory}};
}

Json reopening(const DeviceInfo& device, const WorkerSettings& settings) {
  Json question = opening(device.index, settings);
  question["known"] = json::encode(device);
  return question;
}

Json encode(const Sampling& sampling) {
  return {{"timer", to_word(sampling.timer)},
          {"count", sampling.count},
          {"agree_share", sampling.agree_share},
          {"has_partners", sampling.has_partners}};
}

Sampling decode_sampling(const Json& value) {
  return {.timer = from_word<Timer>(value.at("timer").get<std::string>()).value_or(Timer::host),
          .count = value.at("count").get<int>(),
          .agree_share = value.at("agree_share").get<double>(),
          .has_partners = value.at("has_partners").get<bool>()};
}

std::size_t builder_count(const DeviceInfo& device, std::size_t host_cores) {
  constexpr std::size_t max_builders = 8;
  constexpr std::uint64_t memory_each = gibibytes(2).count;
  if (!is_gpu(device)) return 0;
  const std::uint64_t by_memory = device.global_memory.count / memory_each;
  // Half of the cores are left to the measurement and to other processes.
  const std::uint64_t count = std::min<std::uint64_t>(host_cores / 2, by_memory);
  return std::min<std::size_t>(max_builders, count);
}

bool are_cached(const std::vector<Program>& programs,
                const std::function<double(const Program&)>& build_s) {
  constexpr double long_s = 0.05;  // the cache of NVIDIA's driver answers within 10 ms
  std::set<std::string_view> tried;
  return std::all_of(programs.begin(), programs.end(), [&](const Program& each) {
    return !tried.insert(each.file).second || build_s(each) < long_s;
  });
}

Json encode(const Program& program) {
  return {{"file", program.file},
          {"options", program.variant.options},
          {"preamble", program.variant.preamble}};
}

Builders::Builders(const DeviceInfo& device, const WorkerSettings& settings,
                   const std::vector<Program>& programs, std::size_t count) {
  for (std::size_t k = 0; k < std::min(count, programs.size()); ++k) {
    Json own_programs = Json::array();
    for (std::size_t i = k; i < programs.size(); i += count) {
      own_programs.push_back(encode(programs[i]));
    }
    const Json open = reopening(device, settings);
    const Json build = {{"do", "build"}, {"programs", std::move(own_programs)}};
    try {
      children_.push_back(start_child(settings));
      children_.back()->tell_last(json::one_line(open) + "\n" + json::one_line(build),
                                  settings.timeout, settings.cancelled);
    } catch (const ChildLost&) {
      return;  // builders that were already started are enough
    }
  }
}

}  // namespace clprobe
