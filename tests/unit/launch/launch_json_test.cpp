// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "golden.hpp"
#include "launch/example_launch.hpp"
#include "profile/api/bundle.hpp"

namespace clprobe::bundle {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(launch_from_json(text));
  } catch (const FormatError& error) {
    return error.what();
  }
  return "taken";
}

/// Texts, and how what is said of each begins.
using Refusals = std::vector<std::pair<std::string, std::string>>;

void check_refusals(const Refusals& cases) {
  for (const auto& each : cases) {
    const std::string text = each.first;  // clang 14 captures no bindings
    const std::string expected = each.second;
    CAPTURE(text);
    CAPTURE(expected);
    const std::string message = refusal_of(text);
    CAPTURE(message);
    CHECK(message != "taken");
    CHECK(message.find('\n') == std::string::npos);
    if (text.size() > 2 && text[0] != '[') CHECK(message.starts_with(expected));
  }
}

/// What a person writes, with one part of it replaced.
std::string described(const std::string& part = "", const std::string& by = "") {
  std::string text = R"({
    "schema": "clprobe-launch", "schema_version": 1,
    "kernel": "triad", "global": [1024, 2], "local": [64, 1],
    "arguments": [{"buffer": "a"}, {"buffer": "b", "origin": 64, "bytes": 128},
                  {"type": "uint", "value": 7}, {"local_bytes": 256}],
    "objects": [{"buffer": "a", "type": "float", "count": 1024, "fill": "random"},
                {"buffer": "b", "type": "int", "count": 64, "fill": "value", "value": -3}]})";
  if (part.empty()) return text;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

}  // namespace

TEST_CASE("launch.json: what was written is read again, and looks so") {
  const Launch launch = example_launch();
  const std::string text = to_json(launch);
  check_golden("launch.json", text);
  CHECK(launch_from_json(text) == launch);
}

TEST_CASE("launch.json: the description that a person writes") {
  const Launch launch = launch_from_json(described());
  CHECK(launch.kernel == "triad");
  CHECK(launch.range ==
        NdRange{.dimensions = 2, .offset = {}, .global = {1024, 2}, .local = {64, 1}});
  CHECK(launch.program == Program{{Unit{}}, "", {}});
  REQUIRE(launch.objects.size() == 2);
  CHECK(launch.objects[0].bytes == 4096);
  CHECK(launch.objects[1].contents == Contents{Type::int32, 64, Fill::value, -3.0});
  REQUIRE(launch.arguments.size() == 4);
  CHECK(launch.arguments[1] ==
        Argument{.kind = ArgumentKind::buffer, .object = 1, .origin = 64, .bytes = 128});
  CHECK(launch.arguments[2].value == std::string("\x07\0\0\0", 4));
  CHECK(launch.arguments[3] == Argument{.kind = ArgumentKind::local, .bytes = 256});
}

TEST_CASE("launch.json: values of every type, and vectors of them") {
  const auto value_of = [](const std::string& json) {
    return launch_from_json(described(R"({"type": "uint", "value": 7})", json)).arguments[2].value;
  };
  CHECK(value_of(R"({"type": "char", "value": -1})") == "\xff");
  CHECK(value_of(R"({"type": "ushort", "value": 65535})") == "\xff\xff");
  CHECK(value_of(R"({"type": "float", "value": 1})") == std::string("\0\0\x80\x3f", 4));
  CHECK(value_of(R"({"type": "double", "value": -2.0})") == std::string("\0\0\0\0\0\0\0\xc0", 8));
  CHECK(value_of(R"({"type": "ulong", "value": 18446744073709551615})") == std::string(8, '\xff'));
  CHECK(value_of(R"({"type": "long", "value": -9223372036854775808})") ==
        std::string("\0\0\0\0\0\0\0\x80", 8));
  CHECK(value_of(R"({"type": "uchar", "value": [1, 2, 3, 4]})") == "\x01\x02\x03\x04");
  CHECK(value_of(R"({"hex": "00ff"})") == std::string("\0\xff", 2));
}

