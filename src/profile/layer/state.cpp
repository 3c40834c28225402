// SPDX-License-Identifier: Apache-2.0
#include "profile/layer/layer.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

namespace clprobe::layer {
namespace {

// Maximum number of unfinished timed launches, because an event takes some hundred bytes in a
// driver.
constexpr std::size_t max_waiting = 65'536;
// The layer's thread is woken at each multiple of this number of waiting launches.
constexpr std::size_t wake_count = 2'048;
// Number of consecutive unfinished launches after which the check stops, because nearly all later
// launches are unfinished as well.
constexpr std::size_t max_unfinished_in_row = 256;

// Assumed cost of timing one launch. On an H100, timing a launch costs 18 us if launches take 5 us,
// and 6 us if launches take 20 us (bench/survey.py).
constexpr std::chrono::microseconds cost_of_time{20};
// Timing may take 1/100 of the application's time. The time counts from the second launch, because
// drivers compile during the first launch.
constexpr int inverse_share = 100;
// Number of first launches of each row that are always timed. Kernels with fewer launches are
// mostly long, so their times matter.
constexpr std::uint64_t always_timed = 4;
// Number of first launches of the process that are always timed. Launches with equal sizes may
// differ in time, and most programs make fewer than 1000 launches.
constexpr std::uint64_t first_timed = 1'000;

// Minimum and maximum pause between writes of the file. A program that crashes or calls _exit loses
// at most the last tenth of its time, and at most the last second.
constexpr std::chrono::milliseconds shortest_pause{10};
constexpr std::chrono::milliseconds longest_pause{1000};

cl_icd_dispatch& table_below() {
  static cl_icd_dispatch table{};
  return table;
}

// Returns the pointer to the state of the process. A forked child starts without a state. The
// parent's state stays unchanged in the child, because a thread that the child lacks may have been
// changing it.
std::atomic<State*>& current() {
  static std::atomic<State*> state{nullptr};
  return state;
}

/// Returns the time of an event, or the reason why the time is unknown; neither if the launch is
/// unfinished.
EventTime query_time(cl_event event) {
  const cl_icd_dispatch& below = State::below();
  cl_int status = CL_QUEUED;
  const cl_int asked = below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof(status), &status, nullptr);
  if (asked != CL_SUCCESS || status < 0) return {.gap = survey::Gap::failed};
  if (status != CL_COMPLETE) return {};
  return time_of(event);
}

/// Returns the time at which the driver enqueued the command, by the event clock in ns; 0 if
/// unknown.
std::uint64_t enqueued_at(cl_event event) {
  cl_ulong queued = 0;
  const cl_int error = State::below().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED,
                                                              sizeof(queued), &queued, nullptr);
  return error == CL_SUCCESS ? queued : 0;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Creates an empty file with a new name, and returns its path; empty on failure. After exec(),
/// another program has the same process id, and must not overwrite the earlier program's file.
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

EventTime time_of(cl_event event) {
  const auto ask = State::below().clGetEventProfilingInfo;
  cl_ulong start = 0;
  cl_ulong end = 0;
  cl_int error = ask(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, nullptr);
  if (error == CL_SUCCESS) {
    error = ask(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr);
  }
  if (error != CL_SUCCESS) return {.gap = survey::Gap::no_profiling};
  // Maximum plausible time of a launch. A longer time shows that the driver did not write the start
  // or the end.
  constexpr cl_ulong year_ns = 31'536'000'000'000'000;
  if (end < start || end - start > year_ns) return {.gap = survey::Gap::bad_times};
  return {.ns = end - start};
}

std::string device_text(cl_device_id device, cl_device_info name) {
  std::array<char, 256> text{};
  State::below().clGetDeviceInfo(device, name, text.size() - 1, text.data(), nullptr);
  return survey::to_utf8(text.data());
}

std::string kernel_name(cl_kernel kernel) {
  std::array<char, 1024> name{};
  State::below().clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, name.size() - 1, name.data(),
                                 nullptr);
  return name.data();
}

