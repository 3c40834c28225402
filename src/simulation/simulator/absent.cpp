// SPDX-License-Identifier: Apache-2.0
// Replacement for the simulator in builds without it. There are no presets, and all other functions
// throw an error that names the build option.

#include "simulation/api/simulated.hpp"
#include "simulation/api/simulator.hpp"

namespace clprobe {
namespace {

constexpr const char* absent =
    "this build has no simulated devices: configure it with -DCLPROBE_SIMULATION=ON";

}  // namespace

namespace simulator {

std::vector<std::string_view> preset_names() { return {}; }

Machine preset(std::string_view /*name*/) { throw MachineError(absent); }

Machine machine_from_json(std::string_view /*json*/) { throw MachineError(absent); }

DeviceInfo describe_device(const Machine& /*machine*/) { throw MachineError(absent); }

TraceFile read_trace_file(std::string_view /*text*/) { throw TraceFileError(absent); }

}  // namespace simulator

std::unique_ptr<Backend> simulated_backend(simulator::Machine /*machine*/, std::uint64_t /*seed*/,
                                           std::vector<AskedTrace> /*given*/, std::size_t /*cores*/,
                                           std::function<bool()> /*cancelled*/) {
  throw simulator::MachineError(absent);
}

}  // namespace clprobe
