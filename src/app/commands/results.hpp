// SPDX-License-Identifier: Apache-2.0
// Targets of a command's results: files of -o, and stdout.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "app/terminal/output.hpp"
#include "clprobe/probe.hpp"
#include "clprobe/run.hpp"
#include "compare/api/compare.hpp"
#include "present/api/report.hpp"

namespace clprobe::commands {

/// Returns the probe that the picture at `path` shows: the only probe, or the probe with whose name
/// the file name begins ("latency.svg", "latency-h200.svg"). Empty if `probes` is empty. Throws
/// UsageError if no probe qualifies.
std::string pictured_probe(std::string_view path, std::span<const std::string> probes);

/// A chart of a probe's card, selected by the name of a file.
struct PicturedPlot {
  std::string probe{};
  PlotSpec plot{};
};

/// Returns the chart with whose title the file name begins ("roofline.svg"), if one of the probes
/// declares it; nothing if none does.
std::optional<PicturedPlot> pictured_plot(std::string_view path,
                                          std::span<const std::string> probes);

/// Throws UsageError if `output`, the file of the flag `flag`, would replace an input file.
void refuse_to_replace(const terminal::OutputFile& output, std::string_view flag,
                       std::span<const std::string> inputs);

/// Throws UsageError if there are more labels than runs.
void expect_labels(const std::vector<std::string>& labels, std::size_t runs);

/// Sets the labels of the first runs, or of their digests, in order. Throws the error of
/// expect_labels().
template <typename Labelled>
void take_labels(const std::vector<std::string>& labels, std::vector<Labelled>& runs) {
  expect_labels(labels, runs.size());
  for (std::size_t i = 0; i < labels.size(); ++i) runs[i].label = labels[i];
}

/// Targets of results, opened before measuring, so that a bad path fails at once.
class Results {
 public:
  /// Function that receives a message about a target that cannot be written.
  using Complain = std::function<void(std::string_view message)>;

  /// Opens the targets. Throws UsageError for a path that cannot be written or is an input file,
  /// and for a picture that would have to show more than one probe.
  explicit Results(const cli::Options& options, Complain complain = terminal::complain);

  /// Throws OutputError if stdout is the only target and is closed.
  void check_stdout() const;

  /// Writes the results so far to the files, which it replaces; only finish() writes to streams. A
  /// failed write is reported, and neither prevents other writes nor ends the measurement.
  void save(std::span<const Run> runs);
  /// Writes the results to files and streams. Returns exit_ok, or exit_failed if a write failed.
  /// For stored runs, throws UsageError, before it writes, if a picture would have to show more
  /// than one probe.
  int finish(std::span<const Run> runs);

  /// Writes a comparison to files and streams. Returns exit_ok, or exit_failed if a write failed.
  int finish(const Comparison& comparison, std::span<const RunDigest> runs);

  /// Function that returns the output in a format, in the style of a target.
  using Renderer = std::function<std::string(const Writer& format, const TableStyle& style)>;
  int finish(const Renderer& render);

 private:
  struct Target {
    terminal::OutputFile file;
    const Writer* format;
    std::string problem{};  ///< last problem; not reported again while it persists
    bool is_written{false};
  };

  void write(Target& target, const std::function<std::string()>& render);
  int finish_each(const std::function<std::string(const Target&)>& render);

  [[nodiscard]] std::string render(std::span<const Run> runs, const Target& target) const;
  [[nodiscard]] TableStyle style_of(const Target& target) const;

  /// Throws UsageError if it is not clear which probe a picture shows.
  void check_pictures(std::span<const Run> runs) const;

  /// Returns the IDs of the probes in the runs; for `measure`, those that the options select.
  [[nodiscard]] std::vector<std::string> probes(std::span<const Run> runs) const;

  const cli::Options& options_;
  Complain complain_;
  std::vector<Target> targets_{};
};

}  // namespace clprobe::commands