TEST_CASE("launch.json: what is not a launch is refused with its place") {
  const Refusals cases{
      {"", "document"},
      {"[]", "document: expected an object"},
      {described("clprobe-launch", "clprobe-run"), "schema: expected \"clprobe-launch\""},
      {described("version\": 1", "version\": 2"), "schema_version: expected 1"},
      {described("\"kernel\"", "\"nosuch\": 1, \"kernel\""), "nosuch: expected no key"},
      {described("\"triad\"", "\"tri ad\""), "kernel: expected a name of letters"},
      {described("[1024, 2]", "[]"), "global: expected an array of 1 to 3 sizes"},
      {described("[1024, 2]", "[1, 1, 1, 1]"), "global: expected an array of 1 to 3 sizes"},
      {described("[1024, 2]", "[0, 2]"), "global[0]: expected an integer from 1"},
      {described("[64, 1]", "[64]"), "local: expected as many sizes as in global: 2"},
      {described("{\"buffer\": \"a\"}", "{\"buffer\": \"../a\"}"), "arguments[0].buffer: expected"},
      {described("{\"buffer\": \"a\"}", "{\"buffer\": \"a\", \"null\": true}"),
       "arguments[0]: expected exactly one of"},
      {described("{\"buffer\": \"a\"}", "{}"), "arguments[0]: expected exactly one of"},
      {described("{\"buffer\": \"a\"}", "{\"null\": false}"), "arguments[0].null: expected true"},
      {described("\"origin\": 64", "\"origin\": 256"), "arguments[1].origin"},
      {described("\"origin\": 64", "\"origin\": 250"), "arguments[1].bytes"},
      {described("\"value\": 7", "\"value\": -7"), "arguments[2].value"},
      {described("\"value\": 7", "\"value\": 4294967296"), "arguments[2].value: expected a uint"},
      {described("\"uint\"", "\"half\""), "arguments[2].type: expected one of char"},
      {described("\"value\": 7", "\"value\": []"), "arguments[2].value: expected a number"},
      {described("{\"type\": \"uint\", \"value\": 7}", "{\"hex\": \"0\"}"), "arguments[2].hex"},
      {described("{\"type\": \"uint\", \"value\": 7}", "{\"hex\": \"0G\"}"), "arguments[2].hex"},
      {described("\"local_bytes\": 256", "\"local_bytes\": 0"), "arguments[3].local_bytes"},
      {described("\"count\": 1024", "\"count\": 0"), "objects[0].count"},
      {described("\"count\": 1024", "\"count\": 1099511627776"), "objects[0].count"},
      {described("\"random\"", "\"ones\""), "objects[0].fill: expected one of zero"},
      {described("\"random\"", "\"random\", \"value\": 1"), "objects[0].value"},
      {described("-3", "0.5"), "objects[1].value"},
      {described("\"count\": 64", "\"bytes\": 256, \"count\": 64"), "objects[1].bytes"},
      {described("{\"buffer\": \"b\", \"type\"", "{\"buffer\": \"a\", \"type\""),
       "objects[1]: expected each name only once"},
      {described("\"fill\": \"random\"}", "\"sha256\": \"00\"}"), "objects[0].type"},
      {described("\"type\": \"float\", \"count\": 1024, \"fill\": \"random\"",
                 "\"bytes\": 8, \"sha256\": \"../../etc/passwd\""),
       "objects[0].sha256: expected a SHA-256"},
      {std::string(100, '['), "nest"},
  };
  check_refusals(cases);
}

namespace {

/// A program with a header, with one part of it replaced.
std::string included(const std::string& part = "", const std::string& by = "") {
  std::string text = R"("program": {"units": [{"includes": [{"written": "\"a.h\"", "header": 0}]}],
    "headers": [{"name": "a.h", "sha256": "HASH", "includes": [{"written": "X", "header": 1}]},
                {"name": "b.h", "sha256": "HASH"}]}, "kernel")";
  if (!part.empty()) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    text.replace(at, part.size(), by);
  }
  for (std::size_t at = text.find("HASH"); at != std::string::npos; at = text.find("HASH")) {
    text.replace(at, 4, sha256_of(""));
  }
  return described("\"kernel\"", text);
}

}  // namespace

