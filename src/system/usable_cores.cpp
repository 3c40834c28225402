// SPDX-License-Identifier: Apache-2.0
#include "system/usable_cores.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "system/cores.hpp"
#include "system/read_file.hpp"

namespace clprobe::system {
namespace {

namespace fs = std::filesystem;

/// Of a file that is a line or a few; empty where it cannot be read.
std::string text_of(const fs::path& file) {
  constexpr std::size_t max_bytes = 65536;
  try {
    return read_plain_file(file.string(), max_bytes);
  } catch (const std::system_error&) {
    return "";
  }
}

/// The folder of this process's control group below that of all, in version 2: the line `0::/...`.
std::string group_of_process() {
  const std::string groups = text_of("/proc/self/cgroup");
  constexpr std::string_view unified = "0::/";
  for (std::size_t begin = 0; begin < groups.size();) {
    const std::size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string_view line = std::string_view(groups).substr(begin, end - begin);
    if (line.starts_with(unified)) return std::string(line.substr(unified.size()));
    begin = end + 1;
  }
  return "";
}

}  // namespace

std::optional<std::size_t> cores_of_quota(std::string_view cpu_max) {
  const char* const end = cpu_max.data() + cpu_max.size();
  std::size_t quota = 0;
  std::size_t period = 0;
  const auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc() || quota == 0 || period == 0) return std::nullopt;
  return (quota - 1) / period + 1;
}

std::size_t usable_cores() {
  std::size_t cores = Cores().allowed().size();
  if (cores == 0) cores = std::thread::hardware_concurrency();
  // Each group has what the groups around it leave.
  const fs::path all = "/sys/fs/cgroup";
  for (fs::path group = group_of_process();; group = group.parent_path()) {
    const auto granted = cores_of_quota(text_of(all / group / "cpu.max"));
    cores = std::min(cores, granted.value_or(cores));
    if (group.empty()) break;
  }
  return std::max<std::size_t>(cores, 1);
}

}  // namespace clprobe::system
