// SPDX-License-Identifier: Apache-2.0
// The child process's implementation of the protocol (protocol.hpp).
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/api/estimate.hpp"
#include "clprobe/registry.hpp"
#include "measure/api/device.hpp"
#include "measure/api/worker.hpp"
#include "measure/device/driver_words.hpp"
#include "measure/engine/sampler.hpp"
#include "measure/worker/child_process.hpp"
#include "measure/worker/drivers.hpp"
#include "measure/worker/protocol.hpp"
#include "run/api/json.hpp"
#include "system/api/host.hpp"

namespace clprobe {
namespace {

using json::Json;

/// Loads each registered driver, and returns why it offers no platform. OpenCL loaders do not
/// report drivers that they cannot open.
Json unloadable_drivers() {
  Json problems = Json::array();
  for (const Driver& each : registered_drivers(LoaderVariables::of_environment())) {
    const bool is_loaded = dlopen(each.library.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
    const char* const reason = is_loaded ? nullptr : dlerror();
    problems.push_back({{"platform", each.file},
                        {"problem", reason == nullptr ? "the driver offers no platform" : reason}});
  }
  return problems;
}

/// Adds the limits of a GPU that OpenCL does not report: memory interface, and link to the host.
void add_limits(DeviceInfo& info) {
  if (!is_gpu(info)) return;
  const system::DeviceLimits limits =
      system::read_device_limits({.uuid = info.uuid, .pci = info.pci});
  if (limits.memory_bus_bits != 0 && limits.memory_clock_mhz != 0) {
    info.reported.set("memory_bus_bits", std::int64_t{limits.memory_bus_bits});
    info.reported.set("max_memory_clock_mhz", std::int64_t{limits.memory_clock_mhz});
  }
  if (!limits.read_link) return;
  info.reported.set("max_link", system::link_text(*limits.max_link));
  // The first child opens the device before any launch or transfer.
  if (const auto idle = limits.read_link()) {
    info.reported.set("idle_link", system::link_text(*idle));
  }
}

/// Returns true if the speed of the launching thread is part of the point's time. This holds for
/// GPUs whose launches the host times. On a CPU, the driver's threads execute the kernel.
bool is_timed_with_host(const Point& point, const DeviceInfo& device) {
  const Timer timer = timer_of(point, device);
  return is_gpu(device) && (timer == Timer::wait || timer == Timer::host);
}

void send(const Json& line) {
  const std::string text = json::one_line(line) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = write(worker_channel, text.data() + sent, text.size() - sent);
    if (count <= 0) _exit(1);  // the parent has ended
    sent += static_cast<std::size_t>(count);
  }
}

/// Server of requests, with at most one open device and one point to sample.
class Server {
 public:
  /// Returns the answer to a request. Errors of drivers become {"error": "..."}, unsupported points
  /// {"unsupported": "..."}, and wrong results {"voided": "..."}.
  Json answer(const Json& request) {
    try {
      return answer_or_throw(request);
    } catch (const Unsupported& refusal) {
      return {{"unsupported", refusal.what()}};
    } catch (const VoidedPoint& error) {
      return {{"voided", error.what()}};
    } catch (const cl::Error& error) {
      return {{"error", describe(error)}};
    } catch (const std::exception& error) {
      return {{"error", error.what()}};
    }
  }

