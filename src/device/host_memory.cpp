// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

#include "clprobe/device.hpp"

namespace clprobe {
namespace {

constexpr Bytes huge_page = mebibytes(2);

/// The address range of a line of /proc/self/smaps: "7f00-7fff rw-p ..."; nothing of other lines.
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

}  // namespace

HostMemory::HostMemory(Bytes size) : size_(size) {
  mapped_ = size + huge_page * 2;
  mapping_ = mmap(nullptr, mapped_.count, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw DeviceError(fmt::format("mmap of {}: {}; try a smaller --max-memory",
                                  format_bytes(mapped_), std::strerror(errno)));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  const std::uintptr_t aligned =
      (address + huge_page.count - 1) / huge_page.count * huge_page.count;
  begin_ = static_cast<char*>(mapping_) + (aligned - address);
  // Advice: where the system gives no huge pages, huge_page_percent() says so. Nor does it for a
  // part of one: of 512 KiB on small pages every other access would miss the near translation
  // buffer. What lies behind is mapped, and nobody's.
  const bool is_worth_it = size_ * 4 >= huge_page;
  const std::uint64_t whole = (size_.count + huge_page.count - 1) / huge_page.count;
  madvise(begin_, is_worth_it ? whole * huge_page.count : size_.count, MADV_HUGEPAGE);
}

HostMemory::~HostMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_.count);
}

int HostMemory::huge_page_percent() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool ours = false;
  std::uint64_t huge_kib = 0;
  while (std::getline(smaps, line)) {
    if (const auto range = mapping_of(line)) {
      ours = range->first < begin + size_.count && range->second > begin;
    } else if (ours && line.starts_with("AnonHugePages:")) {
      std::uint64_t kib = 0;
      const auto digit = line.find_first_of("0123456789");
      std::from_chars(line.data() + digit, line.data() + line.size(), kib);
      huge_kib += kib;
    }
  }
  return static_cast<int>(std::min<std::uint64_t>(100, huge_kib * 1024 * 100 / size_.count));
}

}  // namespace clprobe
