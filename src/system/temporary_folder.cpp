// SPDX-License-Identifier: Apache-2.0
#include "system/api/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

namespace clprobe::system {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view pattern = "clprobe-XXXXXX";
constexpr std::string_view lock_name = "lock";

/// The lock goes last: what is left without one is never removed. A program that still ends may
/// write while it is removed, so that it takes several tries.
void remove_folder(const fs::path& folder) {
  constexpr int max_tries = 50;
  constexpr std::chrono::milliseconds between{20};
  std::error_code error;
  for (int i = 0; i < max_tries && fs::exists(folder, error); ++i) {
    if (i > 0) std::this_thread::sleep_for(between);
    for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator();
         each.increment(error)) {
      std::error_code ignored;
      if (each->path().filename() != lock_name) fs::remove_all(each->path(), ignored);
    }
    fs::remove(folder / lock_name, error);
    fs::remove(folder, error);
  }
}

bool is_own(const struct stat& found, mode_t kind) {
  return (found.st_mode & S_IFMT) == kind && found.st_uid == ::geteuid();
}

/// Removes the folder if it is ours, of the same user, and of a process that is no more: a lock
/// that a living process holds cannot be taken.
void remove_if_left(const fs::path& folder) {
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0 || !is_own(found, S_IFDIR)) return;
  const int lock =
      ::open((folder / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (lock < 0) return;
  const bool is_plain = ::fstat(lock, &found) == 0 && is_own(found, S_IFREG);
  if (is_plain && ::flock(lock, LOCK_EX | LOCK_NB) == 0) remove_folder(folder);
  ::close(lock);
}

/// Removes the folders of killed runs.
void remove_left(const fs::path& parent) {
  const std::string_view beginning = pattern.substr(0, pattern.find('X'));
  std::error_code error;
  for (fs::directory_iterator each(parent, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.size() == pattern.size() && name.starts_with(beginning)) remove_if_left(each->path());
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const fs::path parent = fs::temp_directory_path();
  remove_left(parent);
  path_ = (parent / pattern).string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot create a folder for the run");
  }
  // Under its name only once it is locked: before that another run would take it for one left.
  // Where the file system has no locks, the folder is without one.
  constexpr mode_t owner = 0600;
  const fs::path lock = fs::path(path_) / lock_name;
  const std::string unlocked = lock.string() + ".new";
  lock_ = ::open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, owner);
  if (lock_ < 0) return;
  std::error_code error;
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    fs::rename(unlocked, lock, error);
  } else {
    fs::remove(unlocked, error);
  }
}

TemporaryFolder::~TemporaryFolder() {
  remove_folder(path_);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace clprobe::system
