// SPDX-License-Identifier: Apache-2.0
// The host: processor cores, memory pages, power, and limits of devices.
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

/// Returns core numbers as the set type of sched_setaffinity().
cpu_set_t set_of(const std::vector<int>& cores);

/// Confines all threads of this process to one core, and later restores the cores of each thread. A
/// thread whose cores the system refuses to change keeps them.
class Cores {
 public:
  Cores();

  /// Confines all threads to `core`, which must be allowed. Has no effect if only one core is.
  void confine(int core);
  /// Gives each thread the cores that it had before confine(). A thread started since then gets all
  /// allowed cores.
  void release();

  /// Returns the allowed cores of the thread that created this object.
  [[nodiscard]] const std::vector<int>& allowed() const { return allowed_; }
  /// Returns true if all cores of the machine that are online are allowed.
  [[nodiscard]] bool has_all() const;

 private:
  std::vector<int> allowed_{};
  std::map<int, cpu_set_t> before_{};  // cores before confine(), by thread
  int confined_to_{-1};
};

/// Returns the number of threads of this process that can run at the same time, at least 1: the
/// number of allowed cores, or the CPU limit of the container's control group if that limit is
/// lower.
std::size_t usable_cores();

/// Core that runs the calling thread, and the core's NUMA node.
struct PlaceOfThread {
  int core{0};
  int node{0};
};

/// Returns the calling thread's core and node; nothing if the system does not report them.
std::optional<PlaceOfThread> place_of_thread();

// CPU time used on the cores that this process may use: by this process, and by all processes.

/// CPU time since an unspecified moment before this process began; only differences are meaningful.
struct CoreUse {
  double own_s{0.0};   ///< CPU time of this process, its ended children and the child `child`
  double busy_s{0.0};  ///< CPU time of all processes, and of other machines that share a virtual
                       ///< machine's cores
  double idle_s{0.0};
};

/// Returns the CPU times; zeros if the system does not report them. `busy_s` and `idle_s` change in
/// steps of 10 ms. `child`: process ID of a child whose time `own_s` includes, or 0. Sources:
/// /proc/stat and /proc/PID/stat (proc(5)), getrusage(2).
CoreUse core_use(int child);

// Search for a core that other programs do not slow down.

/// Search for a fast core, before work on a single core is timed. A core of a virtual machine may
/// be one hardware thread of a physical core whose other hardware thread is busy. On the 16-core
/// host of an H200, each core ran at 3.0 GHz or at 1.4 to 1.9 GHz for seconds; at the lower rates,
/// launches took 12 % longer.
class QuietCore {
 public:
  /// Returns the time in ns of a fixed amount of arithmetic on `core`; infinity if the calling
  /// thread may not use `core`.
  using Measure = std::function<double(int core)>;

  QuietCore();
  /// Uses `measure` in place of timed arithmetic; `measure` need not move the calling thread.
  QuietCore(std::vector<int> allowed, Measure measure);

  /// Returns the fastest of up to 16 allowed cores. After the first call, returns the first core
  /// from `here` on that is about as fast as the fastest core so far, if there is one. Unless the
  /// constructor got a `measure`, moves the calling thread to the last core tried.
  int choose(int here);
  /// Moves the calling thread to the core that choose() returns. The system may later move the
  /// thread to another core.
  void seek();
  /// Returns a quiet core for another thread; nothing if only one core is allowed. Each call starts
  /// at the next allowed core, so that successive calls alternate between quiet cores. The calling
  /// thread keeps its own cores.
  std::optional<int> next();
  /// Returns the allowed core whose index is `turn` modulo the number of allowed cores; nothing if
  /// only one core is allowed.
  [[nodiscard]] std::optional<int> core_of(std::size_t turn) const;
  /// Returns true if the last search found a core that is about as fast as the fastest core so far.
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

/// Pool of huge pages, used by a single thread. The pool keeps freed pages mapped: the host of a
/// virtual machine may reclaim unmapped pages after a second, and needs seconds per GiB to provide
/// them again. The pool never holds more pages than the maximum that were in use at the same time.
/// The size of each range is a multiple of `unit`.
class Pages {
 public:
  static constexpr std::size_t unit = std::size_t{2} << 20U;  ///< bytes of a huge page

  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages(Pages&&) = delete;
  Pages& operator=(Pages&&) = delete;
  /// Unmaps the free ranges; ranges in use stay mapped.
  ~Pages();

