// SPDX-License-Identifier: Apache-2.0
// The host: processor cores, memory pages and power.
#pragma once

#include <sched.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clprobe::system {

/// Converts cores to the system's type.
cpu_set_t set_of(const std::vector<int>& cores);

/// Confines all threads of this process to one core, and restores their cores. Refusals by the
/// system are ignored.
class Cores {
 public:
  Cores();

  /// Confines all threads to one of the allowed cores.
  void confine(int core);
  /// Returns each thread to its former cores, and newer threads to all allowed cores.
  void release();

  /// Returns the allowed cores of the thread that created this object.
  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }
  /// Returns true if all working cores of the machine are allowed.
  [[nodiscard]] bool has_all() const;

 private:
  std::vector<int> allowed_{};
  std::map<int, cpu_set_t> before_{};  // cores before confine(), by thread
  int confined_to_{-1};
};

/// Returns how many threads of this process can run at the same time, at least 1: the allowed
/// cores, and no more than the control group of a container grants.
std::size_t usable_cores();

/// The core that runs the calling thread now, and its NUMA node.
struct PlaceOfThread {
  int core{0};
  int node{0};
};

/// Returns the calling thread's core and node; nothing if the system does not report them.
std::optional<PlaceOfThread> place_of_thread();

// CPU time on the cores that this process may use, of this process and of all processes.

/// CPU time since an unspecified moment before this process began; only differences are meaningful.
struct CoreUse {
  double own_s{0.0};   ///< CPU time of this process, its ended children and one running child
  double busy_s{0.0};  ///< CPU time of all processes, and of other machines that share a virtual
                       ///< machine's cores
  double idle_s{0.0};
};

/// Returns the CPU time in steps of 10 ms; zeros if the system does not report it. `child`: a
/// process to include in `own_s`, or 0. Source: /proc/stat and /proc/PID/stat (proc(5)).
CoreUse core_use(int child);

// Search for a core that other programs do not slow down.

/// Finds a fast core before single-core work is timed. A core of a shared host may be one hardware
/// thread of a core whose other thread is busy. On 16 cores next to an H200, each core ran at 3.0
/// GHz or at 1.4 to 1.9 GHz for seconds; at the lower rates, launches took 12 % longer.
class QuietCore {
 public:
  /// Returns the time of some arithmetic on a core in ns; infinite if this thread may not use the
  /// core.
  using Measure = std::function<double(int core)>;

  QuietCore();
  /// Uses the caller's measure, which need not move the thread.
  QuietCore(std::vector<int> allowed, Measure measure);

  /// Returns `here` if it is about as fast as the fastest core so far; otherwise the next allowed
  /// core that is, or the fastest.
  int choose(int here);
  /// Moves this thread to the chosen core. The thread may leave it again later.
  void seek();
  /// Returns a quiet core for other threads, starting at the next allowed core each time, so that
  /// several quiet cores alternate. This thread keeps its cores.
  std::optional<int> next();
  /// Returns the allowed core with the number `turn`, modulo their count; nothing if only one core
  /// is allowed.
  [[nodiscard]] std::optional<int> core_of(std::size_t turn) const;
  /// Returns true if the last search found a core about as fast as the fastest so far.
  [[nodiscard]] bool found_one() const { return found_one_; }

 private:
  double ns_on(int core);

  std::vector<int> allowed_;
  Measure measure_;
  std::optional<double> fastest_ns_{};  // fastest time on any core so far
  bool found_one_{true};
  std::size_t turn_{0};
};

// Memory that the process keeps for reuse.

/// Pool of huge pages. Free pages stay with the process: the host of a virtual machine may take
/// freed pages away after a second, and takes seconds per GiB to return them. Pages in use and free
/// pages together never exceed the maximum in use. For a single thread; all ranges are whole units.
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
  /// Bytes of each free range, by its begin; adjacent ranges are merged.
  using Ranges = std::map<std::byte*, std::size_t>;

  void join_neighbours(Ranges::iterator place);
  void unmap_free();

  Ranges free_{};
  bool is_kept_{true};
};

/// Returns the pages of the probes' host buffers.
Pages& pages_of_process();

// Power draw of a device, as reported by its driver or the system. Optional: a meter that cannot be
// read has a reason.

/// Device whose power is measured.
struct PowerTarget {
  bool is_cpu{false};
  std::string uuid{};  ///< UUID in hexadecimal digits, as in OpenCL; may be empty
  std::string pci{};   ///< PCI address such as "0000:01:00.0"; may be empty
};

/// Paths of the meters' interfaces; tests replace them.
struct PowerPlaces {
  std::string sys{"/sys"};
  std::string nvml{"libnvidia-ml.so.1"};
};

/// Reading of a meter: the energy since some earlier moment, or the present power.
struct PowerReading {
  std::optional<double> joules{};
  std::optional<double> watts{};
};

/// A meter that was read once and may fail later, or the reason why there is none.
struct PowerMeter {
  std::string name{};  ///< "NVML", "hwmon" or "RAPL"; empty if there is no meter
  std::function<std::optional<PowerReading>()> read{};
  std::string
      reason{};  ///< reason for a missing meter: "no NVML library; no hwmon folder of 0000:01:00.0"
};

/// Finds a device's meter. On a CPU: RAPL's packages (Linux' powercap), which usually only root may
/// read. For another device: NVML by UUID or PCI address, or its driver's hwmon folder (AMD,
/// Intel).
PowerMeter find_power_meter(const PowerTarget& target, const PowerPlaces& places = {});

/// Returns the mean power in watts between two readings `seconds` apart; nothing if they do not
/// contain it.
std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds);

/// Mean power of consecutive time spans. A span ends only when at most a fifth of the time went
/// into readings, since some drivers take longer to read a meter than a measured moment lasts. A
/// span lasts at least `min_span`: an H200's energy meter updates every 100 ms, and spans of 50 ms
/// alternated between no power and twice the power.
class PowerSpans {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds usual_span{300};

  /// `read` reads the meter; `min_span` is the minimum length of a span; `now` replaces the clock
  /// in tests.
  explicit PowerSpans(std::function<std::optional<PowerReading>()> read,
                      Clock::duration min_span = usual_span,
                      std::function<Clock::time_point()> now = Clock::now);

  /// Begins a span and discards the power before it.
  void begin();
  /// Ends a span and begins the next. Returns the power in watts; nothing if the span continues or
  /// a reading failed.
  std::optional<double> end();

 private:
  struct Taken {
    PowerReading reading;
    Clock::time_point at;
  };
  std::optional<Taken> take();

  std::function<std::optional<PowerReading>()> read_;
  Clock::duration min_span_;
  std::function<Clock::time_point()> now_;
  Clock::time_point began_;
  Clock::duration reading_{};  // total time of readings so far
  std::optional<Taken> last_{};
};

}  // namespace clprobe::system