TEST_CASE("launch.json: headers, and where they are included") {
  const Program program = launch_from_json(included()).program;
  CHECK(program.units.front().includes == std::vector<includes::Include>{{"\"a.h\"", 0}});
  REQUIRE(program.headers.size() == 2);
  CHECK(program.headers[0].includes == std::vector<includes::Include>{{"X", 1}});
  CHECK(program.headers[1] == Header{"b.h", sha256_of(""), {}});
  std::string many = "\"headers\": [";
  for (std::size_t i = 0; i < includes::max_headers; ++i) {
    many += R"({"name": "a.h", "sha256": "HASH"}, )";
  }
  const Refusals cases{
      {included("\"a.h\", \"sha", "\"../a.h\", \"sha"),
       "program.headers[0].name: expected a file name"},
      {included("\"a.h\", \"sha", "\"/a.h\", \"sha"),
       "program.headers[0].name: expected a file name"},
      {included("\"a.h\", \"sha", "\"..\", \"sha"),
       "program.headers[0].name: expected a file name"},
      {included("\"a.h\", \"sha", "\"\", \"sha"), "program.headers[0].name: expected a file name"},
      {included("HASH", "../a"), "program.headers[0].sha256: expected a SHA-256"},
      {included("\"header\": 0", "\"header\": 2"), "program.units[0].includes[0].header: expected"},
      {included("\"header\": 1", "\"header\": -1"), "program.headers[0].includes[0].header"},
      {included("\"header\": 0}", "\"header\": 0}, {\"written\": \"\\\"a.h\\\"\", \"header\": 1}"),
       "program.units[0].includes[1].written: expected each text only once"},
      {included("\"headers\": [", many), "program.headers[256]: expected at most 256 elements"},
      {described("\"kernel\"",
                 R"("program": {"units": [{"includes": [{"written": "X", "header": 0}]}]},
        "kernel")"),
       "program.units[0].includes[0].header: expected no header"},
  };
  check_refusals(cases);
}

namespace {

/// A launch with an image of its own and one in a buffer, with one part of it replaced.
std::string drawn(const std::string& part = "", const std::string& by = "") {
  std::string text = R"({
    "schema": "clprobe-launch", "schema_version": 1, "kernel": "draw", "global": [64, 8],
    "arguments": [{"image": "i"}, {"image": "b", "layout": {"kind": "2d", "order": "rgba",
      "type": "unorm_int8", "access": "read_only", "pixels": [60, 4], "row_bytes": 256},
      "origin": 256, "bytes": 1008},
      {"sampler": {"normalized": false, "addressing": "clamp", "filter": "nearest"}}],
    "objects": [{"image": "i", "layout": {"kind": "1d_array", "order": "r", "type": "float",
      "access": "write_only", "pixels": [10, 3]}, "bytes": 120, "sha256": "HASH"},
      {"buffer": "b", "type": "uint", "count": 320, "fill": "iota"}],
    "epilogue": [{"image": "i", "sha256": "HASH"}]})";
  if (!part.empty()) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    text.replace(at, part.size(), by);
  }
  for (std::size_t at = text.find("HASH"); at != std::string::npos; at = text.find("HASH")) {
    text.replace(at, 4, sha256_of(""));
  }
  return text;
}

}  // namespace

TEST_CASE("launch.json: images and samplers") {
  const Launch launch = launch_from_json(drawn());
  CHECK(launch.objects[0].image == Image{.kind = ImageKind::image_1d_array,
                                         .order = ChannelOrder::r,
                                         .type = ChannelType::float32,
                                         .access = Access::write_only,
                                         .pixels = {10, 3}});
  CHECK(launch.objects[0].bytes == 120);
  CHECK(launch.arguments[0] == Argument{.kind = ArgumentKind::image, .object = 0});
  REQUIRE(launch.arguments[1].image);
  CHECK(launch.arguments[1].object == 1);
  // Three whole rows, and the 240 bytes of the last one.
  CHECK(bytes_of_buffer(*launch.arguments[1].image) == 1008);
  CHECK(launch.arguments[2].sampler == Sampler{false, Addressing::clamp, Filter::nearest});
  CHECK(object_bytes(launch) == 120 + 1280);
}

