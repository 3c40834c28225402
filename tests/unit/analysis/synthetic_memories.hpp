// SPDX-License-Identifier: Apache-2.0
// Memories whose levels are known, and how well these were found.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/api/estimate.hpp"
#include "random.hpp"

namespace clprobe {

/// Miss fraction of a cyclic chase over `w` times the capacity.
enum class MissModel { cliff, random_replacement, hashed_sets };

struct Cache {
  MissModel model{MissModel::cliff};
  double capacity_bytes{0.0};
  double width{0.1};  ///< of the cliff, as a share of the capacity
  int ways{16};       ///< of the hashed sets

  [[nodiscard]] double miss(double working_set_bytes) const {
    const double w = working_set_bytes / capacity_bytes;
    switch (model) {
      case MissModel::cliff:
        return std::clamp((w - 1.0) / width, 0.0, 1.0);
      case MissModel::random_replacement: {  // h = exp(-(1 - h) w), its root below 1
        if (w <= 1.0) return 0.0;
        double hit = 0.0;
        for (int i = 0; i < 500; ++i) hit = std::exp(-(1.0 - hit) * w);
        return 1.0 - hit;
      }
      case MissModel::hashed_sets: {
        // Lines fall on sets by a hash, LRU within a set: all lines of a set with more lines than
        // ways miss. The share of lines in such sets, lines being Poisson, is P(N >= ways).
        const double mean = ways * w;
        double term = std::exp(-mean);
        double below = 0.0;
        for (int k = 0; k < ways; ++k) {
          below += term;
          term *= mean / (k + 1);
        }
        return std::max(0.0, 1.0 - below);
      }
    }
    return 0.0;
  }

  /// The working set at which 5 % of the accesses miss.
  [[nodiscard]] double five_percent_bytes() const {
    double low = capacity_bytes / 16.0;
    double high = capacity_bytes * 4.0;
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(low * high);
      (miss(middle) < 0.05 ? low : high) = middle;
    }
    return low;
  }
};

struct Memory {
  std::vector<Cache> caches{};
  std::vector<double> latencies{};  ///< one more than caches
  double creep_per_decade{0.0};     ///< of the last level, beyond creep_from_bytes
  double creep_from_bytes{1.0};
  double noise{0.0};
  bool noise_only_adds{false};
  double outlier_share{0.0};

  [[nodiscard]] double true_latency(double working_set_bytes) const {
    double latency = latencies.front();
    double reaching = 1.0;
    for (std::size_t k = 0; k < caches.size(); ++k) {
      reaching *= caches[k].miss(working_set_bytes);
      latency += reaching * (latencies[k + 1] - latencies[k]);
    }
    if (working_set_bytes > creep_from_bytes) {
      latency *= 1.0 + creep_per_decade * std::log10(working_set_bytes / creep_from_bytes);
    }
    return latency;
  }

  [[nodiscard]] double measure(double working_set_bytes, Random& random) const {
    double factor = 1.0 + noise * random.normal();
    if (noise_only_adds) {  // the least of 5 repeats
      factor = 10.0;
      for (int i = 0; i < 5; ++i) {
        factor = std::min(factor, 1.0 + noise * std::abs(random.normal()));
      }
    }
    if (random.chance(outlier_share)) factor *= random.uniform(1.2, 3.0);
    return true_latency(working_set_bytes) * std::max(0.5, factor);
  }
};

inline constexpr double first_size = 1024.0;
inline constexpr double kibibyte = 1024.0;

inline Memory random_memory(Random& random) {
  Memory memory;
  const int levels = 2 + static_cast<int>(random.uniform(0.0, 3.999));
  double capacity = random.log_uniform(2.0 * kibibyte, 200.0 * kibibyte);
  memory.latencies.push_back(random.log_uniform(1.0, 120.0));
  for (int k = 0; k + 1 < levels; ++k) {
    Cache cache;
    cache.model =
        std::array{MissModel::cliff, MissModel::random_replacement,
                   MissModel::hashed_sets}[static_cast<std::size_t>(random.uniform(0.0, 2.999))];
    cache.capacity_bytes = capacity;
    cache.width = random.uniform(0.02, 0.3);
    cache.ways = 8 << static_cast<int>(random.uniform(0.0, 2.999));
    memory.caches.push_back(cache);
    memory.latencies.push_back(memory.latencies.back() * random.log_uniform(1.35, 8.0));
    // Far enough for a plateau in between: random replacement needs thrice the capacity to miss,
    // and hashed sets begin to miss at half of it.
    capacity *= random.log_uniform(10.0, 30.0);
  }
  if (random.chance(0.5)) {
    memory.creep_per_decade = random.uniform(0.05, 0.30);
    memory.creep_from_bytes = memory.caches.back().capacity_bytes * random.uniform(1.5, 6.0);
  }
  memory.noise = random.uniform(0.0, 0.04);
  memory.noise_only_adds = random.chance(0.5);
  if (random.chance(0.5)) memory.outlier_share = random.uniform(0.0, 0.05);
  return memory;
}

struct Score {
  int levels{0};
  int found{0};
  int invented{0};
  int capacities{0};
  int in_bracket{0};
};

/// The level of `levels` that stands for true level `k`: within 10 % of its latency, or between
/// its first and last latency where the last level creeps.
inline const Level* match(const Memory& memory, std::span<const Level> levels, std::size_t k) {
  double low = memory.latencies[k] * 0.9;
  double high = memory.latencies[k] * 1.1;
  if (k == memory.caches.size()) high *= 1.0 + 2.0 * memory.creep_per_decade;
  const auto found = std::find_if(levels.begin(), levels.end(), [&](const Level& level) {
    return level.latency >= low && level.latency <= high;
  });
  return found == levels.end() ? nullptr : &*found;
}

inline void score(const Memory& memory, std::span<const Level> levels, Score& total) {
  int found = 0;
  for (std::size_t k = 0; k < memory.latencies.size(); ++k) {
    const Level* level = match(memory, levels, k);
    if (level == nullptr) continue;
    ++found;
    if (k >= memory.caches.size() || !level->capacity) continue;
    ++total.capacities;
    const double truth = memory.caches[k].five_percent_bytes();
    if (level->capacity->low <= truth && truth <= level->capacity->high) ++total.in_bracket;
  }
  total.levels += static_cast<int>(memory.latencies.size());
  total.found += found;
  total.invented += std::max(0, static_cast<int>(levels.size()) - found);
}

}  // namespace clprobe
