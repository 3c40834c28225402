// SPDX-License-Identifier: Apache-2.0
// Where the results of a command go: the files of -o, and stdout.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "clprobe/report.hpp"
#include "clprobe/run.hpp"
#include "terminal/output.hpp"

namespace clprobe::commands {

/// Which probe a picture at `path` shows: the only one, or the one with which the file's name
/// begins
/// ("latency.svg", "latency-h200.svg"). Throws UsageError where neither says.
std::string pictured_probe(std::string_view path, std::span<const std::string> probes);

/// Opens every target before anything is measured, so that a bad path fails in the first second.
class Results {
 public:
  /// Throws UsageError for a path that cannot be written, and for a picture of several probes.
  explicit Results(const cli::Options& options);

  /// Replaces the files by what is known now; streams wait for finish(). Throws OutputError.
  void save(std::span<const Run> runs);
  /// Saves and writes the streams too. Throws OutputError.
  void finish(std::span<const Run> runs);

  /// What is not made of runs alone: each format, for the terminal or file that it goes to.
  using Renderer = std::function<std::string(cli::Format format, const TableStyle& style)>;
  void finish(const Renderer& render);

 private:
  struct Target {
    terminal::OutputFile file;
    cli::Format format;
  };

  [[nodiscard]] std::string render(std::span<const Run> runs, const Target& target) const;
  [[nodiscard]] TableStyle style_of(const Target& target) const;

  /// The probes that the results are of, or will be.
  [[nodiscard]] std::vector<std::string> probes(std::span<const Run> runs) const;

  const cli::Options& options_;
  std::vector<Target> targets_{};
};

}  // namespace clprobe::commands
