// SPDX-License-Identifier: Apache-2.0
// Launches that a survey counts and times.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

constexpr std::size_t words_in_buffer = 4096;

const std::string add_source =
    "kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }\n"
    "kernel void slow(global uint* a, uint n) {\n"
    "  uint x = a[get_global_id(0)];\n"
    "  for (uint i = 0; i < n; ++i) x = x * 1664525u + 1013904223u;\n"
    "  a[get_global_id(0)] = x;\n"
    "}\n";

std::size_t number_in(Words words, std::size_t place, std::size_t otherwise) {
  return words.size() > place ? std::stoul(words[place]) : otherwise;
}

void launch(cl_command_queue queue, cl_kernel kernel, std::size_t global, cl_event* event = nullptr,
            std::size_t local = 64) {
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, local == 0 ? nullptr : &local, 0,
                               nullptr, event),
        "clEnqueueNDRangeKernel");
}

/// The driver's own functions: the first word of each object tells where they are.
const cl_icd_dispatch& driver_of(cl_command_queue queue) {
  return **reinterpret_cast<cl_icd_dispatch**>(queue);
}

/// As a program that keeps what a driver compiled makes it.
cl_program from_binary_of(const OpenCl& cl, cl_program program) {
  std::size_t bytes = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, nullptr),
        "clGetProgramInfo");
  std::vector<unsigned char> binary(bytes);
  unsigned char* place = binary.data();
  check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr),
        "clGetProgramInfo");
  const unsigned char* from = binary.data();
  cl_int error = CL_SUCCESS;
  const cl_program made =
      clCreateProgramWithBinary(cl.context, 1, &cl.device, &bytes, &from, nullptr, &error);
  check(error, "clCreateProgramWithBinary");
  check(clBuildProgram(made, 1, &cl.device, "", nullptr, nullptr), "clBuildProgram");
  return made;
}

}  // namespace

int many(Words words) {
  const std::size_t count = number_in(words, 0, 1000);
  const std::size_t global = number_in(words, 1, 1024);
  const std::size_t steps = number_in(words, 2, 0);
  const std::size_t blocks = number_in(words, 4, 1);
  // One block of four goes past the loader and all layers.
  const bool some_are_direct = words.size() > 5;
  // Launches of another size are another row of a survey, whose first ones cost more.
  constexpr std::size_t more_items = 64;
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(cl.program(add_source), steps > 0 ? "slow" : "add");
  const cl_mem buffer = cl.buffer(std::max(global + blocks * more_items, words_in_buffer));
  set_arguments(kernel, buffer, steps > 0 ? static_cast<cl_uint>(steps) : 3);
  launch(queue, kernel, global);
  check(clFinish(queue), "clFinish");
  std::string seconds;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto began = std::chrono::steady_clock::now();
    constexpr std::size_t launches_per_wait = 100;
    const bool is_direct = some_are_direct && block % 4 == 1;
    const auto enqueue =
        is_direct ? driver_of(queue).clEnqueueNDRangeKernel : clEnqueueNDRangeKernel;
    const std::size_t items = global + block * more_items;
    constexpr std::size_t local = 64;
    for (std::size_t i = 1; i < count; ++i) {
      check(enqueue(queue, kernel, 1, nullptr, &items, &local, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
      if (i % launches_per_wait == 0) check(clFinish(queue), "clFinish");
    }
    check(clFinish(queue), "clFinish");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    seconds += " " + std::to_string(took.count());
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, global)));
  if (words.size() > 3) std::fprintf(stdout, "seconds%s\n", seconds.c_str());
  return 0;
}

int binary(Words words) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_mem buffer = cl.buffer(words_in_buffer);
  const bool is_first = !words.empty() && !std::filesystem::exists(words[0]);
  if (is_first) std::ofstream(words[0]) << "cached";
  const cl_program program = cl.program(add_source);
  const cl_kernel kernel = kernel_of(is_first ? program : from_binary_of(cl, program), "add");
  set_arguments(kernel, buffer, 3);
  for (int i = 0; i < 10; ++i) launch(queue, kernel, words_in_buffer);
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int threads(Words /*words*/) {
  constexpr std::size_t count = 4;
  constexpr int launches = 500;
  const OpenCl cl;
  const cl_program program = cl.program(add_source);
  std::vector<std::uint64_t> sums(count);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.emplace_back([&, i] {
      const cl_command_queue queue = cl.queue(i % 2 == 0 ? 0 : CL_QUEUE_PROFILING_ENABLE);
      const cl_kernel kernel = kernel_of(program, "add");
      const cl_mem buffer = cl.buffer(words_in_buffer);
      set_arguments(kernel, buffer, static_cast<cl_uint>(i + 1));
      for (int each = 0; each < launches; ++each) launch(queue, kernel, words_in_buffer);
      sums[i] = sum_of(queue, buffer, words_in_buffer);
      check(clReleaseKernel(kernel), "clReleaseKernel");
      check(clReleaseCommandQueue(queue), "clReleaseCommandQueue");
    });
  }
  for (std::thread& each : all) each.join();
  for (const std::uint64_t sum : sums) {
    std::fprintf(stdout, "sum %llu\n", static_cast<unsigned long long>(sum));
  }
  return 0;
}

