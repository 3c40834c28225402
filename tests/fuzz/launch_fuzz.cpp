// SPDX-License-Identifier: Apache-2.0
// Any bytes as launch.json: refused with one plain line, or a launch that reads back as itself.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "clprobe/launch.hpp"

namespace {

[[noreturn]] void fail(std::string_view what) {
  std::cerr << "FINDING: " << what << '\n';
  std::abort();
}

/// What a launch allows must not pass the ends of its objects, nor its objects memory.
void check(const clprobe::bundle::Launch& launch) {
  namespace bundle = clprobe::bundle;
  constexpr std::uint64_t small = 1U << 16U;
  for (const bundle::Argument& each : launch.arguments) {
    if (each.kind != bundle::ArgumentKind::buffer) continue;
    const std::uint64_t whole = launch.objects.at(each.object).bytes;
    if (each.origin > whole || each.bytes > whole - each.origin) fail("a part beyond its object");
  }
  for (const bundle::Object& each : launch.objects) {
    if (!each.contents || each.bytes > small) continue;
    if (bundle::make_contents(*each.contents, 1).size() != each.bytes) fail("another size");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer asks for it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  try {
    const clprobe::bundle::Launch launch = clprobe::bundle::launch_from_json(text);
    check(launch);
    const std::string written = clprobe::bundle::to_json(launch);
    if (clprobe::bundle::to_json(clprobe::bundle::launch_from_json(written)) != written) {
      fail("what was written reads back as another launch");
    }
  } catch (const clprobe::bundle::FormatError& error) {
    for (const char c : std::string_view(error.what())) {
      if (c < 0x20 || c >= 0x7f) fail("the message is no plain line");
    }
  }
  return 0;
}
