// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "system/api/processes.hpp"

namespace clprobe::system {
namespace {

/// Closed whatever happens.
class InputFile {
 public:
  // O_NONBLOCK keeps a pipe without a writer from blocking the program, which must notice an
  // interrupt.
  explicit InputFile(const std::string& path, int flags = 0)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)) {
    if (descriptor_ < 0) fail(errno);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() { ::close(descriptor_); }

  /// 0 where it is not known.
  [[nodiscard]] std::size_t expected_bytes() const {
    struct stat found {};
    const bool has_size = ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
    return has_size ? static_cast<std::size_t>(found.st_size) : 0;
  }

  [[nodiscard]] bool is_plain() const {
    struct stat found {};
    return ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
  }

  /// Reads at least one byte; none at the end of the file.
  [[nodiscard]] std::size_t read(std::string& piece) const {
    for (;;) {
      if (!wait_for_bytes()) continue;
      const ssize_t count = ::read(descriptor_, piece.data(), piece.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR && errno != EAGAIN) fail(errno);
    }
  }

  [[noreturn]] static void fail(int error_number) {
    throw std::system_error(error_number, std::generic_category());
  }

 private:
  /// A short wait, since a signal that arrives just before it would else go unseen.
  [[nodiscard]] bool wait_for_bytes() const {
    constexpr int longest_wait_ms = 100;
    pollfd waiting{descriptor_, POLLIN, 0};
    const bool is_ready = ::poll(&waiting, 1, longest_wait_ms) > 0;
    if (!is_ready && is_interrupted()) fail(EINTR);
    return is_ready;
  }

  int descriptor_;
};

std::string read_all(const InputFile& file, std::size_t max_bytes) {
  std::string text;
  text.reserve(std::min(file.expected_bytes(), max_bytes));
  std::string piece(std::size_t{1} << 18U, '\0');
  for (std::size_t count = file.read(piece); count > 0; count = file.read(piece)) {
    if (count > max_bytes - text.size()) InputFile::fail(EFBIG);
    text.append(piece, 0, count);
  }
  return text;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
  return read_all(InputFile(path), max_bytes);
}

std::string read_plain_file(const std::string& path, std::size_t max_bytes) {
  const InputFile file(path, O_NOFOLLOW);
  if (!file.is_plain()) InputFile::fail(EINVAL);
  return read_all(file, max_bytes);
}

}  // namespace clprobe::system
