// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "oclgrind/sites.hpp"

namespace clprobe::tracer {
namespace {

/// What begins so takes the slower pipelines: roots, quotients, and functions of angles and powers.
constexpr std::array special_beginnings{
    std::string_view("sqrt"),      std::string_view("rsqrt"),    std::string_view("cbrt"),
    std::string_view("sin"),       std::string_view("cos"),      std::string_view("tan"),
    std::string_view("asin"),      std::string_view("acos"),     std::string_view("atan"),
    std::string_view("exp"),       std::string_view("log"),      std::string_view("pow"),
    std::string_view("root"),      std::string_view("hypot"),    std::string_view("erf"),
    std::string_view("tgamma"),    std::string_view("lgamma"),   std::string_view("fmod"),
    std::string_view("remainder"), std::string_view("remquo"),   std::string_view("divide"),
    std::string_view("recip"),     std::string_view("native_"),  std::string_view("half_"),
    std::string_view("length"),    std::string_view("distance"), std::string_view("normalize")};

/// What takes no instruction: where a work-item stands is in registers, and the order of memory is
/// not the simulator's.
constexpr std::array renaming_beginnings{std::string_view("get_"),
                                         std::string_view("mem_fence"),
                                         std::string_view("read_mem_fence"),
                                         std::string_view("write_mem_fence"),
                                         std::string_view("atomic_work_item_fence"),
                                         std::string_view("as_"),
                                         std::string_view("dbg."),
                                         std::string_view("lifetime."),
                                         std::string_view("assume"),
                                         std::string_view("printf"),
                                         std::string_view("prefetch")};

template <typename Beginnings>
bool begins_like(std::string_view name, const Beginnings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

std::string_view builtin_name(std::string_view mangled) {
  constexpr std::string_view of_llvm = "llvm.";
  constexpr std::string_view itanium = "_Z";
  if (mangled.starts_with(of_llvm)) return mangled.substr(of_llvm.size());
  if (!mangled.starts_with(itanium)) return mangled;
  const std::string_view rest = mangled.substr(itanium.size());
  std::size_t length = 0;
  const char* const end = rest.data() + rest.size();
  const auto [name, error] = std::from_chars(rest.data(), end, length);
  if (error != std::errc{}) return mangled;
  return rest.substr(static_cast<std::size_t>(name - rest.data()), length);
}

Kind kind_of_builtin(std::string_view name) {
  if (name == "barrier" || name == "work_group_barrier") return Kind::barrier;
  if (name.starts_with("async_work_group_")) return Kind::copy;
  if (name == "wait_group_events") return Kind::copy_wait;
  if (begins_like(name, renaming_beginnings)) return Kind::renaming;
  return begins_like(name, special_beginnings) ? Kind::special : Kind::operation;
}

}  // namespace clprobe::tracer
