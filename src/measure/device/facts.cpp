// SPDX-License-Identifier: Apache-2.0
// Facts that only a launch can tell: whose compiler this is, and whether pointers stay valid.
#include <array>

#include "measure/api/device.hpp"

namespace clprobe {
namespace {

// The bits of cl/facts.cl.
enum FactBit : std::uint32_t {
  fact_nvidia = 1U,
  fact_amdgcn = 2U,
  fact_spir = 4U,
  fact_x86 = 8U,
  fact_aarch64 = 16U,
  fact_riscv = 32U,
  fact_khr_device_clock = 64U,
  fact_khr_sub_group_clock = 128U,
  fact_gfx11 = 256U,
};

std::string isa_word(std::uint32_t facts) {
  struct Row {
    std::uint32_t bit;
    const char* word;
  };
  // SPIR before the host's processor: such compilers define both, and the code is not native.
  constexpr std::array rows{Row{fact_nvidia, "nvptx"},  Row{fact_gfx11, "amdgcn-gfx11"},
                            Row{fact_amdgcn, "amdgcn"}, Row{fact_spir, "spir"},
                            Row{fact_x86, "x86"},       Row{fact_aarch64, "aarch64"},
                            Row{fact_riscv, "riscv"}};
  for (const Row& row : rows) {
    if ((facts & row.bit) != 0) return row.word;
  }
  return "unknown";
}

}  // namespace

std::vector<ClockKind> candidate_clocks(Session& session) {
  cl::Kernel kernel = session.kernel("facts.cl", "facts", "");
  const cl::Buffer bits(session.context(), CL_MEM_WRITE_ONLY, sizeof(cl_uint));
  kernel.setArg(0, bits);
  session.launch(kernel, cl::NDRange(1), cl::NDRange(1));
  cl_uint facts = 0;
  session.queue().enqueueReadBuffer(bits, CL_TRUE, 0, sizeof facts, &facts);

  DeviceInfo& info = session.info();
  info.isa = isa_word(facts);
  std::vector<ClockKind> kinds;
  if ((facts & fact_khr_device_clock) != 0) kinds.push_back(ClockKind::khr_device);
  if ((facts & fact_khr_sub_group_clock) != 0) kinds.push_back(ClockKind::khr_sub_group);
  if (info.isa == "nvptx") kinds.push_back(ClockKind::nvidia);
  if (info.isa.starts_with("amdgcn")) kinds.push_back(ClockKind::amd);
  if (info.platform.starts_with("Intel(R) OpenCL") && is_gpu(info)) {
    kinds.push_back(ClockKind::intel);
  }
  // Native processors only: on SPIR the builtin makes some drivers end the process.
  if (info.isa == "x86" || info.isa == "aarch64" || info.isa == "riscv") {
    kinds.push_back(ClockKind::cpu);
  }
  return kinds;
}

bool try_pointers(Session& session) {
  constexpr cl_ulong offset = 192;
  constexpr cl_ulong mark = 0x5a17c0de5a17c0deU;
  const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, 4096);
  const cl::Buffer out(session.context(), CL_MEM_WRITE_ONLY, 2 * sizeof(cl_ulong));
  cl::Kernel store = session.kernel("facts.cl", "pointer_store", "");
  store.setArg(0, buffer);
  store.setArg(1, offset);
  store.setArg(2, mark);
  session.launch(store, cl::NDRange(1), cl::NDRange(1));
  cl::Kernel follow = session.kernel("facts.cl", "pointer_follow", "");
  follow.setArg(0, buffer);
  follow.setArg(1, out);
  session.launch(follow, cl::NDRange(1), cl::NDRange(1));
  std::array<cl_ulong, 2> found{};
  session.queue().enqueueReadBuffer(out, CL_TRUE, 0, sizeof found, found.data());
  session.info().pointers_stay_valid = found[0] == mark && found[1] == offset;
  return session.info().pointers_stay_valid;
}

}  // namespace clprobe
