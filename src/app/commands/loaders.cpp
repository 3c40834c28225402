// SPDX-License-Identifier: Apache-2.0
// OpenCL loaders of profiled programs, and clprobe's layer in them.
#include "app/commands/loaders.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "system/api/files.hpp"
#include "text/api/text.hpp"

namespace clprobe::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* loader_file = "libOpenCL.so.1";

std::string usual_loader() {
  void* const library = ::dlopen(loader_file, RTLD_LAZY);
  Dl_info info{};
  void* const function = library == nullptr ? nullptr : ::dlsym(library, "clGetPlatformIDs");
  if (function == nullptr || ::dladdr(function, &info) == 0) return "";
  return info.dli_fname;
}

/// Returns the contents of a file; empty if it cannot be read.
std::string content(const std::string& path) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  try {
    return system::read_file(path, max_bytes);
  } catch (const std::exception&) {
    return "";
  }
}

/// True if the loader supports layers: its file then contains the name of the variable
/// OPENCL_LAYERS.
bool takes_layers(std::string_view loader) {
  return loader.find("OPENCL_LAYERS") != std::string_view::npos;
}

/// Returns the ELF class (32 or 64 bits) and machine of a library. `library`: contents of the file.
/// Empty if the file is too short for a library.
std::string architecture(std::string_view library) {
  constexpr std::size_t machine = offsetof(Elf64_Ehdr, e_machine);
  if (library.size() < machine + sizeof(Elf64_Half)) return "";
  return library[EI_CLASS] + std::string(library.substr(machine, sizeof(Elf64_Half)));
}

/// Returns the paths where distributions install OpenCL loaders.
std::vector<std::string> installed_loaders() {
  std::vector<fs::path> folders{"/usr/lib64", "/usr/lib", "/usr/local/lib"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib", error)) {
    if (entry.path().filename().string().find("-linux-gnu") != std::string::npos) {
      folders.push_back(entry.path());
    }
  }
  std::vector<std::string> files;
  std::ranges::transform(folders, std::back_inserter(files),
                         [](const fs::path& folder) { return (folder / loader_file).string(); });
  return files;
}

constexpr std::string_view layer_file = "libclprobe_layer.so";

/// Returns the path of the loader layer. In a build folder, the layer is in the folder of the
/// program; when installed, it is in libexec/clprobe.
std::string find_layer() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path :
       {folder / layer_file, folder.parent_path() / "libexec/clprobe" / layer_file}) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    if (path.string().find(':') == std::string::npos) return path.string();
    throw std::runtime_error(
        fmt::format("the OpenCL loader cannot load {}, because the loader reads a colon as the end "
                    "of a path: install clprobe in a folder without a colon in its path",
                    quote(path.string())));
  }
  throw std::runtime_error(fmt::format(
      "the file {} is missing from the installation of clprobe: reinstall clprobe", layer_file));
}

/// Returns the value of OPENCL_LAYERS with clprobe's layer before the user's layers. The loader
/// calls the first layer last, just before the driver, so clprobe's layer sees the calls that the
/// driver gets.
std::string layers_with(const std::string& ours) {
  const char* const others = std::getenv("OPENCL_LAYERS");
  return others == nullptr || *others == '\0' ? ours : fmt::format("{}:{}", ours, others);
}

/// Returns the value of LD_PRELOAD with the loader after the user's libraries, since a library such
/// as a sanitizer must be the first.
std::string preloaded_with(const std::string& loader) {
  const char* const others = std::getenv("LD_PRELOAD");
  return others == nullptr || *others == '\0' ? loader : fmt::format("{}:{}", others, loader);
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

Variables layer_variables(const OtherLoader& loader) {
  Variables variables;
  if (!loader.with.empty()) variables.emplace_back("LD_PRELOAD", preloaded_with(loader.with));
  variables.emplace_back("OPENCL_LAYERS", layers_with(find_layer()));
  return variables;
}

}  // namespace clprobe::commands
