// SPDX-License-Identifier: Apache-2.0
// Launches that get images of each kind and samplers.
#include <array>
#include <cstdio>
#include <vector>

#include "modes.hpp"
#include "opencl.hpp"

namespace surveyed {
namespace {

// `gather` reads an image of each kind; `fade` changes half of one's rows in place, so that a
// replay that does not put it back is another launch. PoCL's compiler has no read_write images; it
// reads and writes one that is given twice, where a work-item has its pixel to itself.
const std::string source =
    "kernel void gather(read_only image1d_t line, read_only image1d_array_t lines,\n"
    "                   read_only image1d_buffer_t table, read_only image2d_t plane,\n"
    "                   read_only image2d_array_t planes, read_only image3d_t cube,\n"
    "                   sampler_t smooth, write_only image2d_t out, global const uint* words) {\n"
    "  const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | "
    "CLK_FILTER_NEAREST;\n"
    "  const int x = get_global_id(0);\n"
    "  const int y = get_global_id(1);\n"
    "  uint4 sum = read_imageui(line, exact, x);\n"
    "  sum += read_imageui(lines, exact, (int2)(x, y & 3));\n"
    "  sum += read_imageui(table, y) + words[y];\n"
    "  sum += read_imageui(planes, exact, (int4)(x, y, x & 1, 0));\n"
    "  sum += read_imageui(cube, exact, (int4)(x & 7, y & 7, (x ^ y) & 3, 0));\n"
    "  sum += convert_uint4(100.0f * read_imagef(plane, smooth, (float2)(x / 24.0f, y / 24.0f)));\n"
    "  write_imageui(out, (int2)(x, y), sum);\n"
    "}\n"
    "kernel void fade(read_only image2d_t from, write_only image2d_t to, global uint* seen) {\n"
    "  const int2 at = (int2)(get_global_id(0), 2 * get_global_id(1));\n"
    "  const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | "
    "CLK_FILTER_NEAREST;\n"
    "  const uint4 old = read_imageui(from, exact, at);\n"
    "  seen[at.y * 32 + at.x] += old.x;\n"
    "  write_imageui(to, at, old / 2 + 1);\n"
    "}\n"
    "kernel void draw(write_only image2d_t image) {\n"
    "  write_imageui(image, (int2)(get_global_id(0), get_global_id(1)), (uint4)(1, 2, 3, 4));\n"
    "}\n";

constexpr cl_GLenum texture_2d = 0x0de1;  // GL_TEXTURE_2D
constexpr std::size_t width = 32;
constexpr std::size_t height = 24;

/// Bytes that are all different from their neighbours'.
std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<unsigned char>((i * i + 7 * i + seed) % 251);
  }
  return made;
}

struct Sizes {
  std::size_t width{0};
  std::size_t height{0};
  std::size_t depth{0};
  std::size_t layers{0};
};

class Images {
 public:
  explicit Images(const OpenCl& cl) : cl_(cl) {}

  [[nodiscard]] cl_mem make(cl_mem_object_type type, const cl_image_format& format,
                            const Sizes& sizes, void* host, cl_mem_flags flags,
                            cl_mem buffer = nullptr, std::size_t row = 0) const {
    cl_image_desc description{};
    description.image_type = type;
    description.image_width = sizes.width;
    description.image_height = sizes.height;
    description.image_depth = sizes.depth;
    description.image_array_size = sizes.layers;
    description.image_row_pitch = row;
    description.mem_object = buffer;
    cl_int error = CL_SUCCESS;
    cl_mem image = clCreateImage(cl_.context, flags, &format, &description, host, &error);
    check(error, "clCreateImage");
    return image;
  }

 private:
  const OpenCl& cl_;
};

constexpr cl_image_format words_format{CL_RGBA, CL_UNSIGNED_INT32};
constexpr cl_image_format bytes_format{CL_RGBA, CL_UNSIGNED_INT8};
constexpr cl_image_format halves_format{CL_RGBA, CL_UNSIGNED_INT16};
constexpr cl_image_format unorm_format{CL_RGBA, CL_UNORM_INT8};

void set(cl_kernel kernel, cl_uint index, cl_mem memory) {
  check(clSetKernelArg(kernel, index, sizeof(void*), &memory), "clSetKernelArg");
}

void launch(cl_command_queue queue, cl_kernel kernel, std::array<std::size_t, 2> global) {
  constexpr std::array<std::size_t, 2> local{8, 4};
  check(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global.data(), local.data(), 0, nullptr,
                               nullptr),
        "clEnqueueNDRangeKernel");
}

