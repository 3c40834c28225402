// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace clprobe::system {
namespace {

/// Returns the IDs of all threads of this process, including threads that drivers started. Each
/// thread has its own set of allowed cores.
std::vector<int> threads_of_process() {
  std::vector<int> all;
  std::error_code error;
  std::filesystem::directory_iterator threads("/proc/self/task", error);
  for (; !error && threads != std::filesystem::directory_iterator(); threads.increment(error)) {
    const std::string name = threads->path().filename().string();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) {
      all.push_back(thread);
    }
  }
  return all;
}

}  // namespace

cpu_set_t set_of(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  return set;
}

Cores::Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) allowed_.push_back(core);
  }
}

void Cores::confine(int core) {
  if (allowed_.size() < 2 || core == confined_to_) return;
  const cpu_set_t one = set_of({core});
  for (const int thread : threads_of_process()) {
    cpu_set_t own;
    CPU_ZERO(&own);
    if (confined_to_ < 0 && sched_getaffinity(thread, sizeof own, &own) == 0) before_[thread] = own;
    sched_setaffinity(thread, sizeof one, &one);
  }
  confined_to_ = core;
}

void Cores::release() {
  if (confined_to_ < 0) return;
  const cpu_set_t all = set_of(allowed_);
  for (const int thread : threads_of_process()) {
    const auto before = before_.find(thread);
    const cpu_set_t& own = before == before_.end() ? all : before->second;
    sched_setaffinity(thread, sizeof own, &own);
  }
  before_.clear();
  confined_to_ = -1;
}

bool Cores::has_all() const {
  return static_cast<long>(allowed_.size()) == sysconf(_SC_NPROCESSORS_ONLN);
}

std::size_t usable_cores() {
  auto cores = static_cast<double>(Cores().allowed().size());
  // "200000 100000" grants two cores; "max 100000" sets no limit (cgroups, version 2).
  std::ifstream limit("/sys/fs/cgroup/cpu.max");
  double quota = 0.0;
  double period = 0.0;
  if (limit >> quota >> period && period > 0.0) cores = std::min(cores, std::ceil(quota / period));
  return static_cast<std::size_t>(std::max(1.0, cores));
}

std::optional<PlaceOfThread> place_of_thread() {
  unsigned core = 0;
  unsigned node = 0;
  if (getcpu(&core, &node) != 0) return std::nullopt;
  return PlaceOfThread{static_cast<int>(core), static_cast<int>(node)};
}

namespace {

double seconds_of(const timeval& time) {
  constexpr double us_per_second = 1e6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / us_per_second;
}

double used_by(int whom) {
  rusage usage{};
  if (getrusage(whom, &usage) != 0) return 0.0;
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double used_by_process(int process, double ticks_per_second) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  // The program's name, which may contain any character, ends at the last closing parenthesis.
  file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
  std::string skipped;
  constexpr int fields_between = 11;
  for (int i = 0; i < fields_between; ++i) file >> skipped;
  double user = 0.0;
  double kernel = 0.0;
  return file >> user >> kernel ? (user + kernel) / ticks_per_second : 0.0;
}

}  // namespace

CoreUse core_use(int child) {
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  CoreUse use;
  std::ifstream file("/proc/stat");
  const std::vector<int> allowed = Cores().allowed();
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int core = 0;
    // Columns of /proc/stat in the order of proc(5); `user` and `nice` include the time of guests.
    enum : std::size_t {
      user,
      nice,
      kernel,
      idle,
      waiting_for_disk,
      interrupts,
      soft,
      stolen,
      all
    };
    std::array<double, all> ticks{};
    if (line[3] == ' ' || !(words >> core)) continue;
    if (std::ranges::find(allowed, core) == allowed.end()) continue;
    for (double& each : ticks) words >> each;
    const double free = ticks[idle] + ticks[waiting_for_disk];
    use.idle_s += free / ticks_per_second;
    use.busy_s += (std::accumulate(ticks.begin(), ticks.end(), 0.0) - free) / ticks_per_second;
  }
  if (use.busy_s == 0.0) return {};
  use.own_s = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
  if (child > 0) use.own_s += used_by_process(child, ticks_per_second);
  return use;
}

