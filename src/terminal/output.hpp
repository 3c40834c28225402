// SPDX-License-Identifier: Apache-2.0
// Where results go: a file that is replaced as a whole or not at all, or a stream.
#pragma once

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

/// Found out to be writable when it is made, before anything is measured. There is a temporary file
/// beside the target only while that is found out and while a commit writes, and signals wait for
/// it to go. Call `ignore_signals_of_writing` first.
class OutputFile {
 public:
  /// `path` is "-" for stdout, which is looked at when it is written to. Throws OutputError.
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file's contents atomically, or appends to the stream. Throws OutputError, and the
  /// old file is then as it was. A reader that closed its end of a pipe is no error; for the first
  /// reader of a named one it waits for some seconds, or until an interrupt.
  void commit(std::string_view text);

  /// For stdout alone, which may be closed. Throws OutputError.
  void check_open() const;

  /// Whether a commit would replace the file at `path`, by whatever name or link.
  [[nodiscard]] bool replaces(const std::string& path) const;

  /// stdout, a pipe or a device: what is written stays written, so commit once, at the end.
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
  std::string target_{};  ///< what is replaced: where symbolic links lead
  int descriptor_{-1};    ///< of a stream; -1 for stdout, and for a pipe that nobody reads yet
  bool is_stream_{false};
};

}  // namespace clprobe::terminal
