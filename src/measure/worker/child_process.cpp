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

/// Returns the first line of a driver's text as a terminal can show it.
std::string first_line(std::string_view text) {
  const auto begin = text.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos) return "";
  constexpr int enough_columns = 160;
  return cut_to_width(clean_driver_words(text.substr(begin, text.find('\n', begin) - begin)),
                      enough_columns);
}

/// Adds variables that make both loaders load the drivers of one folder alone; none if it is empty.
std::vector<std::pair<std::string, std::string>> with_vendors(
    std::vector<std::pair<std::string, std::string>> changes, const std::string& vendors) {
  if (vendors.empty()) return changes;
  changes.emplace_back("OCL_ICD_VENDORS", vendors);
  changes.emplace_back("OCL_ICD_FILENAMES", "");
  return changes;
}

/// Limits PoCL's threads to the allowed cores and keeps each on its core. PoCL counts the machine's
/// cores. The system may put two threads on a core for a whole launch; of sixteen threads that
/// share two cores, holders of a lock wait for those that spin for it.
void settle_threads_of_pocl() {
  const system::Cores cores;
  if (cores.has_all()) {
    setenv("POCL_AFFINITY", "1", 0);
  } else if (getenv("POCL_CPU_MAX_CU_COUNT") == nullptr) {  // its newer name
    setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(cores.allowed().size()).c_str(), 0);
  }
}

// The last words of a driver's output are kept.
constexpr std::size_t max_words = 4096;
// A driver that prints without end must not keep the program from looking at the time.
constexpr int max_reads = 16;

}  // namespace

ChildProcess::ChildProcess(const std::string& vendors,
                           const std::vector<std::pair<std::string, std::string>>& changes) {
  // Cycles of millions of nodes are walked at random: on small pages that takes twice as long.
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0);
  settle_threads_of_pocl();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw ChildLost(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  channel_ = ends[0];
  // A pipe and no file: what a driver prints may be more than there is memory.
  std::array<int, 2> printing{-1, -1};
  if (pipe2(printing.data(), O_CLOEXEC) != 0) {
    const std::string reason = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    throw ChildLost("pipe: " + reason);
  }
  fcntl(printing[0], F_SETFL, O_NONBLOCK);
  printed_ = printing[0];
  try {
    system::Spawn spawn;
    spawn.close_stdin();
    spawn.redirect(printing[1], STDOUT_FILENO);
    spawn.redirect(printing[1], STDERR_FILENO);
    spawn.redirect(ends[1], worker_channel);
    // Ctrl-C reaches the parent alone, which ends the child in its own time.
    spawn.use_own_group();
    pid_ = spawn.start({"/proc/self/exe", "--worker"},
                       system::environment_with(with_vendors(changes, vendors)));
  } catch (const std::system_error& error) {
    for (const int each : {ends[0], ends[1], printing[0], printing[1]}) close(each);
    throw ChildLost(fmt::format("cannot start the worker process: {}", error.code().message()));
  }
  close(ends[1]);
  close(printing[1]);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (channel_ >= 0) close(channel_);
  if (printed_ >= 0) close(printed_);
}

void ChildProcess::hear() {
  std::array<char, 65536> bytes{};
  for (int reads = 0; reads < max_reads; ++reads) {
    const ssize_t count = read(printed_, bytes.data(), bytes.size());
    if (count == 0) {  // all have closed it: poll() would say so again and again
      close(printed_);
      printed_ = -1;
    }
    if (count <= 0) return;
    words_.append(bytes.data(), static_cast<std::size_t>(count));
    if (words_.size() > max_words) words_.erase(0, words_.size() - max_words);
  }
}

std::string ChildProcess::last_words() {
  hear();
  return first_line(words_);
}

std::string ChildProcess::end_of_child() {
  // A process closes its files before it ends; a driver's thread may also close them and go on.
  constexpr int max_looks = 200;
  constexpr std::chrono::milliseconds between{5};
  int status = 0;
  int ended = waitpid(pid_, &status, WNOHANG);
  for (int look = 0; ended == 0 && look < max_looks; ++look) {
    hear();  // or it waits for room to print its last words
    std::this_thread::sleep_for(between);
    ended = waitpid(pid_, &status, WNOHANG);
  }
  if (ended == 0) return "closed its channel but did not exit";  // lose() ends it
  pid_ = -1;
  if (ended < 0) return "ended";
  if (WIFSIGNALED(status)) {
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
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
  const std::string words = last_words();
  if (words.empty()) throw ChildLost(how);
  // LLVM, which PoCL is made of, ends the process where a kernel cannot be written or loaded.
  const bool may_be_cache =
      words.find("LLVM ERROR") != std::string::npos || words.find("dlopen") != std::string::npos;
  throw ChildLost(
      fmt::format("{}, printing \"{}\"{}", how, words,
                  may_be_cache ? clean_driver_words(advise_about_pocl_cache()) : std::string()));
}

void ChildProcess::wait_until(short ready, const Patience& patience) {
  for (;;) {
    if (patience.cancelled && patience.cancelled()) lose("interrupted");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        patience.give_up - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      lose(fmt::format("the driver did not respond within {} s; --timeout sets a longer limit",
                       std::chrono::duration<double>(patience.timeout).count()));
    }
    // Short waits: an interrupt that arrives just before poll() would else go unseen.
    constexpr std::chrono::milliseconds longest_wait{100};
    std::array<pollfd, 2> waiting{pollfd{channel_, ready, 0}, pollfd{printed_, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), static_cast<int>(std::min(left, longest_wait).count()));
    // A driver that prints more than a pipe holds waits until somebody reads it.
    if (waiting[1].revents != 0) hear();
    if (waiting[0].revents != 0) return;
  }
}

void ChildProcess::write_line(std::string_view line, const Patience& patience) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    wait_until(POLLOUT, patience);
    // No SIGPIPE: a child that is gone is an answer. No blocking: a child may have ceased to read.
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
  const Patience patience{timeout, std::chrono::steady_clock::now() + timeout, cancelled};
  write_line(line, patience);
  return read_line(patience);
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

std::string ChildProcess::read_line(const Patience& patience) {
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string answer = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return answer;
    }
    wait_until(POLLIN, patience);
    std::array<char, 65536> bytes{};
    const ssize_t count = read(channel_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) lose(fmt::format("the driver's process {}", end_of_child()));
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace clprobe