int events(Words /*words*/) {
  constexpr int pairs = 200;
  const OpenCl cl;
  const cl_command_queue queue = cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const cl_program program = cl.program(add_source);
  const cl_kernel first = kernel_of(program, "add");
  const cl_kernel second = kernel_of(program, "slow");
  const cl_mem buffer = cl.buffer(words_in_buffer);
  set_arguments(first, buffer, 5);
  set_arguments(second, buffer, 3);
  cl_event last = nullptr;
  constexpr std::size_t global = words_in_buffer;
  for (int i = 0; i < pairs; ++i) {
    cl_event between = nullptr;
    check(
        clEnqueueNDRangeKernel(queue, first, 1, nullptr, &global, nullptr, last == nullptr ? 0 : 1,
                               last == nullptr ? nullptr : &last, &between),
        "clEnqueueNDRangeKernel");
    if (last != nullptr) check(clReleaseEvent(last), "clReleaseEvent");
    check(clEnqueueNDRangeKernel(queue, second, 1, nullptr, &global, nullptr, 1, &between, &last),
          "clEnqueueNDRangeKernel");
    check(clReleaseEvent(between), "clReleaseEvent");
  }
  check(clWaitForEvents(1, &last), "clWaitForEvents");
  cl_uint references = 0;
  cl_int status = -1;
  check(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
        "clGetEventInfo");
  check(clGetEventInfo(last, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references, nullptr),
        "clGetEventInfo");
  check(clReleaseEvent(last), "clReleaseEvent");
  std::fprintf(stdout, "status %d sum %llu\n", status,
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return references > 0 ? 0 : 1;
}

int programs(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_mem buffer = cl.buffer(words_in_buffer);
  const std::string source =
      "kernel void same(global uint* a, uint n) { a[get_global_id(0)] += n N; }";
  const cl_program one = cl.program(source, "-DN=+1");
  const cl_program two = cl.program(source, "-DN=*2");
  const cl_program three = cl.program("\n" + source, "-DN=+1");
  const cl_program four = from_binary_of(cl, one);
  for (const cl_program program : {one, two, three, four}) {
    const cl_kernel kernel = kernel_of(program, "same");
    set_arguments(kernel, buffer, 1);
    for (int i = 0; i < 10; ++i) launch(queue, kernel, words_in_buffer);
    check(clReleaseKernel(kernel), "clReleaseKernel");
    check(clReleaseProgram(program), "clReleaseProgram");
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int tasks(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_mem buffer = cl.buffer(words_in_buffer);
  const cl_program program = cl.program(add_source);
  for (int i = 0; i < 50; ++i) {
    const cl_kernel kernel = kernel_of(program, "add");
    set_arguments(kernel, buffer, 1);
    check(clEnqueueTask(queue, kernel, 0, nullptr, nullptr), "clEnqueueTask");
    check(clReleaseKernel(kernel), "clReleaseKernel");
  }
  std::vector<cl_kernel> kernels(2);
  check(clCreateKernelsInProgram(program, 2, kernels.data(), nullptr), "clCreateKernelsInProgram");
  for (const cl_kernel kernel : kernels) {
    set_arguments(kernel, buffer, 1);
    launch(queue, kernel, 128, nullptr, 0);
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int sizes(Words words) {
  const std::size_t count = number_in(words, 0, 100);
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_mem buffer = cl.buffer(count + 1);
  const cl_kernel kernel = kernel_of(cl.program(add_source), "add");
  set_arguments(kernel, buffer, 1);
  for (std::size_t i = 1; i <= count; ++i) launch(queue, kernel, i, nullptr, 1);
  std::fprintf(stdout, "sum %llu\n", static_cast<unsigned long long>(sum_of(queue, buffer, count)));
  return 0;
}

}  // namespace surveyed
