// SPDX-License-Identifier: Apache-2.0
// Selection of a clock, tests of events and pointers, warm-up and calibration. Most of these time a
// chain of dependent arithmetic (cl/ticks.cl), whose length and result are known.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>

#include "analysis/api/statistics.hpp"
#include "measure/api/device.hpp"
#include "measure/device/trials.hpp"

namespace clprobe {
namespace {

constexpr std::uint32_t links_per_iteration = 64;  // number of links in LINK_64 of cl/ticks.cl
// Maximum iterations of a chain. llvmpipe silently ends all loops of a launch after 65,535.
constexpr std::uint32_t longest_chain = 60000;

struct Reading {
  std::uint64_t ticks{0};
  LaunchTimes times{};
};

/// Chain of dependent arithmetic (cl/ticks.cl) with the current clock of the session.
class Chain {
 public:
  explicit Chain(Session& session)
      : session_(session),
        kernel_(session.kernel("ticks.cl", "ticks_chain", "")),
        out_(session.context(), CL_MEM_WRITE_ONLY, 2 * sizeof(cl_ulong)) {
    kernel_.setArg(0, cl_ulong{first_value});
    kernel_.setArg(2, never);
    kernel_.setArg(3, out_);
  }

  /// Runs the chain once, and returns its ticks and times. Throws DeviceError if the result of the
  /// chain is wrong.
  Reading run(std::uint32_t iterations) {
    kernel_.setArg(1, cl_uint{iterations});
    Reading reading;
    reading.times = session_.launch(kernel_, cl::NDRange(1), cl::NDRange(1));
    std::array<cl_ulong, 2> out{};
    session_.queue().enqueueReadBuffer(out_, CL_TRUE, 0, sizeof out, out.data());
    if (out[1] != end_of(iterations)) {
      throw DeviceError(fmt::format("a chain of {} operations gave a wrong result",
                                    iterations * links_per_iteration));
    }
    reading.ticks = out[0];
    return reading;
  }

  /// Returns the event time of a launch if event times are reliable; otherwise the host's time.
  [[nodiscard]] double elapsed_ns(const Reading& reading) const {
    const bool by_event = session_.info().launch_timer == Timer::event && reading.times.event_ns;
    return static_cast<double>(by_event ? *reading.times.event_ns : reading.times.host_ns);
  }

 private:
  static constexpr cl_ulong first_value = 20160;

  static cl_ulong end_of(std::uint32_t iterations) {
    cl_ulong value = first_value;
    for (std::uint64_t i = 0; i < std::uint64_t{iterations} * links_per_iteration; ++i) {
      value = (value * 6364136223846793005U) ^ 1442695040888963407U;
    }
    return value;
  }

  Session& session_;
  cl::Kernel kernel_;
  cl::Buffer out_;
};

/// Stores the minimum difference between two consecutive clock reads as the overhead of the clock,
/// and the greatest common divisor of all differences as the clock's quantum.
void measure_steps(Session& session) {
  constexpr std::size_t count = 256;
  cl::Kernel kernel = session.kernel("ticks.cl", "ticks_steps", "");
  const cl::Buffer buffer(session.context(), CL_MEM_WRITE_ONLY, count * sizeof(cl_ulong));
  kernel.setArg(0, cl_uint{count});
  kernel.setArg(1, buffer);
  session.launch(kernel, cl::NDRange(1), cl::NDRange(1));
  std::vector<cl_ulong> steps(count);
  session.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(cl_ulong), steps.data());
  Clock& clock = session.info().clock;
  clock.overhead_ticks = *std::min_element(steps.begin(), steps.end());
  const std::uint64_t divisor =
      std::accumulate(steps.begin(), steps.end(), std::uint64_t{0},
                      [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); });
  clock.quantum_ticks = std::max<std::uint64_t>(1, divisor);
}

/// Returns the meaning of a tick according to the vendor's documents. The clock's test and the
/// calibration may replace it by a measured meaning.
ClockRate rate_of(ClockKind kind) {
  switch (kind) {
    case ClockKind::nvidia:
    case ClockKind::intel:
    case ClockKind::amd:
      return ClockRate::core_cycles;
    case ClockKind::cpu:
      return ClockRate::constant_rate;
    case ClockKind::none:
    case ClockKind::khr_device:
    case ClockKind::khr_sub_group:
    case ClockKind::simulated:
      break;
  }
  return ClockRate::unknown;
}

constexpr std::uint32_t shortest_tried = 256;

