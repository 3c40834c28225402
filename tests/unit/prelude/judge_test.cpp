// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "profile/api/prelude.hpp"
#include "profile/prelude/lexer.hpp"

namespace clprobe::prelude {
namespace {

Judgement judge_text(const std::string& text) { return judge({.sources = {text}}, "k"); }

/// What is said of a kernel with this body; `usable` where nothing is.
std::string words_of(const Verdict& verdict) {
  if (verdict.possibility == Possibility::usable) return "usable";
  return verdict.reason;
}

const std::string signature =
    "kernel void k(global float* a, global int* index, volatile global int* counter, "
    "local float* tile, int n) ";

std::string folding(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").folding);
}
std::string barriers(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").barriers);
}
std::string atomics(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").atomics);
}

std::string lanes(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").lanes);
}

std::string fences(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").fences);
}
std::string functions(const std::string& body) {
  return words_of(judge_text(signature + "{" + body + "}").functions);
}

}  // namespace

TEST_CASE("nothing is in the way of a kernel that only loads and stores") {
  const Judgement judgement = judge_text(signature + "{ a[get_global_id(0)] = a[index[0]]; }");
  CHECK(judgement.renaming == Verdict{});
  CHECK(judgement.folding == Verdict{});
  CHECK(judgement.barriers == Verdict{Possibility::not_present, "no barrier in the text"});
  CHECK(judgement.atomics == Verdict{Possibility::not_present, "no atomic in the text"});
  CHECK(judgement.lanes == Verdict{});
  CHECK(judgement.fences == Verdict{Possibility::not_present, "no fence in the text"});
  CHECK(judgement.functions ==
        Verdict{Possibility::not_present, "no special function in the text"});
}

TEST_CASE("lanes may go where they neither work together nor decide on where the others go") {
  CHECK(lanes("tile[get_local_id(0)] = a[n]; barrier(CLK_LOCAL_MEM_FENCE); a[n] = tile[0];") ==
        "usable");
  CHECK(lanes("tile[get_local_id(0)] = n; barrier(CLK_LOCAL_MEM_FENCE); a[(int)tile[0]] = 1;") ==
        "without the stores of other lanes, a wrong value of tile would determine an address");
  // Local memory holds what lanes store, whatever stores it.
  CHECK(lanes("vstore4((float4)(n), get_local_id(0), tile); a[(int)tile[0]] = 1;") ==
        "without the stores of other lanes, a wrong value of tile would determine an address");
  CHECK(lanes("index[get_local_id(0)] = n; for (int i = 0; i < index[1]; ++i) a[i] = 1;") ==
        "without the stores of other lanes, a wrong value of index would determine how long a loop "
        "runs");
  CHECK(lanes("for (int i = 0; i < index[1]; ++i) a[i] = 1;") == "usable");
  CHECK(lanes("atomic_inc(&index[n]);") ==
        "the kernel calls atomic_inc, so lanes can share a word");
  CHECK(lanes("a[0] = sub_group_broadcast(a[1], 0);") ==
        "the kernel uses sub_group_broadcast, so the lanes of a sub-group can cooperate");
  CHECK(lanes("uint l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); a[l] = 1;") ==
        "the inline assembly depends on the lane");
  CHECK(lanes("int i = (get_local_id)(0);") ==
        "the kernel calls a work-item function in a form that macros cannot replace");
  CHECK(words_of(judge_text("#define get_local_id(d) 0\n" + signature + "{ a[0] = 1; }").lanes) ==
        "the program defines get_local_id itself");
  // Where groups cannot be folded lanes cannot go either.
  CHECK(lanes("a[atomic_inc(counter)] = 1;") == folding("a[atomic_inc(counter)] = 1;"));
}

TEST_CASE("what the prelude cannot stand in front of is refused whole") {
  const auto renaming = [](const std::string& text) { return words_of(judge_text(text).renaming); };
  CHECK(renaming("#define get_global_id(d) 0\nkernel void k() { }") ==
        "the program defines get_global_id itself");
  CHECK(renaming("kernel void k() { int clp_a; }") ==
        "the program uses names that clprobe reserves (clp_*)");
  CHECK(renaming("kernel void k() { int i = (get_global_id)(0); }") ==
        "the kernel calls a work-item function in a form that macros cannot replace");
  CHECK(renaming("kernel void k() { enqueue_kernel(q, f, r, ^{}); }") ==
        "the kernel calls enqueue_kernel");
  CHECK(judge({.sources = {"kernel void k() { }"}, .options = "-Dget_work_dim()=2"}, "k")
            .renaming.reason == "the program defines get_work_dim itself");
}

TEST_CASE("work-item functions that other languages' branches define are the compiler's to find") {
  const std::string text =
      "#if defined CUDA\nsize_t get_global_id(uint d) { return 0; }\n#elif defined METAL\n"
      "#define get_global_id(d) \\\n  id\n#undef get_work_dim\n#define get_global_size(d) "
      "1\n#endif\n"
      "kernel void k(global int* a) { a[get_global_id(0)] = 1; }\n";
  CHECK(judge_text(text).renaming == Verdict{});
  CHECK(judge_text(text).entry == Verdict{});
  CHECK(judge_text(text + "#undef X\n#define get_global_id(d) 1\n").renaming.reason ==
        "the program defines get_global_id itself");
  CHECK(judge_text("uint get_global_id(uint d) { return 0; }\n" + text).renaming.reason ==
        "the program defines get_global_id itself");
  CHECK(without_redefinitions(text) ==
        "#if defined CUDA\nsize_t get_global_id(uint d) { return 0; }\n#elif defined METAL\n"
        "#error the program defines get_global_id itself\n\n"
        "#error the program defines get_work_dim itself\n"
        "#error the program defines get_global_size itself\n#endif\n"
        "kernel void k(global int* a) { a[get_global_id(0)] = 1; }\n");
  CHECK(without_redefinitions("#define get_local_id(d) 0\n# undef x") ==
        "#define get_local_id(d) 0\n# undef x");
}

TEST_CASE("of a kernel whose text is not all here nothing is known, but it may be renamed") {
  const auto unseen = [](const std::string& text) {
    const Judgement judgement = judge_text(text);
    CHECK(judgement.renaming == Verdict{});
    CHECK(judgement.folding.possibility == Possibility::refused);
    for (const Verdict& each : {judgement.barriers, judgement.atomics, judgement.entry}) {
      CHECK(each == judgement.folding);
    }
    return judgement.folding.reason;
  };
  CHECK(unseen("#define NAME(a) a\nkernel void NAME(k)(global int* a) { a[0] = 1; }")
            .starts_with("the program's text has no kernel k: a macro forms the name"));
  // What stands in the way of the prelude does so without the kernel, too.
  CHECK(judge_text("#define get_global_id(d) 0\n").renaming.reason ==
        "the program defines get_global_id itself");
}

TEST_CASE("what a replay has no place for is told where the kernel reaches it") {
  const std::string text = "kernel void other(queue_t q) { enqueue_kernel(q, f, r, ^{}); }\n";
  CHECK(judge_text(text + "kernel void k(global int* a) { a[0] = 1; }").unknown_work.empty());
  CHECK(judge_text(text + "kernel void k() { f(get_default_queue()); }").unknown_work ==
        "the kernel calls get_default_queue");
  CHECK(judge_text("kernel void k(pipe int p) { int a; read_pipe(p, &a); }").unknown_work ==
        "the kernel calls read_pipe");
  CHECK(judge_text("#define get_global_id(d) 0\nkernel void k() { }").unknown_work.empty());
}

TEST_CASE("a kernel whose qualifier stands elsewhere is the one that is launched") {
  const std::string text = "ENTRY void k(global int* a) { a[get_global_id(0)] = 1; }";
  const Judgement judgement = judge({.sources = {text}, .options = "-DENTRY=kernel"}, "k");
  CHECK(judgement.folding == Verdict{});
  CHECK(judgement.entry == Verdict{});
  CHECK(with_entry(text, "k") != text);
  CHECK(with_entry(text, "other") == text);
}

TEST_CASE("groups that may depend on each other are not folded") {
  CHECK(folding("atomic_inc(counter);") == "usable");
  CHECK(folding("if (n) atomic_inc(counter); else atomic_add(counter, 2);") == "usable");
  CHECK(folding("(void)atomic_inc(counter);") == "usable");
  for (const std::string operation : {"add", "sub", "and", "or", "xor", "min", "max"}) {
    CHECK(folding("atomic_fetch_" + operation + "(c, 1);") == "usable");
    CHECK(folding("atomic_fetch_" + operation + "_explicit(c, 1, memory_order_relaxed);") ==
          "usable");
  }
  CHECK(folding("n = atomic_fetch_add(c, 1);") ==
        "the kernel uses the result of atomic_fetch_add, so groups can take work from a counter");
  for (const std::string name :
       {"atomic_exchange", "atomic_compare_exchange_strong",
        "atomic_compare_exchange_weak_explicit", "atomic_load", "atomic_load_explicit",
        "atomic_store", "atomic_flag_test_and_set", "atomic_flag_clear_explicit", "atomic_init",
        "atomic_fetch_nothing"}) {
    CHECK(folding(name + "(c, 1);") ==
          "the kernel calls " + name + ", so groups can wait for each other");
  }
  CHECK(folding("int i = atomic_inc(counter); a[i] = 1;") ==
        "the kernel uses the result of atomic_inc, so groups can take work from a counter");
  CHECK(folding("(int)atomic_inc(counter);") ==
        "the kernel uses the result of atomic_inc, so groups can take work from a counter");
  // Of local memory it is the group's own affair.
  CHECK(folding("local int taken; int i = atomic_inc(&taken);") == "usable");
  CHECK(folding("while (atomic_cmpxchg(counter, 0, 1));") ==
        "the kernel calls atomic_cmpxchg, so groups can wait for each other");
  CHECK(folding("atomic_fetch_nand(p, 1);") ==
        "the kernel calls atomic_fetch_nand, so groups can wait for each other");
  CHECK(folding("while (counter[0] == 0);") ==
        "counter is volatile global memory, so groups can wait for each other");
  CHECK(
      folding("while (*(volatile global int*)index == 0);") ==
      "the target of a pointer cast is volatile global memory, so groups can wait for each other");
  CHECK(folding("asm(\"mov.u32 %0, %ctaid.x;\" : \"=r\"(n));") ==
        "the inline assembly depends on the work-group or contains atomics");
  CHECK(folding("asm(\"global_atomic_add %0, %1, off\" : : \"v\"(a), \"v\"(n));") ==
        "the inline assembly depends on the work-group or contains atomics");
  CHECK(folding("asm(\"bfe.u32 %0, %1, 2, 3;\" : \"=r\"(n) : \"r\"(n));") == "usable");
}

TEST_CASE("what functions and macros do, the kernels that reach them do") {
  const std::string text = R"(
    #define LOCK(p) while (atomic_xchg(p, 1)) {}
    void take(volatile global int* p) { LOCK(p); }
    void take_nothing(volatile global int* p) { }
    kernel void k(volatile global int* p) { take_nothing(p); }
    kernel void locking(volatile global int* p) { take(p); }
    #define PASTE(a, b) a##b
    kernel void pasting(volatile global int* p) { PASTE(ta, ke)(p); }
    kernel void calling(volatile global int* p) { locking(p); })";
  CHECK(words_of(judge_text(text).folding) == "usable");
  for (const std::string_view kernel : {"locking", "pasting", "calling"}) {
    CHECK(judge({.sources = {text}}, kernel).folding.reason ==
          "the kernel calls atomic_xchg, so groups can wait for each other");
  }
  const Program program{.sources = {"kernel void k(global int* p) { HOOK; }"},
                        .options = "-D HOOK=atomic_xchg(p,1)"};
  CHECK(judge(program, "k").folding.reason ==
        "the kernel calls atomic_xchg, so groups can wait for each other");
}

