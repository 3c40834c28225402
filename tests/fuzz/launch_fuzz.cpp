// SPDX-License-Identifier: Apache-2.0
// Any bytes as launch.json: refused with one plain line, or a launch that reads back as itself.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "profile/api/bundle.hpp"

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
    const bool is_image = each.kind == bundle::ArgumentKind::image;
    if (each.kind == bundle::ArgumentKind::sampler && !each.sampler) fail("no sampler");
    if (each.kind != bundle::ArgumentKind::buffer && !is_image) continue;
    const bundle::Object& object = launch.objects.at(each.object);
    const std::uint64_t whole = object.bytes;
    if (each.origin > whole || each.bytes > whole - each.origin) fail("a part beyond its object");
    if (is_image && object.image.has_value() == each.image.has_value()) fail("an image of what");
    if (!is_image && object.image) fail("an image for a buffer");
    if (!each.image) continue;
    const auto needed = bundle::bytes_of_buffer(*each.image);
    if (!needed || *needed > each.bytes) fail("an image beyond its part of a buffer");
  }
  const auto check_includes = [&](const std::vector<clprobe::includes::Include>& list) {
    for (const auto& each : list) {
      if (each.header >= launch.program.headers.size()) fail("a header beyond the list");
    }
  };
  for (const bundle::Unit& each : launch.program.units) check_includes(each.includes);
  for (const bundle::Header& each : launch.program.headers) {
    check_includes(each.includes);
    if (!clprobe::includes::is_safe_name(each.name)) fail("a header's name that may be a path");
  }
  for (const bundle::Object& each : launch.objects) {
    if (each.image && bundle::bytes_of_pixels(*each.image) != each.bytes) fail("other pixels");
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
