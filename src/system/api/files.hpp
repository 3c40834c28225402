// SPDX-License-Identifier: Apache-2.0
// Files, standard streams and temporary folders through POSIX.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::system {

/// Returns the bytes of a file, which may be a pipe or a device. Waits for a pipe's writer until an
/// interrupt. Throws std::system_error: the system's error, EFBIG for more than `max_bytes`, EINTR
/// for an interrupt.
std::string read_file(const std::string& path, std::size_t max_bytes);

/// Reads a regular file. Throws ELOOP for a link, EINVAL for a pipe, a device or a folder. For
/// names given by others, who could name a file that only this user may read.
std::string read_plain_file(const std::string& path, std::size_t max_bytes);

// Writing to a file descriptor.

/// Writes all of `text` to `descriptor`. Returns 0 or the errno of the failed call. After
/// `ignore_signals_of_writing`, a closed pipe returns EPIPE and a file beyond the process's limit
/// EFBIG. An interrupt while waiting for a reader returns EINTR.
int write_all(int descriptor, std::string_view text);

/// Makes writes to closed pipes and beyond file limits return an error instead of ending the
/// process. Called once, by `main`.
void ignore_signals_of_writing();

// Text piped to another program.

/// Runs `command` in a shell with `text` as stdin, and waits for its end. Stdout and stderr are
/// those of this process, and `defaults` are variables set only if the environment lacks them.
/// Returns the exit status, 128 plus the signal, or -1 if the command could not be started. A
/// command need not read all of the text. Ctrl-C reaches only the command. Call
/// `ignore_signals_of_writing` first.
int pipe_to(const std::string& command, std::string_view text,
            const std::vector<std::pair<std::string, std::string>>& defaults = {});

// Standard streams that were closed when the program started.

/// Opens /dev/null for each closed standard stream. `main` calls it first: otherwise the next
/// opened file would get the stream's number. The file is opened in the wrong direction, so that
/// writing a result to a closed stdout fails.
void open_missing_streams();

/// Returns true if the descriptor is open for writing.
bool is_open_for_writing(int descriptor);

/// Writes to stderr and ignores failures.
void write_to_stderr(std::string_view text) noexcept;

// A folder that lasts as long as a run.

/// A private folder in TMPDIR or /tmp, removed by the destructor. The next run of the same user
/// removes the folder of a killed run.
class TemporaryFolder {
 public:
  /// Throws std::system_error.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_{};
  int lock_{-1};  ///< lock on a file in the folder; -1: none
};

}  // namespace clprobe::system
