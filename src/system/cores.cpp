// SPDX-License-Identifier: Apache-2.0
#include "system/cores.hpp"

#include <sched.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace clprobe::system {
namespace {

/// All threads, those of drivers too: each has a set of its own.
void allow(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  std::error_code error;
  std::filesystem::directory_iterator threads("/proc/self/task", error);
  for (; !error && threads != std::filesystem::directory_iterator(); threads.increment(error)) {
    const std::string name = threads->path().filename().string();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) {
      sched_setaffinity(thread, sizeof set, &set);
    }
  }
}

}  // namespace

Cores::Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) allowed_.push_back(core);
  }
}

void Cores::confine(std::size_t turn) {
  if (allowed_.size() < 2) return;
  const int core = allowed_[turn % allowed_.size()];
  if (core == confined_to_) return;
  allow({core});
  confined_to_ = core;
}

void Cores::release() {
  if (confined_to_ < 0) return;
  allow(allowed_);
  confined_to_ = -1;
}

}  // namespace clprobe::system
