// SPDX-License-Identifier: Apache-2.0
// Instrumentation that removes causes of waiting from users' kernels without a compiler of its own:
// a text before the program (cl/prelude.clh) replaces functions of OpenCL C. Pure.
//
// The offset of a launch in dimension 2 selects the setting at run time, so that all settings run
// the same binary. Setting 0 is the unchanged kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

// Headers of programs in OpenCL C: finds the files that a text reaches with #include, and makes one
// text of all of them. The result builds on any machine. Pure. The loader layer runs this code in
// other processes, so it needs only the standard library.
//
// Conditions of #if stay unevaluated, since only the driver's compiler knows its own definitions:
// the text contains the headers of all branches, and the conditions.

// Limits of a program.
inline constexpr std::size_t max_headers = 256;
inline constexpr std::size_t max_includes = 1024;  ///< maximum of a single text
inline constexpr std::size_t max_written_bytes = 1024;
/// Maximum of all headers together.
inline constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_whole_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_depth = 200;  ///< maximum nesting of headers, as in compilers

/// Operand of an #include without comments (`"a.h"`, `<a.h>`, `NAME(a.h)`), and the index of the
/// header in the program.
struct Include {
  std::string written{};
  std::size_t header{0};

  friend bool operator==(const Include&, const Include&) = default;
};

struct Header {
  std::string name{};  ///< file name without folders, for messages only
  std::string text{};
  std::vector<Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// Headers that a text reaches.
struct Gathered {
  std::vector<Include> includes{};  ///< includes of the text itself
  std::vector<Header> headers{};

  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Access to files in the search for headers.
struct Files {
  /// Returns a file's bytes; nothing if it cannot be read or has more than `max_bytes`.
  std::function<std::optional<std::string>(const std::string& path, std::size_t max_bytes)> read{};
  /// Base of relative paths, including those of options.
  std::string working_folder{};
  /// Folders in which a driver may put the text itself, and in which it finds headers in quotes.
  std::vector<std::string> text_folders{};
};

/// Finds the headers that the text, built with these options, reaches. Searches for headers in
/// quotes next to the including file, then in the folders of -I in their order. Replaces macros in
/// an operand if the text and the options define each of them in a single way. Leaves out headers
/// that are missing, that differ between two of the text's folders, or that exceed the limits.
Gathered gather(std::string_view text, std::string_view options, const Files& files);

/// Text and headers of a program as one text.
struct Whole {
  std::string text{};
  /// Operands of missing headers, each once; #error in the text.
  std::vector<std::string> missing{};
  std::string refusal{};  ///< reason for a missing text: "has more than 16 bytes"; otherwise empty
};

/// Replaces each #include by its header. Leaves out a header with a guard or #pragma once where the
/// compiler has certainly read it before. Lines keep the numbers of their own files. A text without
/// #include is returned unchanged. The result includes no other file, on any driver. Refused if it
/// would exceed `max_whole_bytes`.
Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered);

/// Returns the options of a build, except those that may name files or folders.
std::string without_folders(std::string_view options);

/// Returns the last part of a path with only letters, digits, '.', '-' and '_'.
std::string safe_name(std::string_view path);
bool is_safe_name(std::string_view name);

}  // namespace clprobe::includes

