// SPDX-License-Identifier: Apache-2.0
// A machine's file and its checks.
#include "clprobe/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "run/json.hpp"
#include "simulator/fields.hpp"

namespace clprobe::simulator {
namespace {

using json::Cursor;
using json::Json;

template <typename Enum>
std::string_view word_of(Enum value) {
  return Words<Enum>::all.at(static_cast<std::size_t>(value));
}

class Writer {
 public:
  void text(std::string_view key, const std::string& value) { put(key, value); }
  void natural(std::string_view key, std::uint64_t value, Bounds) { put(key, value); }
  void real(std::string_view key, double value, double, double) { put(key, value); }
  void boolean(std::string_view key, bool value) { put(key, value); }
  template <typename Enum>
  void word(std::string_view key, Enum value) {
    put(key, std::string(word_of(value)));
  }
  template <typename Visit>
  void optional_section(std::string_view key, bool is_there, Visit visit) {
    if (is_there) section(key, visit);
  }
  template <typename Visit>
  void section(std::string_view key, Visit visit) {
    Writer inner;
    visit(inner);
    put(key, inner.object_);
  }

  [[nodiscard]] const Json& object() const { return object_; }

 private:
  template <typename Value>
  void put(std::string_view key, const Value& value) {
    object_[std::string(key)] = value;
  }

  Json object_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Cursor& cursor) : cursor_(cursor) { cursor_.expect_any_object(); }

  void text(std::string_view key, std::string& value) { value = at(key).text(); }
  void natural(std::string_view key, std::uint64_t& value, Bounds bounds) {
    const Cursor found = at(key);
    const auto expected = [&] {
      return fmt::format("an integer from {} to {}", bounds.least, bounds.most);
    };
    if (found.is_missing()) found.refuse(expected());
    value = found.natural();
    if (value < bounds.least || value > bounds.most) found.refuse(expected());
  }
  void real(std::string_view key, double& value, double least, double most) {
    const Cursor found = at(key);
    value = found.number();
    if (!(value >= least && value <= most)) {
      found.refuse(fmt::format("a number from {} to {}", least, most));
    }
  }
  void boolean(std::string_view key, bool& value) { value = at(key).boolean(); }
  template <typename Enum>
  void word(std::string_view key, Enum& value) {
    const Cursor found = at(key);
    const auto& all = Words<Enum>::all;
    const auto place = std::find(all.begin(), all.end(), found.text());
    if (place == all.end()) found.refuse(fmt::format("one of {}", fmt::join(all, ", ")));
    value = static_cast<Enum>(place - all.begin());
  }
  template <typename Visit>
  void optional_section(std::string_view key, bool, Visit visit) {
    if (!at(key).is_missing()) section(key, visit);
  }
  template <typename Visit>
  void section(std::string_view key, Visit visit) {
    const Cursor found = at(key);
    Reader inner(found);
    visit(inner);
    inner.refuse_others();
  }

  void refuse_others() const {
    cursor_.for_each_member([&](std::string_view key, const Cursor& value) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        value.refuse("no key of this name");
      }
    });
  }

 private:
  Cursor at(std::string_view key) {
    known_.push_back(key);
    return {cursor_, key};
  }

  const Cursor& cursor_;
  std::vector<std::string_view> known_{};
};

/// Bounds again, for machines that were made in code.
class Checker {
 public:
  explicit Checker(std::string path) : path_(std::move(path)) {}

  void text(std::string_view key, const std::string& value) const {
    if (value.empty()) refuse(key, "a name", "none");
  }
  void natural(std::string_view key, std::uint64_t value, Bounds bounds) const {
    if (value >= bounds.least && value <= bounds.most) return;
    refuse(key, fmt::format("an integer from {} to {}", bounds.least, bounds.most),
           std::to_string(value));
  }
  void real(std::string_view key, double value, double least, double most) const {
    if (value >= least && value <= most) return;
    refuse(key, fmt::format("a number from {} to {}", least, most), fmt::format("{}", value));
  }
  void boolean(std::string_view, bool) const {}
  template <typename Enum>
  void word(std::string_view, Enum) const {}
  template <typename Visit>
  void optional_section(std::string_view key, bool, Visit visit) const {
    section(key, visit);
  }
  template <typename Visit>
  void section(std::string_view key, Visit visit) const {
    const Checker inner(fmt::format("{}{}.", path_, key));
    visit(inner);
  }

