// SPDX-License-Identifier: Apache-2.0
// Documents of a fleet. Two threads parse them; a document's samples are freed before the next
// document is read, so that thousands of documents need little memory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "fleet/api/fleet.hpp"
#include "system/api/files.hpp"

namespace clprobe::fleet {
namespace {

namespace fs = std::filesystem;

// Larger files are no documents of a fleet: a thorough run of all probes has a few MB.
constexpr std::size_t max_file_bytes = std::size_t{64} << 20U;

/// Returns the .json files below a folder. Names that begin with a dot are unfinished documents.
std::vector<std::string> files_below(const std::string& path) {
  const fs::file_status status = fs::status(path);  // throws if the path cannot be reached
  if (!fs::exists(status)) {
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory));
  }
  if (!fs::is_directory(status)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(path)) {
    const fs::path& file = each.path();
    const bool is_hidden = file.filename().string().starts_with('.');
    if (file.extension() == ".json" && !is_hidden) files.push_back(file.string());
  }
  std::ranges::sort(files);
  return files;
}

struct Loaded {
  std::vector<Device> devices{};
  std::string problem{};
};

}  // namespace

Folder load(const std::string& path,
            const std::function<std::vector<Device>(const std::string& text)>& read) {
  const std::vector<std::string> files = files_below(path);
  std::vector<Loaded> loaded(files.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        loaded[i].devices = read(system::read_plain_file(files[i], max_file_bytes));
      } catch (const std::exception& error) {
        loaded[i].problem = error.what();
      }
    }
  };
  {
    std::jthread other(work);
    work();
  }
  Folder folder;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = fs::path(files[i]).filename().string();
    if (!loaded[i].problem.empty()) folder.bad_files.push_back({name, loaded[i].problem});
    for (Device& device : loaded[i].devices) {
      device.file = name;
      folder.devices.push_back(std::move(device));
    }
  }
  return folder;
}

}  // namespace clprobe::fleet
