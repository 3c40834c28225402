// SPDX-License-Identifier: Apache-2.0
// Memory that the process reuses instead of giving it back to the system.
#pragma once

#include <cstddef>
#include <map>

namespace clprobe::system {

/// Huge pages that were touched once and are free stay with the process for whoever needs some
/// next: a virtual machine's host may take them away after a second or two, and then needs seconds
/// for a GiB to give them again. Together with those in use they are never more than were in use at
/// once. For one thread. All ranges are whole units.
class Pages {
 public:
  static constexpr std::size_t unit = std::size_t{2} << 20U;  ///< bytes of a huge page

  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages(Pages&&) = delete;
  Pages& operator=(Pages&&) = delete;
  /// Ranges in use stay mapped.
  ~Pages();

  /// Returns at least `bytes` of zeros or of former contents; null, with errno, if the system has
  /// none.
  [[nodiscard]] void* take(std::size_t bytes);
  /// Frees the result of `take(bytes)`.
  void give_back(void* begin, std::size_t bytes);

  /// Keeps freed ranges, which is the default, or gives them back to the system.
  void keep(bool is_kept);

  [[nodiscard]] std::size_t free_bytes() const;

 private:
  /// Bytes of each free range, by its begin; no two of them touch.
  using Ranges = std::map<std::byte*, std::size_t>;

  void join_neighbours(Ranges::iterator place);
  void unmap_free();

  Ranges free_{};
  bool is_kept_{true};
};

/// Returns the pages of the probes' host buffers.
Pages& pages_of_process();

}  // namespace clprobe::system
