// SPDX-License-Identifier: Apache-2.0
#include "system/api/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace clprobe::system {
namespace {

/// Returns all threads, including those of drivers. Each thread has its own set of cores.
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

}  // namespace clprobe::system
