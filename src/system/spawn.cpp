// SPDX-License-Identifier: Apache-2.0
#include "system/api/processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string_view>
#include <system_error>

namespace clprobe::system {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& each : words) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  for (const auto& [name, value] : changes) variables[name] = value;
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    lines.push_back(name);
    lines.back().append("=").append(value);
  }
  return lines;
}

Spawn::Spawn() {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  // A new program would inherit ignored signals and not expect it.
  sigset_t defaults{};
  ::sigemptyset(&defaults);
  for (const int each : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, each);
  ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
  ::posix_spawnattr_setflags(&attributes_, flags_);
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void Spawn::redirect(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }

void Spawn::close_stdin() {
  ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
}

void Spawn::use_own_group() {
  flags_ |= POSIX_SPAWN_SETPGROUP;
  ::posix_spawnattr_setflags(&attributes_, flags_);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
}

pid_t Spawn::start(std::vector<std::string> words, std::vector<std::string> environment) const {
  pid_t child = -1;
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  const int error = ::posix_spawnp(&child, words.front().c_str(), &actions_, &attributes_,
                                   arguments.data(), variables.data());
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

}  // namespace clprobe::system