/// Returns the minimum ticks of five chains each of n, 4n and 16n iterations. Ticks of a value that
/// is not a clock (a constant, a pointer left in a register) do not grow with the length.
std::array<double, 3> ticks_of_chains(Chain& chain) {
  std::array<double, 3> ticks{};
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    std::uint64_t least = ~std::uint64_t{0};
    for (int repeat = 0; repeat < 5; ++repeat) {
      least = std::min(least, chain.run(shortest_tried << (2 * i)).ticks);
    }
    ticks[i] = static_cast<double>(least);
  }
  return ticks;
}

bool scales(const std::array<double, 3>& ticks) {
  constexpr double max_ticks = 1e12;  // negative differences wrap to about 1.8e19
  return ticks[0] > 0 && ticks[2] < max_ticks && ticks[1] > 3 * ticks[0] &&
         ticks[1] < 5 * ticks[0] && ticks[2] > 3 * ticks[1] && ticks[2] < 5 * ticks[1];
}

void judge_clock(Session& session, ClockKind kind) {
  session.info().clock = Clock{};
  session.info().clock.kind = kind;
  session.info().clock.rate = rate_of(kind);
  Chain chain(session);
  chain.run(64);  // warm-up, since some drivers compile at the first launch
  // The test is repeated, since a busy host may disturb all five launches of one length. Rejecting
  // a working clock would halve the number of samples and widen intervals.
  constexpr int max_attempts = 3;
  std::array<double, 3> ticks = ticks_of_chains(chain);
  for (int attempt = 1; attempt < max_attempts && !scales(ticks); ++attempt) {
    ticks = ticks_of_chains(chain);
  }
  if (!scales(ticks)) {
    session.info().clock = Clock{};
    throw DeviceError(
        fmt::format("chains of n, 4n and 16n operations took {:.0f}, {:.0f} and {:.0f} ticks, "
                    "which is not proportional to the number of operations",
                    ticks[0], ticks[1], ticks[2]));
  }
  const double ticks_of_link =
      (ticks[2] - ticks[0]) / (15.0 * shortest_tried * links_per_iteration);
  if (ticks_of_link < min_cycles_of_link) session.info().clock.rate = ClockRate::constant_rate;
  measure_steps(session);
}

}  // namespace

void try_clock(Session& session, ClockKind kind) {
  try {
    judge_clock(session, kind);
  } catch (...) {
    session.info().clock = Clock{};  // later builds must not use the rejected clock
    throw;
  }
}

namespace {

/// Returns the minimum times of five launches; nothing if a launch has no event time.
std::optional<LeastTimes> least_times(Chain& chain, std::uint32_t iterations) {
  LeastTimes least;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const LaunchTimes times = chain.run(iterations).times;
    if (!times.event_ns) return std::nullopt;
    least.add(static_cast<double>(*times.event_ns), static_cast<double>(times.host_ns));
  }
  return least;
}

/// Returns the calibration of a constant-rate clock against the host's clock. It takes 0.2 s, so
/// that inexact launch times matter little.
Line ticks_against_host(Session& session) {
  cl::Kernel kernel = session.kernel("ticks.cl", "ticks_read", "");
  const cl::Buffer out(session.context(), CL_MEM_WRITE_ONLY, sizeof(cl_ulong));
  kernel.setArg(0, out);
  const auto begin = std::chrono::steady_clock::now();
  const auto since_begin_ns = [&] {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  std::vector<double> ns;
  std::vector<double> ticks;
  std::optional<cl_ulong> first;
  for (int reading = 0; reading < 9; ++reading) {
    if (reading > 0) std::this_thread::sleep_for(std::chrono::milliseconds(25));
    // The fastest of five launches gives the narrowest range for the moment of the clock read.
    double min_ns = 1e18;
    double at_ns = 0.0;
    cl_ulong read_ticks = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const double before = since_begin_ns();
      session.launch(kernel, cl::NDRange(1), cl::NDRange(1));
      const double after = since_begin_ns();
      if (after - before >= min_ns) continue;
      min_ns = after - before;
      at_ns = before + min_ns / 2;
      session.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof read_ticks, &read_ticks);
    }
    if (!first) first = read_ticks;
    ns.push_back(at_ns);
    ticks.push_back(static_cast<double>(read_ticks - *first));
  }
  return fit_least_squares(ns, ticks);
}

