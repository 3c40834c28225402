// SPDX-License-Identifier: Apache-2.0
// Kernels rewritten in PTX: what is removed, what stays, and what is written in its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "profile/api/prelude.hpp"

namespace clprobe::ptx {
namespace {

Parts parts(std::initializer_list<Part> all) {
  Parts set;
  for (const Part each : all) set.set(index_of(each));
  return set;
}

Count count_in(const Rewritten& rewritten, Part part) {
  return rewritten.counts.at(index_of(part));
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

std::string module_of(std::string_view body) {
  return ".version 9.0\n.target sm_90, texmode_independent\n.address_size 64\n"
         ".entry other()\n{\n ret;\n}\n"
         ".entry k(\n .param .u64 .ptr .global .align 4 k_param_0,\n"
         " .param .u64 .ptr .global .align 4 k_param_1,\n .param .u32 k_param_2\n)\n"
         ".reqntid 64, 1, 1\n{\n"
         ".reg .pred %p<4>; .reg .f32 %f<9>; .reg .f64 %fd<3>; .reg .b16 %rs<4>;\n"
         ".reg .b32 %r<20>; .reg .b64 %rd<20>;\n"
         ".shared .align 4 .b8 tile[1024]; .local .align 4 .b8 depot[64];\n"
         "ld.param.u64 %rd1, [k_param_0]; ld.param.u64 %rd2, [k_param_1];\n"
         "ld.param.u32 %r1, [k_param_2]; // a comment; with a semicolon\n" +
         std::string(body) +
         "}\n.metadata_section {\n.metadata 0 {\n\"cl_kernel_attributes\", \"other\"\n}\n}\n";
}

// A sum in memory.
constexpr std::string_view sum{
    "$loop:\n ld.global.f32 %f1, [%rd1];\n ld.global.nc.f32 %f2, [%rd2+4];\n"
    "add.f32 %f3, %f1, %f2;\n st.global.f32 [%rd1], %f3;\n add.s64 %rd2, %rd2, 4;\n"
    "add.s32 %r1, %r1, -1;\n setp.ne.s32 %p1, %r1, 0;\n @%p1 bra $loop;\n ret;\n"};

}  // namespace

TEST_CASE("ptx: a kernel from which nothing is removed keeps its instructions") {
  const std::string module = module_of(sum);
  const Rewritten same = rewrite(module, "k", {});
  CHECK(is_ptx(same.text));
  CHECK(same.parameters == 3);
  CHECK(count_in(same, Part::loads) == Count{2, 0});
  CHECK(count_in(same, Part::stores) == Count{1, 0});
  CHECK(same.decisions == 0);
  CHECK(same.text.find("ld.global.nc.f32 %f2, [%rd2+4];") != std::string::npos);
  CHECK(same.text.find(".reqntid 64, 1, 1") != std::string::npos);
  CHECK(same.text.find(".local .align 4 .b8 depot[64];") != std::string::npos);
  CHECK(count_of(same.text, ".param .u") == 3 + added_parameters);
  CHECK(same.text.find("clp_s,") == std::string::npos);
  // The driver refuses attributes of kernels that the text lacks.
  CHECK(same.text.find("other") == std::string::npos);
  CHECK(same.text.find("comment") == std::string::npos);
}

TEST_CASE("ptx: removed loads become values that the compiler cannot know, one per load") {
  const Rewritten without = rewrite(module_of(sum), "k", parts({Part::loads}));
  CHECK(count_in(without, Part::loads) == Count{2, 2});
  CHECK(count_in(without, Part::stores) == Count{1, 0});
  CHECK(without.text.find("ld.global") == std::string::npos);
  const std::size_t first = without.text.find("xor.b32 %f1, %clp_c, 0x");
  const std::size_t second = without.text.find("xor.b32 %f2, %clp_c, 0x");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  const auto constant_at = [&](std::size_t at) { return without.text.substr(at + 23, 8); };
  CHECK(constant_at(first) != constant_at(second));
  // Once per block, so that loops cannot be emptied.
  CHECK(count_of(without.text, "add.u32 %clp_c, %clp_c, %clp_z;") == 1);
  CHECK(without.text.find("st.global.f32 [%rd1], %f3;") != std::string::npos);
}

TEST_CASE("ptx: values of removed stores are summed up, and the sum is tested at the end") {
  const Rewritten without = rewrite(module_of(sum), "k", parts({Part::stores}));
  CHECK(without.text.find("st.global.f32") == std::string::npos);
  CHECK(without.text.find("mov.b32 %clp_t, %f3;\nadd.u32 %clp_s, %clp_s, %clp_t;") !=
        std::string::npos);
  CHECK(count_of(without.text, "st.global.u32 [%clp_k], %clp_s;") == 1);
  CHECK(count_of(without.text, "ret;") == 1);
  CHECK(count_of(without.text, "bra $clp_end;") == 1);
  const Rewritten wide = rewrite(module_of("st.global.f64 [%rd1], %fd1;\n st.global.u8 [%rd2], "
                                           "%rs1;\n st.global.u32 [%rd2], 7;\n ret;\n"),
                                 "k", parts({Part::stores}));
  CHECK(wide.text.find("mov.b64 {%clp_t, %clp_u}, %fd1;") != std::string::npos);
  CHECK(wide.text.find("mov.b32 %clp_t, {%rs1, %rs1};") != std::string::npos);
  CHECK(count_in(wide, Part::stores) == Count{3, 3});
}

TEST_CASE("ptx: what decides on addresses and branches stays, with all that it needs") {
  // The index comes from the first load, the branch from the second, and a value from the third.
  constexpr std::string_view gather{
      "ld.global.u32 %r2, [%rd1];\n mul.wide.u32 %rd3, %r2, 4;\n add.s64 %rd4, %rd2, %rd3;\n"
      "ld.global.u32 %r3, [%rd1+4];\n setp.eq.s32 %p1, %r3, 0;\n @%p1 bra $end;\n"
      "ld.global.f32 %f1, [%rd4];\n st.global.f32 [%rd4], %f1;\n$end:\n ret;\n"};
  const std::string module = module_of(gather);
  CHECK(count_in(rewrite(module, "k", parts({Part::loads})), Part::loads) == Count{3, 1});
  // Without the store, no address needs the index.
  const Parts memory = parts({Part::loads, Part::stores});
  const Rewritten without = rewrite(module, "k", memory);
  CHECK(count_in(without, Part::loads) == Count{3, 2});
  // The arithmetic of addresses that data decide stays.
  CHECK(count_of(without.text, "cvt.u32.u64 %clp_t, %rd4;") == 2);
  CHECK(count_of(without.text, "cvt.u32.u64 %clp_t, %rd1;") == 0);
  const Rewritten replayed = rewrite(module, "k", memory, Branches::replayed);
  CHECK(replayed.decisions == 1);
  CHECK(count_in(replayed, Part::loads) == Count{3, 3});
  CHECK(replayed.text.find("@%clp_p bra $end;") != std::string::npos);
  // So does the arithmetic of decisions, even if nothing is removed.
  constexpr std::string_view decision{
      "selp.u32 %clp_t, 1, 0, %p1;\nadd.u32 %clp_s, %clp_s, %clp_t;"};
  CHECK(count_of(replayed.text, decision) == 1);
  const Rewritten whole = rewrite(module, "k", {}, Branches::replayed);
  CHECK(count_of(whole.text, decision) == 1);
  CHECK(count_of(whole.text, "setp.ne.u32 %clp_p, %clp_s, 0x9e3779b9;") == 1);
  const Rewritten recorded = rewrite(module, "k", {}, Branches::recorded);
  CHECK(recorded.text.find("selp.u32 %clp_t, 1, 0, %p1;") != std::string::npos);
  CHECK(recorded.text.find("@%p1 bra $end;") != std::string::npos);
  CHECK(recorded.text.find("red.global.max.u32 [%clp_k+4], %clp_m;") != std::string::npos);
}

TEST_CASE("ptx: stores that a deciding load may read stay, unless they go to another buffer") {
  // The kernel reads a flag that it also writes.
  constexpr std::string_view flag{
      "st.global.u32 [%rd1], %r1;\n ld.global.u32 %r2, [%rd2];\n setp.eq.s32 %p1, %r2, 0;\n"
      "@%p1 bra $end;\n st.global.u32 [%rd1+4], %r2;\n$end:\n ret;\n"};
  const std::string module = module_of(flag);
  const Parts memory = parts({Part::loads, Part::stores});
  CHECK(count_in(rewrite(module, "k", memory), Part::stores) == Count{2, 2});
  const std::size_t objects[]{0, 0, 1};
  CHECK(count_in(rewrite(module, "k", memory, Branches::own, objects), Part::stores) ==
        Count{2, 0});
}

TEST_CASE("ptx: barriers stay if values that pass them decide") {
  constexpr std::string_view begin{
      "mov.u64 %rd3, tile;\n st.shared.u32 [%rd3], %r1;\n bar.sync 0;\n"
      "ld.shared.u32 %r2, [%rd3+4];\n"};
  const Parts all = Parts{}.set();
  const std::string value = module_of(std::string(begin) + "st.global.u32 [%rd1], %r2;\n ret;\n");
  const Rewritten removed = rewrite(value, "k", all);
  CHECK(count_in(removed, Part::barriers) == Count{1, 1});
  CHECK(count_in(removed, Part::local_memory) == Count{2, 2});
  CHECK(removed.barriers_reason.empty());
  const std::string address = module_of(
      std::string(begin) +
      "mul.wide.u32 %rd4, %r2, 4;\n add.s64 %rd5, %rd2, %rd4;\n st.global.u32 [%rd5], 1;\n ret;\n");
  const Rewritten kept = rewrite(address, "k", parts({Part::barriers, Part::local_memory}));
  CHECK(count_in(kept, Part::barriers) == Count{1, 0});
  CHECK(count_in(kept, Part::local_memory) == Count{2, 0});
  CHECK(kept.barriers_reason == "values exchanged across barriers determine addresses or branches");
  const std::string exchanged = module_of("bar.red.popc.u32 %r2, 0, %p1;\n ret;\n");
  CHECK(rewrite(exchanged, "k", all).barriers_reason == "a barrier also exchanges values");
}

TEST_CASE("ptx: atomics, vectors, constants and private arrays that data index") {
  const Parts all = Parts{}.set();
  const Rewritten atomic =
      rewrite(module_of("atom.global.add.u32 %r2, [%rd1], 1;\n red.shared.add.u32 [tile], %r3;\n"
                        "atom.global.cas.b32 %r4, [%rd2], %r1, %r3;\n setp.eq.s32 %p1, %r4, 0;\n"
                        "@%p1 ret;\n st.global.u32 [%rd1], %r2;\n ret;\n"),
              "k", all);
  CHECK(count_in(atomic, Part::atomics) == Count{3, 2});
  CHECK(atomic.text.find("xor.b32 %r2, %clp_c") != std::string::npos);
  CHECK(atomic.text.find("@%p1 bra $clp_end;") != std::string::npos);
  const Rewritten wide =
      rewrite(module_of("ld.global.v2.f32 {%f1, %f2}, [%rd1];\n"
                        "ld.const.f32 %f3, [%rd2];\n ld.global.f64 %fd1, [%rd2];\n"
                        "ld.global.u8 %rs1, [%rd2];\n"
                        "st.global.v2.f32 [%rd1], {%f1, %f3};\n ret;\n"),
              "k", all);
  CHECK(count_in(wide, Part::loads) == Count{4, 4});
  CHECK(wide.text.find("xor.b64 %fd1, %clp_d, 0x3ff") != std::string::npos);
  CHECK(wide.text.find("xor.b16 %rs1, %clp_h, 0x") != std::string::npos);
  CHECK(count_of(wide.text, "add.u32 %clp_s") == 2);
  const Rewritten halves = rewrite(
      module_of(".reg .f16x2 %h<3>;\n ld.global.b32 %h1, [%rd1];\n st.global.b32 [%rd1], %h1;\n "
                "ret;\n"),
      "k", all);
  CHECK(halves.text.find("xor.b32 %h1, %clp_c") != std::string::npos);
  CHECK(halves.text.find("mov.b32 %clp_t, %h1;") != std::string::npos);
  const Rewritten indexed = rewrite(
      module_of("ld.global.u32 %r2, [%rd1];\n mul.wide.u32 %rd3, %r2, 4;\n mov.u64 %rd4, depot;\n"
                "add.s64 %rd5, %rd4, %rd3;\n st.local.u32 [%rd4], %r1;\n"
                "ld.local.u32 %r3, [%rd5];\n st.global.u32 [%rd1], %r3;\n ret;\n"),
      "k", all);
  CHECK(count_in(indexed, Part::loads) == Count{2, 2});
  CHECK(indexed.text.find("st.local.u32 [%rd4], %r1;") != std::string::npos);
}

TEST_CASE("ptx: branches that depend on order or time cannot be replayed") {
  const auto is_steady = [](std::string_view body) {
    return rewrite(module_of(std::string(body) + "@%p1 bra $end;\n$end:\n ret;\n"), "k", {})
        .is_steady;
  };
  CHECK(is_steady("ld.global.u32 %r2, [%rd1];\n setp.eq.s32 %p1, %r2, 0;\n"));
  CHECK_FALSE(is_steady("atom.global.add.u32 %r2, [%rd1], 1;\n setp.eq.s32 %p1, %r2, 0;\n"));
  CHECK_FALSE(is_steady("ld.volatile.global.u32 %r2, [%rd1];\n setp.eq.s32 %p1, %r2, 0;\n"));
  CHECK_FALSE(
      is_steady("atom.global.add.u32 %r2, [%rd1], 1;\n cvt.u64.u32 %rd3, %r2;\n"
                "ld.global.u32 %r3, [%rd3];\n setp.eq.s32 %p1, %r3, 0;\n"));
  CHECK_FALSE(is_steady("mov.u32 %r2, %clock;\n setp.eq.s32 %p1, %r2, 0;\n"));
  CHECK_FALSE(
      is_steady("atom.global.add.u32 %r2, [%rd1], 1;\n st.shared.u32 [tile], %r2;\n"
                "ld.shared.u32 %r3, [tile];\n setp.eq.s32 %p1, %r3, 0;\n"));
  CHECK_FALSE(
      is_steady("atom.global.add.u32 %r2, [%rd1], 1;\n st.u32 [%rd2], %r2;\n"
                "ld.shared.u32 %r3, [tile];\n setp.eq.s32 %p1, %r3, 0;\n"));
}

TEST_CASE("ptx: fences stay with stores for which a work-item waits") {
  constexpr std::string_view waits{
      "st.global.u32 [%rd1], %r1;\n membar.gl;\n$wait:\n ld.volatile.global.u32 %r2, [%rd1+4];\n"
      "setp.eq.s32 %p1, %r2, 0;\n @%p1 bra $wait;\n ret;\n"};
  const Rewritten kept = rewrite(module_of(waits), "k", Parts{}.set());
  CHECK(kept.text.find("membar.gl;") != std::string::npos);
  CHECK(count_in(kept, Part::loads) == Count{1, 0});
  constexpr std::string_view free{"st.global.u32 [%rd1], %r1;\n membar.gl;\n ret;\n"};
  CHECK(rewrite(module_of(free), "k", Parts{}.set()).text.find("membar") == std::string::npos);
}

TEST_CASE("ptx: images count as memory that stays, and unknown accesses keep their addresses") {
  const Parts all = Parts{}.set();
  const Rewritten images = rewrite(
      module_of("ld.global.u32 %r2, [%rd1];\n tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r2, "
                "%r1}];\n st.global.f32 [%rd2], %f1;\n ret;\n"),
      "k", all);
  CHECK(count_in(images, Part::loads) == Count{2, 0});
  CHECK(count_in(images, Part::stores) == Count{1, 1});
  const Rewritten unknown =
      rewrite(module_of("ld.global.u32 %r2, [%rd1];\n cvt.u64.u32 %rd3, %r2;\n"
                        "multimem.red.add.u32 [%rd3], %r1;\n ret;\n"),
              "k", all);
  CHECK(count_in(unknown, Part::loads) == Count{1, 0});
  const Rewritten close =
      rewrite(module_of("st.global.u32[%rd1], %r1;\n mov.b64{%r2, %r3}, %rd2;\n ret;\n"), "k", all);
  CHECK(count_in(close, Part::stores) == Count{1, 1});
}

TEST_CASE("ptx: a text that is not understood is refused") {
  CHECK_FALSE(is_ptx("kernel void k() {}"));
  CHECK_THROWS_WITH_AS(rewrite(module_of("ret;\n"), "none", {}), "the PTX text has no kernel none",
                       PtxError);
  CHECK_THROWS_WITH_AS(rewrite(module_of("call.uni f;\n ret;\n"), "k", {}),
                       "the kernel calls a function that the compiler did not inline", PtxError);
  CHECK_THROWS_WITH_AS(rewrite(".version 9.0\n.entry k() { ret;", "k", {}),
                       "a bracket of the PTX text is not closed", PtxError);
  CHECK_THROWS_WITH_AS(rewrite(".version 9.0\n.entry k() { ret }", "k", {}),
                       "a statement of the PTX text has no end", PtxError);
  CHECK_THROWS_WITH_AS(rewrite(module_of(".reg .v2 .b32 %v;\n ret;\n"), "k", {}),
                       "registers of type .v2 are not supported", PtxError);
  CHECK_THROWS_WITH_AS(rewrite(module_of("{ .reg .b64 %r<3>; }\n ret;\n"), "k", {}),
                       "registers %r are declared with different types", PtxError);
  CHECK_THROWS_WITH_AS(rewrite(module_of("ld.global.u32;\n ret;\n"), "k", {}),
                       "a memory access in the PTX text has no operand", PtxError);
}

}  // namespace clprobe::ptx
