// SPDX-License-Identifier: Apache-2.0
#include "commands/loader_with_layers.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "system/read_file.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* loader_file = "libOpenCL.so.1";

/// The file that the dynamic linker finds.
std::string usual_loader() {
  void* const library = ::dlopen(loader_file, RTLD_LAZY);
  Dl_info info{};
  void* const function = library == nullptr ? nullptr : ::dlsym(library, "clGetPlatformIDs");
  if (function == nullptr || ::dladdr(function, &info) == 0) return "";
  return info.dli_fname;
}

/// What the file has; nothing where it cannot be read.
std::string content(const std::string& path) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  try {
    return system::read_file(path, max_bytes);
  } catch (const std::exception&) {
    return "";
  }
}

/// A loader that takes layers asks for this variable.
bool takes_layers(std::string_view loader) {
  return loader.find("OPENCL_LAYERS") != std::string_view::npos;
}

/// For what a library was built: its class (32 or 64 bits) to its machine. Empty: no library.
std::string_view architecture(std::string_view library) {
  constexpr std::size_t end = offsetof(Elf64_Ehdr, e_machine) + sizeof(Elf64_Half);
  return library.substr(0, library.size() < end ? 0 : end);
}

/// Where distributions put it.
std::vector<std::string> installed_loaders() {
  std::vector<fs::path> folders{"/usr/lib64", "/usr/lib", "/usr/local/lib"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib", error)) {
    if (entry.path().filename().string().find("-linux-gnu") != std::string::npos) {
      folders.push_back(entry.path());
    }
  }
  std::vector<std::string> files;
  std::transform(folders.begin(), folders.end(), std::back_inserter(files),
                 [](const fs::path& folder) { return (folder / loader_file).string(); });
  return files;
}

}  // namespace

OtherLoader loader_with_layers() {
  const std::string usual = usual_loader();
  const std::string library = content(usual);
  if (library.empty() || takes_layers(library)) return {};
  for (const std::string& other : installed_loaders()) {
    const std::string found = content(other);
    if (takes_layers(found) && architecture(found) == architecture(library)) return {usual, other};
  }
  return {};
}

}  // namespace clprobe::commands