TEST_CASE("launch.json: images that are none, too large, or beyond their memory") {
  const Refusals cases{
      {drawn("\"1d_array\"", "\"2d_msaa\""),
       "objects[0].layout.kind: expected one of 1d, 1d_array"},
      {drawn("\"1d_array\"", "\"1d_buffer\""), "objects[0].layout.pixels: expected an array of 1"},
      {drawn("\"1d_array\", \"order\": \"r\", \"type\": \"float\",\n      \"access\": "
             "\"write_only\", \"pixels\": [10, 3]",
             "\"1d_buffer\", \"order\": \"r\", \"type\": \"float\", \"access\": "
             "\"write_only\", \"pixels\": [30]"),
       "objects[0].layout: expected a kind other than 1d_buffer (the image is not in a buffer)"},
      {drawn("[10, 3]", "[10]"), "objects[0].layout.pixels: expected an array of 2 sizes"},
      {drawn("[10, 3]", "[10, 3, 1]"), "objects[0].layout.pixels: expected an array of 2 sizes"},
      {drawn("[10, 3]", "[10, 0]"), "objects[0].layout.pixels[1]: expected an integer from 1"},
      {drawn("[10, 3]", "[10, 4294967297]"), "objects[0].layout.pixels[1]: expected an integer"},
      {drawn("[10, 3]", "[4294967296, 4294967296]"), "objects[0].layout: expected at most"},
      {drawn("[10, 3]", "[10, 2]"),
       "objects[0].bytes: expected 80, the size of the image's pixels in bytes"},
      {drawn("\"bytes\": 120", "\"bytes\": 121"), "objects[0].bytes: expected 120, the size of"},
      {drawn("\"r\"", "\"q\""), "objects[0].layout.order: expected one of r, a, rg"},
      {drawn("\"float\"", "\"double\""), "objects[0].layout.type: expected one of snorm_int8"},
      {drawn("\"write_only\"", "\"none\""),
       "objects[0].layout.access: expected one of read_write, read_only, write_only"},
      {drawn("[10, 3]", "[10, 3], \"row_bytes\": 40"), "objects[0].layout: expected no row_bytes"},
      {drawn("\"bytes\": 120, \"sha256\": \"HASH\"", "\"fill\": \"zero\""),
       "objects[0]: expected the sha256"},
      {drawn("\"image\": \"i\", \"layout\"", "\"buffer\": \"i\", \"layout\""),
       "objects[0].layout: expected nothing"},
      {drawn("\"image\": \"i\", \"layout\"", "\"image\": \"i\", \"buffer\": \"i\", \"layout\""),
       "objects[0]: expected either buffer or image"},
      {drawn("{\"image\": \"i\"}", "{\"buffer\": \"i\"}"),
       "arguments[0].buffer: expected a buffer"},
      {drawn("{\"image\": \"i\"}", "{\"image\": \"i\", \"origin\": 0}"),
       "arguments[0].origin: expected nothing"},
      {drawn("{\"image\": \"i\"}", "{\"image\": \"b\"}"),
       "arguments[0].layout: expected an object"},
      {drawn("{\"image\": \"i\"}", "{\"image\": \"nosuch\"}"),
       "arguments[0].image: expected the name"},
      {drawn("\"row_bytes\": 256", "\"row_bytes\": 239"),
       "arguments[1].layout: expected rows that do not overlap"},
      {drawn("\"row_bytes\": 256", "\"row_bytes\": 257"),
       "arguments[1].bytes: expected at least as many"},
      {drawn("\"row_bytes\": 256", "\"row_bytes\": 1099511627776"),
       "arguments[1].bytes: expected at least as many"},
      {drawn(", \"row_bytes\": 256", ""), "arguments[1].layout: expected row_bytes"},
      {drawn("\"bytes\": 1008", "\"bytes\": 1007"),
       "arguments[1].bytes: expected at least as many"},
      {drawn("\"origin\": 256", "\"origin\": 512"), "arguments[1].bytes: expected an integer"},
      {drawn("\"2d\"", "\"3d\""), "arguments[1].layout.pixels: expected an array of 3 sizes"},
      {drawn("\"2d\"", "\"1d_array\""), "arguments[1].layout: expected 1d_buffer or 2d"},
      {drawn("\"clamp\"", "\"wrap\""), "arguments[2].sampler.addressing: expected one of none"},
      {drawn("\"nearest\"", "\"cubic\""),
       "arguments[2].sampler.filter: expected one of nearest, linear"},
      {drawn("\"normalized\": false, ", ""), "arguments[2].sampler.normalized"},
      {drawn("[{\"image\": \"i\", \"sha256\"", "[{\"buffer\": \"i\", \"sha256\""),
       "epilogue[0].buffer: expected a buffer under the key buffer, or an image under the key "
       "image"},
  };
  check_refusals(cases);
}

