// SPDX-License-Identifier: Apache-2.0
#include "profile/prelude/lexer.hpp"

#include <doctest/doctest.h>

#include "profile/api/prelude.hpp"
#include "random.hpp"
#include "rounds.hpp"

namespace clprobe::prelude {
namespace {

/// The tokens with a bar between them.
std::string tokens_of(std::string_view text) {
  const Lexed lexed = lex(text);
  std::string joined;
  for (const Token& token : lexed.code) {
    joined += joined.empty() ? "" : "|";
    joined += token.text;
  }
  return joined;
}

}  // namespace

TEST_CASE("a text is cut into words, numbers, quoted text and signs") {
  CHECK(tokens_of("a+=b[1]->c<<=2;") == "a|+=|b|[|1|]|->|c|<<=|2|;");
  CHECK(tokens_of("0x1e+1 1e+1f .5f 0x1.8p-3") == "0x1e|+|1|1e+1f|.5f|0x1.8p-3");
  CHECK(tokens_of(R"("a \" b" 'c' "not closed)") == R"("a \" b"|'c'|"not closed)");
  CHECK(tokens_of("a \"x\ny") == "a|\"x|y");
}

TEST_CASE("comments and preprocessor lines are no code, and continued lines are one") {
  CHECK(tokens_of("a /* b \n # c */ d // e\nf") == "a|d|f");
  CHECK(tokens_of("a\n# if X\nb\n#else\nc\n#endif\n e # f") == "a|b|c|e|#|f");
  CHECK(tokens_of("ker\\\nnel // on \\\nhere\nvoid\\\r\n f") == "kernel|void|f");
  CHECK(tokens_of("/* not closed") == "");
  CHECK(tokens_of("#define A \\\n b\nc /* \n */ # d") == "c|#|d");
}

TEST_CASE("places are those of the text that was read") {
  const std::string text = "/**/ ab\\\ncd(";
  const Lexed lexed = lex(text);
  REQUIRE(lexed.code.size() == 2);
  CHECK(lexed.code[0].text == "abcd");
  CHECK(lexed.code[0].begin == 5);
  CHECK(lexed.code[0].end == 11);
  CHECK(text.substr(lexed.code[1].begin, 1) == "(");
}

TEST_CASE("macros have names, parameters and bodies") {
  const Lexed lexed = lex("#define A (b)\n#define F(x, y, ...) x##y\n#define E\n#define G(");
  REQUIRE(lexed.macros.size() == 4);
  CHECK(lexed.macros[0].name == "A");
  CHECK(!lexed.macros[0].takes_arguments);
  CHECK(lexed.macros[0].body.size() == 3);
  CHECK(lexed.macros[1].parameters == std::vector<std::string_view>{"x", "y", "__VA_ARGS__"});
  CHECK(lexed.macros[1].body.size() == 3);
  CHECK(lexed.macros[2].body.empty());
  CHECK(lexed.macros[3].body.empty());
}

TEST_CASE("macros of a build's options are lines of #define") {
  CHECK(definitions_in("-DA -D B=2 -cl-mad-enable -I /x -DC='a b' -D'F(x)=x'") ==
        "#define A 1\n#define B 2\n#define C a b\n#define F(x) x\n");
  CHECK(definitions_in("-D").empty());
}

TEST_CASE("kernels are found with their parameters and bodies") {
  const std::string text = R"(
    typedef struct { int a; } t;
    __kernel __attribute__((reqd_work_group_size(8, 1, 1))) void
    first(__global float* restrict out, /* , */ const t b[4], sampler_t s) { if (s) { out[0] = 1; } }
    void function(int i) { }
    kernel void declared(int a);
    kernel void second(void) __attribute__((vec_type_hint(int))) {
    })";
  const std::vector<KernelPosition> kernels = find_kernels(text);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "first");
  CHECK(kernels[0].parameters == std::vector<Parameter>{{"__global float* restrict out", "out"},
                                                        {"const t b[4]", "b"},
                                                        {"sampler_t s", "s"}});
  const KernelPosition& first = kernels[0];
  CHECK(text.substr(first.body_begin, first.body_end - first.body_begin) ==
        " if (s) { out[0] = 1; } ");
  CHECK(text.substr(first.parameters_begin, 8) == "__global");
  CHECK(text[first.parameters_end] == ')');
  CHECK(kernels[1].name == "second");
  CHECK(kernels[1].parameters.empty());
}

