// SPDX-License-Identifier: Apache-2.0
#include "layer/captures.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#include "layer/state.hpp"

namespace clprobe::layer {
namespace {

std::atomic<Captures*>& current() {
  static std::atomic<Captures*> captures{nullptr};
  return captures;
}

std::string read_list() {
  std::string text;
  const auto close = [](std::FILE* file) { static_cast<void>(std::fclose(file)); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      std::fopen((capture_folder() + "/wanted").c_str(), "rbe"), close);
  std::array<char, 4096> piece{};
  while (file != nullptr) {
    const std::size_t count = std::fread(piece.data(), 1, piece.size(), file.get());
    if (count == 0) break;
    text.append(piece.data(), count);
  }
  return text;
}

/// Whether this process is the one that captures it: a folder is made once.
bool claim(const std::string& folder) { return ::mkdir(folder.c_str(), 0700) == 0; }

}  // namespace

std::string capture_folder() {
  const char* const folder = std::getenv("CLPROBE_CAPTURE");
  return folder == nullptr ? "" : folder;
}

Captures::Captures() {
  try {
    wanted_ = survey::wanted_from_text(read_list());
  } catch (const std::exception&) {
    wanted_.clear();  // then nothing is
  }
  seen_.resize(wanted_.size());
}

Captures& Captures::get() {
  Captures* found = current().load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  // Never freed, as the state of a survey.
  std::unique_ptr<Captures> made(new Captures());
  if (current().compare_exchange_strong(found, made.get())) return *made.release();
  return *found;
}

void Captures::begin() {
  static_cast<void>(::pthread_atfork(nullptr, nullptr, &Captures::forget_parent));
}

void Captures::forget_parent() noexcept { current().store(nullptr); }

std::optional<std::size_t> Captures::choose(cl_command_queue queue, cl_kernel kernel,
                                            const bundle::NdRange& range) {
  const survey::Shape shape{range.dimensions, range.global, range.local};
  const std::optional<survey::Signature> signature =
      State::get().signature_of(queue, kernel, shape);
  if (!signature) return std::nullopt;
  std::optional<std::size_t> chosen;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const survey::Wanted& each = wanted_[i];
    const bool is_like =
        each.signature ? *each.signature == *signature : each.kernel == signature->kernel;
    if (!is_like) continue;
    ++seen_[i];
    const bool is_turn = seen_[i] == each.ordinal && !chosen;
    if (is_turn && claim(capture_folder() + '/' + std::to_string(i))) chosen = i;
  }
  return chosen;
}

std::optional<CaptureLaunch> Captures::begin_capture(cl_command_queue queue, cl_kernel kernel,
                                                     const bundle::NdRange& range) noexcept {
  std::optional<CaptureLaunch> capture;
  try {
    const std::optional<std::size_t> chosen = choose(queue, kernel, range);
    if (!chosen) return std::nullopt;
    capture.emplace(known_, capture_folder() + '/' + std::to_string(*chosen), queue);
    capture->begin(kernel, range, wanted_[*chosen]);
    return capture;
  } catch (const Refusal& refusal) {
    if (capture) capture->refuse(refusal.what());
  } catch (const std::bad_alloc&) {
    if (capture) capture->refuse("too little memory for its buffers");
  } catch (...) {
    if (capture) capture->refuse("an unexpected error occurred");
  }
  return std::nullopt;
}

cl_int Captures::launch(cl_command_queue queue, cl_kernel kernel, const bundle::NdRange& range,
                        cl_event* event, const Enqueue& enqueue) noexcept {
  if (wanted_.empty()) return enqueue(event);
  std::optional<CaptureLaunch> capture = begin_capture(queue, kernel, range);
  if (!capture) return enqueue(event);
  cl_event own = nullptr;
  cl_event* const used = event == nullptr ? &own : event;
  const cl_int error = enqueue(used);
  try {
    capture->end(error, error == CL_SUCCESS ? *used : nullptr);
  } catch (const Refusal& refusal) {
    capture->refuse(refusal.what());
  } catch (...) {
    capture->refuse("too little memory for its buffers");
  }
  if (own != nullptr) State::below().clReleaseEvent(own);
  return error;
}

}  // namespace clprobe::layer
