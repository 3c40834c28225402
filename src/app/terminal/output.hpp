// SPDX-License-Identifier: Apache-2.0
// Targets of results: files that are replaced as a whole or not at all, streams and the pager; and
// messages on stderr.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clprobe::terminal {

/// A result could not be written. `what()` is one line with what to do:
/// "cannot write 'x/y.json': No such file or directory; choose another path with -o".
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Checked for write access when it is made, before anything is measured. A temporary file next to
/// the target exists only during this check and during a commit, and signals wait until it is
/// removed. Call `ignore_signals_of_writing` first.
class OutputFile {
 public:
  /// `path` is "-" for stdout, which is checked when it is written. Throws OutputError.
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file's contents atomically, or appends to the stream. Waits some seconds, or
  /// until an interrupt, for the reader of a named pipe. A reader that closed its end is no error.
  /// Throws OutputError, and leaves the old file unchanged.
  void commit(std::string_view text);

  /// Throws OutputError if stdout is closed.
  void check_open() const;

  /// Returns whether a commit would replace the file at `path`, under any name or link.
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

  std::string path_;      ///< as typed, for messages
  std::string target_{};  ///< the replaced file, behind symbolic links
  int descriptor_{-1};    ///< of a stream; -1 for stdout and for a pipe without a reader
  bool is_stream_{false};
};

/// Writes "clprobe: MESSAGE" as a line to stderr, in printable characters, since a message may
/// quote a driver. Only the progress line is written to stderr otherwise. A failing write is
/// ignored.
void complain(std::string_view message) noexcept;

/// Pure: the pager's command, `less` unless PAGER is set; nothing if PAGER is empty or `cat`, or
/// the terminal is dumb.
std::optional<std::string> pager_of(const char* pager, std::string_view term);

/// Writes the text to stdout, through the pager if stdout is a terminal; directly if the pager
/// fails. Throws OutputError.
void show_page(std::string_view text);

}  // namespace clprobe::terminal
