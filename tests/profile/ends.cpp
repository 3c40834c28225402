// SPDX-License-Identifier: Apache-2.0
// How programs end.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

/// Launches, and time for whoever looks at them now and then.
void work(const char* name, int launches) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const std::string source = "kernel void " + std::string(name) +
                             "(global uint* a, uint n) { a[get_global_id(0)] += n; }\n";
  const cl_kernel kernel = kernel_of(cl.program(source), name);
  const cl_mem buffer = cl.buffer(1024);
  set_arguments(kernel, buffer, 1);
  constexpr std::size_t global = 1024;
  for (int i = 0; i < launches; ++i) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  std::fprintf(stdout, "%s %llu\n", name,
               static_cast<unsigned long long>(sum_of(queue, buffer, 1024)));
  std::fflush(stdout);
}

void pause_for_a_look() { std::this_thread::sleep_for(std::chrono::milliseconds(800)); }

}  // namespace

int crash(Words /*words*/) {
  work("before_crash", 30);
  pause_for_a_look();
  // PoCL catches it otherwise.
  static_cast<void>(std::signal(SIGSEGV, SIG_DFL));
  static_cast<void>(std::raise(SIGSEGV));
  return 0;
}

int leave(Words /*words*/) {
  work("before_leave", 30);
  pause_for_a_look();
  _exit(3);
}

int fork_away(Words /*words*/) {
  // Before OpenCL is loaded, as programs with workers do it, and after.
  const pid_t early = fork();
  if (early == 0) {
    work("in_child", 20);
    return 0;
  }
  waitpid(early, nullptr, 0);
  work("in_parent", 30);
  const pid_t late = fork();
  if (late == 0) return 0;  // by exit(), so that what the parent counted could be written again
  waitpid(late, nullptr, 0);
  work("in_parent", 10);
  return 0;
}

int orphan(Words /*words*/) {
  work("in_parent", 30);
  if (fork() == 0) {
    pause_for_a_look();  // until the parent has written its last
    return 0;
  }
  work("in_parent", 10);
  return 0;
}

int unfinished(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const std::string source = "kernel void never(global uint* a, uint n) { a[0] = n; }\n";
  const cl_kernel kernel = kernel_of(cl.program(source), "never");
  set_arguments(kernel, cl.buffer(64), 1);
  cl_int error = CL_SUCCESS;
  const cl_event user = clCreateUserEvent(cl.context, &error);
  check(error, "clCreateUserEvent");
  constexpr std::size_t global = 64;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 1, &user, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFlush(queue), "clFlush");
  std::fprintf(stdout, "waiting\n");
  std::fflush(stdout);
  return 0;
}

int nothing(Words words) { return words.empty() ? 0 : std::stoi(words[0]); }

}  // namespace surveyed
