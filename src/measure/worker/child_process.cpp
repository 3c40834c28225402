// SPDX-License-Identifier: Apache-2.0
#include "measure/worker/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "measure/device/driver_words.hpp"
#include "system/api/host.hpp"
#include "system/api/processes.hpp"
#include "text/api/text.hpp"

namespace clprobe {
namespace {

/// Returns the first line of a driver's text, in a form that a terminal can show.
std::string first_line(std::string_view text) {
  const auto begin = text.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos) return "";
  constexpr int enough_columns = 160;
  return cut_to_width(clean_driver_words(text.substr(begin, text.find('\n', begin) - begin)),
                      enough_columns);
}

/// Adds the variables with which the OpenCL loaders (ocl-icd and Khronos's) load only the drivers
/// of the folder `vendors`. Adds none if `vendors` is empty.
std::vector<std::pair<std::string, std::string>> with_vendors(
    std::vector<std::pair<std::string, std::string>> changes, const std::string& vendors) {
  if (vendors.empty()) return changes;
  changes.emplace_back("OCL_ICD_VENDORS", vendors);
  changes.emplace_back("OCL_ICD_FILENAMES", "");
  return changes;
}

/// Limits PoCL's threads to the allowed cores, and pins each thread to a core if all cores are
/// allowed. PoCL starts one thread for each core of the machine, and the system may run two threads
/// on one core for a whole launch. If sixteen threads share two cores, threads that spin for a lock
/// delay the thread that holds the lock.
void limit_threads_of_pocl() {
  const system::Cores cores;
  if (cores.has_all()) {
    setenv("POCL_AFFINITY", "1", 0);
    // The user may have set the limit by the newer name of POCL_MAX_PTHREAD_COUNT.
  } else if (getenv("POCL_CPU_MAX_CU_COUNT") == nullptr) {
    setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(cores.allowed().size()).c_str(), 0);
  }
}

// Maximum number of bytes of a driver's output that are kept.
constexpr std::size_t max_output_bytes = 4096;
// Maximum number of consecutive reads. The limit ensures that the time limit also holds for a
// driver that prints without end.
constexpr int max_reads = 16;

}  // namespace

ChildProcess::ChildProcess(const std::string& vendors,
                           const std::vector<std::pair<std::string, std::string>>& changes) {
  // malloc uses huge pages. On small pages, following cycles of millions of nodes in random order
  // takes twice as long.
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0);
  limit_threads_of_pocl();
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw ChildLost(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  channel_ = sockets[0];
  // A pipe is used instead of a file, since a driver may print more than a file system can store.
  std::array<int, 2> pipe_ends{-1, -1};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    const std::string reason = std::strerror(errno);
    close(sockets[0]);
    close(sockets[1]);
    throw ChildLost("pipe: " + reason);
  }
  fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
  output_pipe_ = pipe_ends[0];
  try {
    system::Spawn spawn;
    spawn.close_stdin();
    spawn.redirect(pipe_ends[1], STDOUT_FILENO);
    spawn.redirect(pipe_ends[1], STDERR_FILENO);
    spawn.redirect(sockets[1], worker_channel);
    // Ctrl-C must reach only the parent, which then ends the child in an orderly way.
    spawn.use_own_group();
    pid_ = spawn.start({"/proc/self/exe", "--worker"},
                       system::environment_with(with_vendors(changes, vendors)));
  } catch (const std::system_error& error) {
    for (const int each : {sockets[0], sockets[1], pipe_ends[0], pipe_ends[1]}) close(each);
    throw ChildLost(fmt::format("cannot start the child process that runs the driver: {}",
                                error.code().message()));
  }
  close(sockets[1]);
  close(pipe_ends[1]);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (channel_ >= 0) close(channel_);
  if (output_pipe_ >= 0) close(output_pipe_);
}

void ChildProcess::read_output() {
  std::array<char, 65536> bytes{};
  for (int reads = 0; reads < max_reads; ++reads) {
    const ssize_t count = read(output_pipe_, bytes.data(), bytes.size());
    if (count == 0) {  // all writers closed the pipe; poll() would report this again and again
      close(output_pipe_);
      output_pipe_ = -1;
    }
    if (count <= 0) return;
    output_.append(bytes.data(), static_cast<std::size_t>(count));
    if (output_.size() > max_output_bytes) output_.erase(0, output_.size() - max_output_bytes);
  }
}

