// SPDX-License-Identifier: Apache-2.0
#include "layer/survey_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace clprobe::layer {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// The name of this process that nobody has yet: after exec() the same process is another program.
std::string reserve_name(const std::string& folder) {
  constexpr int max_programs = 1000;
  for (int i = 0; i < max_programs; ++i) {
    std::string path =
        folder + '/' + std::to_string(::getpid()) + '-' + std::to_string(i) + ".survey";
    const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
      ::close(descriptor);
      return path;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

std::string survey_folder() {
  const char* const folder = std::getenv("CLPROBE_SURVEY");
  return folder == nullptr ? "" : folder;
}

bool write_file(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  const int descriptor = ::open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  const bool is_whole = write_all(descriptor, bytes);
  ::close(descriptor);
  if (is_whole && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  ::unlink(fresh.c_str());
  return false;
}

void SurveyFile::write(const survey::Survey& survey) {
  if (path_.empty()) path_ = reserve_name(survey_folder());
  if (!path_.empty()) static_cast<void>(write_file(path_, survey::to_text(survey)));
}

}  // namespace clprobe::layer
