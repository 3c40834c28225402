// SPDX-License-Identifier: Apache-2.0
// The cores that run this process.
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

/// Keeps all threads of this process on one core at a time, or where they were before. What the
/// system refuses has no effect.
class Cores {
 public:
  Cores();

  /// Confines all threads to one of the allowed cores.
  void confine(int core);
  /// Returns each thread to its former cores, and newer threads to all allowed cores.
  void release();

  /// The allowed cores of the thread that created this object.
  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }
  /// Returns true if all working cores of the machine are allowed.
  [[nodiscard]] bool has_all() const;

 private:
  std::vector<int> allowed_{};
  std::map<int, cpu_set_t> before_{};  // by thread
  int confined_to_{-1};
};

/// Returns how many threads of this process can run at the same time, at least 1: the allowed
/// cores, and no more than the control group of a container grants.
std::size_t usable_cores();

/// The core that runs the calling thread at this moment, and the memory that is nearest to it.
struct PlaceOfThread {
  int core{0};
  int node{0};
};

/// Returns the calling thread's core and node; nothing if the system does not report them.
std::optional<PlaceOfThread> place_of_thread();

// Use of the cores that this process may use, by this process and by all.

/// Since some moment before this process began: only differences mean something.
struct CoreUse {
  double own_s{0.0};  ///< work of this process, of its ended children, and of one running child
  double busy_s{
      0.0};  ///< work of all processes, and of other machines that share a virtual machine's cores
  double idle_s{0.0};
};

/// Zeros where the system does not say. It counts in steps of 10 ms. Source: /proc/stat and
/// /proc/PID/stat of Linux (proc(5)).
/// `child`: a process whose work is this one's, or 0.
CoreUse core_use(int child);

// A core that nobody else slows down at the moment.

/// Looks for a fast core before what one core does is timed. A core of a shared host may be half of
/// one whose other half is busy: on 16 such cores beside an H200 each ran at 3.0 or at 1.4 to 1.9
/// GHz, for as long as seconds, and launches took 12 % longer at the lower rate.
class QuietCore {
 public:
  /// Returns the time of some arithmetic on a core in ns; infinite if this thread may not use the
  /// core.
  using Measure = std::function<double(int core)>;

  QuietCore();
  /// Uses the caller's measure, which need not move the thread.
  QuietCore(std::vector<int> allowed, Measure measure);

  /// The core to go to: `here` if it is about as fast as any was before; otherwise the next allowed
  /// one that is, or the fastest.
  int choose(int here);
  /// Moves this thread there. It is not kept there.
  void seek();
  /// Returns a quiet core for other threads, starting at the next allowed core each time, so that
  /// several quiet cores alternate. This thread keeps its cores.
  std::optional<int> next();
  /// The `turn`-th of the allowed cores, counted round and round; nothing where there is no other.
  [[nodiscard]] std::optional<int> core_of(std::size_t turn) const;
  /// Returns true if the last search found a core about as fast as the fastest so far.
  [[nodiscard]] bool found_one() const { return found_one_; }

 private:
  double ns_on(int core);

  std::vector<int> allowed_;
  Measure measure_;
  std::optional<double> fastest_ns_{};  // anywhere until now
  bool found_one_{true};
  std::size_t turn_{0};
};

// Memory that the process reuses instead of giving it back to the system.

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

// Power draw of a device, as its driver or the system reports it. Never needed: where nothing can
// be read there is a reason.

/// The device whose power is measured.
struct PowerTarget {
  bool is_cpu{false};
  std::string uuid{};  ///< hexadecimal digits, as OpenCL has it; may be empty
  std::string pci{};   ///< "0000:01:00.0"; may be empty
};

/// Places of meters; tests use their own.
struct PowerPlaces {
  std::string sys{"/sys"};
  std::string nvml{"libnvidia-ml.so.1"};
};

/// A reading of a meter: the energy since some earlier moment, or the present power.
struct PowerReading {
  std::optional<double> joules{};
  std::optional<double> watts{};
};

/// A meter that could be read once, and may fail later; else the reason why there is none.
struct PowerMeter {
  std::string name{};  ///< "NVML", "hwmon" or "RAPL"; empty if there is no meter
  std::function<std::optional<PowerReading>()> read{};
  std::string reason{};  ///< "no NVML library; no hwmon folder of 0000:01:00.0"
};

/// Finds a device's meter. On a CPU: RAPL's packages (Linux' powercap), which usually only root may
/// read. For another device: NVML by UUID or PCI address, or its driver's hwmon folder (AMD,
/// Intel).
PowerMeter find_power_meter(const PowerTarget& target, const PowerPlaces& places = {});

/// The mean power between two readings that are so far apart; nothing where they do not say it.
std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds);

/// Mean power of consecutive spans of time. Some drivers take longer to read a meter than a
/// measured moment lasts, so that at most a fifth of the time goes to readings, and a span lasts
/// until then. A span also lasts at least `min_span`: an H200's energy meter updates every 100 ms,
/// and spans of 50 ms alternated between no power and twice the power.
class PowerSpans {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds usual_span{300};

  /// `read`: of a meter. `min_span`: how long a span is. `now`: tests have clocks of their own.
  explicit PowerSpans(std::function<std::optional<PowerReading>()> read,
                      Clock::duration min_span = usual_span,
                      std::function<Clock::time_point()> now = Clock::now);

  /// A span begins; what was before is none of it.
  void begin();
  /// Ends a span, and begins the next. Its power in watts; nothing where it goes on or a reading
  /// failed.
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
  Clock::duration reading_{};  // what that took until now
  std::optional<Taken> last_{};
};

}  // namespace clprobe::system
