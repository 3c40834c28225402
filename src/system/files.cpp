// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "system/api/processes.hpp"

namespace clprobe::system {
namespace {

class InputFile {
 public:
  // O_NONBLOCK keeps open() from blocking on a pipe without a writer, since the program must be
  // able to react to an interrupt.
  explicit InputFile(const std::string& path, int flags = 0)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)) {
    if (descriptor_ < 0) fail(errno);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() { ::close(descriptor_); }

  /// Returns the file's size in bytes; 0 if the size is unknown, as for a pipe.
  [[nodiscard]] std::size_t expected_bytes() const {
    struct stat found {};
    const bool has_size = ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
    return has_size ? static_cast<std::size_t>(found.st_size) : 0;
  }

  [[nodiscard]] bool is_plain() const {
    struct stat found {};
    return ::fstat(descriptor_, &found) == 0 && S_ISREG(found.st_mode);
  }

  /// Waits for bytes and reads at most `piece.size()` of them. Returns their number, 0 at the end
  /// of the file.
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
  /// Waits at most 100 ms for bytes or the end of the file; returns true if either can be read.
  /// Throws EINTR after an interrupt. A signal that arrives just before poll() does not interrupt
  /// the call, so a longer wait would delay the reaction to Ctrl-C.
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

namespace {

/// Waits until the descriptor accepts bytes, at most 100 ms. A signal that arrives just before
/// poll() does not interrupt the call, so a longer wait would delay the reaction to Ctrl-C.
void wait_for_room(int descriptor) {
  constexpr int longest_wait_ms = 100;
  pollfd waiting{descriptor, POLLOUT, 0};
  static_cast<void>(::poll(&waiting, 1, longest_wait_ms));
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  // An interrupt before this call does not stop the write; an interrupt during the call does.
  const bool was_interrupted = is_interrupted();
  while (!text.empty()) {
    // Checked before each write, since a write interrupted after a partial transfer does not report
    // EINTR.
    if (!was_interrupted && is_interrupted()) return EINTR;
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    // POSIX allows write() to return 0 only for files that are not regular; a retry could loop
    // forever.
    if (written == 0) return EIO;
    const bool is_full = errno == EAGAIN || errno == EWOULDBLOCK;
    if (!is_full && errno != EINTR) return errno;
    // Another process with the same terminal or pipe (a shell, ssh) may have made it non-blocking.
    if (is_full) wait_for_room(descriptor);
  }
  return 0;
}

void ignore_signals_of_writing() {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
}

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, which is the closed stream's number.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    // A minimal chroot may lack /dev/null; the root directory, which can always be opened for
    // reading, takes the descriptor instead.
    if (opened < 0) static_cast<void>(::open("/", O_RDONLY | O_DIRECTORY));
  }
}

bool is_open_for_writing(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

void write_to_stderr(std::string_view text) noexcept {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view pattern = "clprobe-XXXXXX";
constexpr std::string_view lock_name = "lock";

/// Removes the folder, with its lock file last: a later run removes only folders that have a lock
/// file. Retries while a program that is still ending writes into the folder.
void remove_folder(const fs::path& folder) {
  constexpr int max_tries = 50;
  constexpr std::chrono::milliseconds between{20};
  std::error_code error;
  for (int i = 0; i < max_tries && fs::exists(folder, error); ++i) {
    if (i > 0) std::this_thread::sleep_for(between);
    for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator();
         each.increment(error)) {
      std::error_code ignored;
      if (each->path().filename() != lock_name) fs::remove_all(each->path(), ignored);
    }
    fs::remove(folder / lock_name, error);
    fs::remove(folder, error);
  }
}

bool is_own(const struct stat& found, mode_t kind) {
  return (found.st_mode & S_IFMT) == kind && found.st_uid == ::geteuid();
}

/// Removes the folder of a killed run: a folder of the same user with a lock file that no process
/// has locked.
void remove_if_left(const fs::path& folder) {
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0 || !is_own(found, S_IFDIR)) return;
  const int lock =
      ::open((folder / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (lock < 0) return;
  const bool is_plain = ::fstat(lock, &found) == 0 && is_own(found, S_IFREG);
  if (is_plain && ::flock(lock, LOCK_EX | LOCK_NB) == 0) remove_folder(folder);
  ::close(lock);
}

void remove_left(const fs::path& parent) {
  const std::string_view beginning = pattern.substr(0, pattern.find('X'));
  std::error_code error;
  for (fs::directory_iterator each(parent, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.size() == pattern.size() && name.starts_with(beginning)) remove_if_left(each->path());
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const fs::path parent = fs::temp_directory_path();
  remove_left(parent);
  path_ = (parent / pattern).string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot create a temporary folder");
  }
  // The lock file gets its final name only after it is locked; otherwise another run would remove
  // the folder. On a file system without locks, the folder has no lock file.
  constexpr mode_t owner = 0600;
  const fs::path lock = fs::path(path_) / lock_name;
  const std::string unlocked = lock.string() + ".new";
  lock_ = ::open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, owner);
  if (lock_ < 0) return;
  std::error_code error;
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    fs::rename(unlocked, lock, error);
  } else {
    fs::remove(unlocked, error);
  }
}

TemporaryFolder::~TemporaryFolder() {
  remove_folder(path_);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace clprobe::system
