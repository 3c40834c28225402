// SPDX-License-Identifier: Apache-2.0
#include "app/cli/options.hpp"
#include "app/commands/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/hidden_text.hpp"

namespace clprobe::commands {
namespace {

DeviceInfo device(int index, std::string_view platform_index, std::string_view name,
                  DeviceType type, std::int64_t compute_units) {
  DeviceInfo info;
  info.index = index;
  info.platform_index = platform_index;
  info.name = name;
  info.type = type;
  info.compute_units = compute_units;
  return info;
}

DeviceList usual_list() {
  DeviceList list;
  list.devices = {device(0, "0:0", "AMD EPYC 9V74", DeviceType::cpu, 160),
                  device(1, "1:0", "NVIDIA A2", DeviceType::gpu, 10),
                  device(2, "1:1", "NVIDIA H200", DeviceType::gpu, 132),
                  device(3, "2:0", "FPGA board", DeviceType::accelerator, 500)};
  return list;
}

std::vector<int> indexes(const DeviceList& list, std::string_view selector) {
  std::vector<int> found;
  for (const Target& each : select_targets(selector, [&]() -> const DeviceList& { return list; })) {
    found.push_back(each.info.index);
  }
  return found;
}

std::vector<int> indexes(std::string_view selector) { return indexes(usual_list(), selector); }

/// What the person reads when the selector means nothing.
std::string complaint(const DeviceList& list, std::string_view selector) {
  try {
    static_cast<void>(indexes(list, selector));
  } catch (const NoDevice& error) {
    return error.what();
  } catch (const cli::UsageError& error) {
    return error.what();
  }
  return "(no complaint)";
}

std::string complaint(std::string_view selector) { return complaint(usual_list(), selector); }

bool is_one_plain_line(const std::string& text) {
  const bool has_control =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return !text.empty() && !has_control && first_hidden(text).empty();
}

using Indexes = std::vector<int>;

TEST_CASE("without a word the best device is meant: a GPU, the largest") {
  CHECK(indexes("") == Indexes{2});
  DeviceList list = usual_list();
  list.devices.erase(list.devices.begin() + 1, list.devices.begin() + 3);
  CHECK(indexes(list, "") == Indexes{3});
  list.devices.pop_back();
  CHECK(indexes(list, "") == Indexes{0});
  list.devices = {device(0, "0:0", "Odd", DeviceType::other, 999),
                  device(1, "0:1", "CPU", DeviceType::cpu, 1)};
  CHECK(indexes(list, "") == Indexes{1});
}

TEST_CASE("of equal devices the first is the best") {
  DeviceList list;
  list.devices = {device(0, "0:0", "GPU", DeviceType::gpu, 8),
                  device(1, "0:1", "GPU", DeviceType::gpu, 8)};
  CHECK(indexes(list, "") == Indexes{0});
}

TEST_CASE("an index, a platform and index, and a part of a name in any case") {
  CHECK(indexes("0") == Indexes{0});
  CHECK(indexes("3") == Indexes{3});
  CHECK(indexes("1:1") == Indexes{2});
  CHECK(indexes("h200") == Indexes{2});
  CHECK(indexes("EPYC 9v") == Indexes{0});
}

TEST_CASE("a type means the devices of it, whatever their names hold") {
  CHECK(indexes("cpu") == Indexes{0});
  CHECK(indexes("Accelerator") == Indexes{3});
  CHECK(complaint("gpu").find("'gpu' matches several devices: choose one of 1 'NVIDIA A2', 2 ") !=
        std::string::npos);
}

TEST_CASE("a number is an index first, and a number of a name where there is no such index") {
  // "2" is in "NVIDIA A2" and "NVIDIA H200", too.
  CHECK(indexes("2") == Indexes{2});
  CHECK(indexes("200") == Indexes{2});
  CHECK(indexes("74") == Indexes{0});
  CHECK(indexes("200,0") == Indexes{2, 0});
  // Digits within a number are no part of a name: one more index than there are devices is a slip.
  CHECK(complaint("4").starts_with("no device matches '4'"));
  CHECK(complaint("20").starts_with("no device matches '20'"));
  CHECK(complaint("2000").starts_with("no device matches '2000'"));
}

TEST_CASE("a number that several names have is answered by those") {
  DeviceList list;
  list.devices = {device(0, "0:0", "GeForce RTX 4090", DeviceType::gpu, 128),
                  device(1, "0:1", "GeForce RTX 4090", DeviceType::gpu, 128),
                  device(2, "0:2", "GeForce RTX 3090", DeviceType::gpu, 82)};
  CHECK(indexes(list, "3090") == Indexes{2});
  const std::string text = complaint(list, "4090");
  CHECK(text.find("'4090' matches several devices") != std::string::npos);
  CHECK(text.find("1 'GeForce RTX 4090'") != std::string::npos);
  CHECK(text.find("3090'") == std::string::npos);
  CHECK(is_one_plain_line(text));
}

TEST_CASE("a comma list keeps its order and has nothing twice") {
  CHECK(indexes("3,0") == Indexes{3, 0});
  CHECK(indexes("2,1:1,H200,0") == Indexes{2, 0});
  CHECK(indexes("FPGA,all") == Indexes{3, 0, 1, 2});
}

TEST_CASE("all means all") { CHECK(indexes("all") == Indexes{0, 1, 2, 3}); }

TEST_CASE("an empty word in a list means nothing, not everything") {
  for (const char* const selector : {",", "1,", ",1", "1,,2"}) {
    CAPTURE(selector);
    CHECK(complaint(selector).find("empty entry in the list") != std::string::npos);
  }
  DeviceList list;
  list.devices = {device(0, "0:0", "GPU", DeviceType::gpu, 8)};
  CHECK(complaint(list, "0,").find("empty entry in the list") != std::string::npos);
}

TEST_CASE("an unknown word lists what there is") {
  const std::string text = complaint("radeon");
  CHECK(text.starts_with("no device matches 'radeon'"));
  for (const char* const name : {"0 'AMD EPYC 9V74'", "2 'NVIDIA H200'", "3 'FPGA board'"}) {
    CHECK(text.find(name) != std::string::npos);
  }
  CHECK(text.find("clprobe list") != std::string::npos);
  CHECK(is_one_plain_line(text));
}

TEST_CASE("a word that means several devices lists those only") {
  const std::string text = complaint("nvidia");
  CHECK(text.find("several devices") != std::string::npos);
  CHECK(text.find("1 'NVIDIA A2'") != std::string::npos);
  CHECK(text.find("2 'NVIDIA H200'") != std::string::npos);
  CHECK(text.find("EPYC") == std::string::npos);
  CHECK(is_one_plain_line(text));
}

TEST_CASE("no platform: what to install") {
  for (const char* const selector : {"", "all", "0", "H200"}) {
    const std::string text = complaint({}, selector);
    CHECK(text.find("no OpenCL platform") != std::string::npos);
    CHECK(text.find("pocl-opencl-icd") != std::string::npos);
    CHECK(is_one_plain_line(text));
  }
}

TEST_CASE("platforms without a device: which, and what was wrong with each") {
  DeviceList list;
  list.problems = {{"Clover", "no devices"},
                   {"NVIDIA CUDA", "clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY (-6)"}};
  const std::string text = explain_no_device(list);
  CHECK(text == complaint(list, ""));
  CHECK(text.find("'Clover': no devices") != std::string::npos);
  CHECK(text.find("CL_OUT_OF_HOST_MEMORY") != std::string::npos);
  CHECK(text.find("pocl-opencl-icd") != std::string::npos);
  CHECK(is_one_plain_line(text));
}

TEST_CASE("a limit of memory is said, since drivers that do not fit seem not to be there") {
  DeviceList list;
  const std::string none = explain_no_device(list, mebibytes(195));
  CHECK(none ==
        "no OpenCL platform, probably because of the memory limit of 195 MiB: raise the limit with "
        "ulimit -v");
  list.problems = {{"Clover", "no devices"}};
  const std::string text = explain_no_device(list, mebibytes(195));
  CHECK(text.find("'Clover': no devices") != std::string::npos);
  CHECK(text.find("195 MiB") != std::string::npos);
}

TEST_CASE("control characters of drivers and people never reach the terminal") {
  const std::string hostile = "GPU\x1b[31m\n\r\x07\x7f\xE2\x80\xAE";
  DeviceList list;
  list.devices = {device(0, "0:0", hostile, DeviceType::gpu, 8),
                  device(1, "0:1", hostile, DeviceType::gpu, 9)};
  CHECK(is_one_plain_line(complaint(list, "radeon")));
  CHECK(is_one_plain_line(complaint(list, "gpu")));
  CHECK(is_one_plain_line(complaint(list, "\x1b[2J\n")));
  for (const HiddenCharacter& each : hidden_characters) {
    CAPTURE(each.name);
    CHECK(is_one_plain_line(complaint(list, "radeon" + std::string(each.utf8))));
  }
  CHECK(indexes(list, "1") == Indexes{1});
  DeviceList none;
  none.problems = {{hostile, hostile}, {hostile, "line one\nline two"}};
  CHECK(is_one_plain_line(explain_no_device(none)));
}

}  // namespace
}  // namespace clprobe::commands
