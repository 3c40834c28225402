// SPDX-License-Identifier: Apache-2.0
// A launch that has everything once.
#pragma once

#include "profile/api/bundle.hpp"

namespace clprobe::bundle {

inline Launch example_launch() {
  Launch launch;
  launch.tool = "clprobe 0.1.0";
  launch.app = {"app", "--size", "1 \"MiB\" \xc2\xb5"};
  launch.device = Device{"A \"device\"", "Vendor", "1.2.3"};
  launch.ordinal = 2;
  launch.survey = Surveyed{300, 0.985, 5'640'000.5};
  launch.program = {
      {{sha256_of("one"), "-DN=4 -cl-fast-relaxed-math", {{"\"a.h\"", 0}, {"NAME(b.h)", 1}}},
       {sha256_of("two"), "", {}}},
      "-cl-denorms-are-zero",
      {{"a.h", sha256_of("header"), {{"<b.h>", 1}}}, {"b.h", sha256_of("other header"), {}}}};
  launch.kernel = "triad_4";
  launch.range = {.dimensions = 2, .offset = {0, 64}, .global = {1024, 32}, .local = {64, 1}};
  launch.objects = {
      {.name = "a", .bytes = 4096, .sha256 = sha256_of("bytes")},
      {.name = "b", .bytes = 4096, .contents = Contents{Type::float32, 1024, Fill::value, 0.5}},
      {.name = "c", .bytes = 32, .contents = Contents{Type::uint64, 4, Fill::random}},
      {.name = "i3",
       .bytes = 5 * 7 * 3 * 8,
       .sha256 = sha256_of("pixels"),
       .image = Image{.kind = ImageKind::image_2d_array,
                      .order = ChannelOrder::rgba,
                      .type = ChannelType::half_float,
                      .access = Access::read_only,
                      .pixels = {5, 7, 3}}}};
  launch.arguments = {{.kind = ArgumentKind::buffer, .object = 0},
                      {.kind = ArgumentKind::buffer, .object = 1, .origin = 1024, .bytes = 2048},
                      {.kind = ArgumentKind::local, .bytes = 512},
                      {.kind = ArgumentKind::value, .value = std::string("\x01\x00\xff\x7f", 4)},
                      {.kind = ArgumentKind::null},
                      {.kind = ArgumentKind::image, .object = 3},
                      {.kind = ArgumentKind::image,
                       .object = 0,
                       .origin = 1024,
                       .bytes = 3072,
                       .image = Image{.kind = ImageKind::image_2d,
                                      .order = ChannelOrder::bgra,
                                      .type = ChannelType::unorm_int8,
                                      .pixels = {100, 6},
                                      .row_bytes = 512}},
                      {.kind = ArgumentKind::sampler,
                       .sampler = Sampler{true, Addressing::mirrored_repeat, Filter::linear}}};
  launch.app_event_ns = {5'600'000, 5'700'000};
  launch.epilogue = {{0, sha256_of("behind")}, {3, sha256_of("pixels behind")}};
  return launch;
}

}  // namespace clprobe::bundle
