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

/// Found out to be writable when it is made, before anything is measured. The temporary file beside
/// the target is removed when nothing was committed. Call `ignore_broken_pipes` first.
class OutputFile {
 public:
  /// `path` is "-" for stdout. Throws OutputError.
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// Replaces the file's contents atomically, or appends to the stream. Throws OutputError, and the
  /// old file is then as it was. A reader that closed its end of a pipe is no error.
  void commit(std::string_view text);

  /// stdout, a pipe or a device: what is written stays written, so commit once, at the end.
  [[nodiscard]] bool is_stream() const { return is_stream_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void open_stream();
  void open_temporary();
  void discard_temporary() noexcept;
  [[noreturn]] void fail(int error_number) const;

  std::string path_;         ///< as typed, for messages
  std::string target_{};     ///< what is replaced: where symbolic links lead
  std::string temporary_{};  ///< empty when there is none
  int descriptor_{-1};
  bool is_stream_{false};
};

}  // namespace clprobe::terminal
