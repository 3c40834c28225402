// SPDX-License-Identifier: Apache-2.0
// Opens bundles, builds their programs, and prepares their points. Uses OpenCL.
#include "probes/kernel/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "measure/api/device.hpp"
#include "probes/kernel/kernel.hpp"
#include "profile/api/bundle.hpp"
#include "profile/api/prelude.hpp"
#include "text/api/secrets.hpp"
#include "text/api/text.hpp"

namespace clprobe::kernel {
namespace {

/// Returns the number of bytes to access to replace the contents of all caches: four times the last
/// cache, but at most 512 MiB or the device's maximum allocation. The last cache counts as at least
/// 64 MiB on GPUs and 8 MiB on CPUs, because drivers may report another cache. NVIDIA's driver
/// reports 4 MiB on an H100 with 50 MiB of L2.
std::uint64_t flush_bytes(const DeviceInfo& device, std::uint64_t last_cache) {
  constexpr std::uint64_t times = 4;
  const Bytes usual = is_gpu(device) ? mebibytes(64) : mebibytes(8);
  const std::uint64_t cache = std::max({last_cache, reported_cache(device).count, usual.count});
  const std::uint64_t most = std::min(mebibytes(512).count, device.max_allocation.count);
  return std::min(times * cache, std::max(most, mebibytes(1).count));
}

std::int64_t parts_of(double share) { return std::llround(share * static_cast<double>(million)); }

void set_facts(const bundle::Bundle& bundle, const Outcome& outcome, Parameters& facts) {
  const bundle::Launch& launch = bundle.launch;
  if (bundle.has_other_text) facts.set(other_text_fact, std::int64_t{1});
  facts.set(deterministic_fact, std::int64_t{outcome.is_deterministic ? 1 : 0});
  if (!outcome.is_deterministic) facts.set(differing_fact, parts_of(outcome.differing_share));
  if (outcome.is_equal_to_app) {
    facts.set(equal_fact, std::int64_t{*outcome.is_equal_to_app ? 1 : 0});
  }
  if (!outcome.other_floats.empty()) facts.set(other_floats_fact, outcome.other_floats);
  if (!outcome.wrong_buffers.empty()) facts.set(wrong_buffers_fact, outcome.wrong_buffers);
  if (!launch.app_event_ns.empty()) {
    facts.set(app_ns_fact, static_cast<std::int64_t>(launch.app_event_ns.front()));
  }
  if (!launch.survey) return;
  facts.set(app_mean_ns_fact, std::int64_t{std::llround(launch.survey->mean_ns)});
  facts.set(app_share_fact, parts_of(launch.survey->share));
  facts.set(app_launches_fact, static_cast<std::int64_t>(launch.survey->launches));
}

/// Open replays, as many as fit in memory. The least recently used replay is closed first.
class Replays {
 public:
  explicit Replays(Session& session) : session_(session) {
    for (const bundle::Source& each : bundle::sources_of_environment()) {
      bundle::Bundle found = bundle::read_source(each);
      const std::string id = found.id;
      bundles_.emplace(id, std::move(found));
    }
  }

  const bundle::Bundle& bundle(const std::string& id) const {
    const auto found = bundles_.find(id);
    if (found == bundles_.end()) {
      throw DeviceError(fmt::format("the bundle {} no longer exists", id));
    }
    return found->second;
  }

  /// Returns the replay of a bundle; opens it if necessary. `last_cache`: in bytes; 0 if unknown.
  std::shared_ptr<Replay> replay(const std::string& id, std::uint64_t last_cache) {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const auto& each) { return each.first == id; });
    if (found != open_.end()) {
      open_.splice(open_.end(), open_, found);
      return found->second;
    }
    const std::uint64_t bytes = flush_bytes(session_.info(), last_cache);
    make_room(bundle(id), bytes);
    open_.emplace_back(id, std::make_shared<Replay>(session_, bundle(id), bytes));
    return open_.back().second;
  }

 private:
  /// Closes replays to make room for `next`. Throws Unsupported if `next` alone exceeds the memory.
  void make_room(const bundle::Bundle& next, std::uint64_t flushed) {
    const std::uint64_t needed = flushed + 2 * bundle::object_bytes(next.launch);
    const std::uint64_t allowed = session_.info().global_memory.count / 2;
    const auto held = [&] {
      std::uint64_t bytes = 0;
      for (const auto& [id, replay] : open_) bytes += replay->held_bytes();
      return bytes;
    };
    while (!open_.empty() && held() + needed > allowed) open_.pop_front();
    const std::uint64_t there = session_.info().global_memory.count;
    if (needed <= there) return;
    throw Unsupported(
        fmt::format("the kernel's buffers and their copies need {}, but the device has only {}",
                    format_bytes({needed}), format_bytes({there})));
  }

  Session& session_;
  std::map<std::string, bundle::Bundle, std::less<>> bundles_{};
  std::list<std::pair<std::string, std::shared_ptr<Replay>>> open_{};
};

