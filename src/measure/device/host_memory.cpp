// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

#include "measure/api/device.hpp"
#include "system/api/host.hpp"

namespace clprobe {
namespace {

/// Returns the address range of a mapping in a line of /proc/self/smaps: "7f00-7fff rw-p ...";
/// nothing for other lines.
std::optional<std::pair<std::uintptr_t, std::uintptr_t>> mapping_of(const std::string& line) {
  const auto dash = line.find('-');
  const auto blank = line.find(' ');
  if (dash == std::string::npos || blank == std::string::npos || dash > blank) return std::nullopt;
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  const char* const text = line.data();
  if (std::from_chars(text, text + dash, first, 16).ptr != text + dash) return std::nullopt;
  if (std::from_chars(text + dash + 1, text + blank, last, 16).ptr != text + blank) {
    return std::nullopt;
  }
  return std::pair{first, last};
}

/// Returns the KiB of the field `name` in a line of /proc/self/smaps: "AnonHugePages:   2048 kB"; 0
/// for other lines.
std::uint64_t kib_of(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return 0;
  std::uint64_t kib = 0;
  const auto digit = line.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  std::from_chars(line.data() + digit, line.data() + line.size(), kib);
  return kib;
}

}  // namespace

HostMemory::HostMemory(Bytes size)
    : begin_(system::pages_of_process().take(size.count)), size_(size) {
  if (begin_ == nullptr) {
    throw DeviceError(fmt::format("mmap of {} failed: {}; try a smaller --max-memory",
                                  format_bytes(size), std::strerror(errno)));
  }
}

HostMemory::~HostMemory() { system::pages_of_process().give_back(begin_, size_.count); }

/// Counts whole mappings, since the system reports pages only by mapping. Other memory in the same
/// mapping is therefore included.
int HostMemory::huge_page_percent() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool is_ours = false;
  std::uint64_t touched_kib = 0;
  std::uint64_t huge_kib = 0;
  while (std::getline(smaps, line)) {
    if (const auto range = mapping_of(line)) {
      is_ours = range->first < begin + size_.count && range->second > begin;
    } else if (is_ours) {
      touched_kib += kib_of(line, "Rss:");
      huge_kib += kib_of(line, "AnonHugePages:");
    }
  }
  return touched_kib == 0 ? 0 : static_cast<int>(huge_kib * 100 / touched_kib);
}

}  // namespace clprobe
