// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: refused with one plain line, or a trace that reads back as itself, and that
// the simulator takes or refuses.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../unit/trace_text.hpp"
#include "simulation/api/simulator.hpp"

namespace {

namespace simulator = clprobe::simulator;

[[noreturn]] void fail(std::string_view what) {
  std::cerr << "FINDING: " << what << '\n';
  std::abort();
}

void check_plain(std::string_view message) {
  for (const char c : message) {
    if (c < 0x20 || c >= 0x7f) fail("the message is no plain line");
  }
}

/// A trace of any size could take minutes: so many cycles show whether anything is out of bounds.
void simulate_some(const simulator::Trace& trace) {
  constexpr std::uint64_t some_cycles = 20'000;
  try {
    static_cast<void>(
        simulator::simulate(simulator::preset("gsi"), trace, {.max_cycles = some_cycles}));
  } catch (const std::runtime_error& error) {  // TraceError, Deadlock
    check_plain(error.what());
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  try {
    const simulator::TraceFile file = simulator::read_trace_file(text);
    const std::string written = simulator::to_text(file);
    if (simulator::to_text(simulator::read_trace_file(written)) != written) {
      fail("what was written reads back as another trace");
    }
    simulate_some(file.trace);
  } catch (const simulator::TraceFileError& error) {
    check_plain(error.what());
  }
  return 0;
}