namespace {

/// Keeps all issue slots of a core busy, so that a second hardware thread on the core would take
/// half of them and double the time.
std::uint64_t mix(std::uint64_t seed) {
  constexpr std::uint64_t steps = 8'000;
  std::uint64_t a = seed;
  std::uint64_t b = seed + 1;
  std::uint64_t c = seed + 2;
  for (std::uint64_t i = 0; i < steps; ++i) {
    a = (a ^ (a >> 7U)) + i;
    b = (b ^ (b >> 9U)) + i;
    c = (c ^ (c >> 11U)) + i;
  }
  return a ^ b ^ c;
}

/// Returns the time of mix() in ns, as the median of three calls, so that an interrupt does not
/// make a core look slow.
double ns_of_mixing() {
  using Clock = std::chrono::steady_clock;
  std::array<double, 3> times{};
  static volatile std::uint64_t mixed = 1;
  for (double& each : times) {
    const Clock::time_point begin = Clock::now();
    mixed = mix(mixed);
    each = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  std::ranges::sort(times);
  return times[1];
}

double ns_of_mixing_on(int core) {
  const cpu_set_t one = set_of({core});
  return sched_setaffinity(0, sizeof one, &one) == 0 ? ns_of_mixing() : HUGE_VAL;
}

/// Scope that saves the calling thread's set of cores and restores the set at its end.
class KeptCores {
 public:
  KeptCores() {
    CPU_ZERO(&before_);
    are_known_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
  }
  ~KeptCores() {
    if (are_known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  KeptCores(const KeptCores&) = delete;
  KeptCores& operator=(const KeptCores&) = delete;
  KeptCores(KeptCores&&) = delete;
  KeptCores& operator=(KeptCores&&) = delete;

  [[nodiscard]] bool are_known() const { return are_known_; }

 private:
  cpu_set_t before_{};
  bool are_known_{false};
};

}  // namespace

QuietCore::QuietCore() : QuietCore(Cores().allowed(), ns_of_mixing_on) {}

QuietCore::QuietCore(std::vector<int> allowed, Measure measure)
    : allowed_(std::move(allowed)), measure_(std::move(measure)) {}

double QuietCore::ns_on(int core) {
  const double ns = measure_(core);
  fastest_ns_ = std::min(ns, fastest_ns_.value_or(ns));
  return ns;
}

// Accepts a core that takes at most 1.15 times as long as the fastest core: a core whose other
// hardware thread is busy takes at least 1.5 times as long. The first call tries all cores, at most
// `max_looks`, since no core's speed is known yet.
int QuietCore::choose(int here) {
  constexpr double about_as_fast = 1.15;
  constexpr std::size_t max_looks = 16;
  const bool is_first = !fastest_ns_;
  const auto place = std::ranges::find(allowed_, here);
  const auto first = static_cast<std::size_t>(place - allowed_.begin());
  int best = here;
  double best_ns = HUGE_VAL;
  for (std::size_t i = 0; i < std::min(max_looks, allowed_.size()); ++i) {
    const int core = allowed_[(first + i) % allowed_.size()];
    const double ns = ns_on(core);
    if (ns < best_ns) {
      best = core;
      best_ns = ns;
    }
    found_one_ = best_ns <= about_as_fast * *fastest_ns_;
    if (!is_first && found_one_) break;
  }
  return best;
}

void QuietCore::seek() {
  const std::optional<PlaceOfThread> place = place_of_thread();
  const KeptCores kept;
  if (allowed_.size() < 2 || !place || !kept.are_known()) return;
  const cpu_set_t chosen = set_of({choose(place->core)});
  sched_setaffinity(0, sizeof chosen, &chosen);
}

std::optional<int> QuietCore::next() {
  const std::optional<int> first = core_of(turn_++);
  const KeptCores kept;
  return first && kept.are_known() ? choose(*first) : first;
}

std::optional<int> QuietCore::core_of(std::size_t turn) const {
  if (allowed_.size() < 2) return std::nullopt;
  return allowed_[turn % allowed_.size()];
}

}  // namespace clprobe::system