 private:
  Json answer_or_throw(const Json& request) {
    struct Handler {
      std::string_view word;
      Json (Server::*handle)(const Json&);
    };
    constexpr std::array handlers{
        Handler{"list", &Server::list},
        Handler{"open", &Server::open},
        Handler{"try-clock", &Server::try_a_clock},
        Handler{"try-events", &Server::try_the_events},
        Handler{"try-pointers", &Server::try_the_pointers},
        Handler{"calibrate", &Server::calibrate},
        Handler{"build", &Server::build},
        Handler{"prepare", &Server::prepare},
        Handler{"prepare-kept", &Server::prepare},
        Handler{"core", &Server::select_core},
        Handler{"sample", &Server::sample},
    };
    const std::string word = request.at("do").get<std::string>();
    for (const Handler& handler : handlers) {
      if (handler.word == word) return (this->*handler.handle)(request);
    }
    throw DeviceError("unknown request " + word);
  }

  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): one of the handlers
  Json list(const Json&) {
    Json devices = Json::array();
    Json problems = Json::array();
    Enumeration found = enumerate_devices();
    for (FoundDevice& each : found.devices) {
      // All attributes are read, since the probes' checks of the command line need more attributes
      // than `clprobe list` shows.
      read_attributes(each.device, each.info);
      devices.push_back(json::encode(each.info));
    }
    for (const PlatformProblem& each : found.problems) {
      const bool is_pocl = each.platform == pocl_platform;
      problems.push_back(
          {{"platform", each.platform},
           {"problem", each.problem + (is_pocl ? advise_about_pocl_cache() : std::string())}});
    }
    if (devices.empty() && problems.empty()) problems = unloadable_drivers();
    return {{"devices", devices}, {"problems", problems}};
  }

  /// Handles {"device": index, "seed": n}; answers with the device and its candidate clocks.
  /// "known" (a DeviceInfo) contains the facts that an earlier child found. If "keeps_memory" is
  /// false, freed host memory is returned to the system.
  Json open(const Json& request) {
    system::pages_of_process().keep(request.value("keeps_memory", true));
    const int index = request.at("device").get<int>();
    Enumeration found = enumerate_devices();
    if (index < 0 || static_cast<std::size_t>(index) >= found.devices.size()) {
      throw DeviceError(fmt::format("device {} has disappeared: check `clprobe list`", index));
    }
    FoundDevice& device = found.devices[static_cast<std::size_t>(index)];
    read_attributes(device.device, device.info);
    const bool known = request.contains("known");
    if (known) {
      device.info = json::decode<DeviceInfo>(request.at("known"));
    } else {
      add_limits(device.info);
    }
    session_.emplace(device.device, std::move(device.info),
                     request.at("seed").get<std::uint64_t>());
    points_.emplace(*session_);
    Json clocks = Json::array();
    if (!known) {
      for (const ClockKind kind : candidate_clocks(*session_)) clocks.push_back(to_word(kind));
    }
    return {{"device", json::encode(session_->info())}, {"clocks", clocks}};
  }

  Json try_a_clock(const Json& request) {
    const auto kind = from_word<ClockKind>(request.at("clock").get<std::string>());
    try {
      try_clock(session(), kind.value_or(ClockKind::none));
    } catch (...) {
      // All kernels are built with the session's clock, so that a clock that does not build would
      // break all kernels.
      session().info().clock = Clock{};
      throw;
    }
    return answer_of_test();
  }

  Json try_the_events(const Json&) {
    const std::string problem = try_events(session());
    Json result = answer_of_test();
    if (!problem.empty()) result["problem"] = problem;
    return result;
  }

  Json try_the_pointers(const Json&) {
    try_pointers(session());
    return answer_of_test();
  }

  Json calibrate(const Json&) {
    warm_up_and_calibrate(session());
    return answer_of_test();
  }

