// SPDX-License-Identifier: Apache-2.0
// Instrumentation that removes causes of waiting from users' kernels, without a compiler of our
// own: a text in front of theirs (cl/prelude.clh) replaces functions of OpenCL C. Pure.
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

// The headers of programs in OpenCL C: finds the files that a text reaches with #include, and makes
// one text with all of them in it, which builds on any machine. Pure. The loader layer runs it in
// other people's processes, so it needs only the standard library.
//
// It evaluates no condition of #if, since only the driver's compiler knows its own definitions: it
// puts in the headers of all branches, and keeps the conditions.

// Limits of a program.
inline constexpr std::size_t max_headers = 256;
inline constexpr std::size_t max_includes = 1024;  ///< in one text
inline constexpr std::size_t max_written_bytes = 1024;
inline constexpr std::size_t max_header_bytes = std::size_t{16} << 20U;  ///< all headers together
inline constexpr std::size_t max_whole_bytes = std::size_t{16} << 20U;
inline constexpr std::size_t max_depth = 200;  ///< nesting of headers, as in compilers

/// The operand of an #include, without comments (`"a.h"`, `<a.h>`, `NAME(a.h)`), and the place of
/// the header among the program's.
struct Include {
  std::string written{};
  std::size_t header{0};

  friend bool operator==(const Include&, const Include&) = default;
};

struct Header {
  std::string name{};  ///< file name without folders; only messages use it
  std::string text{};
  std::vector<Include> includes{};

  friend bool operator==(const Header&, const Header&) = default;
};

/// A text with the headers that it reaches.
struct Gathered {
  std::vector<Include> includes{};  ///< those in the text itself
  std::vector<Header> headers{};

  friend bool operator==(const Gathered&, const Gathered&) = default;
};

/// Access to the files among which headers are looked for.
struct Files {
  /// Returns a file's bytes; nothing if it cannot be read or has more than `max_bytes`.
  std::function<std::optional<std::string>(const std::string& path, std::size_t max_bytes)> read{};
  /// Start of relative paths, those of options included.
  std::string working_folder{};
  /// Folders in which a driver may put the text itself: headers in quotes are next to it.
  std::vector<std::string> text_folders{};
};

/// Finds the headers that the text, built with these options, reaches: in quotes next to the file
/// that includes them, then in the folders of -I in their order. Follows macros in an operand if
/// the text and the options define each of them in one way. Leaves out headers that are not found,
/// that differ between two of the text's folders, or that exceed the limits.
Gathered gather(std::string_view text, std::string_view options, const Files& files);

/// A program's text and headers as one text.
struct Whole {
  std::string text{};
  std::vector<std::string> missing{};  ///< operands without a header, each once; #error in the text
  std::string refusal{};  ///< why there is no text: "has more than 16 bytes"; else empty
};

/// Puts each header where it is included. A header with a guard or #pragma once is left out where
/// it has certainly been read before. Lines keep the numbers of their own files. A text without
/// #include is returned unchanged. The result includes no other file, on any driver. Refused if it
/// would exceed `max_whole_bytes`.
Whole whole_text(std::string_view text, std::string_view options, const Gathered& gathered);

/// Returns the options of a build without those that may name files or folders.
std::string without_folders(std::string_view options);

/// Returns a file's name as a bundle may have it: letters, digits, '.', '-' and '_', no folder.
std::string safe_name(std::string_view path);
bool is_safe_name(std::string_view name);

}  // namespace clprobe::includes

namespace clprobe::prelude {

/// A launch as a program made it.
struct NdRange {
  std::uint32_t dimensions{1};
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};  ///< 1 after the last dimension
  /// 1 after the last dimension; all 0: the driver chooses.
  std::array<std::uint64_t, 3> local{};

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// A dimension with this exponent has no working-set reduction.
inline constexpr std::uint32_t no_folding = 31;

/// The work of groups, and the causes removed from it. In each dimension, group g does the work of
/// group g mod 2^exponent; the default changes nothing.
struct Setting {
  std::array<std::uint32_t, 3> exponents{no_folding, no_folding, no_folding};
  bool without_barriers{false};
  bool without_atomics{false};  ///< leaves out updates
  bool without_lanes{false};    ///< each work-item does the work of the first of its sub-group
  bool without_fences{false};
  /// Replaces special functions by a multiplication: a property of the build (Switches), and not of
  /// a launch.
  bool without_functions{false};

  friend bool operator==(const Setting&, const Setting&) = default;
};

/// The reason why a launch cannot have a setting. One line, without a full stop.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the launch with `setting`: three dimensions, with the packed setting as the offset in
/// dimension 2. Other sizes and offsets are those of `launch`, and 1 and 0 after its last
/// dimension. Throws SettingError if the setting needs something that the launch lacks (a known
/// group size, groups that exist), or if the launch itself uses the offset.
NdRange encode(const NdRange& launch, const Setting& setting);

/// Number of groups in each dimension, a smaller last one included. Throws SettingError if the
/// driver chooses their size.
std::array<std::uint64_t, 3> count_groups(const NdRange& launch);

/// Number of distinct groups whose work all groups do.
std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting);

