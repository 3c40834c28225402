// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace clprobe::system {
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
  // A name may have any characters, and ends at the last bracket.
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
    // The order of proc(5). `user` and `nice` include the time of guests.
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
    if (line[3] == ' ' || !(words >> core)) continue;  // the sum of all
    if (std::find(allowed.begin(), allowed.end(), core) == allowed.end()) continue;
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

}  // namespace clprobe::system
