// SPDX-License-Identifier: Apache-2.0
#include "layer/header_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

namespace clprobe::layer {
namespace {

/// An open file, which nobody else writes through.
class OpenFile {
 public:
  // A pipe without a writer would hold the application up.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;

  /// Of a plain file; nothing of anything else.
  [[nodiscard]] std::optional<std::size_t> bytes() const {
    struct stat what {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &what) != 0 || !S_ISREG(what.st_mode)) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(what.st_size);
  }

  [[nodiscard]] std::optional<std::string> read(std::size_t count) const {
    std::string text(count, '\0');
    for (std::size_t at = 0; at < count;) {
      const ssize_t got = ::read(descriptor_, text.data() + at, count - at);
      if (got <= 0) return std::nullopt;
      at += static_cast<std::size_t>(got);
    }
    return text;
  }

 private:
  int descriptor_;
};

std::optional<std::string> read_header(const std::string& path, std::size_t max_bytes) {
  const OpenFile file(path);
  const std::optional<std::size_t> bytes = file.bytes();
  if (!bytes || *bytes > max_bytes) return std::nullopt;
  return file.read(*bytes);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// PoCL compiles a text where it keeps its builds.
std::string pocl_folder() {
  if (std::string folder = variable("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/pocl/kcache";
  }
  return variable("HOME") + "/.cache/pocl/kcache";
}

}  // namespace

includes::Gathered find_headers(const std::string& text, const std::string& options) {
  if (text.find("include") == std::string::npos) return {};
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  const includes::Files files{
      .read = read_header, .working_folder = here, .text_folders = {here, pocl_folder()}};
  includes::Gathered found = includes::gather(text, options, files);
  if (!includes::whole_text(text, options, found)) return {};
  return found;
}

}  // namespace clprobe::layer
