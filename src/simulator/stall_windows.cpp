// SPDX-License-Identifier: Apache-2.0
#include "simulator/stall_windows.hpp"

#include <algorithm>
#include <utility>

namespace clprobe::simulator {

void StallWindows::add_wait(std::uint64_t load, double cycles) {
  if (!open_.waits.empty() && open_.waits.back().load == load) {
    open_.waits.back().cycles += cycles;
  } else {
    open_.waits.push_back({load, cycles});
  }
}

void StallWindows::settle(Window& window, const LevelOf& level_of) {
  std::erase_if(window.waits, [&](const Wait& each) {
    const auto level = level_of(each.load);
    if (level) window.gsi.memory_data.at(static_cast<std::size_t>(*level)) += each.cycles;
    return level.has_value();
  });
}

void StallWindows::close(const Breakdown& gsi, const LevelOf& level_of) {
  add(open_.gsi, gsi, 1.0);
  settle(open_, level_of);
  windows_.push_back(std::exchange(open_, {}));
  open_cycles_ = 0;
  if (windows_.size() > max_windows_) halve(level_of);
}

/// The first two become one, and so on; one that is left over is the first half of the open one.
void StallWindows::halve(const LevelOf& level_of) {
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

Timeline StallWindows::end(const Breakdown& gsi, const LevelOf& level_of) {
  if (open_cycles_ > 0) close(gsi, level_of);
  if (open_cycles_ > 0) windows_.push_back(std::exchange(open_, {}));
  Timeline timeline{.window_cycles = window_cycles_};
  for (Window& each : windows_) {
    settle(each, level_of);
    timeline.windows.push_back({each.gsi, each.flush_cycles});
  }
  return timeline;
}

}  // namespace clprobe::simulator
