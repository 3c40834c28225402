// SPDX-License-Identifier: Apache-2.0
// What a probe is: a value with an id, a question and free functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clprobe/budget.hpp"
#include "clprobe/run.hpp"
#include "clprobe/units.hpp"

namespace clprobe {

class Session;         // device.hpp; only `prepare` sees it
struct SimulatedWork;  // simulated.hpp
namespace simulator {
struct Machine;  // machine.hpp
}

enum class AddressForm { automatic, pointer, index, offset };

/// Words for --address and for the worker's protocol; `from_word` (run.hpp) reads them.
std::string_view to_word(AddressForm value);
std::string_view to_word(Effort value);

/// Working sets from `first` to `last`, each `ratio` times the one before.
struct SizeRange {
  Bytes first{};
  Bytes last{};
  double ratio{0.0};

  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// Elements that are moved through memory: what they are, what is done with them, where they lie.
enum class ElementType { int32, float32, float64 };
enum class Operation { read, write, copy, update };
enum class BufferKind { device, host, svm };

/// Words for --type, --operation and --buffer, and of points; `from_word` (run.hpp) reads them.
std::string_view to_word(ElementType value);
std::string_view to_word(Operation value);
std::string_view to_word(BufferKind value);

/// What is asked for of probes that move whole buffers; 0 and empty: the probe's choice.
struct StreamLimits {
  std::uint64_t elements{0};    ///< in each buffer
  std::uint64_t grid{0};        ///< work-items
  std::uint64_t work_group{0};  ///< work-items in a work-group
  std::vector<ElementType> types{};
  std::vector<int> vectors{};  ///< 1, 2, 4, 8 or 16 values in an element
  std::vector<Operation> operations{};
  std::vector<BufferKind> buffers{};
  std::optional<Timer> timer{};  ///< of launches: event or host

  friend bool operator==(const StreamLimits&, const StreamLimits&) = default;
};

/// What is asked for of work-groups whose loads are outstanding; empty: the probe's choice.
struct InflightLimits {
  std::vector<int> work_items{};
  std::vector<int> loads{};            ///< independent ones of a work-item
  std::vector<int> mergers{};          ///< work-items, or sub-groups, that share a line
  std::vector<std::string> targets{};  ///< "cache", "memory", "host"

  friend bool operator==(const InflightLimits&, const InflightLimits&) = default;
};

/// What is asked for of kernels whose stalls are shown; empty: all that the device can run.
struct StallLimits {
  std::vector<std::string> cases{};  ///< "uts", "utsd", "implicit"

  friend bool operator==(const StallLimits&, const StallLimits&) = default;
};

/// What the user allows and asks for; every field that is not set is the probe's choice.
struct Limits {
  Bytes max_memory{};                 ///< 0: the least of 1 GiB, max allocation, memory / 4
  std::vector<SizeRange> sizes{};     ///< empty: the probe's own
  std::vector<std::string> series{};  ///< empty: all
  Bytes step{};                       ///< 0: the larger of 64 bytes and the reported line
  int unroll{16};                     ///< loads in one iteration of the chase
  AddressForm address{AddressForm::automatic};
  std::vector<int> word_bytes{};    ///< of one access to local memory: 4, 8, 16; empty: all
  std::vector<int> strides{};       ///< in words, between the lanes of a sub-group; empty: 0 to 65
  std::vector<int> ways{};          ///< lanes that meet in one bank; empty: 1, 2, 4 to a sub-group
  std::vector<int> sub_groups{};    ///< of one work-group; empty: 1, 2, 4 to what it takes
  std::vector<int> instructions{};  ///< accesses that do not wait; empty: 1, 2, 4 to 32
  Effort effort{Effort::normal};
  std::uint64_t seed{42};
  StreamLimits stream{};
  InflightLimits in_flight{};
  StallLimits stalls{};
  Bytes last_cache{};  ///< what `latency` found in the same run; 0: not known

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// What to measure, and findings that are clear without measuring ("image: the device has none").
struct Plan {
  std::vector<Point> points{};
  std::vector<Finding> findings{};
};

struct Findings {
  std::vector<Finding> findings{};
  std::vector<Warning> warnings{};
};

/// A sample, and the witness that the host computed for it.
struct Measurement {
  Sample sample{};
  std::uint64_t expected_witness{0};
};

/// One prepared point: buffers filled, kernel built and launched once. Owns what it needs.
struct Work {
  std::uint64_t accesses_per_iteration{1};
  std::uint64_t iterations{1};      ///< the probe's wish; the engine may lengthen or shorten it
  std::uint64_t max_iterations{0};  ///< 0: no bound but the time of a launch
  Parameters facts{};               ///< what was found while preparing: page kind, address form
  KernelBuild build{};
  /// Runs the kernel once with so many iterations. Throws DeviceError.
  std::function<Measurement(std::uint64_t iterations)> run{};
};

/// One way to build a probe's kernel file: its options without the clock, and what is put before
/// it.
struct KernelVariant {
  std::string options{};
  std::string preamble{};
};

/// What is told of a point: the time of one of its accesses, or how many bytes it moves in a
/// second. Of the latter, a sample's accesses are bytes.
enum class Quantity { seconds_per_access, bytes_per_second };

std::string_view to_word(Quantity value);

struct Probe {
  std::string_view id{};  ///< file stem = kernel stem = JSON key = command-line word
  std::string_view title{};
  std::string_view question{};
  Quantity quantity{Quantity::seconds_per_access};
  /// Pure, may be null: what of `limits` the device can never do, in one line that names the
  /// nearest valid value ("--grid: 1000 is no power of two: choose 512 or 1024"). Empty when all is
  /// well.
  std::string (*check)(const DeviceInfo&, const Limits&){nullptr};
  Budgets budgets{usual_budgets};  ///< how long and how often
  /// Pure. Points in any order; the engine shuffles them.
  Plan (*plan)(const DeviceInfo&, const Limits&){nullptr};
  /// Pure, may be null: more points, seen what the first ones say (sizes around a knee).
  std::vector<Point> (*refine)(const DeviceInfo&, const Limits&, std::span<const Point>){nullptr};
  /// The only one that sees OpenCL; null for a probe of simulated machines alone. Throws
  /// DeviceError.
  Work (*prepare)(Session&, const Point&){nullptr};
  /// Pure, may be null: the same work as streams of warp instructions, for a simulated machine.
  SimulatedWork (*trace)(const simulator::Machine&, const Point&){nullptr};
  /// Pure. Every way in which `prepare` can build the kernel, for the tests that compile them all;
  /// null without `prepare`.
  std::vector<KernelVariant> (*variants)(){nullptr};
  /// Pure.
  Findings (*analyse)(const DeviceInfo&, std::span<const Point>){nullptr};
};

}  // namespace clprobe
