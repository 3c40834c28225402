// SPDX-License-Identifier: Apache-2.0
// Reading a whole file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clprobe::system {

/// The bytes of a file, which may be a pipe or a device. Waits for a pipe's writer until an
/// interrupt. Throws std::system_error: what the system says, EFBIG for more than `max_bytes`,
/// EINTR for an interrupt.
std::string read_file(const std::string& path, std::size_t max_bytes);

/// Reads a plain file alone: throws ELOOP for a link, EINVAL for a pipe, a device or a folder. For
/// names that come from others, who might name a file that only this user may read.
std::string read_plain_file(const std::string& path, std::size_t max_bytes);

// Writing to a file descriptor.

/// Writes all of `text` to `descriptor`, however many calls it takes. Returns 0, or the errno of
/// the call that failed. A closed pipe is EPIPE and a file beyond the process' limit EFBIG, both
/// after `ignore_signals_of_writing`; an interrupt that comes while a reader is waited for is
/// EINTR.
int write_all(int descriptor, std::string_view text);

/// Such a write then returns an error rather than ending the process. For `main`, once.
void ignore_signals_of_writing();

// Text into another program.

/// Runs `command` by the shell with `text` on its stdin and what this process has as stdout and
/// stderr, and waits for its end. `defaults` are variables that it gets where the environment has
/// none of the name. Returns its exit status, 128 and more where a signal ended it, and -1 where it
/// could not be started. That it does not read to the end is no error. Interrupts of the terminal
/// are its own meanwhile. Call `ignore_signals_of_writing` first.
int pipe_to(const std::string& command, std::string_view text,
            const std::vector<std::pair<std::string, std::string>>& defaults = {});

// stdin, stdout and stderr, which whoever starts the program may have closed.

/// Puts /dev/null where one of the three is closed, for `main` before anything else is opened: the
/// next file or socket would else get its number, and what is meant for a terminal would go there.
/// Opened the wrong way round, so that a result written to a closed stdout is an error and not
/// lost in silence.
void open_missing_streams();

/// Returns true if the descriptor is open for writing.
bool is_open_for_writing(int descriptor);

/// Writes to stderr as far as it can: an error message that nobody can read is no error.
void write_to_stderr(std::string_view text) noexcept;

// A folder for the length of a run.

/// A folder in TMPDIR or /tmp for its owner alone, removed with this object. The next run of the
/// same user removes the folder of a killed run.
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
