// SPDX-License-Identifier: Apache-2.0
#include "app/terminal/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "app/terminal/terminal.hpp"
#include "system/api/files.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe::terminal {

namespace {

/// Returns a random file name. The name is independent of the target's name, since file systems
/// limit names to 255 bytes.
std::string random_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr int letters_in_name = 12;
  std::random_device entropy;
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string name = ".clprobe-";
  for (int i = 0; i < letters_in_name; ++i) name += letters[pick(entropy)];
  return name;
}

/// Writes a file's contents to the disk. Returns the errno of a failure; 0 after a success, and on
/// file systems that cannot sync, such as some FUSE file systems.
int sync_contents(int descriptor) {
  if (::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

/// True for a path that names an open descriptor. Such a path counts as a stream even if it leads
/// to a file: the process that opened the file would not see a replacement.
bool names_descriptor(std::string_view path) {
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/");
}

/// Returns the descriptor that a path such as /dev/stdout or /dev/fd/3 names; -1 for other paths.
int named_descriptor(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  constexpr std::string_view folder = "/dev/fd/";
  int number = -1;
  if (path.starts_with(folder)) {
    path.remove_prefix(folder.size());
    std::from_chars(path.data(), path.data() + path.size(), number);
  }
  return number;
}

/// Returns the path to which symbolic links lead, even if no file exists there.
std::string follow_links(const std::string& path) {
  constexpr int max_links = 40;  // as Linux limits them
  std::filesystem::path followed = path;
  for (int links = 0; links < max_links; ++links) {
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(followed, error);
    if (error) break;  // no further link
    followed = followed.parent_path() / next;
  }
  return followed.string();
}

/// Temporary file in the folder of its target. The destructor removes the file unless it has
/// replaced the target. Objects may be created only while signals are blocked, since a signal that
/// ends the program would leave the file behind.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) {
    // The file is created with open(), so that the umask sets the permissions; mkstemp() would give
    // access only to the owner.
    constexpr mode_t everyone = 0666;
    constexpr int attempts = 100;
    const auto folder = std::filesystem::path(target).parent_path();
    for (int attempt = 0; attempt < attempts && descriptor_ < 0; ++attempt) {
      name_ = (folder / random_name()).string();
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyone);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ >= 0) return;
    error_ = errno;
    name_.clear();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  /// Returns the errno of the first failure; 0 without a failure.
  [[nodiscard]] int error() const { return error_; }

  void write(std::string_view text) {
    note(system::write_all(descriptor_, text));
    if (error_ == 0) note(sync_contents(descriptor_));
  }

  void replace(const std::string& target) {
    struct stat replaced {};
    if (::stat(target.c_str(), &replaced) == 0) {
      // Gives the new file the permissions of the old file, if the system allows it.
      static_cast<void>(::fchmod(descriptor_, replaced.st_mode & 07777U));
    }
    // The result of close() is checked, since network file systems report a full disk only then.
    if (::close(std::exchange(descriptor_, -1)) != 0) note(errno);
    if (error_ != 0) return;
    if (std::rename(name_.c_str(), target.c_str()) == 0) {
      name_.clear();
    } else {
      note(errno);
    }
  }

 private:
  void note(int error_number) {
    if (error_ == 0) error_ = error_number;
  }

  std::string name_{};
  int descriptor_{-1};
  int error_{0};
};

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
  // Follows links, since a rename would replace the link instead of the file that it leads to.
  target_ = follow_links(path_);
  // Checks write access to an existing file, since a rename would need only the permissions of the
  // folder.
  if (stat_error == 0 && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  const system::HeldBackSignals until_it_is_gone;
  const TemporaryFile tried(target_);
  if (tried.error() != 0) fail(tried.error());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_stream_(other.is_stream_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::fail(int error_number) const {
  fail(std::generic_category().message(error_number));
}

void OutputFile::fail(std::string_view reason) const {
  if (path_ == "-") {
    throw OutputError(fmt::format("cannot write to stdout: {}; name a file with -o", reason));
  }
  throw OutputError(
      fmt::format("cannot write {}: {}; choose another path with -o", quote(path_), reason));
}

void OutputFile::open_stream() {
  is_stream_ = true;
  const int named = named_descriptor(path_);
  // Refuses a descriptor that was closed at the start: open_missing_streams() then opened a
  // read-only file in its place.
  if (named >= 0 && !system::is_open_for_writing(named)) fail(EBADF);
  try_stream();
}

/// Opens the stream without waiting. If it is a named pipe without a reader, `descriptor_` stays
/// -1.
void OutputFile::try_stream() {
  // O_APPEND, since /dev/stdout may lead to a file with contents.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ >= 0) return;
  const int error_number = errno;
  struct stat found {};
  const bool is_pipe = ::stat(path_.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
  if (!is_pipe || error_number != ENXIO) fail(error_number);
}

/// Waits at most 10 s for the reader of a named pipe, which may have been started at the same time
/// as clprobe. A longer wait would look like a hang.
void OutputFile::wait_for_reader() {
  constexpr std::chrono::seconds longest_wait{10};
  constexpr std::chrono::milliseconds between{20};
  const auto give_up = std::chrono::steady_clock::now() + longest_wait;
  for (try_stream(); descriptor_ < 0; try_stream()) {
    const bool is_over = system::is_interrupted() || std::chrono::steady_clock::now() > give_up;
    if (is_over) fail("the pipe has no reader");
    std::this_thread::sleep_for(between);
  }
}

void OutputFile::check_open() const {
  if (!system::is_open_for_writing(STDOUT_FILENO)) fail(EBADF);
}

bool OutputFile::replaces(const std::string& path) const {
  if (is_stream_) return false;
  std::error_code error;
  return std::filesystem::equivalent(target_, path, error) && !error;
}

void OutputFile::commit(std::string_view text) {
  if (is_stream_) {
    write_stream(text);
  } else {
    replace_target(text);
  }
}

void OutputFile::write_stream(std::string_view text) {
  const bool is_stdout = path_ == "-";
  if (!is_stdout && descriptor_ < 0) wait_for_reader();
  const int error = system::write_all(is_stdout ? STDOUT_FILENO : descriptor_, text);
  if (error != 0 && error != EPIPE) fail(error);
}

void OutputFile::replace_target(std::string_view text) const {
  const system::HeldBackSignals until_it_is_done;
  TemporaryFile file(target_);
  if (file.error() == 0) file.write(text);
  if (file.error() == 0) file.replace(target_);
  if (file.error() != 0) fail(file.error());
}

void complain(std::string_view message) noexcept {
  try {
    // The line is written with a single call, so that the lines of concurrent processes are not
    // mixed.
    system::write_to_stderr("clprobe: " + message_line(message) + "\n");
  } catch (const std::exception&) {
    system::write_to_stderr("clprobe: out of memory while writing an error message\n");
  }
}

std::optional<std::string> pager_of(const char* pager, std::string_view term) {
  if (term.empty() || term == "dumb") return std::nullopt;
  const std::string command = pager == nullptr ? "less" : pager;
  if (command.empty() || command == "cat") return std::nullopt;
  return command;
}

void show_page(std::string_view text) {
  const char* const term = std::getenv("TERM");
  const std::optional<std::string> pager =
      pager_of(std::getenv("PAGER"), term == nullptr ? "" : term);
  // The options of less are those that git uses: F ends less if the text fits on the screen, R
  // shows colours, and X leaves the text on the screen. If the user has set LESS, these options are
  // not used.
  if (pager && is_terminal(STDOUT_FILENO) &&
      system::pipe_to(*pager + " 2>/dev/null", text, {{"LESS", "FRX"}, {"LV", "-c"}}) == 0) {
    return;
  }
  OutputFile("-").commit(text);
}

}  // namespace clprobe::terminal
