// SPDX-License-Identifier: Apache-2.0
// One text with all headers in it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profile/api/prelude.hpp"

namespace clprobe::includes {
namespace {

using Strings = std::vector<std::string>;

Whole whole(const std::string& text, const std::vector<Header>& headers,
            const std::string& options = {}) {
  Gathered gathered{.includes = {}, .headers = headers};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    gathered.includes.push_back({'"' + headers[i].name + '"', i});
  }
  Whole made = whole_text(text, options, gathered);
  REQUIRE(made.refusal == "");
  return made;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

const std::string guarded = "// A\n#ifndef A\n#define A\nbody\n#endif\n";

}  // namespace

TEST_CASE("whole text: without an #include it is itself") {
  const std::string text = "kernel void k() {}\r\n#pragma OPENCL EXTENSION x : enable\n// include";
  const Whole made = whole(text, {});
  CHECK(made.text == text);
  CHECK(made.missing.empty());
}

TEST_CASE("whole text: nothing else is included, whatever a compiler takes for a directive") {
  // Hidden from one reader and not from another: a lone carriage return, a byte order mark, a space
  // behind a backslash, trigraphs, digraphs, comments and lines that go on.
  for (const std::string_view each :
       {"// a\r#include \"/x\"", "\xef\xbb\xbf#include \"/x\"", "// a \?\?/\n#include \"/x\"",
        "\?\?=include \"/x\"", "%:include \"/x\"", "%\\\n:\t\\ \ninc\\\r\nlude \"/x\"",
        "# /* a\n */ import \"/x\"", "/* \?\?/\n*/ # \\\n include_next \"/x\"",
        "#__include_macros \"/x\"", "#embed \"/x\"", "'\n#include \"/x\"\n'",
        "#if __has_include(\"/x\")\n#endif", "a \?\?/\n# inclu\?\?/ \nde </x>"}) {
    std::string text(each);
    CAPTURE(text);
    text = whole(text, {}).text;
    std::erase_if(text, [](char c) {
      return std::string_view("\\?/ \r\n\t").find(c) != std::string_view::npos;
    });
    for (const char* const word : {"include\"", "include<", "include_next\"", "import\"",
                                   "__include_macros\"", "embed\"", "__has_include("}) {
      CHECK(text.find(word) == std::string::npos);
    }
  }
  // Words that only look alike.
  const std::string text = "int include = a ? embed : import; // includes <b>\n#pragma import\n";
  CHECK(whole(text, {}).text == text);
}

TEST_CASE("options: none that reads a file is left") {
  CHECK(without_folders("-DN=1 -w -include /etc/passwd -isystem x @y --include=z -Xclang a") ==
        "-DN=1 -w");
  CHECK(without_folders("-cl-std=CL1.2 -DA=/b -D C='d e' -imacros f") ==
        "-cl-std=CL1.2 -DA=/b -D C='d e'");
  CHECK(without_folders("-DA='b -include c' -DB=\"c @d\" -g") == "-g");
}

TEST_CASE("whole text: lines have the numbers of their own files") {
  CHECK(whole("one\n#include \\\n\"a.h\"\nfour\n", {{"a.h", "A\n", {}}}).text ==
        "one\n\n#line 1\nA\n\n#line 4\nfour\n");
  CHECK(whole("/* */ #include \"a.h\"", {{"a.h", "A // no line end", {}}}).text ==
        "/* */ \n#line 1\nA // no line end\n#line 2");
}

TEST_CASE("whole text: what is not there becomes an #error, and is told of once") {
  const Whole made = whole(
      "#if 0\n#include <metal>\n#include <metal>\n#endif\n#include M(it's)\n#include_next \"a.h\"\n"
      "#import \"a.h\"",
      {{"a.h", "A", {}}});
  CHECK(made.missing == Strings{"<metal>", "M(it's)", "\"a.h\""});
  CHECK(made.text ==
        "#if 0\n#error missing header: <metal>\n#error missing header: <metal>\n#endif\n#error "
        "missing header: M(it s)\n#error missing header: a.h\n#error missing header: a.h");
}

TEST_CASE("whole text: headers without guards are put in as often as they are included") {
  const Whole made = whole("#include \"a.h\"\n#include \"a.h\"\n", {{"a.h", "body", {}}});
  CHECK(count(made.text, "body") == 2);
}

TEST_CASE("whole text: a guarded header once, wherever it is certain that it was read") {
  const auto bodies = [&](const std::string& text, const std::string& header = guarded,
                          const std::string& options = {}) {
    return count(whole(text, {{"a.h", header, {}}}, options).text, "body");
  };
  const std::string twice = "#include \"a.h\"\n#include \"a.h\"\n";
  CHECK(bodies(twice) == 1);
  CHECK(bodies(twice, "#if !defined(A)\n#define A 1\nbody\n#ifdef B\n#else\n#endif\n#endif") == 1);
  CHECK(bodies(twice, "#pragma once\nbody") == 1);
  CHECK(bodies("#ifdef X\n" + twice + "#endif") == 1);
  CHECK(bodies("#include \"a.h\"\n#ifdef X\n#include \"a.h\"\n#endif") == 1);
  // The first may not have been read where the second one is.
  CHECK(bodies("#ifdef X\n#include \"a.h\"\n#endif\n#include \"a.h\"\n") == 2);
  CHECK(bodies("#ifdef X\n#include \"a.h\"\n#else\n#include \"a.h\"\n#endif\n") == 2);
  CHECK(bodies("#ifdef X\n#include \"a.h\"\n#elif Y\n#include \"a.h\"\n#endif\n") == 2);
  CHECK(bodies("#ifdef X\n#include \"a.h\"\n#endif\n#ifdef X\n#include \"a.h\"\n#endif\n") == 2);
  // Somebody else decides about the macro.
  CHECK(bodies(twice + "#undef A") == 2);
  CHECK(bodies("#define A\n" + twice) == 2);
  CHECK(bodies(twice, guarded, "-DA") == 2);
  // No guard of all of it, or none that holds at once.
  CHECK(bodies(twice, guarded + "more") == 2);
  CHECK(bodies(twice, "more\n" + guarded) == 2);
  CHECK(bodies(twice, "#ifndef A\nmore\n#define A\nbody\n#endif") == 2);
  CHECK(bodies(twice, "#ifndef A\n#define A\nbody\n#else\nmore\n#endif") == 2);
  CHECK(bodies(twice, "#ifndef A\n#define A\n#endif\n#ifdef B\nbody\n#endif") == 2);
  CHECK(bodies(twice, "#ifdef A\n#define A\nbody\n#endif") == 2);
  CHECK(bodies(twice, "#ifndef A\n#define B\nbody\n#endif") == 2);
  CHECK(bodies(twice, "#ifdef B\n#pragma once\n#endif\nbody") == 2);
}

TEST_CASE("whole text: what is read once is left out by the compiler as well") {
  const Whole made = whole("#ifdef X\n#include \"a.h\"\n#endif\n#include \"a.h\"\n",
                           {{"a.h", "#pragma once\nbody\n", {}}});
  CHECK(count(made.text, "#pragma") == 0);
  CHECK(count(made.text,
              "#ifndef CLPROBE_ONCE_0\n#define CLPROBE_ONCE_0\n#line 1\n\nbody\n\n"
              "#endif\n") == 2);
}

TEST_CASE("whole text: inside a guard is where the header is") {
  const std::vector<Include> includes_a{{"\"a.h\"", 0}};
  const std::string other = "#ifndef B\n#define B\n#include \"a.h\"\n#endif";
  const std::string text = "#include \"b.h\"\n#include \"a.h\"\n";
  CHECK(count(whole(text, {{"a.h", guarded, {}}, {"b.h", other, includes_a}}).text, "body") == 1);
  // Of B, which somebody else may have defined, nobody knows that.
  CHECK(count(whole("#ifdef X\n#define B\n#endif\n" + text,
                    {{"a.h", guarded, {}}, {"b.h", other, includes_a}})
                  .text,
              "body") == 2);
}

TEST_CASE("whole text: a header that includes itself") {
  const Header guarded_cycle{
      "a.h", "#ifndef A\n#define A\n#include \"a.h\"\nbody\n#endif", {{"\"a.h\"", 0}}};
  const Whole made = whole("#include \"a.h\"", {guarded_cycle});
  CHECK(made.missing.empty());
  CHECK(count(made.text, "body") == 1);
  const Whole endless =
      whole("#include \"a.h\"", {{"a.h", "body\n#include \"a.h\"", {{"\"a.h\"", 0}}}});
  CHECK(endless.missing == Strings{"\"a.h\""});
  CHECK(count(endless.text, "body") == 1);
}

TEST_CASE("whole text: a header that does not end would take what comes behind it") {
  for (const char* const text : {"body /*", "/*/", "body \\", "body \\\n", "body \\\r\n"}) {
    CAPTURE(text);
    CHECK(whole("#include \"a.h\"", {{"a.h", text, {}}}).missing == Strings{"\"a.h\""});
  }
  for (const char* const text : {"/**/", "// /*", "\"/*\"", "body \\\n\n"}) {
    CAPTURE(text);
    CHECK(whole("#include \"a.h\"", {{"a.h", text, {}}}).missing.empty());
  }
}

TEST_CASE("whole text: headers in headers end, and so does what doubles with each") {
  std::vector<Header> chain;
  for (std::size_t i = 0; i < max_depth + 2; ++i) {
    chain.push_back({"h" + std::to_string(i), "body\n#include \"next\"\n", {{"\"next\"", i + 1}}});
  }
  chain.back().includes.clear();
  const Whole made = whole("#include \"h0\"", chain);
  CHECK(made.missing == Strings{"\"next\""});
  CHECK(count(made.text, "body") == max_depth);
  for (Header& each : chain) each.text += "#include \"next\"\n";
  CHECK(whole_text("#include \"h0\"", "", {{{"\"h0\"", 0}}, chain}).refusal ==
        "has more than 16777216 bytes with its headers");
}

TEST_CASE("whole text: conditions in conditions, as many as there are") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "#if 1\n#include \"a.h\"\n";
  CHECK(count(whole(text, {{"a.h", guarded, {}}}).text, "body") == 1);
  CHECK(whole_text("#endif\n#else\n#endif", "", {}).refusal == "");
}

}  // namespace clprobe::includes