Work prepare(Replays& replays, const Point& point) {
  const auto shape = shape_of<Shape>(point);
  const std::int64_t last_cache = point.facts.integer_or(last_cache_fact, 0);
  const std::shared_ptr<Replay> replay = replays.replay(
      shape.bundle, static_cast<std::uint64_t>(std::max<std::int64_t>(0, last_cache)));
  Work work;
  work.max_iterations = 1;
  work.facts = replay->prepare(shape);
  set_facts(replays.bundle(shape.bundle), replay->outcome(), work.facts);
  work.build = replay->build(shape);
  work.run = [replay, shape](std::uint64_t) {
    const LaunchTimes times = replay->run(shape);
    Measurement measurement;
    measurement.sample.accesses = 1;
    measurement.sample.event_ns = times.event_ns;
    measurement.sample.host_ns = times.host_ns;
    return measurement;
  };
  return work;
}

/// Returns a program that is not yet built. Throws DeviceError if the device does not take the
/// form.
cl::Program program_of(const Session& session, const std::string& text, bundle::Form form) {
  try {
    if (form == bundle::Form::spirv) {
      return cl::Program(session.context(), std::vector<char>(text.begin(), text.end()));
    }
    if (form == bundle::Form::binary) {
      return cl::Program(session.context(), {session.device()},
                         cl::Program::Binaries{{text.begin(), text.end()}});
    }
    return cl::Program(session.context(), text);
  } catch (const cl::Error& error) {
    throw DeviceError(fmt::format("the device rejects the program ({}): {}", bundle::to_word(form),
                                  describe(error)));
  }
}

/// Builds a text or, if not `is_whole`, only compiles the text, to be linked later. Throws
/// DeviceError with the first line of the build log.
cl::Program build_text(const Session& session, const std::string& text, bundle::Form form,
                       const std::string& options, bool is_whole) {
  cl::Program program = program_of(session, text, form);
  try {
    if (is_whole) {
      program.build(session.device(), options.c_str());
    } else {
      program.compile(options.c_str());
    }
  } catch (const cl::Error& error) {
    std::string log;
    program.getBuildInfo(session.device(), CL_PROGRAM_BUILD_LOG, &log);
    throw DeviceError(fmt::format("the program does not build on this device: {}: {}",
                                  describe(error), first_error_line(log)));
  }
  return program;
}

/// Returns the options without words that contain a path. Options that name include folders were
/// removed earlier.
std::string without_paths(const std::string& options) {
  std::istringstream words(options);
  std::string kept;
  for (std::string word; words >> word;) {
    if (word.find('/') == std::string::npos) kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

}  // namespace

Preparer open(Session& session) {
  try {
    auto replays = std::make_shared<Replays>(session);
    return [replays](const Point& point) { return prepare(*replays, point); };
  } catch (const bundle::FormatError& error) {
    throw DeviceError(error.what());
  }
}

cl::Program build_program(const Session& session, const bundle::Bundle& bundle,
                          const std::string& preamble) {
  const bundle::Program& made = bundle.launch.program;
  const bool is_whole = made.units.size() == 1 && made.link_options.empty();
  std::vector<cl::Program> units;
  units.reserve(made.units.size());
  for (std::size_t i = 0; i < made.units.size(); ++i) {
    const bundle::Form form = made.units[i].form;
    const std::string text =
        form == bundle::Form::text ? preamble + bundle.texts[i] : bundle.texts[i];
    units.push_back(build_text(session, text, form, bundle.options[i], is_whole));
  }
  if (is_whole) return units.front();
  try {
    return cl::linkProgram(units, includes::without_folders(made.link_options).c_str());
  } catch (const cl::Error& error) {
    throw DeviceError(fmt::format("the program does not link on this device: {}", describe(error)));
  }
}

std::string ptx_of(const cl::Kernel& kernel) {
  const auto binaries = kernel.getInfo<CL_KERNEL_PROGRAM>().getInfo<CL_PROGRAM_BINARIES>();
  if (binaries.empty()) return {};
  std::string text(binaries.front().begin(), binaries.front().end());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return ptx::is_ptx(text) ? text : std::string();
}

cl::Program build_ptx(const Session& session, const std::string& ptx, const std::string& options) {
  // Only the options of the assembler apply.
  std::string kept;
  std::istringstream words(options);
  bool takes_value = false;  // "-cl-nv-maxrregcount 32"
  for (std::string word; words >> word;) {
    const bool is_value = takes_value && !word.starts_with('-');
    takes_value = word.starts_with("-cl-nv-");
    if (takes_value || is_value || word == "-cl-opt-disable") kept += word + " ";
  }
  cl::Program program;
  try {
    program = cl::Program(session.context(), {session.device()},
                          cl::Program::Binaries{{ptx.begin(), ptx.end()}});
    program.build(session.device(), kept.c_str());
  } catch (const cl::Error& error) {
    std::string log;
    if (program() != nullptr) program.getBuildInfo(session.device(), CL_PROGRAM_BUILD_LOG, &log);
    throw DeviceError(fmt::format("the driver refuses the rewritten kernel: {}: {}",
                                  describe(error), first_error_line(log)));
  }
  return program;
}

bundle::Bundle without_redefinitions(const bundle::Bundle& bundle) {
  bundle::Bundle same = bundle;
  for (std::string& each : same.texts) each = prelude::without_redefinitions(each);
  return same;
}

KernelBuild build_of(const bundle::Bundle& bundle) {
  std::string all;
  std::string options;
  for (std::size_t i = 0; i < bundle.texts.size(); ++i) {
    all += bundle.texts[i];
    const std::string own = options_without_secrets(without_paths(bundle.options[i]));
    options += (options.empty() || own.empty() ? "" : " ") + own;
  }
  return {bundle::sha256_of(all), options};
}

}  // namespace clprobe::kernel
