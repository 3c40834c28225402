// SPDX-License-Identifier: Apache-2.0
// Launches that a capture takes whole, and some that it must refuse.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

constexpr std::size_t words_in_buffer = 4096;

const std::string parts_source =
    "typedef struct { uint add; uint times; } Numbers;\n"
    "kernel void parts(global uint* out, global const uint* in, local uint* held, Numbers n,\n"
    "                  global const uint* none) {\n"
    "  const size_t i = get_global_id(0) - get_global_offset(0);\n"
    "  held[get_local_id(0)] = in[i] * n.times + n.add + (none == 0 ? 1 : 0);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[i] += held[get_local_size(0) - 1 - get_local_id(0)] + (uint)get_global_offset(0);\n"
    "}\n"
    "kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }\n";

void set(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
  check(clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

cl_mem part_of(cl_mem whole, std::size_t origin, std::size_t bytes) {
  const cl_buffer_region region{origin, bytes};
  cl_int error = CL_SUCCESS;
  cl_mem part =
      clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  check(error, "clCreateSubBuffer");
  return part;
}

const std::string headers_source =
    "#include \"times.h\"\n"
    "#include S(FOLDER/plus.h)\n"
    "#include S(FOLDER/plus.h)\n"
    "#ifdef NOBODY\n"
    "#include <none.h>\n"
    "#endif\n"
    "kernel void included(global uint* a, uint n) {\n"
    "  a[get_global_id(0)] = plus(times(a[get_global_id(0)]), n);\n"
    "}\n";

}  // namespace

int headers(Words words) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const std::string folder = words.empty() ? "." : words.front();
  const std::string options =
      "-I " + folder + " -D FOLDER=" + folder + " -D S_(x)=#x -D S(x)=S_(x)";
  const cl_kernel kernel = kernel_of(cl.program(headers_source, options.c_str()), "included");
  const cl_mem buffer = cl.buffer(words_in_buffer);
  set_arguments(kernel, buffer, 3);
  const std::size_t global = words_in_buffer;
  const std::size_t local = 64;
  for (int i = 0; i < 3; ++i) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int parts(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(cl.program(parts_source, "-DUNUSED=1"), "parts");
  const cl_mem whole = cl.buffer(words_in_buffer);
  std::array<cl_uint, 1024> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<cl_uint>(i * i);
  cl_int error = CL_SUCCESS;
  // The host may not read it; a capture has to.
  cl_mem in =
      clCreateBuffer(cl.context, CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_COPY_HOST_PTR,
                     sizeof numbers, numbers.data(), &error);
  check(error, "clCreateBuffer");
  const cl_mem out = part_of(whole, 4096, sizeof numbers);
  const std::array<cl_uint, 2> struct_value{5, 7};
  constexpr std::size_t local = 64;
  set(kernel, 0, sizeof(void*), &out);
  set(kernel, 1, sizeof(void*), &in);
  set(kernel, 2, local * sizeof(cl_uint), nullptr);
  set(kernel, 3, sizeof struct_value, struct_value.data());
  set(kernel, 4, sizeof(void*), nullptr);
  const std::size_t offset = 128;
  const std::size_t global = numbers.size();
  for (int i = 0; i < 3; ++i) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, whole, words_in_buffer)));
  return 0;
}

namespace {

/// Launches `add` of this program on that memory.
int add_to(const OpenCl& cl, cl_program program, cl_mem memory) {
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(program, "add");
  set_arguments(kernel, memory, 3);
  const std::size_t global = words_in_buffer;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  std::fprintf(stdout, "added\n");
  return 0;
}

}  // namespace

/// Needs a layer that knows pipes, and one that knows such texts: tests/profile/strange.cpp.
int pipe(Words /*words*/) {
  const OpenCl cl;
  cl_int error = CL_SUCCESS;
  cl_mem memory = clCreatePipe(cl.context, CL_MEM_READ_WRITE, sizeof(cl_uint), words_in_buffer,
                               nullptr, &error);
  check(error, "clCreatePipe");
  return add_to(cl, cl.program(parts_source), memory);
}

