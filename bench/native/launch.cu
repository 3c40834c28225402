// SPDX-License-Identifier: Apache-2.0
// The native twin of `clprobe launch` on an NVIDIA GPU: kernels of one thread that add to a
// counter, atomically as clprobe's do.
//
//   launch_cuda stream|graph LAUNCHES REPEATS [IDLE_STREAMS]
//
// Each repeat launches so many into one stream, or launches a graph of so many that was captured
// before, and waits for all of them. Beside it are streams in which something ran once. One JSON
// object on stdout: the seconds of a launch of each repeat, by the host's clock.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "launch_cuda: %s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void count_up(unsigned* counter, unsigned more) { atomicAdd(counter, more); }

cudaStream_t new_stream() {
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void launch_all(int launches, unsigned* counter, cudaStream_t stream) {
  for (int i = 0; i < launches; ++i) count_up<<<1, 1, 0, stream>>>(counter, 3);
}

cudaGraphExec_t graph_of(int launches, unsigned* counter, cudaStream_t stream) {
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  launch_all(launches, counter, stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphUpload(ready, stream), "cudaGraphUpload");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return ready;
}

}  // namespace

int main(int count, char** words) {
  const std::string way = count == 4 || count == 5 ? words[1] : "";
  if (way != "stream" && way != "graph") {
    std::fprintf(stderr, "usage: launch_cuda stream|graph LAUNCHES REPEATS [IDLE_STREAMS]\n");
    return 2;
  }
  const int launches = std::atoi(words[2]);
  const int repeats = std::atoi(words[3]);
  unsigned* counter = nullptr;
  check(cudaMalloc(&counter, sizeof *counter), "cudaMalloc");
  check(cudaMemset(counter, 0, sizeof *counter), "cudaMemset");
  cudaStream_t stream = new_stream();
  int others = 0;
  for (; count == 5 && others < std::atoi(words[4]); ++others) {
    launch_all(1, counter, new_stream());
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const bool is_graph = way == "graph";
  cudaGraphExec_t graph{};
  if (is_graph) graph = graph_of(launches, counter, stream);
  std::printf("{\"seconds\": [");
  for (int repeat = -3; repeat < repeats; ++repeat) {  // the first ones warm up
    const auto begin = std::chrono::steady_clock::now();
    if (is_graph) {
      check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    } else {
      launch_all(launches, counter, stream);
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (repeat >= 0) std::printf("%s%.6g", repeat == 0 ? "" : ", ", took.count() / launches);
  }
  std::printf("]}\n");
  unsigned found = 0;
  check(cudaMemcpy(&found, counter, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (found != 3U * static_cast<unsigned>(launches * (repeats + 3) + others)) {
    std::fprintf(stderr, "launch_cuda: a launch is missing\n");
    return 1;
  }
  return 0;
}
