// SPDX-License-Identifier: Apache-2.0
// Files, standard streams and temporary folders through POSIX.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::system {

/// Returns the bytes of a file, which may be a pipe or a device. Waits until a pipe has a writer or
/// the process is interrupted. Throws std::system_error: the system's error, EFBIG if the file has
/// more than `max_bytes`, EINTR after an interrupt.
std::string read_file(const std::string& path, std::size_t max_bytes);

/// Returns the bytes of a regular file. Intended for a name that another user chose, since the name
/// could be that of a link to a private file. Throws std::system_error: ELOOP for a link, EINVAL
/// for a pipe, a device or a folder, and the errors of read_file().
std::string read_plain_file(const std::string& path, std::size_t max_bytes);

// Writing to a file descriptor.

/// Writes all of `text` to `descriptor`. Returns 0 or the errno of the failed call. After
/// `ignore_signals_of_writing`, the function returns EPIPE for a closed pipe and EFBIG for a file
/// beyond the process's size limit. An interrupt during the write returns EINTR.
int write_all(int descriptor, std::string_view text);

/// Ignores SIGPIPE and SIGXFSZ, so that a write to a closed pipe or beyond the file size limit
/// returns an error instead of ending the process. Called once, by `main`.
void ignore_signals_of_writing();

// Text piped to another program.

/// Runs `command` in a shell with `text` as stdin, and waits until the command ends. The command
/// shares this process's stdout and stderr. `defaults` are environment variables that are set, also
/// in this process, if they are missing. Returns the exit status, 128 plus the signal that ended
/// the command, or -1 if the command could not be started. A command need not read all of `text`.
/// Only the command reacts to Ctrl-C. Call `ignore_signals_of_writing` first.
int pipe_to(const std::string& command, std::string_view text,
            const std::vector<std::pair<std::string, std::string>>& defaults = {});

// Standard streams (stdin, stdout, stderr) that were closed when the program started.

/// Opens /dev/null for each closed standard stream. `main` calls this function first: otherwise the
/// next opened file would get the stream's number. /dev/null is opened for reading as stdout, and
/// for writing as stdin, so that writing a result to a closed stdout still fails.
void open_missing_streams();

/// Returns true if the descriptor is open for writing.
bool is_open_for_writing(int descriptor);

/// Writes to stderr and ignores failures.
void write_to_stderr(std::string_view text) noexcept;

// A folder that lasts as long as a run.

/// Private folder in TMPDIR or /tmp, removed by the destructor. If the process is killed, the same
/// user's next run removes the folder.
class TemporaryFolder {
 public:
  /// Removes the folders of killed runs, and creates this folder. Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_{};
  int lock_{-1};  ///< descriptor of the lock file; -1: none
};

}  // namespace clprobe::system