std::uint64_t sum_of_image(cl_command_queue queue, cl_mem image, std::size_t words) {
  std::vector<cl_uint> values(words);
  constexpr std::array<std::size_t, 3> first{};
  constexpr std::array<std::size_t, 3> all{width, height, 1};
  check(clEnqueueReadImage(queue, image, CL_TRUE, first.data(), all.data(), 0, 0, values.data(), 0,
                           nullptr, nullptr),
        "clEnqueueReadImage");
  std::uint64_t sum = 0;
  for (const cl_uint each : values) sum = sum * 31 + each;
  return sum;
}

/// Rows of 32 pixels are followed by what belongs to nobody.
cl_mem padded_plane(const Images& images) {
  constexpr std::size_t row = 4 * width + 64;
  static std::vector<unsigned char> host = pattern(row * height, 11);
  return images.make(CL_MEM_OBJECT_IMAGE2D, unorm_format, {width, height}, host.data(),
                     CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, nullptr, row);
}

void set_gathered(const OpenCl& cl, const Images& images, cl_kernel kernel) {
  constexpr cl_mem_flags copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  // The host may not read it; a capture has to.
  constexpr cl_mem_flags hidden = copied | CL_MEM_HOST_NO_ACCESS;
  std::vector<unsigned char> host = pattern(16 * width * height, 3);
  void* const data = host.data();
  cl_int error = CL_SUCCESS;
  cl_mem table = clCreateBuffer(cl.context, copied, 16 * height, data, &error);
  check(error, "clCreateBuffer");
  set(kernel, 0, images.make(CL_MEM_OBJECT_IMAGE1D, bytes_format, {width}, data, copied));
  set(kernel, 1,
      images.make(CL_MEM_OBJECT_IMAGE1D_ARRAY, halves_format, {width, 0, 0, 4}, data, copied));
  set(kernel, 2,
      images.make(CL_MEM_OBJECT_IMAGE1D_BUFFER, words_format, {height}, nullptr, CL_MEM_READ_ONLY,
                  table));
  set(kernel, 3, padded_plane(images));
  set(kernel, 4,
      images.make(CL_MEM_OBJECT_IMAGE2D_ARRAY, bytes_format, {width, height, 0, 2}, data, copied));
  set(kernel, 5, images.make(CL_MEM_OBJECT_IMAGE3D, bytes_format, {8, 8, 4}, data, hidden));
  set(kernel, 8, table);
}

}  // namespace

int images(Words /*words*/) {
  const OpenCl cl;
  const Images images(cl);
  const cl_command_queue queue = cl.queue();
  const cl_program program = cl.program(source, "-cl-std=CL1.2");
  const cl_kernel gather = kernel_of(program, "gather");
  set_gathered(cl, images, gather);
  cl_int error = CL_SUCCESS;
  cl_sampler smooth =
      clCreateSampler(cl.context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
  check(error, "clCreateSampler");
  check(clSetKernelArg(gather, 6, sizeof smooth, &smooth), "clSetKernelArg");
  std::vector<unsigned char> nothing(16 * width * height, 0);
  cl_mem out = images.make(CL_MEM_OBJECT_IMAGE2D, words_format, {width, height}, nothing.data(),
                           CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
  set(gather, 7, out);
  const cl_kernel fade = kernel_of(program, "fade");
  const cl_mem seen = cl.buffer(width * height);
  set(fade, 0, out);
  set(fade, 1, out);
  set(fade, 2, seen);
  for (int i = 0; i < 3; ++i) {
    launch(queue, gather, {width, height});
    launch(queue, fade, {width, height / 2});
  }
  const std::uint64_t words = sum_of(queue, seen, width * height);
  std::fprintf(stdout, "drawn %llu, seen %llu\n",
               static_cast<unsigned long long>(sum_of_image(queue, out, 4 * width * height)),
               static_cast<unsigned long long>(words));
  return 0;
}

/// Needs a layer that knows textures: tests/profile/strange.cpp.
int opengl(Words /*words*/) {
  const OpenCl cl;
  const cl_command_queue queue = cl.queue();
  const cl_kernel kernel = kernel_of(cl.program(source, "-cl-std=CL1.2"), "draw");
  cl_int error = CL_SUCCESS;
  cl_mem texture = clCreateFromGLTexture(cl.context, CL_MEM_READ_WRITE, texture_2d, 0, 1, &error);
  check(error, "clCreateFromGLTexture");
  set(kernel, 0, texture);
  launch(queue, kernel, {64, 64});
  check(clFinish(queue), "clFinish");
  std::fprintf(stdout, "drawn\n");
  return 0;
}

}  // namespace surveyed