int intermediate(Words /*words*/) {
  const OpenCl cl;
  cl_int error = CL_SUCCESS;
  cl_program program =
      clCreateProgramWithIL(cl.context, parts_source.data(), parts_source.size(), &error);
  check(error, "clCreateProgramWithIL");
  check(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
  return add_to(cl, program, cl.buffer(words_in_buffer));
}

int held_back(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(cl.program(parts_source), "add");
  const cl_mem buffer = cl.buffer(words_in_buffer);
  set_arguments(kernel, buffer, 3);
  cl_int error = CL_SUCCESS;
  cl_event gate = clCreateUserEvent(cl.context, &error);
  check(error, "clCreateUserEvent");
  const std::size_t global = words_in_buffer;
  // A capture that waits for the queue here would wait for ever.
  for (int i = 0; i < 3; ++i) {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, i == 0 ? 1 : 0,
                                 i == 0 ? &gate : nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int polls(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_program program = cl.program(
      "kernel void poll(global volatile uint* flag) { while (*flag == 0); }\n"
      "kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }\n");
  alignas(4096) static volatile cl_uint flag[1024]{};
  cl_int error = CL_SUCCESS;
  const cl_mem shared = clCreateBuffer(cl.context, CL_MEM_USE_HOST_PTR, sizeof flag,
                                       const_cast<cl_uint*>(flag), &error);
  check(error, "clCreateBuffer");
  const cl_kernel poll = kernel_of(program, "poll");
  set(poll, 0, sizeof shared, &shared);
  const std::size_t one = 1;
  const cl_command_queue other = cl.queue();
  check(clEnqueueNDRangeKernel(other, poll, 1, nullptr, &one, &one, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clFlush(other), "clFlush");
  const cl_kernel add = kernel_of(program, "add");
  const cl_mem buffer = cl.buffer(words_in_buffer);
  set_arguments(add, buffer, 3);
  for (int i = 0; i < 3; ++i) {
    check(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &words_in_buffer, nullptr, 0, nullptr,
                                 nullptr),
          "clEnqueueNDRangeKernel");
  }
  flag[0] = 1;
  check(clFinish(other), "clFinish");
  std::fprintf(stdout, "sum %llu\n",
               static_cast<unsigned long long>(sum_of(queue, buffer, words_in_buffer)));
  return 0;
}

int drops(Words /*words*/) {
  const OpenCl cl;
  const cl_mem buffer = cl.buffer(words_in_buffer);
  // The driver's number of references is not the program's: an event has one, and a copy of the
  // handle is another.
  for (int i = 0; i < 3; ++i) {
    const cl_command_queue first = cl.queue();
    check(clRetainCommandQueue(first), "clRetainCommandQueue");
    check(clReleaseCommandQueue(first), "clReleaseCommandQueue");
    cl_event event = nullptr;
    const cl_uint word = 5;
    check(clEnqueueWriteBuffer(first, buffer, CL_FALSE, 0, sizeof word, &word, 0, nullptr, &event),
          "clEnqueueWriteBuffer");
    check(clWaitForEvents(1, &event), "clWaitForEvents");
    cl_uint references = 0;
    check(clGetCommandQueueInfo(first, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references,
                                nullptr),
          "clGetCommandQueueInfo");
    if (references == 0) return 1;
    check(clReleaseCommandQueue(first), "clReleaseCommandQueue");
    check(clReleaseEvent(event), "clReleaseEvent");
  }
  return add_to(cl,
                cl.program("kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }"),
                buffer);
}

int dies(Words /*words*/) {
  const OpenCl cl;
  const cl_program program =
      cl.program("kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }");
  // In its first run there is nothing to die of.
  if (std::getenv("CLPROBE_CAPTURE") == nullptr) {
    return add_to(cl, program, cl.buffer(words_in_buffer));
  }
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace surveyed
