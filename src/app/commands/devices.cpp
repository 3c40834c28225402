// SPDX-License-Identifier: Apache-2.0
#include "app/commands/devices.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "app/cli/options.hpp"
#include "app/cli/values.hpp"
#include "clprobe/units.hpp"
#include "simulation/api/simulated.hpp"
#include "system/api/files.hpp"
#include "system/api/host.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string candidates(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& device : devices) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", device.index, quote(device.name));
  }
  return text;
}

int rank(const DeviceInfo& device) {
  constexpr std::array order{DeviceType::gpu, DeviceType::accelerator, DeviceType::cpu};
  return static_cast<int>(std::ranges::find(order, device.type) - order.begin());
}

const DeviceInfo& best_of(const std::vector<DeviceInfo>& devices) {
  return *std::ranges::min_element(devices, [](const DeviceInfo& a, const DeviceInfo& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.compute_units > b.compute_units;
  });
}

bool is_digit(unsigned char c) { return std::isdigit(c) != 0; }

bool is_index(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, is_digit);
}

/// Returns true if `name` contains `number` as a whole number: "RTX 4090" contains 4090, but not 4.
bool has_number(std::string_view name, std::string_view number) {
  for (auto at = name.find(number); at != std::string_view::npos; at = name.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    const bool begins = at == 0 || !is_digit(static_cast<unsigned char>(name[at - 1]));
    const bool ends = end == name.size() || !is_digit(static_cast<unsigned char>(name[end]));
    if (begins && ends) return true;
  }
  return false;
}

/// Returns the devices that `word` matches. `word`: an index, a platform with an index, a type
/// (`gpu`), or part of a name. A number is compared with names only if no device has this number as
/// its index.
std::vector<DeviceInfo> matches(const DeviceList& list, std::string_view word) {
  std::vector<DeviceInfo> found;
  const auto take = [&](const auto& is_meant) {
    std::ranges::copy_if(list.devices, std::back_inserter(found), is_meant);
  };
  if (!is_index(word)) {
    take([&](const DeviceInfo& device) { return to_word(device.type) == lower(word); });
    if (!found.empty()) return found;
    take([&](const DeviceInfo& device) {
      return device.platform_index == word ||
             lower(device.name).find(lower(word)) != std::string::npos;
    });
    return found;
  }
  take([&](const DeviceInfo& device) { return fmt::to_string(device.index) == word; });
  if (found.empty()) {
    take([&](const DeviceInfo& device) { return has_number(device.name, word); });
  }
  return found;
}

std::vector<DeviceInfo> select_word(const DeviceList& list, std::string_view word) {
  // An empty word would match every name.
  if (word.empty()) {
    throw cli::UsageError(
        "--device: empty entry in the list; remove the extra comma or add a device");
  }
  if (word == "all") return list.devices;
  std::vector<DeviceInfo> found = matches(list, word);
  if (found.empty()) {
    throw NoDevice(
        fmt::format("no device matches {}; available: {}; `clprobe list` shows all devices",
                    quote(word), candidates(list.devices)));
  }
  if (found.size() > 1) {
    throw cli::UsageError(
        fmt::format("--device: {} matches several devices: choose one of {} by its index, or all",
                    quote(word), candidates(found)));
  }
  return found;
}

constexpr std::string_view simulated_prefix = "sim:";
constexpr std::string_view machine_file_ending = ".json";

std::string text_of(const std::string& path) {
  constexpr std::size_t max_bytes = mebibytes(1).count;  // typical machine files have 2 KiB
  std::string problem = "it is empty";
  try {
    std::string text = system::read_file(path, max_bytes);
    if (!text.empty()) return text;
  } catch (const std::system_error& error) {
    problem = error.code().message();
  }
  throw cli::UsageError(fmt::format("--device: cannot read {}: {}", quote(path), problem));
}

bool is_simulated(std::string_view word) { return word.starts_with(simulated_prefix); }

/// Returns true if a word "sim:..." names a machine file and not a built-in machine.
bool names_file(std::string_view word) { return word.ends_with(machine_file_ending); }

simulator::Machine machine_of(std::string_view word) {
  const std::string name(word.substr(simulated_prefix.size()));
  const bool is_file = names_file(word);
  const std::string text = is_file ? text_of(name) : "";
  try {
    return is_file ? simulator::machine_from_json(text) : simulator::preset(name);
  } catch (const simulator::MachineError& error) {
    throw cli::UsageError(fmt::format("--device: {}; or sim:FILE.json", error.what()));
  } catch (const RunFormatError& error) {
    throw cli::UsageError(fmt::format("--device: {}: {}", quote(name), error.what()));
  }
}

}  // namespace

std::vector<std::string> machine_files(std::string_view selector) {
  std::vector<std::string> files;
  for (const std::string_view word : cli::split_list(selector)) {
    if (is_simulated(word) && names_file(word)) {
      files.emplace_back(word.substr(simulated_prefix.size()));
    }
  }
  return files;
}

