// SPDX-License-Identifier: Apache-2.0
#include "layer/bundle_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "layer/survey_file.hpp"

namespace clprobe::layer {

void BundleFiles::write(const std::string& name, std::string_view bytes) const {
  if (!write_file(folder_ + '/' + name, bytes)) {
    throw Refusal("its files cannot be written: " + std::string(std::strerror(errno)));
  }
}

std::string BundleFiles::add_text(std::string_view text) {
  if (text.size() > bundle::max_text_bytes) throw Refusal("its program's text is too long");
  std::string hash = bundle::sha256_of(text);
  write(bundle::text_file(hash), text);
  return hash;
}

std::string BundleFiles::add_object(std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > bundle::max_capture_bytes) throw Refusal("its buffers exceed 2 GiB");
  std::string hash = bundle::sha256_of(bytes);
  const std::string name = bundle::object_file(hash);
  struct stat there {};
  if (::stat((folder_ + '/' + name).c_str(), &there) != 0) write(name, bytes);
  return hash;
}

void BundleFiles::finish(const bundle::Launch& launch) {
  write(std::string(bundle::launch_file), bundle::to_json(launch));
}

void BundleFiles::refuse(std::string_view reason) noexcept {
  try {
    static_cast<void>(write_file(folder_ + "/refused", reason));
  } catch (...) {
    bytes_ = 0;  // without memory for a name there is nobody to tell
  }
}

}  // namespace clprobe::layer
