// SPDX-License-Identifier: Apache-2.0
// Memory that the process uses again, in place of giving it back to the system.
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
  /// What is in use stays mapped.
  ~Pages();

  /// At least `bytes`, with zeros or with what their last user left; null, with errno, where the
  /// system has none.
  [[nodiscard]] void* take(std::size_t bytes);
  /// What `take(bytes)` gave.
  void give_back(void* begin, std::size_t bytes);

  /// Whether what is given back stays, as at first.
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

/// Those that buffers on the host are made of, for one probe after the other.
Pages& pages_of_process();

}  // namespace clprobe::system
