// SPDX-License-Identifier: Apache-2.0
// GSI's view over the time, in windows that become twice as long when there are too many of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "clprobe/stalls.hpp"

namespace clprobe::simulator {

class StallWindows {
 public:
  /// The level that served a load; nothing where that is not known yet.
  using LevelOf = std::function<std::optional<Level>(std::uint64_t load)>;

  /// `max_windows`: 0, for none, or an even number.
  explicit StallWindows(std::size_t max_windows) : max_windows_(max_windows) {}

  [[nodiscard]] bool are_asked_for() const { return max_windows_ != 0; }
  /// How many more cycles are in the window that is open; as many as there are, without windows.
  [[nodiscard]] std::uint64_t cycles_left() const {
    return max_windows_ == 0 ? ~std::uint64_t{0} : window_cycles_ - open_cycles_;
  }
  /// So many cycles of the open window are over, at most cycles_left(). Whether it is full, and
  /// close() is to be called.
  bool pass(std::uint64_t cycles) {
    if (max_windows_ == 0) return false;
    open_cycles_ += cycles;
    return open_cycles_ == window_cycles_;
  }
  /// Of a window's cycles so many waited for a load, whose level may be told later.
  void wait(std::uint64_t load, double cycles) {
    if (max_windows_ != 0 && cycles != 0.0) add_wait(load, cycles);
  }
  void flush(std::uint64_t cycles) { open_.flush_cycles += cycles; }
  /// What the open window has besides, of memory data all but the levels.
  void close(const Breakdown& gsi, const LevelOf& level_of) {
    add(open_.gsi, gsi, 1.0);
    settle(open_, level_of);
    windows_.push_back(std::exchange(open_, {}));
    open_cycles_ = 0;
    if (windows_.size() > max_windows_) halve(level_of);
  }
  /// Closes the last one, if something is in it.
  Timeline end(const Breakdown& gsi, const LevelOf& level_of) {
    if (open_cycles_ > 0) close(gsi, level_of);
    if (open_cycles_ > 0) windows_.push_back(std::exchange(open_, {}));
    Timeline timeline{.window_cycles = window_cycles_};
    for (Window& each : windows_) {
      settle(each, level_of);
      timeline.windows.push_back({each.gsi, each.flush_cycles});
    }
    return timeline;
  }

 private:
  struct Wait {
    std::uint64_t load{0};
    double cycles{0.0};
  };
  struct Window {
    Breakdown gsi{};
    std::uint64_t flush_cycles{0};
    std::vector<Wait> waits{};
  };
  void add_wait(std::uint64_t load, double cycles) {
    if (!open_.waits.empty() && open_.waits.back().load == load) {
      open_.waits.back().cycles += cycles;
    } else {
      open_.waits.push_back({load, cycles});
    }
  }
  /// Gives the levels what waited for loads that have been served.
  static void settle(Window& window, const LevelOf& level_of) {
    std::erase_if(window.waits, [&](const Wait& each) {
      const auto level = level_of(each.load);
      if (level) window.gsi.memory_data.at(static_cast<std::size_t>(*level)) += each.cycles;
      return level.has_value();
    });
  }
  /// The first two become one, and so on; one that is left over is the first half of the open one.
  void halve(const LevelOf& level_of) {
    const std::size_t pairs = windows_.size() / 2;
    const auto join = [](Window& first, Window&& second) {
      add(first.gsi, second.gsi, 1.0);
      first.flush_cycles += second.flush_cycles;
      first.waits.insert(first.waits.end(), second.waits.begin(), second.waits.end());
    };
    for (std::size_t i = 0; i < pairs; ++i) {
      Window joined = std::move(windows_[2 * i]);
      join(joined, std::move(windows_[2 * i + 1]));
      settle(joined, level_of);
      windows_[i] = std::move(joined);
    }
    if (windows_.size() % 2 == 1) {
      open_ = std::move(windows_.back());
      open_cycles_ = window_cycles_;
    }
    windows_.resize(pairs);
    window_cycles_ *= 2;
  }

  std::size_t max_windows_;
  std::uint64_t window_cycles_{1};
  std::uint64_t open_cycles_{0};
  Window open_{};
  std::vector<Window> windows_{};
};

}  // namespace clprobe::simulator
