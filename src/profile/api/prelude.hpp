// SPDX-License-Identifier: Apache-2.0
// Instrumentation that removes causes of waiting from users' kernels. A text before the program
// (cl/prelude.clh) replaces functions of OpenCL C by macros, so clprobe needs no compiler. Pure.
//
// The offset of a launch in dimension 2 selects the setting at run time, so that all settings of
// one build run the same binary. Only a setting without special functions has its own build.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::includes {

// Headers of programs in OpenCL C: finds the files that a text includes, directly or through other
// headers, and inserts the headers into the text. The resulting text builds on any machine. Pure.
// The loader layer runs this code in applications' processes, so this code needs only the standard
// library.
//
// Conditions of #if are not evaluated, because only the driver's compiler knows its predefined
// macros. The resulting text contains the headers of all branches, and the conditions.

// Limits of a program (inclusive).
inline constexpr std::size_t max_headers = 256;
inline constexpr std::size_t max_includes = 1024;  ///< maximum number of #include in a single text
inline constexpr std::size_t max_written_bytes = 1024;
/// Maximum size of all headers of a program together.
inline constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_whole_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_depth = 200;  ///< maximum nesting of headers, as in compilers

/// Directive #include. `written`: the operand without comments (`"a.h"`, `<a.h>`, `NAME(a.h)`).
/// `header`: the index of the header in the program.
struct Include {
  std::string written{};
  std::size_t header{0};

  friend bool operator==(const Include&, const Include&) = default;
};

struct Header {
  std::string name{};  ///< file name without folders, used only in messages
  std::string text{};
  std::vector<Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// Headers that a text includes, directly or through other headers.
struct Gathered {
  std::vector<Include> includes{};  ///< includes of the text itself
  std::vector<Header> headers{};

  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Functions and folders through which the search for headers accesses files.
struct Files {
  /// Returns the bytes of a file; nothing if the file cannot be read or has more than `max_bytes`
  /// bytes.
  std::function<std::optional<std::string>(const std::string& path, std::size_t max_bytes)> read{};
  /// Folder that relative paths start from, including relative paths in options.
  std::string working_folder{};
  /// Folders in which a driver may put the text itself; the compiler also searches these folders
  /// for headers in quotes.
  std::vector<std::string> text_folders{};
};

/// Returns the headers that `text`, built with `options`, includes in any branch. The search for
/// headers in quotes begins in the folder of the including file, then uses the folders of -I in
/// their order. Macros in an operand are replaced if the texts and the options define each macro in
/// a single way. Headers are left out if they are missing, exceed the limits, or differ between
/// `Files::text_folders` or between these and the folders of -I.
Gathered gather(std::string_view text, std::string_view options, const Files& files);

/// Program's text with its headers inserted.
struct Whole {
  std::string text{};
  /// Operands of missing headers, each listed once. The text contains an #error for each missing
  /// header.
  std::vector<std::string> missing{};
  /// Reason why `text` is empty, such as "has more than 16777216 bytes ..."; else empty.
  std::string refusal{};
};

/// Returns `text` with each #include replaced by its header. A header with an include guard or
/// #pragma once is inserted only where the compiler may not have read the header before. Compilers'
/// messages keep the line numbers of the original files. All other names that could make a driver
/// search for a file are misspelled in the resulting text, even in comments and strings. A result
/// above `max_whole_bytes` is refused.
Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered);

/// Returns the build options without options that may name files or folders.
std::string without_folders(std::string_view options);

/// Returns the first 100 characters of the file name at the end of a path, with '_' in place of all
/// except ASCII letters, digits, '.', '-' and '_', and before a leading '.'.
std::string safe_name(std::string_view path);
bool is_safe_name(std::string_view name);

}  // namespace clprobe::includes