std::vector<std::string> preset_words() {
  std::vector<std::string> words;
  for (const std::string_view name : simulator::preset_names()) {
    words.push_back(fmt::format("{}{}", simulated_prefix, name));
  }
  return words;
}

std::vector<Target> select_targets(std::string_view selector,
                                   const std::function<const DeviceList&()>& list) {
  std::vector<Target> selected;
  const auto add = [&](Target target) {
    const bool is_new = std::ranges::none_of(selected, [&](const Target& each) {
      return each.machine == target.machine && each.info.index == target.info.index;
    });
    if (is_new) selected.push_back(std::move(target));
  };
  for (const std::string_view word : cli::split_list(selector)) {
    if (is_simulated(word)) {
      simulator::Machine machine = machine_of(word);
      add({describe_device(machine), std::move(machine)});
      continue;
    }
    const DeviceList& found = list();
    if (found.devices.empty()) throw NoDevice(explain_no_device(found, memory_limit()));
    if (selector.empty()) {
      add({best_of(found.devices), std::nullopt});
      continue;
    }
    for (DeviceInfo& device : select_word(found, word)) add({std::move(device), std::nullopt});
  }
  return selected;
}

std::vector<std::string> explain_left_out(const DeviceList& list) {
  // Value of OCL_ICD_VENDORS: a file, which only ocl-icd accepts, or a folder for several drivers.
  const std::string vendors = list.kept.size() == 1 ? quote(list.kept.front())
                                                    : "FOLDER, a folder with the other .icd files";
  std::vector<std::string> lines;
  for (const DeviceList::LeftOut& each : list.left_out) {
    lines.push_back(fmt::format(
        "driver {} is skipped: {}; to skip it without testing it, set OCL_ICD_VENDORS={}",
        quote(each.file), each.reason, vendors));
  }
  return lines;
}

std::optional<Bytes> memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return Bytes{limit.rlim_cur};
}

std::string explain_no_device(const DeviceList& list, std::optional<Bytes> memory) {
  if (!list.left_out.empty()) {
    return fmt::format("no OpenCL device: {}", fmt::join(explain_left_out(list), "; "));
  }
  std::string platforms;
  for (const DeviceList::Problem& each : list.problems) {
    platforms += fmt::format("{}{}: {}", platforms.empty() ? "" : "; ", quote(each.platform),
                             printable(each.problem));
  }
  const std::string found = platforms.empty() ? std::string("no OpenCL platform")
                                              : fmt::format("no OpenCL device ({})", platforms);
  // A memory limit is the likely cause, since the loader silently ignores a driver that does not
  // fit into memory.
  if (memory) {
    return fmt::format(
        "{}, probably because of the memory limit of {}: raise the limit with ulimit -v", found,
        format_bytes(*memory));
  }
  if (!platforms.empty()) return found + ": install the package pocl-opencl-icd to measure the CPU";
  return found +
         ": install a driver's ICD file into /etc/OpenCL/vendors (package pocl-opencl-icd for the "
         "CPU; the vendor's driver for a GPU)";
}

std::chrono::milliseconds reading_time(const bundle::Launch& launch) {
  constexpr std::uint64_t bytes_per_second = std::uint64_t{32} << 20U;
  constexpr std::uint64_t milliseconds = 1000;
  return std::chrono::milliseconds(object_bytes(launch) * milliseconds / bytes_per_second);
}

WorkerSettings worker_settings(const cli::Options& options) {
  WorkerSettings settings;
  settings.seed = options.seed;
  settings.keeps_memory = options.max_memory.count == 0;
  std::chrono::milliseconds longest{0};
  for (const AskedLaunch& each : options.launches) {
    longest = std::max(longest, reading_time(each.bundle.launch));
  }
  settings.timeout = options.timeout + longest;
  settings.clock = options.clock;
  settings.cancelled = system::is_interrupted;
  if (!options.sources.empty()) {
    settings.environment.emplace_back(bundle::sources_variable,
                                      bundle::to_environment(options.sources));
  }
  return settings;
}

Devices::Devices(const cli::Options& options, std::function<void(std::string_view line)> say)
    : options_(options), say_(std::move(say)), settings_(worker_settings(options)) {}

std::vector<Target> Devices::select(std::string_view selector) {
  return select_targets(selector, [this]() -> const DeviceList& {
    if (found_) return *found_;
    found_ = list_devices(settings_);
    settings_.drivers = found_->drivers;
    for (const std::string& line : explain_left_out(*found_)) say_(line);
    return *found_;
  });
}

std::unique_ptr<Backend> Devices::open(const Target& target) {
  if (target.machine) {
    return simulated_backend(*target.machine, options_.seed, options_.traces,
                             system::usable_cores(), system::is_interrupted);
  }
  // Reuses the child process that listed the devices, since it has already loaded the drivers.
  return remote_backend(target.info.index, settings_,
                        found_ ? std::exchange(found_->child, nullptr) : nullptr);
}

}  // namespace clprobe::commands
