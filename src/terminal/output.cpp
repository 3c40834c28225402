// SPDX-License-Identifier: Apache-2.0
#include "terminal/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "terminal/write.hpp"
#include "text/text.hpp"

namespace clprobe::terminal {
namespace {

std::string random_suffix() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device entropy;
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string suffix = ".tmp-";
  for (int i = 0; i < 6; ++i) suffix += letters[pick(entropy)];
  return suffix;
}

/// Some file systems cannot sync (pipes mounted as files, some FUSE); there is nothing to wait for.
int sync_contents(int descriptor) {
  if (::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

/// Links to open descriptors are streams even when a file is behind them: whoever opened that file
/// holds it, and would not see one that took its place.
bool names_descriptor(std::string_view path) {
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/");
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_ == "-") {
    is_stream_ = true;
    return;
  }
  if (path_.empty()) fail(ENOENT);
  struct stat found {};
  const int stat_error = ::stat(path_.c_str(), &found) == 0 ? 0 : errno;
  if (stat_error != 0 && stat_error != ENOENT) fail(stat_error);
  if (stat_error == 0 && S_ISDIR(found.st_mode)) fail(EISDIR);
  if (names_descriptor(path_) || (stat_error == 0 && !S_ISREG(found.st_mode))) {
    open_stream();
    return;
  }
  std::error_code error;
  if (std::filesystem::is_symlink(path_, error)) {
    // Renaming onto a link would replace the link and leave the file that it names as it was.
    target_ = std::filesystem::canonical(path_, error).string();
    if (error) fail(error.value());
  }
  // A rename would succeed: it asks the folder, not the file that somebody made read-only.
  if (stat_error == 0 && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  open_temporary();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_stream_(other.is_stream_) {}

OutputFile::~OutputFile() { discard_temporary(); }

void OutputFile::fail(int error_number) const {
  const std::string reason = std::generic_category().message(error_number);
  if (path_ == "-") {
    throw OutputError(fmt::format("cannot write to stdout: {}; name a file with -o", reason));
  }
  throw OutputError(
      fmt::format("cannot write {}: {}; choose another path with -o", quote(path_), reason));
}

void OutputFile::open_stream() {
  is_stream_ = true;
  // Appending, for /dev/stdout that is a file with something in it.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
}

void OutputFile::open_temporary() {
  // Not mkstemp, whose files only their owner may read: a new file gets what the umask allows.
  constexpr mode_t everyone = 0666;
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts && descriptor_ < 0; ++attempt) {
    temporary_ = target_ + random_suffix();
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyone);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.clear();
    fail(error_number);
  }
  struct stat replaced {};
  if (::stat(target_.c_str(), &replaced) == 0) {
    // The permissions of the old file stay where we may set them; without them it is still written.
    static_cast<void>(::fchmod(descriptor_, replaced.st_mode & 07777U));
  }
}

void OutputFile::discard_temporary() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::commit(std::string_view text) {
  if (is_stream_) {
    const int error = write_all(path_ == "-" ? STDOUT_FILENO : descriptor_, text);
    if (error != 0 && error != EPIPE) fail(error);
    return;
  }
  if (descriptor_ < 0) open_temporary();
  int error = write_all(descriptor_, text);
  if (error == 0) error = sync_contents(descriptor_);
  // Network file systems tell only at the end that there was no room.
  if (::close(std::exchange(descriptor_, -1)) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary_.c_str(), target_.c_str()) != 0) error = errno;
  if (error == 0) {
    temporary_.clear();
    return;
  }
  discard_temporary();
  fail(error);
}

}  // namespace clprobe::terminal