namespace clprobe::prelude {

/// Numbers of work-items of a launch in a program.
struct NdRange {
  std::uint32_t dimensions{1};
  std::array<std::uint64_t, 3> offset{};
  /// Number of work-items in each dimension. 1 for unused dimensions.
  std::array<std::uint64_t, 3> global{1, 1, 1};
  /// Number of work-items of a group in each dimension. 1 for unused dimensions. All 0 if the
  /// driver chooses the group size.
  std::array<std::uint64_t, 3> local{};

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// Exponent that stands for no working-set reduction in a dimension.
inline constexpr std::uint32_t no_folding = 31;

/// Removed causes of an instrumented launch. In each dimension, group g does the work of group g
/// mod 2^exponent. The default setting removes nothing.
struct Setting {
  std::array<std::uint32_t, 3> exponents{no_folding, no_folding, no_folding};
  bool without_barriers{false};
  bool without_atomics{false};  ///< true if atomic updates are skipped
  /// True if all lanes do the work of the first lane of their sub-group.
  bool without_lanes{false};
  bool without_fences{false};
  /// True if a multiplication replaces special functions. The build decides this (Switches), so
  /// `encode` ignores the member.
  bool without_functions{false};

  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Error for a setting that a launch cannot have. The message is one line without a full stop.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the launch with `setting`: three dimensions, and the packed setting as the offset in
/// dimension 2. Other sizes and offsets are those of `launch`; unused dimensions have size 1 and
/// offset 0. Throws SettingError if the launch itself uses this offset or has too many groups. Also
/// throws if a working-set reduction is impossible: the group size is unknown, or more distinct
/// groups are requested than the launch has groups of full size.
NdRange encode(const NdRange& launch, const Setting& setting);

/// Returns the number of groups in each dimension; a smaller last group counts as one group. Throws
/// SettingError if the driver chooses the group size, or the launch has an offset in dimension 2.
std::array<std::uint64_t, 3> count_groups(const NdRange& launch);

/// Returns the number of distinct groups that do the work of all groups. Throws as `count_groups`.
std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting);

/// Returns the settings of the working-set curve, from all groups down to a single distinct group.
/// The first setting reduces nothing; the next keeps a power of two in each dimension. Each further
/// step halves the dimension with the most distinct groups, or the last of several equal ones, so
/// that the distinct groups form a square. Empty if the driver chooses the group size.
std::vector<Setting> fold_sweep(const NdRange& launch);

/// Masks that turn a work-item's local id in each dimension into the id of the first lane of the
/// work-item's sub-group.
using LaneMasks = std::array<std::uint32_t, 3>;

/// Returns the masks for sub-groups of size `sub_group`, which fill dimension 0 first. Returns
/// nothing if the size is not a power of two, or the driver chooses the group size. Also returns
/// nothing if sub-groups are not boxes of local ids, as for 32 in a group of 12 x 8 work-items.
std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group);

/// Causes that a build can remove. Each selected cause adds a branch at every use, so only causes
/// that are present and removable should be selected.
struct Switches {
  bool barriers{false};
  bool atomics{false};
  bool fences{false};
  bool assembly{false};  ///< true if all assembly of the program is fences; used with `fences`
  /// True if all launches of the build run without special functions.
  bool without_functions{false};
  std::optional<LaneMasks> lanes{};
};

/// Returns the text to put before a program's text, or before each separately compiled text. The
/// returned text ends with `#line 1`, so that compilers' messages have the program's own line
/// numbers.
std::string prelude_text(const Switches& switches = {});

/// Returns the text to put before a program's text to replace its special functions by
/// multiplications, without any other instrumentation.
std::string without_functions_text();

/// Returns the total number of groups in all dimensions. Throws as `count_groups`.
std::uint64_t count_all_groups(const NdRange& launch);

/// Returns the text to put before a program with entry code (cl/entry.clh), instead of
/// `prelude_text`. The returned text is valid only for `launch`. Throws SettingError if the groups
/// differ in size or are too many, and as `count_groups`.
std::string entry_text(const NdRange& launch);

/// Returns `text` with entry code and `entry_arguments` additional parameters in each kernel named
/// `kernel`. Line numbers do not change. If `text` has no such kernel, returns `text` unchanged.
std::string with_entry(std::string_view text, std::string_view kernel);

/// Action of a group at the entry code: run the kernel, count resident groups, or end. The values
/// are those in cl/entry.clh.
enum class EntryMode : std::uint32_t { none = 0, count = 1, end = 3 };

/// Number of arguments that entry code adds to a kernel, in this order:
/// - mode (uint);
/// - patience (uint): number of polls without a new group after which a group stops counting;
/// - counters (global uint*): `entry_counter_words` words, all 0 before the launch;
/// - padding (local memory, unused).
inline constexpr std::uint32_t entry_arguments = 4;
inline constexpr std::size_t entry_counter_words = 3;
/// Index of the counter that holds the number of resident groups after the launch.
inline constexpr std::size_t entry_resident_counter = 2;

/// Returns the launch of the first `groups` groups of `launch`, in a row along dimension 0, for a
/// kernel with entry code. More groups than `launch` has are valid if all end at the entry code.
NdRange range_of_groups(const NdRange& launch, std::uint64_t groups);

/// Returns `text` with each line that defines or undefines a replaced work-item function turned
/// into an #error. The #error has no effect in a branch that the compiler skips, and otherwise
/// makes the build fail. A function definition with the name of a work-item function needs no
/// #error, because clprobe's macro makes its build fail.
std::string without_redefinitions(std::string_view text);

/// Possibility of removing a cause: possible, nothing to remove, or refused as unsafe.
enum class Possibility : std::uint8_t { usable, not_present, refused };

struct Verdict {
  Possibility possibility{Possibility::usable};
  std::string reason{};  ///< reason against the removal; one line, without a full stop

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Verdicts on the removal of each cause from a kernel. Text that the lexer does not understand
/// leads to refusal.
struct Judgement {
  Verdict renaming{};  ///< verdict on any instrumentation, even if it removes nothing
  Verdict folding{};
  Verdict barriers{};
  Verdict atomics{};
  Verdict lanes{};
  Verdict fences{};
  Verdict functions{};  ///< verdict on the removal of special functions
  Verdict entry{};      ///< verdict on entry code, for launches of only some groups
  bool has_fence_assembly{false};
  /// Reachable call that a replay does not support, such as "the kernel calls enqueue_kernel".
  /// Empty if there is none.
  std::string unknown_work{};
};

/// Texts of a program, with their headers inserted.
struct Program {
  std::vector<std::string> sources{};
  std::string options{};  ///< build options, which may define macros
};

/// Returns the verdicts on `kernel`, from all functions and macros that the kernel reaches in any
/// branch of #if. Definitions in a branch that `without_redefinitions` replaces are no reason to
/// refuse. If the text has no such kernel, for instance because a macro makes its name, all
/// verdicts except `renaming` are refusals.
Judgement judge(const Program& program, std::string_view kernel);

/// Returns verdicts that refuse every removal and any instrumentation, for this reason.
Judgement all_refused(const std::string& reason);

struct Parameter {
  /// Text of the declaration, with a space in place of each comment and line end.
  std::string text{};
  std::string name{};  ///< name of the parameter; empty if the lexer finds none

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Position of a kernel in a text. Positions are in bytes.
struct KernelPosition {
  std::string name{};
  std::vector<Parameter> parameters{};
  std::size_t parameters_begin{0};  ///< position after the opening parenthesis
  std::size_t parameters_end{0};    ///< position of the closing parenthesis
  std::size_t body_begin{0};        ///< position after the opening brace
  std::size_t body_end{0};          ///< position of the closing brace
};

/// Returns the kernels with a body in a text, in the order of the text. Also returns functions with
/// the name `kernel` (the parameter), because a macro may be their kernel qualifier. Omits kernels
/// whose name a macro makes.
std::vector<KernelPosition> find_kernels(std::string_view text, std::string_view kernel = {});

}  // namespace clprobe::prelude

// Removal of instructions from kernels in PTX, the assembly language into which NVIDIA's driver
// compiles OpenCL C.
namespace clprobe::ptx {

/// Instructions that can be removed. `loads` and `stores` access global or constant memory, or
/// private arrays at addresses from memory; `local_memory` accesses local memory (`.shared`).
enum class Part : std::uint8_t { loads, stores, local_memory, atomics, barriers };
inline constexpr std::size_t part_count = 5;

using Parts = std::bitset<part_count>;

constexpr std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }

/// Error for a text or a kernel that is not understood. The message is one line without a full
/// stop.
class PtxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Count {
  std::size_t all{0};
  std::size_t removed{0};
  bool operator==(const Count&) const = default;
};

/// Treatment of the branches that values from memory decide.
enum class Branches : std::uint8_t {
  own,       ///< the branches stay, with all instructions that determine their decisions
  recorded,  ///< the branches stay, and each work-item records its decisions
  replayed,  ///< each work-item takes the recorded decisions, so that loads can be removed
};

/// Number of parameters after a rewritten kernel's own. The compiler knows none of their values:
/// 1. a 32-bit 0
/// 2. a pointer to two 32-bit words. The kernel may write the first word. A recording kernel stores
///    in the second the maximum number of words of decisions that any work-item needs
/// 3. a pointer to 32-bit words of decisions, ordered by the word's index, then by the work-item
/// 4. the distance in bytes between two words of a work-item, 64-bit: 4 * number of work-items
/// 5. the number of words that each work-item may record, 32-bit
inline constexpr std::size_t added_parameters = 5;

struct Rewritten {
  std::string text{};
  std::size_t parameters{0};  ///< number of the kernel's own parameters
  std::array<Count, part_count> counts{};
  std::string barriers_reason{};  ///< reason why barriers stay; empty if they can be removed
  std::size_t decisions{0};       ///< number of branches that values from memory decide
  /// True if no branch depends on the order or the time in which work-items run. Only then can
  /// decisions be replayed.
  bool is_steady{true};
};

/// True if the text is PTX with a kernel.
bool is_ptx(std::string_view text);

/// Returns the text of `kernel` without the instructions of `parts`, and facts about the kernel.
/// Other kernels of the text are left out.
///
/// Instructions that determine remaining addresses, barriers or branches (unless replayed) stay.
/// The result of a load or an atomic becomes a value that the compiler cannot know. A sum of the
/// values of removed stores, and of removed addresses that depend on memory, is tested before the
/// kernel returns, so that their computation stays necessary. Other removed addresses are not
/// computed.
///
/// `objects`: for each parameter, a number; pointers with equal numbers may point to the same
/// memory. Empty: no two pointers do. Throws PtxError.
Rewritten rewrite(std::string_view text, std::string_view kernel, const Parts& parts,
                  Branches branches = Branches::own, std::span<const std::size_t> objects = {});

}  // namespace clprobe::ptx