/// Returns the number of iterations that take at least 20 ms, or 5 ms with GPU events; at most
/// `longest_chain`. Launch times by the host scatter by 10 us, event times of a GPU by less than 1
/// us. The maximum matters for interpreters, which need 1 s for 60,000 iterations.
std::uint32_t calibration_length(Chain& chain, bool is_timed_by_gpu) {
  const double enough_ns = is_timed_by_gpu ? 5e6 : 2e7;
  std::uint32_t iterations = 256;
  while (iterations < longest_chain) {
    const double took_ns = chain.elapsed_ns(chain.run(iterations));
    if (took_ns >= enough_ns) break;
    const auto enough =
        is_timed_by_gpu ? length_taking(enough_ns, iterations, took_ns) : std::nullopt;
    if (enough) return std::min(longest_chain, *enough);
    iterations = std::min(longest_chain, iterations * 2);
  }
  return iterations;
}

/// Runs chains until the times of three consecutive chains agree within 1 %, at most for 2 s on a
/// GPU and 0.5 s on other devices. On a busy host, three chains may never agree. The minimum is
/// 0.05 s; on a GPU, it is 0.3 s from the session's first launch, unless three launches ran at full
/// clock. Idle GPUs need up to 0.4 s to raise their clock. Returns the times of all chains.
std::vector<ChainTime> warm_up(Session& session, Chain& chain, std::uint32_t iterations) {
  using Seconds = std::chrono::duration<double>;
  const bool gpu = is_gpu(session.info());
  const auto now = std::chrono::steady_clock::now();
  const auto begin_of_warm_up = gpu ? session.first_launch().value_or(now) : now;
  const auto since = [](auto begin) {
    return Seconds(std::chrono::steady_clock::now() - begin).count();
  };
  const double min_s = gpu ? 0.3 : 0.05;
  const double max_s = gpu ? 2.0 : 0.5;
  std::vector<ChainTime> launches;
  bool is_full = false;
  for (bool is_steady = false;
       (!is_full && since(begin_of_warm_up) < min_s) || (!is_steady && since(now) < max_s);) {
    const Reading reading = chain.run(iterations);
    launches.push_back({static_cast<double>(reading.ticks), chain.elapsed_ns(reading)});
    if (launches.size() < 3) continue;
    const auto [low, high] =
        std::minmax_element(launches.end() - 3, launches.end(),
                            [](const ChainTime& a, const ChainTime& b) { return a.ns < b.ns; });
    is_steady = high->ns <= 1.01 * low->ns;
    is_full =
        is_steady && runs_at_full_clock(session.info(), launches.back().ticks / launches.back().ns);
  }
  return launches;
}

}  // namespace

std::string try_events(Session& session) {
  session.info().timer = session.info().launch_timer = Timer::host;
  Chain chain(session);
  chain.run(64);
  std::uint32_t base = calibration_length(chain, is_gpu(session.info())) / 8;
  std::string problem;
  // One good pair of lengths in three attempts is enough, since a busy host can disturb a pair.
  // Each attempt doubles the length, which reduces the error of drivers that poll for completion
  // with sleeps.
  for (int attempt = 0; attempt < 3; ++attempt, base = std::min(2 * base, longest_chain / 8)) {
    const auto few = least_times(chain, base);
    const auto many = few ? least_times(chain, 8 * base) : std::nullopt;
    if (!many) return "the driver reports no event times, or events that end before they start";
    problem = find_event_problem(*few, *many);
    if (problem.empty()) {
      session.info().timer = session.info().launch_timer = Timer::event;
      break;
    }
  }
  return problem;
}

namespace {

/// Returns a line fitted to ticks against time for chains of five lengths. For each length, the
/// fastest of three launches counts, since disturbances only add time.
Line ticks_against_ns(Chain& chain, std::uint32_t longest) {
  std::vector<double> ns;
  std::vector<double> ticks;
  for (const std::uint32_t tenth : {1U, 3U, 5U, 8U, 10U}) {
    Reading best;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Reading reading = chain.run(std::max(1U, longest / 10 * tenth));
      if (repeat == 0 || chain.elapsed_ns(reading) < chain.elapsed_ns(best)) best = reading;
    }
    ns.push_back(chain.elapsed_ns(best));
    ticks.push_back(static_cast<double>(best.ticks));
  }
  return fit_least_squares(ns, ticks);
}

}  // namespace