void State::set_below(const cl_icd_dispatch& table) { table_below() = table; }

const cl_icd_dispatch& State::below() { return table_below(); }

State& State::get() {
  std::atomic<State*>& state = current();
  State* found = state.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  // The state is never freed. While static objects are destroyed, threads of drivers may still call
  // the application, and the application may call the layer.
  std::unique_ptr<State> made(new State());
  if (state.compare_exchange_strong(found, made.get())) return *made.release();
  return *found;
}

State::State() {
  if (!is_capturing()) return;
  known_.wanted = read_wanted();
  known_.matches.resize(known_.wanted.size());
}

void State::begin() noexcept {
  // The loader stays in memory until the process ends, because the application may close the loader
  // while the layer's thread calls it.
  Dl_info loader{};
  if (::dladdr(reinterpret_cast<void*>(below().clGetEventInfo), &loader) != 0) {
    static_cast<void>(::dlopen(loader.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
  }
  static_cast<void>(::pthread_atfork(nullptr, nullptr, &State::forget_parent));
  write();
}

void State::forget_parent() noexcept { current().store(nullptr); }

void State::end_process() noexcept {
  State* const state = current().load();
  if (state != nullptr) state->end();
}

void State::note_queue(cl_command_queue queue, cl_device_id device, Queue how) noexcept {
  try {
    std::string name = device_text(device, CL_DEVICE_NAME);
    if (name.empty()) name = "unknown device";
    if (how.references > 0) below().clRetainCommandQueue(queue);
    record([&](survey::Recorder& recorder) {
      how.is_known = true;
      how.device = recorder.number_device(name);
      queues_[queue] = std::move(how);
    });
  } catch (...) {
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
}

void State::retain_queue(cl_command_queue queue) noexcept {
  record([&](survey::Recorder&) {
    const auto found = queues_.find(queue);
    if (found != queues_.end() && found->second.references > 0) ++found->second.references;
  });
}

bool State::release_queue(cl_command_queue queue) noexcept {
  bool is_last = false;
  record([&](survey::Recorder&) {
    const auto found = queues_.find(queue);
    if (found == queues_.end()) return;
    is_last = found->second.references == 1;
    if (found->second.references > 1) {
      --found->second.references;
    } else {
      queues_.erase(found);
    }
  });
  return is_last;
}

std::vector<cl_command_queue> State::queues_of(cl_context context) {
  const std::lock_guard lock(mutex_);
  std::vector<cl_command_queue> found;
  found.reserve(queues_.size());
  for (const auto& [queue, how] : queues_) {
    if (how.context != context) continue;
    found.push_back(queue);
    below().clRetainCommandQueue(queue);
  }
  return found;
}

Queue State::find_queue(cl_command_queue queue) noexcept {
  Queue found;
  record([&](survey::Recorder&) {
    const auto entry = queues_.find(queue);
    if (entry != queues_.end()) found = entry->second;
  });
  return found;
}

std::optional<survey::Signature> State::signature_of(cl_command_queue queue, cl_kernel kernel,
                                                     const survey::Shape& shape) noexcept {
  std::optional<survey::Signature> found;
  record([&](const survey::Recorder& recorder) {
    const auto entry = queues_.find(queue);
    if (entry != queues_.end()) found = recorder.signature_of(kernel, entry->second.device, shape);
  });
  return found;
}

void State::note_foreign(cl_command_queue queue, cl_kernel kernel) noexcept {
  bool knows_queue = false;
  bool knows_kernel = false;
  record([&](survey::Recorder& recorder) {
    knows_queue = queues_.contains(queue);
    knows_kernel = recorder.knows_kernel(kernel);
  });
  if (!knows_queue) {
    cl_device_id device = nullptr;
    below().clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(void*), &device, nullptr);
    note_queue(queue, device, {.requested_profiling = true});
  }
  if (!knows_kernel) {
    record(
        [&](survey::Recorder& recorder) { recorder.note_kernel(kernel, kernel_name(kernel), {}); });
  }
}

double State::spent_share() const {
  const auto age = std::chrono::steady_clock::now() - *launched_;
  const std::chrono::duration<double> needed = timed_ * cost_of_time * inverse_share;
  return needed / age;
}

std::optional<std::size_t> State::count_untimed(cl_command_queue queue, cl_kernel kernel,
                                                const survey::Shape& shape) noexcept {
  std::optional<std::size_t> row;
  record([&](survey::Recorder& recorder) {
    const auto found = queues_.find(queue);
    if (is_over_ || found == queues_.end()) return;
    if (!launched_ && timed_ > 0) launched_ = std::chrono::steady_clock::now();
    if (timed_ < first_timed) return;
    // Sampling is random, because regular sampling could be in step with the application. One
    // launch in 16 is drawn, unless the permitted cost suffices for all launches. Launches that are
    // not drawn skip the reading of the clock, which takes at least as long as counting.
    chance_ = chance_ * 1664525U + 1013904223U;
    const bool is_drawn = can_afford_all_ || (chance_ >> 28U) == 0;
    if (launched_ && is_drawn) {
      const double spent = spent_share();
      can_afford_all_ = spent < 0.5;
      if (spent < 1.0) return;
    }
    const std::size_t taken =
        recorder.count_untimed(kernel, found->second.device, shape, always_timed);
    if (taken == survey::Recorder::no_row) return;
    ++changes_;
    row = taken;
  });
  return row;
}

void State::take_back(std::size_t row) noexcept {
  record([&](survey::Recorder& recorder) { recorder.take_back(row); });
}

State::Taken State::take_launch(cl_command_queue queue, cl_kernel kernel,
                                const survey::Shape& shape, Waiting launch) {
  if (is_over_) return Taken::no;
  const auto found = queues_.find(queue);
  if (found == queues_.end() || !recorder_.knows_kernel(kernel)) return Taken::foreign;
  start_thread();
  const std::size_t row = recorder_.count_launch(kernel, found->second.device, shape);
  ++changes_;
  if (row == survey::Recorder::no_row) return Taken::no;
  if (launch.event == nullptr) {
    recorder_.add_gap(survey::Gap::no_profiling);
    return Taken::no;
  }
  if (waiting_.size() >= max_waiting) {
    recorder_.add_gap(survey::Gap::too_many_waiting);
    return Taken::full;
  }
  launch.row = row;
  launch.ordinal = recorder_.launches_of(row);
  launch.device = found->second.device;
  waiting_.push_back(launch);
  ++timed_;
  if (waiting_.size() % wake_count == 0) wake_.notify_one();
  return Taken::yes;
}

void State::note_launch(cl_command_queue queue, cl_kernel kernel, const survey::Shape& shape,
                        const Waiting& launch) noexcept {
  Taken taken = Taken::no;
  const auto take = [&](survey::Recorder&) { taken = take_launch(queue, kernel, shape, launch); };
  record(take);
  if (taken == Taken::foreign) {
    note_foreign(queue, kernel);
    record(take);
  }
  if (taken != Taken::yes && launch.event != nullptr) below().clReleaseEvent(launch.event);
  if (taken == Taken::full) harvest(true);
}

void State::check_clock(const Waiting& launch) noexcept {
  constexpr std::chrono::milliseconds check_pause{1};
  if (first_checked_ &&
      (launch.device != first_checked_->device || launch.began - last_check_ < check_pause)) {
    return;
  }
  const std::uint64_t stamp = enqueued_at(launch.event);
  if (stamp == 0) return;
  last_check_ = launch.began;
  if (!first_checked_) {
    first_checked_ = launch;
    first_stamp_ = stamp;
    return;
  }
  if (stamp < first_stamp_ || launch.began < first_checked_->ended) return;
  const auto ns = [](std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
  };
  record([&](survey::Recorder&) {
    clock_ = {ns(launch.began - first_checked_->ended), ns(launch.ended - first_checked_->began),
              stamp - first_stamp_};
  });
}

void State::harvest(bool checks_all) noexcept {
  if (is_harvesting_.exchange(true)) return;
  std::vector<Waiting> taken;
  std::vector<Waiting> left;
  std::vector<std::pair<Waiting, EventTime>> ended;
  record([&](survey::Recorder&) {
    left.reserve(waiting_.size());
    ended.reserve(waiting_.size());
    taken.swap(waiting_);
  });
  std::size_t unfinished = 0;
  for (const Waiting& each : taken) {
    const bool is_checked = checks_all || unfinished < max_unfinished_in_row;
    const EventTime look = is_checked ? query_time(each.event) : EventTime{};
    if (!look.ns && !look.gap) {
      ++unfinished;
      left.push_back(each);
      continue;
    }
    unfinished = 0;
    if (look.ns) check_clock(each);
    ended.emplace_back(each, look);
    below().clReleaseEvent(each.event);
  }
  // All results are recorded in a single step, because the application's next launch may wait for
  // the lock.
  record([&](survey::Recorder& recorder) {
    for (const auto& [launch, look] : ended) {
      if (look.ns) recorder.add_time(launch.row, {launch.ordinal, *look.ns});
      if (look.gap) recorder.add_gap(*look.gap);
    }
    changes_ += ended.size();
    waiting_.insert(waiting_.begin(), left.begin(), left.end());
  });
  is_harvesting_ = false;
}

survey::Survey State::survey() {
  survey::Survey now;
  record([&](survey::Recorder& recorder) {
    now = recorder.survey();
    now.clock = clock_;
    written_changes_ = changes_;
  });
  // This may be the last write of the file, so launches that have no time and no recorded gap are
  // counted as unfinished.
  const survey::Sum total = now.total();
  std::uint64_t known = total.timed + total.estimated;
  for (const auto& [gap, count] : now.gaps) known += survey::is_of_launches(gap) ? count : 0;
  if (total.launches > known) now.gaps[survey::Gap::unfinished] = total.launches - known;
  if (const std::uint64_t lost = lost_; lost > 0) now.gaps[survey::Gap::lost] += lost;
  now.processes.push_back({static_cast<std::uint64_t>(::getpid()), program_invocation_short_name});
  return now;
}

void State::write() noexcept {
  try {
    const std::lock_guard alone(file_mutex_);
    if (path_.empty()) path_ = reserve_name(survey_folder());
    if (!path_.empty()) static_cast<void>(write_file(path_, survey::to_text(survey())));
  } catch (...) {
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Starts the layer's thread and registers the layer's exit handler, at the first launch. Drivers
/// have registered their exit handlers before, so the layer's handler runs first.
void State::start_thread() {
  if (has_thread_) return;
  has_thread_ = true;
  static_cast<void>(std::atexit([] { end_process(); }));
  sigset_t all{};
  sigset_t former{};
  ::sigfillset(&all);
  // All signals are blocked, because the layer's thread must not receive the application's signals.
  ::pthread_sigmask(SIG_BLOCK, &all, &former);
  try {
    std::thread([this] { watch(); }).detach();
  } catch (...) {
    has_thread_ = true;  // without a thread, the file is written only at the end
  }
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

void State::watch() noexcept {
  using Clock = std::chrono::steady_clock;
  Clock::time_point written = Clock::now();
  while (!is_over_) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(written - began_);
    const Clock::time_point next = written + std::clamp(age / 10, shortest_pause, longest_pause);
    bool has_news = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, next);
      has_news = changes_ != written_changes_;
    }
    if (is_over_) return;
    harvest(false);
    if (Clock::now() < next) continue;
    if (has_news) write();
    written = Clock::now();
  }
}

void State::end() noexcept {
  if (is_over_.exchange(true)) return;
  // The wait for a harvesting thread is limited to about 1 s, because a driver that hangs must not
  // delay the end of the process.
  constexpr int max_waits = 1000;
  for (int look = 0; look < max_waits && is_harvesting_; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  harvest(true);
  write();
}

}  // namespace clprobe::layer