TEST_CASE("barriers may go where local memory holds values alone") {
  CHECK(barriers("tile[0] = a[n]; barrier(CLK_LOCAL_MEM_FENCE); a[n] = tile[1];") == "usable");
  // A tiled gemm.
  CHECK(barriers(R"(local float at[16][16], bt[16][16]; float sum = 0;
    for (int t = 0; t < n; ++t) {
      at[get_local_id(1)][get_local_id(0)] = a[t];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < 16; ++k) sum += at[get_local_id(1)][k] * bt[k][get_local_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[get_global_id(0)] = sum;)") == "usable");
  // A reduction.
  CHECK(barriers(R"(for (int s = 8; s > 0; s /= 2) {
      if (get_local_id(0) < s) tile[get_local_id(0)] += tile[get_local_id(0) + s];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0) a[get_group_id(0)] = tile[0];)") == "usable");
  // A pointer into it is still local memory.
  CHECK(barriers("local float* row = &tile[n]; barrier(1); a[n] = row[2] * 2;") == "usable");
  CHECK(barriers("if (tile[0] > 1) a[n] = 2; barrier(1);") == "usable");
}

TEST_CASE("barriers stay where what is in local memory decides on addresses or loops") {
  const std::string address = "without barriers, a wrong value of tile would determine an address";
  CHECK(barriers("barrier(1); a[(int)tile[0]] = 1;") == address);
  CHECK(barriers("barrier(1); a[index[(int)*tile]] = 1;") == address);
  CHECK(barriers("barrier(1); *(a + (int)tile[n]) = 1;") == address);
  CHECK(barriers("barrier(1); vstore4(v, (int)tile[n], a);") == address);
  CHECK(barriers("barrier(1); float4 v = vload4((int)tile[n], a);") == address);
  CHECK(barriers("int i = tile[0]; int j = i + 1; barrier(1); a[j] = 1;") ==
        "without barriers, a wrong value of j would determine an address");
  CHECK(barriers("barrier(1); for (int i = 0; i < tile[0]; ++i) a[i] = 1;") ==
        "without barriers, a wrong value of tile would determine how long a loop runs");
  CHECK(barriers("int end = tile[1]; while (n < end) { barrier(1); ++n; }") ==
        "without barriers, a wrong value of end would determine how long a loop runs");
  CHECK(barriers("for (;;) { barrier(1); if (tile[0] > 0) { break; } }") ==
        "without barriers, a wrong value of tile would determine how long a loop runs");
  // By way of a variable that is only set where it is true.
  CHECK(barriers("int go = 1; while (go) { barrier(1); if (tile[0] > 0) go = 0; }") ==
        "without barriers, a wrong value of go would determine how long a loop runs");
  CHECK(barriers("global float* p = a + (int)tile[n]; barrier(1); *p = 1;") ==
        "without barriers, a wrong value of p would determine an address");
  CHECK(barriers("private_copy[0] = tile[n]; barrier(1); a[private_copy[0]] = 1;") ==
        "without barriers, a wrong value of private_copy would determine an address");
}

TEST_CASE("values go through functions, macros and global memory") {
  const auto verdict = [](const std::string& text) { return words_of(judge_text(text).barriers); };
  CHECK(verdict(R"(int load(local int* from) { return from[0]; }
    kernel void k(global int* a, local int* t) { barrier(1); int i = load(t); a[i] = 1; })") ==
        "without barriers, a wrong value of i would determine an address");
  CHECK(verdict(R"(int load(local int* from) { return from[0]; }
    kernel void k(global int* a, local int* t) { barrier(1); int i = load(&t[1]); a[i] = 1; })") ==
        "without barriers, a wrong value of i would determine an address");
  CHECK(verdict(R"(void store(global int* to, int at) { to[at] = 1; }
    kernel void k(global int* a, local int* t) { barrier(1); store(a, t[0]); })") ==
        "without barriers, a wrong value of at would determine an address");
  CHECK(verdict(R"(void put(int* to, local int* from) { *to = from[0]; }
    kernel void k(global int* a, local int* t) { int i; put(&i, t); barrier(1); a[i] = 1; })") ==
        "without barriers, a wrong value of i would determine an address");
  CHECK(verdict(R"(#define T(i) t[(i)]
    kernel void k(global int* a, local int* t) { barrier(1); a[T(1)] = 1; })") ==
        "without barriers, a wrong value of T would determine an address");
  CHECK(verdict(R"(#define A(i) a[(i)]
    kernel void k(global int* a, global int* b, local int* t) {
      A(0) = t[0]; barrier(1); b[a[0]] = 1; })") ==
        "without barriers, a wrong value of a would determine an address");
  CHECK(verdict(R"(kernel void k(global int* a, local int* t) {
      barrier(1); vstore4(vload4(0, t), 0, a); int i = a[0]; a[i] = 1; })") ==
        "without barriers, a wrong value of i would determine an address");
  // What a function computes is of its arguments, each time that it is called.
  const std::string with_hash = R"(uint hash(uint x) { x ^= x >> 16; return x * 0x7feb352du; }
    uint twice(uint y) { uint z = hash(y); return hash(z); }
    kernel void k(global int* a, local int* t, int n) { barrier(1); )";
  CHECK(verdict(with_hash + "a[twice(n)] = hash(t[0]) + twice(t[1]); }") == "usable");
  CHECK(verdict(with_hash + "a[twice(t[0])] = 1; }") ==
        "without barriers, a wrong value of t would determine an address");
  CHECK(verdict(with_hash + "int i = hash(t[0]); a[i] = 1; }") ==
        "without barriers, a wrong value of i would determine an address");
  // It may load, loop, or keep something.
  for (const std::string body :
       {"return table[x];", "for (uint i = 0; i < x; ++i) n += 2; return n;",
        "static uint kept; kept |= x; return kept;", "return all | x;", "return M(x);"}) {
    CHECK(verdict("#define M(x) t[x]\nuint f(uint x) { " + body +
                  " } kernel void k(global int* a, local int* t) {"
                  "barrier(1); a[f(1)] = f(t[0]); }") != "usable");
  }
  CHECK(verdict(R"(typedef local int* P; int f(P p) { return *p; }
    kernel void k(global int* a, local int* t) { barrier(1); a[f(t)] = 1; })") != "usable");
  // What a barrier for global memory keeps in order counts as well.
  CHECK(verdict(R"(kernel void k(global int* a, global int* b) {
      a[get_local_id(0)] = 3; barrier(CLK_GLOBAL_MEM_FENCE); b[a[1]] = 1; })") ==
        "without barriers, a wrong value of a would determine an address");
  CHECK(verdict(R"(kernel void k(global int* a, global int* b) {
      a[get_local_id(0)] = 3; barrier(CLK_LOCAL_MEM_FENCE); b[b[1]] = 1; })") == "usable");
}

TEST_CASE("images hold values as buffers do") {
  const auto of_image = [](const std::string& body) {
    return judge_text("kernel void k(read_write image2d_t m, global float* a, local int* tile) {" +
                      body + "}");
  };
  const Judgement plain = of_image("write_imagef(m, p, read_imagef(m, p));");
  CHECK(plain.folding == Verdict{});
  CHECK(plain.entry == Verdict{});
  // What is drawn before the barrier may be missing behind it.
  const std::string drawn = "write_imagef(m, p, v); barrier(CLK_IMAGE_MEM_FENCE); ";
  const auto barriers_of = [&](const std::string& body) {
    return words_of(of_image(body).barriers);
  };
  CHECK(barriers_of(drawn + "float x = read_imagef(m, p).x; a[0] = x;") == "usable");
  CHECK(barriers_of(drawn + "int x = read_imagei(m, p).x; a[x] = 1;") ==
        "without barriers, a wrong value of x would determine an address");
  CHECK(barriers_of("barrier(CLK_LOCAL_MEM_FENCE); int x = tile[1]; write_imagef(m, x, v);") ==
        "without barriers, a wrong value of x would determine an address");
  CHECK(barriers_of(
            "barrier(CLK_LOCAL_MEM_FENCE); int x = tile[1]; a[0] = read_imagef(m, s, x).x;") ==
        "without barriers, a wrong value of x would determine an address");
  CHECK(barriers_of("barrier(CLK_LOCAL_MEM_FENCE); write_imagei(m, p, tile[1]); "
                    "int x = read_imagei(m, p).x; a[x] = 1;") ==
        "without barriers, a wrong value of x would determine an address");
}

TEST_CASE("barriers that are not ours to rename are refused") {
  CHECK(words_of(judge_text("#define barrier(x) f(x)\nkernel void k() { barrier(1); }").barriers) ==
        "the program defines barrier itself");
  CHECK(barriers("asm volatile(\"bar.sync 0;\");") == "the barriers are in inline assembly");
  CHECK(barriers("asm volatile(\"nop; bar.sync 0;\");") == "the barriers are in inline assembly");
  CHECK(barriers("asm volatile(\"barrier.sync 0;\");") == "the barriers are in inline assembly");
  CHECK(barriers("asm volatile(\"membar.gl; bar.sync 0;\");") ==
        "the barriers are in inline assembly");
  // Of memory, and not of groups.
  CHECK(barriers("asm volatile(\"membar.gl;\");") == "no barrier in the text");
}

TEST_CASE("atomics may lose updates where nobody looks at the result") {
  CHECK(atomics("atomic_inc(&index[n]);") == "usable");
  CHECK(atomics("atom_add(index, 2);") == "usable");
  CHECK(atomics("int i = atomic_inc(counter);") == "the result of atomic_inc is used");
  // What a macro's user does with it is not looked at.
  CHECK(words_of(judge_text("#define INC(p) atomic_inc(p)\n"
                            "kernel void k(global int* p) { INC(p); }")
                     .atomics) == "the result of atomic_inc is used");
  CHECK(atomics("atomic_xchg(index, 0);") == "the kernel calls atomic_xchg");
  CHECK(atomics("atomic_fetch_add(p, 1);") == "the kernel calls atomic_fetch_add");
  CHECK(atomics("atomic_inc(index); a[index[0]] = 1;") ==
        "with lost updates, a wrong value of index would determine an address");
  CHECK(atomics("atomic_inc(index); while (index[0] < 5);") ==
        "with lost updates, a wrong value of index would determine how long a loop runs");
  // What a loop steps by is not what its body does.
  CHECK(atomics("for (int i = 0; i < n; i += 2) atomic_add(index, a[i]);") == "usable");
  CHECK(atomics("for (int i = 0; i < n; i += index[0]) atomic_add(index, a[i]);") ==
        "with lost updates, a wrong value of index would determine how long a loop runs");
  CHECK(words_of(judge_text("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                            "kernel void k(global long* p) { atom_inc(p); }")
                     .atomics) ==
        "the program enables 64-bit atomics, so atom_inc can operate on 64-bit words");
  CHECK(words_of(judge_text("void atomic_add(int* p, int v) { }\n"
                            "kernel void k() { int i; atomic_add(&i, 1); }")
                     .atomics) == "the program defines atomic_add itself");
}

TEST_CASE("fences may go where nothing that others store decides on anything") {
  for (const std::string name : {"mem_fence", "read_mem_fence", "write_mem_fence"}) {
    CHECK(fences("a[n] = 1; " + name + "(CLK_GLOBAL_MEM_FENCE);") == "usable");
  }
  CHECK(fences("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, "
               "memory_scope_device);") == "usable");
  CHECK(fences("index[n] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); a[index[0]] = 1;") ==
        "without fences, a wrong value of index would determine an address");
  CHECK(fences("tile[n] = 1; mem_fence(CLK_LOCAL_MEM_FENCE); a[(int)tile[0]] = 1;") ==
        "without fences, a wrong value of tile would determine an address");
  CHECK(fences("a[index[0]] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE);") == "usable");
  CHECK(fences("while (counter[0] == 0) mem_fence(CLK_GLOBAL_MEM_FENCE);") ==
        "counter is volatile global memory, so groups can wait for each other");
  CHECK(words_of(judge_text("void mem_fence(int flags) { }\n"
                            "kernel void k(global int* a) { mem_fence(1); }")
                     .fences) == "the program defines mem_fence itself");
}

TEST_CASE("fences of assembly may go where there is no other assembly") {
  for (const std::string name : {"asm volatile", "asm", "__asm__ __volatile__", "__asm"}) {
    const std::string body = fmt::format("{}(\"membar.gl;\" ::: \"memory\");", name);
    const Judgement found = judge_text(fmt::format("{}{{ {} }}", signature, body));
    CHECK(words_of(found.fences) == "usable");
    CHECK(found.has_fence_assembly);
  }
  CHECK(fences("asm volatile(\" fence.acq_rel.gpu;\");") == "usable");
  CHECK(fences("asm volatile(\"membar.gl; nop;\");") == "no fence in the text");
  CHECK(fences("asm volatile(\"membar.gl;\" \"nop;\");") == "no fence in the text");
  CHECK(fences("asm volatile(\"nop;\");") == "no fence in the text");
  const std::string both = "asm volatile(\"membar.gl;\"); asm volatile(\"nop;\");";
  CHECK(fences(both) == "the inline assembly contains instructions other than fences");
  CHECK_FALSE(judge_text(signature + "{ asm volatile(\"nop;\"); }").has_fence_assembly);
}

TEST_CASE("special functions may go where what they return decides on nothing") {
  CHECK(functions("a[n] = native_sin(a[n]);") == "usable");
  CHECK(functions("a[n] = sqrt(a[n]) + pow(a[n], 2.0f);") == "usable");
  CHECK(functions("a[n] = native_sinks(a[n]);") == "no special function in the text");
  CHECK(functions("a[(int)sqrt(a[n])] = 1;") ==
        "with a substitute function, a wrong value of sqrt would determine an address");
  CHECK(functions("float d = exp(a[n]); while (d > 1.0f) d -= 1.0f;") ==
        "with a substitute function, a wrong value of d would determine how long a loop runs");
  CHECK(functions("a[n] = log(a[n]); for (int i = 0; i < a[n]; ++i) a[i] = 1;") ==
        "with a substitute function, a wrong value of a would determine how long a loop runs");
  // What a function that only computes makes of it, and of other things.
  const std::string tools =
      "float root(float x) { return sqrt(x) + 1.0f; }\n"
      "int twice(int x) { return 2 * x; }\n";
  const auto with_tools = [&](const std::string& body) {
    return words_of(judge_text(tools + signature + "{" + body + "}").functions);
  };
  CHECK(with_tools("a[twice(n)] = root(a[n]);") == "usable");
  CHECK(with_tools("float s = sqrt(a[n]); a[twice(n)] = twice(s);") == "usable");
  CHECK(with_tools("a[(int)root(a[n])] = 1;") ==
        "with a substitute function, a wrong value of root would determine an address");
  // A macro that another one is given.
  const std::string macros =
      "#define ROOT(f) f = native_sqrt(f);\n"
      "#define DO(what) what(x) what(y)\n";
  const auto with_macros = [&](const std::string& body) {
    return words_of(
        judge_text(macros + signature + "{ float x = n, y = n;" + body + "}").functions);
  };
  CHECK(with_macros("DO(ROOT) a[n] = x;") == "usable");
  CHECK(with_macros("DO(ROOT) a[(int)y] = 1;") ==
        "with a substitute function, a wrong value of y would determine an address");
  CHECK(words_of(judge_text("float sin(float x) { return x; }\n"
                            "kernel void k(global float* a) { a[0] = sin(a[1]); }")
                     .functions) == "the program defines sin itself");
}

TEST_CASE("each special function has a macro in front of the program") {
  const std::string text = prelude_text({.without_functions = true});
  CHECK(text.find("#define CLP_CHEAP(x) ((x)*0.5f)\n") != std::string::npos);
  for (const std::string_view name : special_functions) {
    CHECK(text.find(fmt::format("#define {}(x", name)) != std::string::npos);
    CHECK(text.find(fmt::format("#undef {}\n", name)) != std::string::npos);
  }
  CHECK(text.find("#define half_recip(x) CLP_CHEAP(x)\n#undef pow\n"
                  "#define pow(x, y) CLP_CHEAP_2(x, y)\n") != std::string::npos);
  CHECK(prelude_text().find("#define sin(") == std::string::npos);
}

TEST_CASE("an entry needs kernels whose groups do not work together, and ids that it can give") {
  const auto entry = [](const std::string& text) { return words_of(judge_text(text).entry); };
  CHECK(entry("kernel void k(global int* a) { a[get_global_size(0)] = 1; }") == "usable");
  CHECK(entry("kernel void k(global int* a) { while (atomic_xchg(a, 1)) ; }") ==
        "the kernel calls atomic_xchg, so groups can wait for each other");
  CHECK(entry("kernel void k(global int* a) { a[(get_num_groups)(0)] = 1; }") ==
        "the kernel calls a work-item function in a form that macros cannot replace");
  CHECK(entry("#define get_global_size(d) 4\nkernel void k(global int* a) { }") ==
        "the program defines get_global_size itself");
  CHECK(entry("kernel void k() { }") ==
        "clprobe cannot add arguments to a kernel without arguments");
  CHECK(entry("kernel void k(void) { }") ==
        "clprobe cannot add arguments to a kernel without arguments");
  CHECK(entry("kernel void k(global int* a) { int clp_a; }") ==
        "the program uses names that clprobe reserves (clp_*)");
}

}  // namespace clprobe::prelude