TEST_CASE("a macro may stand for the word kernel, and not for a kernel's name") {
  const std::string qualified = "#define FQ KQ\n#define KQ kernel\nFQ void k(ARGS (int)) { }";
  REQUIRE(find_kernels(qualified).size() == 1);
  CHECK(find_kernels(qualified)[0].name == "k");
  CHECK(find_kernels(qualified)[0].parameters[0].name == "");
  CHECK(find_kernels("kernel void NAME(a)(int b) { }").empty());
}

TEST_CASE("kernels in extern C, for a compiler of C++, are those of the text") {
  // As headers that are C++ as well have it, whether or not the end is there.
  const std::string begins =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) { return 1; }\n"
      "kernel void k(global int* a) { *a = f(); }\n";
  for (const std::string end : {"", "#ifdef __cplusplus\n}\n#endif\n"}) {
    const std::vector<KernelPosition> kernels = find_kernels(begins + end);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].name == "k");
    CHECK(kernels[0].parameters == std::vector<Parameter>{{"global int* a", "a"}});
  }
}

TEST_CASE("brackets that do not match hide kernels and nothing else") {
  CHECK(find_kernels("kernel void a() { }  kernel void b() { ( }").size() == 1);
  CHECK(find_kernels("}}} kernel void a() { }").size() == 1);
  // Both branches are read: together they close one brace too few.
  CHECK(find_kernels("#ifdef A\nkernel void a() {\n#else\nkernel void a(int b) {\n#endif\n}")
            .empty());
}

TEST_CASE("any text is taken, and places are within it") {
  constexpr std::array<std::string_view, 30> pieces{"kernel ",
                                                    "void ",
                                                    "k",
                                                    "(",
                                                    ")",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ";",
                                                    "\n",
                                                    "\\\n",
                                                    "#define ",
                                                    "#include ",
                                                    "\"",
                                                    "'",
                                                    "/*",
                                                    "*/",
                                                    "//",
                                                    "barrier(",
                                                    "atomic_inc(",
                                                    "local ",
                                                    "a",
                                                    "=",
                                                    "for",
                                                    "while",
                                                    "if",
                                                    "*",
                                                    "volatile global ",
                                                    "\xff"};
  Random random(7);
  for (int round = 0; round < rounds(3000); ++round) {
    std::string text = random.chance(0.5) ? "kernel void k(local int* a) { " : "";
    const int size = random.whole_log_uniform(1, 120);
    for (int i = 0; i < size; ++i) text += random.one_of(pieces);
    if (random.chance(0.5)) text += " }";
    for (const KernelPosition& kernel : find_kernels(text)) {
      CHECK(kernel.parameters_begin <= kernel.parameters_end);
      CHECK(kernel.parameters_end < kernel.body_begin);
      CHECK(kernel.body_begin <= kernel.body_end);
      CHECK(text.at(kernel.body_end) == '}');
      const Judgement judgement = judge({.sources = {text}}, kernel.name);
      const bool is_refused = judgement.barriers.possibility == Possibility::refused;
      CHECK((is_refused || !judgement.barriers.reason.empty() ||
             text.find("barrier") != std::string::npos));
    }
  }
}

TEST_CASE("what stands in front of a program is the file of cl/, and its lines begin at 1") {
  const std::string text = prelude_text({.barriers = true});
  CHECK(
      text.starts_with("#define CLP_BARRIERS 1\n#define CLP_ATOMICS 0\n#define CLP_FENCES 0\n"
                       "#define CLP_LANES 0\n// SPDX"));
  CHECK(prelude_text({.lanes = LaneMasks{4294967264, 4294967295, 4294967295}})
            .starts_with("#define CLP_BARRIERS 0\n#define CLP_ATOMICS 0\n#define CLP_FENCES 0\n"
                         "#define CLP_LANES 1\n"
                         "#define CLP_LANES_0 4294967264u\n"));
  CHECK(text.ends_with("#endif\n#line 1\n"));
}

}  // namespace clprobe::prelude