  /// Handles {"programs": [{"file", "options", "preamble"}, ...]}; answers {"seconds"}. Builds the
  /// programs, which fills the driver's cache. A program that does not build causes an error only
  /// later, when a point needs the program.
  Json build(const Json& request) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Json& each : request.at("programs")) {
      try {
        session().build(each.at("file").get<std::string>(), each.at("options").get<std::string>(),
                        each.at("preamble").get<std::string>());
      } catch (const DeviceError&) {
        continue;
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {{"seconds", took.count()}};
  }

  /// Handles {"probe", "point"}; answers {"facts", "build"}. The request "prepare-kept" announces
  /// that the point will be prepared again.
  Json prepare(const Json& request) {
    const std::string id = request.at("probe").get<std::string>();
    const Probe* const probe = id == arithmetic_probe().id ? &arithmetic_probe() : find_probe(id);
    if (probe == nullptr || !points_) throw DeviceError("cannot prepare " + id);
    // Frees the memory of the previous point before the next point allocates memory.
    work_ = Work{};
    const auto point = json::decode<Point>(request.at("point"));
    leave_busy_core(point);
    const bool is_kept = request.at("do") == "prepare-kept";
    work_ = is_kept ? points_->prepare_kept(*probe, point) : points_->prepare(*probe, point);
    return {{"facts", json::encode(work_.facts)}, {"build", json::encode(work_.build)}};
  }

  /// Selects an idle core: for launches of one work-group on a CPU device, or for this thread if
  /// the device is a GPU, whose launches start sooner from an idle core.
  void leave_busy_core(const Point& point) {
    const DeviceInfo& device = session().info();
    if (runs_items_in_turn(device)) {
      if (is_search_due(std::chrono::milliseconds(10))) chosen_core_ = quiet_core_.next();
      use_core(chosen_core_);
      return;
    }
    if (!is_gpu(device)) return;
    // Searches are limited in number, since checking all cores takes 1 ms when all are busy.
    const bool is_host_timed = is_timed_with_host(point, device) && quiet_core_.found_one();
    if (is_search_due(std::chrono::milliseconds(50)) || is_host_timed) quiet_core_.seek();
  }

  /// Returns true if the last search for an idle core was at least `between` ago. If so, records a
  /// search at this moment.
  bool is_search_due(std::chrono::milliseconds between) {
    const auto now = std::chrono::steady_clock::now();
    if (last_search_ && now - *last_search_ < between) return false;
    last_search_ = now;
    return true;
  }

  Json select_core(const Json& request) {
    use_core(quiet_core_.core_of(request.at("turn").get<std::size_t>()));
    return Json::object();
  }

  void use_core(std::optional<int> core) {
    if (core) session().use_core(*core);
  }

  /// Handles {"sampling"}; sends one line {"sample": {...}} per sample, with "facts" if the sample
  /// has any, and {"done": true} at the end. A line {"slow": true} after a long launch shows that
  /// the driver still responds.
  Json sample(const Json& request) {
    if (!work_.run) throw DeviceError("nothing is prepared");
    constexpr std::uint64_t slow_ns = 1'000'000'000;
    Work reporting = work_;
    reporting.run = [this](std::uint64_t iterations) {
      Measurement measurement = work_.run(iterations);
      if (measurement.sample.host_ns > slow_ns) send({{"slow", true}});
      return measurement;
    };
    take_samples(reporting, session().info(), decode_sampling(request.at("sampling")),
                 [](const Sample& taken, const Parameters& facts) {
                   Json line{{"sample", json::encode(taken)}};
                   if (!facts.empty()) line["facts"] = json::encode(facts);
                   send(line);
                 });
    return {{"done", true}};
  }

  Session& session() {
    if (!session_) throw DeviceError("no device is open");
    return *session_;
  }

  Json answer_of_test() { return {{"device", json::encode(session().info())}}; }

  std::optional<Session> session_{};
  std::optional<PointPreparer> points_{};
  Work work_{};
  system::QuietCore quiet_core_{};
  std::optional<int> chosen_core_{};  // selected core of a CPU device
  std::optional<std::chrono::steady_clock::time_point> last_search_{};
};

}  // namespace

int serve() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a hanging driver must not outlive the program
  Server server;
  std::string unread;
  std::array<char, 65536> bytes{};
  for (;;) {
    const ssize_t count = read(worker_channel, bytes.data(), bytes.size());
    if (count <= 0) break;
    unread.append(bytes.data(), static_cast<std::size_t>(count));
    for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
      const Json question = Json::parse(unread.substr(0, end));
      unread.erase(0, end + 1);
      send(server.answer(question));
    }
  }
  // _exit() skips the exit handlers of drivers, since some of them crash or hang.
  _exit(0);
}

}  // namespace clprobe
