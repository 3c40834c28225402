// SPDX-License-Identifier: Apache-2.0
// Fleets: folders with a run document per device, and what they say about the devices.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::fleet {

/// A number of a device, under a name of docs/describe.md.
struct Number {
  std::string name{};
  std::string unit{};
  double value{0.0};
  double noise{0.0};  ///< relative standard error within the device, from its interval
};

/// One run of one device.
struct Device {
  std::string file{};
  std::string node{};
  std::string slot{};
  std::string rack{};
  std::string campaign{};
  std::string together{};  ///< label of devices that were measured at the same time
  std::string name{};      ///< model
  std::string vendor{};
  std::string driver{};
  std::string uuid{};
  std::string pci{};
  std::string started{};
  double memory_bytes{0.0};
  std::string failure{};  ///< reason why the run is incomplete; empty for success
  std::vector<Number> numbers{};
};

/// A file without a usable run.
struct BadFile {
  std::string file{};
  std::string reason{};
  std::string node{};  ///< node of an incomplete run; empty if unknown
};

struct Folder {
  std::vector<Device> devices{};
  std::vector<BadFile> bad_files{};
};

/// Returns the devices in the documents below `path`, a folder or a file, sorted by file name.
/// `read` returns the devices of a document's text and throws std::runtime_error for other texts;
/// two threads call it. Throws std::system_error if the folder cannot be read.
Folder load(const std::string& path,
            const std::function<std::vector<Device>(const std::string& text)>& read);

/// Verdict on a device's number. `unsure`: slower than the fleet by less than the number's own
/// noise. `suspect`: worth a second run. `slow`: stands out from the fleet's own tail.
enum class Standing { usual, unsure, fast, suspect, slow };

std::string_view to_word(Standing standing);

/// A number that deviates from the fleet. Indices refer to Report::devices.
struct Deviation {
  std::size_t device{0};
  std::string name{};
  std::string unit{};
  double value{0.0};
  double centre{0.0};   ///< median of the fleet, or of the reference
  double loss{0.0};     ///< logarithm of how many times worse than the centre; negative: better
  double z{0.0};        ///< loss divided by the fleet's scale
  double p{1.0};        ///< probability of the loss by the tail of the fleet
  bool is_sure{false};  ///< true if a second run of the device agrees
  Standing standing{Standing::usual};
};

/// A slow, suspect or fast device with its largest deviation.
struct Offender {
  std::size_t device{0};
  Deviation worst{};
  std::string cause{};  ///< likely cause; empty if no pattern fits
};

/// Distribution of a number over the devices of one kind.
struct Distribution {
  std::string kind{};  ///< device model and driver; see Report::kinds
  std::string name{};
  std::string unit{};
  double median{0.0};
  double low{0.0};   ///< 5 % quantile
  double high{0.0};  ///< 95 % quantile
  double worst{0.0};
  double detectable{0.0};  ///< loss that is found with 90 % probability
  std::vector<double> values{};
  std::vector<std::size_t> devices{};
};

/// Devices that are compared with each other.
struct Kind {
  std::string name{};
  std::vector<std::size_t> devices{};
  std::string note{};  ///< why the kind has no statistics; empty if it has
};

/// A remark on a part of the fleet: two groups, a slow slot, drift.
struct Remark {
  std::string about{};  ///< "two groups", "slot", "drift"
  std::string text{};
};

struct Wishes {
  std::vector<std::string> nodes{};  ///< expected nodes; empty: unknown
  std::size_t expected{0};           ///< expected number of devices; 0: unknown
};

struct Report {
  std::string campaign{};
  std::vector<Device> devices{};  ///< newest run of each device
  std::size_t nodes{0};           ///< number of different nodes
  std::size_t older{0};           ///< number of older runs, which serve as history
  std::vector<Kind> kinds{};
  std::vector<Distribution> distributions{};
  std::vector<Deviation> deviations{};  ///< all except Standing::usual, worst first
  std::vector<Offender> offenders{};    ///< slow devices, then suspects, then fast ones
  std::vector<Remark> remarks{};
  std::vector<std::string> missing{};  ///< expected nodes without a run
  std::size_t missing_devices{0};      ///< expected devices without a run, of unknown nodes
  std::vector<BadFile> failed{};       ///< unreadable files and incomplete runs

  [[nodiscard]] std::size_t count(Standing standing) const;
};

/// Returns the report on a folder. `reference`: devices that are known to be good, for kinds of
/// fewer than eight devices. Pure; random shuffles have a fixed seed.
Report analyse(Folder folder, std::span<const Device> reference, const Wishes& wishes);

/// Returns the nodes of a host list, "a[003,017-018],b1". Throws std::invalid_argument for a list
/// with an open bracket, a bad range or over 65,536 nodes.
std::vector<std::string> expand_hosts(std::string_view list);
/// Returns the host list of the nodes. Omits names with other characters than A-Z, a-z, 0-9, '.',
/// '_' and '-', so that the list can be pasted into a shell.
std::string compress_hosts(std::vector<std::string> nodes);

/// Returns the nodes of slow devices, with suspects if `with_suspects`, of failed runs, and the
/// missing nodes, as a host list.
std::string offending_hosts(const Report& report, bool with_suspects);

}  // namespace clprobe::fleet