 private:
  [[noreturn]] void refuse(std::string_view key, std::string_view expected,
                           std::string_view found) const {
    throw MachineError(fmt::format("{}{}: expected {}, found {}", path_, key, expected, found));
  }

  std::string path_;
};

void require(bool holds, std::string_view path, std::string_view expected, std::uint64_t found) {
  if (!holds) throw MachineError(fmt::format("{}: expected {}, found {}", path, expected, found));
}

void check_latency(const Latency& latency, std::string_view path) {
  require(latency.low <= latency.high, fmt::format("{}.high", path), "no less than low",
          latency.high);
}

/// The simulator holds every line that was touched, with some 60 bytes, and walks all of them
/// before it measures: a cache of more lines fits neither memory nor patience. 512 MiB of lines of
/// 64 bytes.
constexpr std::uint64_t max_lines = std::uint64_t{1} << 23U;

void check_lines(std::uint64_t bytes, std::uint64_t line_bytes, std::string_view path) {
  require(bytes / line_bytes <= max_lines, path,
          fmt::format("at most {} ({} lines of l1.line_bytes)", max_lines * line_bytes, max_lines),
          bytes);
}

/// What one field alone cannot tell.
void check_together(const Machine& machine) {
  const FirstLevel& l1 = machine.l1;
  require(std::has_single_bit(l1.line_bytes), "l1.line_bytes", "a power of two", l1.line_bytes);
  require(std::has_single_bit(l1.sector_bytes) && l1.sector_bytes <= l1.line_bytes,
          "l1.sector_bytes", "a power of two up to l1.line_bytes", l1.sector_bytes);
  require(l1.line_bytes / l1.sector_bytes <= 32, "l1.sector_bytes", "at least l1.line_bytes / 32",
          l1.sector_bytes);
  require(l1.bytes % (l1.line_bytes * l1.ways) == 0, "l1.bytes",
          "a multiple of l1.line_bytes times l1.ways", l1.bytes);
  require(machine.l2.bytes % (l1.line_bytes * machine.l2.ways) == 0, "l2.bytes",
          "a multiple of l1.line_bytes times l2.ways", machine.l2.bytes);
  check_lines(l1.bytes, l1.line_bytes, "l1.bytes");
  check_lines(machine.l2.bytes, l1.line_bytes, "l2.bytes");
  const Core& core = machine.core;
  require(core.max_work_group_size <= core.warp_contexts * core.warp_width,
          "core.max_work_group_size", "at most core.warp_contexts times core.warp_width",
          core.max_work_group_size);
  check_latency(machine.l2.latency_cycles, "l2.latency_cycles");
  check_latency(machine.memory.latency_cycles, "memory.latency_cycles");
  check_latency(machine.sharing.remote_latency_cycles, "sharing.remote_latency_cycles");
}

Json encode(const Machine& machine) {
  Writer writer;
  visit_machine(writer, machine);
  return writer.object();
}

}  // namespace

std::string_view to_word(Scheduler value) { return word_of(value); }
std::string_view to_word(PendingKind value) { return word_of(value); }
std::string_view to_word(Coherence value) { return word_of(value); }
std::string_view to_word(CopyGranularity value) { return word_of(value); }

void check(const Machine& machine) {
  const Checker checker("");
  visit_machine(checker, machine);
  check_together(machine);
}

std::string to_json(const Machine& machine) { return json::many_lines(encode(machine)); }

std::string to_json_line(const Machine& machine) { return json::one_line(encode(machine)); }

Machine machine_from_json(std::string_view text) {
  const Json document = json::parse(text);
  const Cursor root(document);
  Reader reader(root);
  Machine machine;
  visit_machine(reader, machine);
  reader.refuse_others();
  try {
    check(machine);
  } catch (const MachineError& error) {
    throw RunFormatError(error.what());
  }
  return machine;
}

}  // namespace clprobe::simulator