namespace clprobe::prelude {

/// Sizes of a launch in a program.
struct NdRange {
  std::uint32_t dimensions{1};
  std::array<std::uint64_t, 3> offset{};
  /// Number of work-items; 1 after the last dimension.
  std::array<std::uint64_t, 3> global{1, 1, 1};
  /// Group size: 1 after the last dimension; all 0 if the driver chooses.
  std::array<std::uint64_t, 3> local{};

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// Exponent of a dimension without working-set reduction.
inline constexpr std::uint32_t no_folding = 31;

/// Work of groups, and removed causes. In each dimension, group g does the work of group g mod
/// 2^exponent. The default changes nothing.
struct Setting {
  std::array<std::uint32_t, 3> exponents{no_folding, no_folding, no_folding};
  bool without_barriers{false};
  bool without_atomics{false};  ///< skips updates
  bool without_lanes{false};    ///< all lanes do the work of the first lane of their sub-group
  bool without_fences{false};
  /// True if a multiplication replaces special functions: a property of the build (Switches), not
  /// of a launch.
  bool without_functions{false};

  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Error for a setting that a launch cannot have. One line, without a full stop.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the launch with `setting`: three dimensions, and the packed setting as the offset in
/// dimension 2. Other sizes and offsets are those of `launch`, then 1 and 0. Throws SettingError if
/// the launch lacks what the setting needs (a known group size, groups that exist), or uses the
/// offset itself.
NdRange encode(const NdRange& launch, const Setting& setting);

/// Returns the number of groups in each dimension, including a smaller last one. Throws
/// SettingError if the driver chooses their size.
std::array<std::uint64_t, 3> count_groups(const NdRange& launch);

/// Returns the number of distinct groups whose work all groups do.
std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting);

/// Returns settings from all groups down to one, each with half as many distinct groups. The first
/// setting reduces nothing. Each step halves the largest dimension (the last of equal ones), so
/// that distinct groups form a square instead of a stripe. Empty if the driver chooses the group
/// size.
std::vector<Setting> fold_sweep(const NdRange& launch);

/// Masks that map a work-item's local id in each dimension to the id of the first lane of its
/// sub-group.
using LaneMasks = std::array<std::uint32_t, 3>;

/// Returns the masks for sub-groups of that size, which fill dimension 0 first. Returns nothing if
/// the size is no power of two, or the driver chooses the group size. Also returns nothing if a
/// larger group does not consist of whole sub-groups.
std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group);

/// Causes that a build can remove. Each costs a branch at every use: set a cause only if the kernel
/// has it and it can be removed.
struct Switches {
  bool barriers{false};
  bool atomics{false};
  bool fences{false};
  bool assembly{false};  ///< the program's assembly consists of fences only; used with `fences`
  /// True if no launch of the build uses special functions.
  bool without_functions{false};
  std::optional<LaneMasks> lanes{};
};

/// Returns the text that precedes a program's text, or each of its separately compiled units. The
/// text ends with `#line 1`, so that compilers' messages name the program's own lines.
std::string prelude_text(const Switches& switches = {});

/// Returns the number of groups in all dimensions together. Throws SettingError if the driver
/// chooses their size.
std::uint64_t count_all_groups(const NdRange& launch);

/// Returns the text that precedes a program with entry code (cl/entry.clh) instead of
/// `prelude_text`, for this launch only. Throws SettingError if the groups differ in size.
std::string entry_text(const NdRange& launch);

/// Returns `text` with entry code and `entry_arguments` additional parameters in each kernel named
/// `kernel`. Line numbers do not change. Without such a kernel, returns `text` unchanged.
std::string with_entry(std::string_view text, std::string_view kernel);

/// Action of a group at the entry: run the kernel, count resident groups, or end. The numbers are
/// those of cl/entry.clh.
enum class EntryMode : std::uint32_t { none = 0, count = 1, end = 3 };

/// Number of arguments that an entry adds: mode (uint); patience (uint), the number of polls
/// without a new group after which a group ends the count; counters (global uint*,
/// `entry_counter_words`, 0 before the launch); padding (local, unused).
inline constexpr std::uint32_t entry_arguments = 4;
inline constexpr std::size_t entry_counter_words = 3;
/// Index of the counter with the number of resident groups.
inline constexpr std::size_t entry_resident_counter = 2;

/// Returns a launch of the first `groups` groups of `launch`, with entry code. `groups` may exceed
/// those of `launch` if all groups end at the entry.
NdRange range_of_groups(const NdRange& launch, std::uint64_t groups);

/// Returns the text with an #error instead of each line that defines or undefines a replaced
/// work-item function. A branch that the compiler skips stays harmless; another branch fails to
/// build. A function of such a name fails to build after clprobe's macro anyway.
std::string without_redefinitions(std::string_view text);

/// Possibility of removing a cause from a kernel.
enum class Possibility : std::uint8_t { usable, not_present, refused };

struct Verdict {
  Possibility possibility{Possibility::usable};
  std::string reason{};  ///< reason against the removal; one line, without a full stop

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Verdicts on each cause of a kernel. Text that the lexer does not understand leads to refusal.
struct Judgement {
  Verdict renaming{};  ///< any instrumentation, even if it removes nothing
  Verdict folding{};
  Verdict barriers{};
  Verdict atomics{};
  Verdict lanes{};
  Verdict fences{};
  Verdict functions{};  ///< removal of special functions
  Verdict entry{};      ///< entry code, for launches of only some groups
  bool has_fence_assembly{false};
  /// Reachable call that a replay does not support: "the kernel calls enqueue_kernel". Empty: none.
  std::string unknown_work{};
};

/// Texts of a program, including their headers.
struct Program {
  std::vector<std::string> sources{};
  std::string options{};  ///< build options, which may define macros
};

/// Judges `kernel` with all functions and macros that it reaches in any branch of #if. Work-item
/// functions defined in a branch are left to the compiler (`without_redefinitions`). Refuses all
/// verdicts except `renaming` if the text has no such kernel, for instance because a macro makes
/// its name.
Judgement judge(const Program& program, std::string_view kernel);

struct Parameter {
  std::string text{};  ///< declaration, with a space for each comment and line end
  std::string name{};  ///< name; empty if the lexer finds none

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Position of a kernel in a text, in bytes.
struct KernelPosition {
  std::string name{};
  std::vector<Parameter> parameters{};
  std::size_t parameters_begin{0};  ///< position after the opening parenthesis
  std::size_t parameters_end{0};    ///< position of the closing parenthesis
  std::size_t body_begin{0};        ///< position after the opening brace
  std::size_t body_end{0};          ///< position of the closing brace
};

/// Finds the kernels with a body in a text, in order. Also finds functions called `kernel`, whose
/// qualifier may be a macro. Misses kernels whose name a macro makes.
std::vector<KernelPosition> find_kernels(std::string_view text, std::string_view kernel = {});

}  // namespace clprobe::prelude