/// Settings from all groups down to one, each with half as many distinct groups; the first one
/// reduces nothing. Each step halves the dimension with most groups (the last such dimension), so
/// that a square of groups remains and no stripe. Empty if the driver chooses the size of a group.
std::vector<Setting> fold_sweep(const NdRange& launch);

/// Masks that turn a work-item's local id in each dimension into that of the first of its
/// sub-group.
using LaneMasks = std::array<std::uint32_t, 3>;

/// Returns the masks for sub-groups of that size, which fill dimension 0 first. Returns nothing if
/// the size is no power of two, if the driver chooses the size of a group, or if a group larger
/// than a sub-group does not consist of whole ones.
std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group);

/// Causes that a build can leave out. Each costs a branch at every use: set it only for a kernel
/// that has the cause and may lose it.
struct Switches {
  bool barriers{false};
  bool atomics{false};
  bool fences{false};
  bool assembly{false};  ///< with `fences`: the program's assembly consists of fences
  /// No launch of such a build uses special functions.
  bool without_functions{false};
  std::optional<LaneMasks> lanes{};
};

/// Returns the text to put before the first text of a program, or before each part that is compiled
/// by itself. It ends with `#line 1`, so that compilers' messages name the program's own lines.
std::string prelude_text(const Switches& switches = {});

/// Number of groups in all dimensions together. Throws SettingError as `count_groups`.
std::uint64_t count_all_groups(const NdRange& launch);

/// Returns the text that replaces `prelude_text` before a text with an entry of ours
/// (cl/entry.clh), for this launch only. Throws SettingError if the groups differ in size.
std::string entry_text(const NdRange& launch);

/// Returns the text with the entry in each kernel of that name, which gets `entry_arguments` more
/// arguments; lines keep their numbers. Returns a text without such a kernel unchanged.
std::string with_entry(std::string_view text, std::string_view kernel);

/// Action of a group at the entry: it runs the kernel, helps to count how many groups run at once,
/// or ends. cl/entry.clh has the numbers.
enum class EntryMode : std::uint32_t { none = 0, count = 1, end = 3 };

/// The number of arguments that an entry adds: mode (uint), patience (uint: how often a group finds
/// no new one before it ends the count), room (global uint*, `entry_room_words` for a count, 0
/// before the launch), padding (local, unused).
inline constexpr std::uint32_t entry_arguments = 4;
inline constexpr std::size_t entry_room_words = 3;
inline constexpr std::size_t entry_at_once_word =
    2;  ///< word of the room with the number of groups at once

/// Returns a launch of the first `groups` groups of `launch`, with an entry. `groups` may exceed
/// those of `launch` if none of them goes on into the kernel.
NdRange range_of_groups(const NdRange& launch, std::uint64_t groups);

/// Returns the text with an #error in place of each line that defines or undefines a work-item
/// function that ours replaces: a branch that the compiler skips stays harmless, and another one
/// does not build. A function of such a name does not build after our macro anyway.
std::string without_redefinitions(std::string_view text);

/// Answer to the question whether a cause can be removed from a kernel.
enum class Possibility : std::uint8_t { usable, not_present, refused };

struct Verdict {
  Possibility possibility{Possibility::usable};
  std::string reason{};  ///< why it cannot; one line, without a full stop

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// A verdict for each cause of one kernel of a program. Text that the lexer does not understand
/// leads to refusal.
struct Judgement {
  Verdict renaming{};  ///< any instrumentation, even one that removes nothing
  Verdict folding{};
  Verdict barriers{};
  Verdict atomics{};
  Verdict lanes{};
  Verdict fences{};
  Verdict functions{};  ///< special functions
  Verdict entry{};      ///< launches of some of the groups only
  bool has_fence_assembly{false};
  /// Reachable call that a replay cannot serve: "it calls enqueue_kernel". Empty: none.
  std::string unknown_work{};
};

/// A program's texts, with their headers in them (clprobe/includes.hpp).
struct Program {
  std::vector<std::string> sources{};
  std::string options{};  ///< build options, which may define macros
};

/// Judges `kernel` with all functions and macros that it reaches in any branch of #if. The compiler
/// finds a work-item function that such a branch defines (`without_redefinitions`). Refuses all
/// verdicts but `renaming` if the text has no such kernel, for instance because its name comes out
/// of a macro.
Judgement judge(const Program& program, std::string_view kernel);

/// A parameter of a kernel.
struct Parameter {
  std::string text{};  ///< its declaration, comments and line ends being a space
  std::string name{};  ///< empty if the lexer finds none

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// The place of a kernel in a text, in bytes.
struct KernelPlace {
  std::string name{};
  std::vector<Parameter> parameters{};
  std::size_t parameters_begin{0};  ///< after the opening parenthesis
  std::size_t parameters_end{0};    ///< the closing one
  std::size_t body_begin{0};        ///< after the opening brace
  std::size_t body_end{0};          ///< the closing one
};

/// Finds the kernels with a body in a text, in its order, and the functions called `kernel`, whose
/// qualifier may be a macro. Does not find kernels whose name comes out of a macro.
std::vector<KernelPlace> find_kernels(std::string_view text, std::string_view kernel = {});

}  // namespace clprobe::prelude