TEST_CASE("images: pixels as OpenCL's table has them, and regions of each kind") {
  const auto pixel = [](ChannelOrder order, ChannelType type) {
    return pixel_bytes({.order = order, .type = type});
  };
  CHECK(pixel(ChannelOrder::r, ChannelType::unorm_int8) == 1);
  CHECK(pixel(ChannelOrder::depth, ChannelType::unorm_int16) == 2);
  CHECK(pixel(ChannelOrder::rg, ChannelType::half_float) == 4);
  CHECK(pixel(ChannelOrder::rgb, ChannelType::unorm_short_565) == 2);
  CHECK(pixel(ChannelOrder::rgb, ChannelType::unorm_int_101010) == 4);
  CHECK(pixel(ChannelOrder::srgba, ChannelType::unorm_int8) == 4);
  CHECK(pixel(ChannelOrder::rgba, ChannelType::signed_int32) == 16);
  const auto region = [](ImageKind kind) { return region_of({.kind = kind, .pixels = {5, 6, 7}}); };
  CHECK(region(ImageKind::image_1d) == Sizes{5, 1, 1});
  CHECK(region(ImageKind::image_1d_buffer) == Sizes{5, 1, 1});
  CHECK(region(ImageKind::image_1d_array) == Sizes{5, 6, 1});
  CHECK(region(ImageKind::image_2d) == Sizes{5, 6, 1});
  CHECK(region(ImageKind::image_2d_array) == Sizes{5, 6, 7});
  CHECK(region(ImageKind::image_3d) == Sizes{5, 6, 7});
  // 1 TiB is the most that an object may have, and a pixel more is too much.
  const auto flat = [](std::uint64_t width, std::uint64_t height) {
    return bytes_of_pixels({.pixels = {width, height}});
  };
  CHECK(flat(std::uint64_t{1} << 32U, 16) == max_object_bytes);
  CHECK(!flat(std::uint64_t{1} << 32U, 17));
  const auto lying = [](std::uint64_t rows, std::uint64_t row_bytes) {
    return bytes_of_buffer({.pixels = {1, rows}, .row_bytes = row_bytes});
  };
  CHECK(lying(5, 64) == 4 * 64 + 16);
  CHECK(!lying(std::uint64_t{1} << 32U, std::uint64_t{1} << 40U));
  CHECK(!lying(2, max_object_bytes));
}

TEST_CASE("launch.json: what is too much") {
  std::string many;
  for (int i = 0; i < 257; ++i) many += R"({"local_bytes": 4},)";
  CHECK(refusal_of(described("{\"buffer\": \"a\"}", many + "{\"local_bytes\": 4}")) ==
        "arguments[256]: expected at most 256 elements, found an object");
  CHECK(refusal_of(std::string(max_json_bytes + 1, ' '))
            .starts_with("the text is larger than 4194304 bytes"));
}

TEST_CASE("contents: zeros, numbers, a value, and what is drawn from a seed") {
  CHECK(make_contents({Type::uint16, 3, Fill::zero}, 1) == std::string(6, '\0'));
  CHECK(make_contents({Type::uint8, 258, Fill::iota}, 1).substr(254) ==
        std::string("\xfe\xff\x00\x01", 4));
  CHECK(make_contents({Type::float32, 2, Fill::iota}, 1) == std::string("\0\0\0\0\0\0\x80\x3f", 8));
  CHECK(make_contents({Type::int16, 3, Fill::value, -2.0}, 1) == "\xfe\xff\xfe\xff\xfe\xff");
  const Contents random{Type::float32, 1000, Fill::random};
  const std::string drawn = make_contents(random, 7);
  CHECK(drawn == make_contents(random, 7));
  CHECK(drawn != make_contents(random, 8));
  for (std::size_t i = 0; i < drawn.size(); i += sizeof(float)) {
    float number = -1.0F;
    std::memcpy(&number, drawn.data() + i, sizeof number);
    REQUIRE(number >= 0.0F);
    REQUIRE(number < 1.0F);
  }
}

}  // namespace clprobe::bundle
