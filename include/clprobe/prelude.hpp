// SPDX-License-Identifier: Apache-2.0
// Other people's kernels with causes of waiting taken away, without a compiler of our own: a text
// in front of theirs renames work-items, and the launch says how. Pure.
//
// What a launch does is decided at run time, by its offset in dimension 2, so that all settings run
// one and the same binary; setting 0 is the kernel as it was. cl/prelude.clh is the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clprobe::prelude {

/// A launch as a program made it.
struct NdRange {
  std::uint32_t dimensions{1};
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};  ///< 1 behind the last dimension
  /// 1 behind the last dimension; all 0: the driver chooses.
  std::array<std::uint64_t, 3> local{};

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// No group is renamed in a dimension with this exponent.
inline constexpr std::uint32_t no_folding = 31;

/// What groups do, and without what. Group g does in each dimension what group
/// g mod 2^exponent does; the default renames nothing.
struct Setting {
  std::array<std::uint32_t, 3> exponents{no_folding, no_folding, no_folding};
  bool without_barriers{false};
  bool without_atomics{false};  ///< nothing in place of updates
  bool without_lanes{false};    ///< each work-item does what the first of its sub-group does
  bool without_fences{false};
  /// A multiplication in place of special functions. Not a part of a launch but of what is built
  /// (Switches).
  bool without_functions{false};

  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Why a launch cannot have a setting. One line, without a full stop.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The launch of three dimensions that has `setting`: its offset in dimension 2 is the packed
/// setting. Sizes and offsets are otherwise those of `launch`, and 1 and 0 behind its last
/// dimension. Throws SettingError: where the setting needs something the launch does not have (a
/// known group size, groups that exist), or the launch uses the offset itself.
NdRange encode(const NdRange& launch, const Setting& setting);

/// Groups of each dimension, a smaller last one included. Throws SettingError where the driver
/// chooses their size.
std::array<std::uint64_t, 3> count_groups(const NdRange& launch);

/// How many different groups do the work of all.
std::uint64_t count_distinct_groups(const NdRange& launch, const Setting& setting);

/// From all groups to one: settings with ever half as many distinct groups, the first one being
/// that of no folding. Each halves the dimension that has most, the last one of several: what is
/// left is a square of groups and no stripe. Empty where the driver chooses the size of a group.
std::vector<Setting> fold_sweep(const NdRange& launch);

/// Of a work-item's local id in each dimension, the bits that the first one of its sub-group has.
using LaneMasks = std::array<std::uint32_t, 3>;

/// For sub-groups of so many work-items, which lie side by side in dimension 0 first. Nothing where
/// that is no power of two, where the driver chooses the size of a group, or where a group that is
/// larger than a sub-group has parts of one.
std::optional<LaneMasks> lane_masks(const NdRange& launch, std::uint64_t sub_group);

/// What a build can leave out. Each costs a branch where it is used, so that only a kernel that has
/// it and may lose it is to be built with it.
struct Switches {
  bool barriers{false};
  bool atomics{false};
  bool fences{false};
  bool assembly{false};  ///< with `fences`: the program's assembly is fences as well
  /// No launch of such a build has special functions.
  bool without_functions{false};
  std::optional<LaneMasks> lanes{};
};

/// What stands in front of the first text of a program, or of each part that is compiled by itself.
/// Its last line is `#line 1`: compilers' messages are about the program's own lines.
std::string prelude_text(const Switches& switches = {});

/// How many groups there are, in all dimensions together. Throws SettingError as `count_groups`.
std::uint64_t count_all_groups(const NdRange& launch);

/// The text that replaces `prelude_text` in front of a text with an entry of ours (cl/entry.clh),
/// for this launch alone. Throws SettingError if the groups are not all of one size.
std::string entry_text(const NdRange& launch);

/// The text with the entry in each kernel of that name: `entry_arguments` more arguments,
/// and each line where it was. The same text where it has no such kernel.
std::string with_entry(std::string_view text, std::string_view kernel);

/// What a group does at the entry: it runs the kernel, helps to count how many groups run at once,
/// or ends. cl/entry.clh has the numbers.
enum class EntryMode : std::uint32_t { none = 0, count = 1, end = 3 };

/// The number of arguments that an entry adds: mode (uint), patience (uint: how often a group finds
/// no new one before it ends the count), room (global uint*, `entry_room_words` for a count, 0
/// before the launch), padding (local, unused).
inline constexpr std::uint32_t entry_arguments = 4;
inline constexpr std::size_t entry_room_words = 3;
inline constexpr std::size_t entry_at_once_word = 2;  ///< of the room: how many ran at once

/// The launch of the first `groups` groups of `launch`, with an entry. There may be more where none
/// goes on into the kernel.
NdRange range_of_groups(const NdRange& launch, std::uint64_t groups);

/// The text with an #error in place of each line that defines, or undefines, a work-item function
/// that ours renames: of a branch that no compiler takes it is in nobody's way, and another one
/// does not build. A function of such a name does not build behind a macro of that name.
std::string without_redefinitions(std::string_view text);

/// Whether a factor can be taken away from a kernel.
enum class Possibility : std::uint8_t { usable, not_present, refused };

struct Verdict {
  Possibility possibility{Possibility::usable};
  std::string reason{};  ///< why not; one line, without a full stop

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// What of a program's text speaks against each factor of one of its kernels. Whatever the lexer
/// does not understand speaks against.
struct Judgement {
  Verdict renaming{};  ///< the prelude at all, and the kernel as it is behind it
  Verdict folding{};
  Verdict barriers{};
  Verdict atomics{};
  Verdict lanes{};
  Verdict fences{};
  Verdict functions{};  ///< special ones
  Verdict entry{};      ///< launches of some of the groups
  bool has_fence_assembly{false};
  /// What a replay does not have: "it calls enqueue_kernel", where that is reached. Empty: nothing.
  std::string unknown_work{};
};

/// A program's texts, with their headers in them (clprobe/includes.hpp).
struct Program {
  std::vector<std::string> sources{};
  std::string options{};  ///< of the build: macros come from there as well
};

/// `kernel` as the program's text defines it, with all functions and macros that it reaches, in
/// either branch of #if; a work-item function that it defines there is the compiler's to find
/// (`without_redefinitions`). Refuses all but the renaming where there is no such kernel in the
/// text, as where its name comes out of a macro.
Judgement judge(const Program& program, std::string_view kernel);

/// A parameter of a kernel.
struct Parameter {
  std::string text{};  ///< its declaration, comments and line ends being a space
  std::string name{};  ///< empty where the lexer finds none

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Where a kernel is in a text, in bytes.
struct KernelPlace {
  std::string name{};
  std::vector<Parameter> parameters{};
  std::size_t parameters_begin{0};  ///< behind the opening parenthesis
  std::size_t parameters_end{0};    ///< the closing one
  std::size_t body_begin{0};        ///< behind the opening brace
  std::size_t body_end{0};          ///< the closing one
};

/// The kernels with a body in a text, in its order, and the functions called `kernel`, whose
/// qualifier may stand elsewhere. Those whose name comes out of a macro are not found.
std::vector<KernelPlace> find_kernels(std::string_view text, std::string_view kernel = {});

}  // namespace clprobe::prelude
