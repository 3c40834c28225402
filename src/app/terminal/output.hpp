// SPDX-License-Identifier: Apache-2.0
// Targets of results (files replaced atomically, streams, the pager) and messages on stderr.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clprobe::terminal {

/// Error of a failed write. `what()` is a line with the error and advice: "cannot write 'x/y.json':
/// No such file or directory; choose another path with -o".
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Output file or stream. The constructor checks write access. A temporary file in the target's
/// folder exists only during this check and during a commit, while signals are blocked. Call
/// `ignore_signals_of_writing` first.
class OutputFile {
 public:
  /// Checks that the file can be written. `path`: "-" is stdout, which only check_open() and
  /// commit() check. Throws OutputError.
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file atomically, or appends to the stream. Waits for the reader of a named pipe,
  /// until an interrupt and at most 10 s. If the reader has closed the pipe, the text is discarded
  /// without an error. If the write fails, throws OutputError and leaves the old file unchanged.
  void commit(std::string_view text);

  /// Throws OutputError if stdout is closed.
  void check_open() const;

  /// Returns true if a commit would replace the file at `path`, even if `path` is another name of
  /// the target or a link to it.
  [[nodiscard]] bool replaces(const std::string& path) const;

  /// True for stdout, a pipe or a device. A stream is written only once, at the end.
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
  int descriptor_{-1};    ///< descriptor of a stream; -1: stdout, or a pipe without a reader
  bool is_stream_{false};
};

/// Writes the line "clprobe: MESSAGE" to stderr. Replaces unprintable characters, since messages
/// may contain texts from drivers. A failed write is ignored.
void complain(std::string_view message) noexcept;

/// Returns the command of the pager: `pager`, the value of PAGER, or `less` if it is not set.
/// Returns nothing if `pager` is empty or "cat", or if `term` is empty or "dumb". Pure.
std::optional<std::string> pager_of(const char* pager, std::string_view term);

/// Writes the text to stdout: through the pager if stdout is a terminal, and directly otherwise or
/// if the pager fails. Throws OutputError.
void show_page(std::string_view text);

}  // namespace clprobe::terminal