void warm_up_and_calibrate(Session& session) {
  Chain chain(session);
  const bool is_timed_by_gpu =
      is_gpu(session.info()) && session.info().launch_timer == Timer::event;
  const std::uint32_t longest = calibration_length(chain, is_timed_by_gpu);
  const std::vector<ChainTime> launches = warm_up(session, chain, longest);
  Clock& clock = session.info().clock;
  if (clock.kind == ClockKind::none) return;
  // Only event times of a GPU can show the meaning of a tick. Launch times by the host or of a CPU
  // vary with the host's load.
  if (is_timed_by_gpu) clock.rate = find_rate(launches).value_or(clock.rate);
  Line line;
  constexpr double good_r_squared = 0.99999;
  for (int attempt = 0; attempt < 3 && line.r_squared < good_r_squared; ++attempt) {
    const Line again = clock.rate == ClockRate::constant_rate ? ticks_against_host(session)
                                                              : ticks_against_ns(chain, longest);
    if (again.r_squared > line.r_squared) line = again;
  }
  clock.ticks_per_ns = line.slope;
  clock.ticks_per_ns_low = line.slope_interval.low;
  clock.ticks_per_ns_high = line.slope_interval.high;
  clock.r_squared = line.r_squared;
  session.info().timer = Timer::clock;
}

namespace {

// Bits of the result of cl/facts.cl.
enum FactBit : std::uint32_t {
  fact_nvidia = 1U,
  fact_amdgcn = 2U,
  fact_spir = 4U,
  fact_x86 = 8U,
  fact_aarch64 = 16U,
  fact_riscv = 32U,
  fact_khr_device_clock = 64U,
  fact_khr_sub_group_clock = 128U,
  fact_gfx11 = 256U,
};

std::string isa_word(std::uint32_t facts) {
  struct Row {
    std::uint32_t bit;
    const char* word;
  };
  // SPIR precedes the CPU architectures: SPIR compilers also define the macros of a CPU, although
  // their code is not native.
  constexpr std::array rows{Row{fact_nvidia, "nvptx"},  Row{fact_gfx11, "amdgcn-gfx11"},
                            Row{fact_amdgcn, "amdgcn"}, Row{fact_spir, "spir"},
                            Row{fact_x86, "x86"},       Row{fact_aarch64, "aarch64"},
                            Row{fact_riscv, "riscv"}};
  for (const Row& row : rows) {
    if ((facts & row.bit) != 0) return row.word;
  }
  return "unknown";
}

}  // namespace

std::vector<ClockKind> candidate_clocks(Session& session) {
  cl::Kernel kernel = session.kernel("facts.cl", "facts", "");
  const cl::Buffer bits(session.context(), CL_MEM_WRITE_ONLY, sizeof(cl_uint));
  kernel.setArg(0, bits);
  session.launch(kernel, cl::NDRange(1), cl::NDRange(1));
  cl_uint facts = 0;
  session.queue().enqueueReadBuffer(bits, CL_TRUE, 0, sizeof facts, &facts);

  DeviceInfo& info = session.info();
  info.isa = isa_word(facts);
  std::vector<ClockKind> kinds;
  // Vendors' clocks come first. They count core cycles on most devices, whereas the clocks of
  // cl_khr_kernel_clock may have steps of 10 to 50 ns.
  if (info.isa == "nvptx") kinds.push_back(ClockKind::nvidia);
  if (info.isa.starts_with("amdgcn")) kinds.push_back(ClockKind::amd);
  if (info.platform.starts_with("Intel(R) OpenCL") && is_gpu(info)) {
    kinds.push_back(ClockKind::intel);
  }
  // The cycle-counter builtin is used only on native CPUs. On SPIR, the builtin makes some drivers
  // end the process.
  if (info.isa == "x86" || info.isa == "aarch64" || info.isa == "riscv") {
    kinds.push_back(ClockKind::cpu);
  }
  if ((facts & fact_khr_device_clock) != 0) kinds.push_back(ClockKind::khr_device);
  if ((facts & fact_khr_sub_group_clock) != 0) kinds.push_back(ClockKind::khr_sub_group);
  return kinds;
}

bool try_pointers(Session& session) {
  constexpr cl_ulong offset = 192;
  constexpr cl_ulong mark = 0x5a17c0de5a17c0deU;
  const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, 4096);
  const cl::Buffer out(session.context(), CL_MEM_WRITE_ONLY, 2 * sizeof(cl_ulong));
  cl::Kernel store = session.kernel("facts.cl", "pointer_store", "");
  store.setArg(0, buffer);
  store.setArg(1, offset);
  store.setArg(2, mark);
  session.launch(store, cl::NDRange(1), cl::NDRange(1));
  cl::Kernel follow = session.kernel("facts.cl", "pointer_follow", "");
  follow.setArg(0, buffer);
  follow.setArg(1, out);
  session.launch(follow, cl::NDRange(1), cl::NDRange(1));
  std::array<cl_ulong, 2> found{};
  session.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof found, found.data());
  session.info().pointers_stay_valid = found[0] == mark && found[1] == offset;
  return session.info().pointers_stay_valid;
}

}  // namespace clprobe
