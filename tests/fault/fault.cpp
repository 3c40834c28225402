// SPDX-License-Identifier: Apache-2.0
#include "fault.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace clprobe::fault {
namespace {

std::atomic<bool> device_gone{false};
std::atomic<cl_int> gone_code{CL_DEVICE_NOT_AVAILABLE};
std::atomic<bool> counting{std::getenv("CLPROBE_FAULT_KERNEL") == nullptr};
std::array<char, 256> last_kernel{};

/// PoCL catches SIGSEGV, so that raising it alone does nothing.
void crash() {
  static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
  static_cast<void>(std::raise(SIGSEGV));
}

/// Whether this process is the one in which it happens.
bool is_ours_to_break() {
  const char* const once = std::getenv("CLPROBE_FAULT_ONCE");
  if (once == nullptr) return true;
  const int file = open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_noted = write(file, last_kernel.data(), std::strlen(last_kernel.data())) >= 0;
  close(file);
  return is_noted;
}

[[noreturn]] void hang() {
  while (true) pause();
}

/// The counts that all processes share; null where nobody asks for them.
Count* shared_counts() {
  static Count* const counts = [] {
    const char* const name = std::getenv("CLPROBE_FAULT_COUNTS");
    const int file = name == nullptr ? -1 : open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return static_cast<Count*>(nullptr);
    void* const all =
        mmap(nullptr, max_counts * sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return all == MAP_FAILED ? nullptr : static_cast<Count*>(all);
  }();
  return counts;
}

Count* count_of(std::string_view function) {
  Count* const counts = shared_counts();
  for (std::size_t i = 0; counts != nullptr && i < max_counts; ++i) {
    if (counts[i].function[0] == '\0') {
      std::copy(function.begin(), function.end(), counts[i].function.begin());
    }
    if (function == counts[i].function.data()) return &counts[i];
  }
  return nullptr;
}

}  // namespace

Fault fault_of(std::string_view function) {
  const char* const text = std::getenv("CLPROBE_FAULT");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto at = one.find('@');
    const auto colon = one.find(':');
    if (at == std::string_view::npos || one.substr(at + 1, colon - at - 1) != function) continue;
    const std::string_view kind = one.substr(0, at);
    const auto equals = kind.find('=');
    Fault fault{std::string(kind.substr(0, equals))};
    if (equals != std::string_view::npos) {
      fault.code = std::strtol(std::string(kind.substr(equals + 1)).c_str(), nullptr, 10);
    }
    if (colon != std::string_view::npos) {
      fault.from = std::strtol(std::string(one.substr(colon + 1)).c_str(), nullptr, 10);
    }
    return fault;
  }
  return {};
}

void note_launch(cl_kernel kernel) {
  clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, last_kernel.size() - 1, last_kernel.data(),
                  nullptr);
  const char* const awaited = std::getenv("CLPROBE_FAULT_KERNEL");
  if (awaited != nullptr && !counting) counting = std::string_view(last_kernel.data()) == awaited;
}

bool went_before() {
  const char* const text = std::getenv("CLPROBE_FAULT");
  const char* const once = std::getenv("CLPROBE_FAULT_ONCE");
  return text != nullptr && once != nullptr && std::string_view(text).starts_with("gone") &&
         !device_gone && access(once, F_OK) == 0;
}

Interposer::Interposer(const char* function)
    : fault_(fault_of(function)), next_(dlsym(RTLD_NEXT, function)), count_(count_of(function)) {}

bool Interposer::happens_once() const {
  constexpr std::array<std::string_view, 6> kinds{"crash", "exit",  "hang",
                                                  "late",  "error", "garbage"};
  return std::find(kinds.begin(), kinds.end(), fault_.kind) != kinds.end();
}

cl_int Interposer::on_call(cl_int usual_error) {
  if (count_ != nullptr) ++count_->calls;
  is_garbage_ = false;
  if (!counting) return CL_SUCCESS;
  const long call = ++calls_;
  if (call < fault_.from) return CL_SUCCESS;
  if (call == fault_.from && happens_once() && is_ours_to_break()) {
    if (fault_.kind == "crash") crash();
    if (fault_.kind == "exit") _exit(8);
    if (fault_.kind == "hang") hang();
    if (fault_.kind == "late") usleep(static_cast<useconds_t>(fault_.code) * 1000);
    is_garbage_ = fault_.kind == "garbage";
    return fault_.kind == "error" ? static_cast<cl_int>(fault_.code) : CL_SUCCESS;
  }
  if (fault_.kind == "fail") return usual_error;
  if (fault_.kind == "gone" && !device_gone) {
    if (fault_.code != 0) gone_code = static_cast<cl_int>(fault_.code);
    device_gone = true;
    is_ours_to_break();
  }
  return CL_SUCCESS;
}

cl_int Interposer::on_device_call(cl_int usual_error) {
  const cl_int error = on_call(usual_error);
  return device_gone ? gone_code.load() : error;
}

bool Interposer::is(std::string_view kind) const {
  return fault_.kind == kind && calls_ >= fault_.from;
}

bool Interposer::is_garbage() { return is_garbage_.exchange(false); }

}  // namespace clprobe::fault