  /// Returns at least `bytes` bytes, which contain zeros or earlier contents. If no free range is
  /// large enough, unmaps all free ranges. If the system has no memory, returns null, sets errno.
  [[nodiscard]] void* take(std::size_t bytes);
  /// Returns memory to the pool. `begin`: result of `take(bytes)`.
  void give_back(void* begin, std::size_t bytes);

  /// Sets whether give_back() keeps freed ranges (the default) or unmaps them. `false` also unmaps
  /// the ranges that are free at the time of the call.
  void keep(bool is_kept);

  [[nodiscard]] std::size_t free_bytes() const;

 private:
  /// Size of each free range in bytes, by its first byte; adjacent ranges are merged.
  using Ranges = std::map<std::byte*, std::size_t>;

  void join_neighbours(Ranges::iterator place);
  void unmap_free();

  Ranges free_{};
  bool is_kept_{true};
};

/// Returns the pool for the host buffers of all probes.
Pages& pages_of_process();

// Power, memory interface and link of a device, from sources outside OpenCL.

/// Device whose power, memory or link is read.
struct DeviceTarget {
  bool is_cpu{false};
  std::string uuid{};  ///< UUID in hexadecimal digits, as in OpenCL; may be empty
  std::string pci{};   ///< PCI address such as "0000:01:00.0"; may be empty
};

/// Paths of the interfaces; tests replace these paths.
struct DevicePlaces {
  std::string sys{"/sys"};
  std::string nvml{"libnvidia-ml.so.1"};
};

/// Reading of a meter: the energy since an unspecified earlier moment, or the present power.
struct PowerReading {
  std::optional<double> joules{};
  std::optional<double> watts{};
};

/// Power meter that was read once and may fail later, or the reason for a missing meter.
struct PowerMeter {
  std::string name{};  ///< "NVML", "hwmon" or "RAPL"; empty if there is no meter
  std::function<std::optional<PowerReading>()> read{};
  std::string reason{};  ///< reason for a missing meter; empty if there is a meter
};

/// Finds a device's power meter. A CPU's meter is RAPL (Linux' powercap folder), which usually only
/// root may read. Another device's meter is NVML, found by UUID or PCI address, or the hwmon folder
/// of the device's driver (AMD, Intel).
PowerMeter find_power_meter(const DeviceTarget& target, const DevicePlaces& places = {});

/// Link of PCI Express.
struct Link {
  unsigned generation{0};  ///< at least 1
  unsigned lanes{0};       ///< at least 1
};

/// Returns a link as text, such as "PCIe 5.0 x16".
std::string link_text(const Link& link);

/// Limits of a device that its driver or the system reports.
struct DeviceLimits {
  unsigned memory_bus_bits{0};   ///< width of the interface to the memory; 0 if unknown
  unsigned memory_clock_mhz{0};  ///< maximum clock of the memory; 0 if unknown
  std::optional<Link> max_link{};
  /// Returns the present link, which may be slower while the device is idle; null if NVML and the
  /// system report no link.
  std::function<std::optional<Link>()> read_link{};
};

/// Reads the limits of a GPU. NVML reports those of the memory. The link is that of NVML, whose
/// maximum includes the limits of the slot, or that of the PCI folder in /sys, whose maximum is the
/// device's.
DeviceLimits read_device_limits(const DeviceTarget& target, const DevicePlaces& places = {});

/// Returns the mean power in watts between two readings that are `seconds` apart, if both contain
/// the energy and it did not fall; otherwise the power of `after`; nothing if that is unknown.
std::optional<double> mean_watts(const PowerReading& before, const PowerReading& after,
                                 double seconds);

/// Mean power of consecutive time spans. Some drivers read a meter slowly, so a span ends only when
/// at most a fifth of the time since construction went into readings. A span lasts at least
/// `min_span`: an H200's energy meter updates every 100 ms, so spans of 50 ms alternated between 0
/// W and twice the real power.
class PowerSpans {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds usual_span{300};

  /// Prepares spans; begin() starts the first. `read` reads the meter; `min_span` is the minimum
  /// length of a span; tests replace `now`.
  explicit PowerSpans(std::function<std::optional<PowerReading>()> read,
                      Clock::duration min_span = usual_span,
                      std::function<Clock::time_point()> now = Clock::now);

  /// Begins a span and discards the previous, unfinished span.
  void begin();
  /// Ends a span and begins the next span. Returns the ended span's mean power in watts; nothing if
  /// the span continues, a reading failed or the power is unknown.
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
  Clock::duration reading_{};  // total time that readings took
  std::optional<Taken> last_{};
};

}  // namespace clprobe::system