std::string ChildProcess::last_output() {
  read_output();
  return first_line(output_);
}

std::string ChildProcess::end_of_child() {
  // The loop waits until the child has exited, since a process closes its files before it exits. A
  // driver's thread may also close the channel while the process keeps running.
  constexpr int max_checks = 200;
  constexpr std::chrono::milliseconds between{5};
  int status = 0;
  int ended = waitpid(pid_, &status, WNOHANG);
  for (int check = 0; ended == 0 && check < max_checks; ++check) {
    read_output();  // empties the pipe, on which the child may be blocked
    std::this_thread::sleep_for(between);
    ended = waitpid(pid_, &status, WNOHANG);
  }
  if (ended == 0) return "closed its channel but did not exit";  // lose() kills the child
  pid_ = -1;
  if (ended < 0) return "ended";
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

void ChildProcess::lose(const std::string& how) {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  const std::string output = last_output();
  if (output.empty()) throw ChildLost(how);
  // LLVM, which PoCL uses, aborts the process if it cannot write or load a kernel.
  const bool may_be_cache =
      output.find("LLVM ERROR") != std::string::npos || output.find("dlopen") != std::string::npos;
  throw ChildLost(
      fmt::format("{}; driver output: \"{}\"{}", how, output,
                  may_be_cache ? clean_driver_words(advise_about_pocl_cache()) : std::string()));
}

void ChildProcess::wait_until(short ready, const TimeLimit& limit) {
  for (;;) {
    if (limit.cancelled && limit.cancelled()) lose("interrupted");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        limit.deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      lose(fmt::format("the driver did not respond within {} s; --timeout sets a longer limit",
                       std::chrono::duration<double>(limit.timeout).count()));
    }
    // Each wait is short, since an interrupt that arrives just before poll() does not end the wait.
    constexpr std::chrono::milliseconds longest_wait{100};
    std::array<pollfd, 2> waiting{pollfd{channel_, ready, 0}, pollfd{output_pipe_, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), static_cast<int>(std::min(left, longest_wait).count()));
    // A driver that prints more than the pipe holds is blocked until the pipe is read.
    if (waiting[1].revents != 0) read_output();
    if (waiting[0].revents != 0) return;
  }
}

void ChildProcess::write_line(std::string_view line, const TimeLimit& limit) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    wait_until(POLLOUT, limit);
    // MSG_NOSIGNAL: without it, writing to a dead child would kill this process by SIGPIPE.
    // MSG_DONTWAIT: without it, a child that stopped reading would block this process.
    const ssize_t count =
        send(channel_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) lose(fmt::format("the driver's process {}", end_of_child()));
    sent += static_cast<std::size_t>(count);
  }
}

std::string ChildProcess::ask(std::string_view line, std::chrono::milliseconds timeout,
                              const std::function<bool()>& cancelled) {
  if (pid_ < 0) throw ChildLost("the driver's process has ended");
  const TimeLimit limit{timeout, std::chrono::steady_clock::now() + timeout, cancelled};
  write_line(line, limit);
  return read_line(limit);
}

void ChildProcess::tell_last(std::string_view line, std::chrono::milliseconds timeout,
                             const std::function<bool()>& cancelled) {
  if (pid_ < 0) throw ChildLost("the driver's process has ended");
  write_line(line, {timeout, std::chrono::steady_clock::now() + timeout, cancelled});
  shutdown(channel_, SHUT_WR);
}

std::string ChildProcess::next_line(std::chrono::milliseconds timeout,
                                    const std::function<bool()>& cancelled) {
  if (pid_ < 0) throw ChildLost("the driver's process has ended");
  return read_line({timeout, std::chrono::steady_clock::now() + timeout, cancelled});
}

std::string ChildProcess::read_line(const TimeLimit& limit) {
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string answer = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return answer;
    }
    wait_until(POLLIN, limit);
    std::array<char, 65536> bytes{};
    const ssize_t count = read(channel_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) lose(fmt::format("the driver's process {}", end_of_child()));
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace clprobe
