// SPDX-License-Identifier: Apache-2.0
// Targets of results (files replaced atomically, streams, the pager) and messages on stderr.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clprobe::terminal {

/// Error of a failed write. `what()` is one line with advice: "cannot write 'x/y.json': No such
/// file or directory; choose another path with -o".
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Output file, checked for write access on construction. A temporary file next to the target
/// exists only during this check and during a commit; signals are blocked meanwhile. Call
/// `ignore_signals_of_writing` first.
class OutputFile {
 public:
  /// `path`: "-" is stdout, which is checked when written. Throws OutputError.
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file atomically, or appends to the stream. Waits up to 10 s, or until an
  /// interrupt, for the reader of a named pipe. A reader that closed its end is no error. Throws
  /// OutputError and leaves the old file unchanged.
  void commit(std::string_view text);

  /// Throws OutputError if stdout is closed.
  void check_open() const;

  /// Returns true if a commit would replace the file at `path`, under any name or link.
  [[nodiscard]] bool replaces(const std::string& path) const;

  /// True for stdout, a pipe or a device, which are written once, at the end.
  [[nodiscard]] bool is_stream() const { return is_stream_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void open_stream();
  void try_stream();
  void wait_for_reader();
  void write_stream(std::string_view text);
  void replace_target(std::string_view text) const;
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void fail(std::string_view reason) const;

  std::string path_;      ///< path as typed, for messages
  std::string target_{};  ///< file to replace, with links resolved
  int descriptor_{-1};    ///< descriptor of a stream; -1 for stdout and a pipe without a reader
  bool is_stream_{false};
};

/// Writes the line "clprobe: MESSAGE" to stderr, in printable characters, since messages may quote
/// drivers. Failures are ignored.
void complain(std::string_view message) noexcept;

/// Returns the pager's command: PAGER or `less`; nothing if PAGER is empty or `cat`, or the
/// terminal is dumb. Pure.
std::optional<std::string> pager_of(const char* pager, std::string_view term);

/// Writes the text to stdout, through the pager on a terminal, or directly if the pager fails.
/// Throws OutputError.
void show_page(std::string_view text);

}  // namespace clprobe::terminal
