// SPDX-License-Identifier: Apache-2.0
#include "app/commands/provenance.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "version.hpp"  // made at build time

namespace clprobe::commands {
namespace {

/// The value of the first line of `path` that starts with `key`, after `separator`.
std::string value_in_file(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    const auto first = line.find_first_not_of(" \"", at + 1);
    if (first == std::string::npos) return "";
    const auto last = line.find_last_not_of(" \"");
    return line.substr(first, last - first + 1);
  }
  return "";
}

/// Hypervisors set a flag of x86 CPUs; on other CPUs the kernel reports a hypervisor.
bool is_virtual_machine() {
  const std::string flags = " " + value_in_file("/proc/cpuinfo", "flags", ':') + " ";
  return flags.find(" hypervisor ") != std::string::npos ||
         std::filesystem::exists("/sys/hypervisor/type") ||
         std::filesystem::exists("/proc/device-tree/hypervisor");
}

}  // namespace

ToolInfo tool_info() {
#if defined(__clang__)
  std::string compiler = "clang " __clang_version__;
#else
  std::string compiler = "g++ " __VERSION__;
#endif
  return {std::string(version), std::string(commit), std::move(compiler)};
}

HostInfo host_info() {
  HostInfo host;
  host.cpu = value_in_file("/proc/cpuinfo", "model name", ':');
  host.os = value_in_file("/etc/os-release", "PRETTY_NAME", '=');
  utsname system{};
  if (uname(&system) == 0) host.kernel = fmt::format("{} {}", system.sysname, system.release);
  host.logical_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  host.is_virtual = is_virtual_machine();
  return host;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Run new_run(const cli::Options& options, const std::vector<std::string>& arguments) {
  Run run;
  run.interrupted = true;
  run.tool = tool_info();
  run.host = host_info();
  run.started = utc_now();
  run.arguments = arguments;
  run.seed = options.seed;
  return run;
}

}  // namespace clprobe::commands
