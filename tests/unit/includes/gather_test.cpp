// SPDX-License-Identifier: Apache-2.0
// Which files a text reaches.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "profile/api/prelude.hpp"

namespace clprobe::includes {
namespace {

/// A machine's files, by their paths.
using Disk = std::map<std::string, std::string>;

Files files_of(const Disk& disk) {
  return {.read = [&disk](const std::string& path,
                          std::size_t max_bytes) -> std::optional<std::string> {
            const auto found = disk.find(path);
            if (found == disk.end() || found->second.size() > max_bytes) return std::nullopt;
            return found->second;
          },
          .working_folder = "/work",
          .text_folders = {"/work", "/cache"}};
}

Gathered gathered(const std::string& text, const std::string& options, const Disk& disk) {
  return gather(text, options, files_of(disk));
}

/// The texts of the headers that the text itself includes, with what each was written as.
std::vector<std::string> found_in(const Gathered& all) {
  std::vector<std::string> texts;
  for (const Include& each : all.includes) {
    texts.push_back(each.written + " " + all.headers.at(each.header).text);
  }
  return texts;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("gather: folders of options in their order, and a text's own folder in quotes alone") {
  const Disk disk{{"/one/a.h", "1"}, {"/two/a.h", "2"}, {"/two/b.h", "3"}, {"/work/c.h", "4"}};
  const std::string text = "#include <a.h>\n  #  include <b.h>\n#include \"c.h\"\n#include <c.h>\n";
  CHECK(found_in(gathered(text, "-I/one -I /two", disk)) ==
        Strings{"<a.h> 1", "<b.h> 3", "\"c.h\" 4"});
  CHECK(found_in(gathered(text, "-I \"/two\" -I'/one'", disk)) ==
        Strings{"<a.h> 2", "<b.h> 3", "\"c.h\" 4"});
  CHECK(found_in(gathered("#include \"a.h\"", "-I../one", disk)) == Strings{"\"a.h\" 1"});
  CHECK(found_in(gathered("#include </one/a.h>", "", disk)) == Strings{"</one/a.h> 1"});
  CHECK(gathered("#include <c.h>", "", disk) == Gathered{});
}

TEST_CASE("gather: a header's headers are beside it first, then in the options' folders") {
  const Disk disk{{"/one/a.h", "#include \"b.h\"\n#include \"c.h\""},
                  {"/one/b.h", "beside"},
                  {"/two/b.h", "other"},
                  {"/two/c.h", "in two"},
                  {"/work/c.h", "of the text"}};
  const Gathered all = gathered("#include \"a.h\"", "-I/two -I/one", disk);
  REQUIRE(all.headers.size() == 3);
  CHECK(all.headers[0].name == "a.h");
  CHECK(all.headers[0].includes == std::vector<Include>{{"\"b.h\"", 1}, {"\"c.h\"", 2}});
  CHECK(all.headers[1].text == "beside");
  CHECK(all.headers[2].text == "in two");
}

TEST_CASE("gather: a text that may be in two folders, with two headers of a name") {
  const std::string text = "#include \"a.h\"";
  CHECK(found_in(gathered(text, "", {{"/work/a.h", "1"}, {"/cache/a.h", "1"}})).size() == 1);
  CHECK(gathered(text, "", {{"/work/a.h", "1"}, {"/cache/a.h", "2"}}) == Gathered{});
  CHECK(gathered(text, "-I/one", {{"/cache/a.h", "1"}, {"/one/a.h", "2"}}) == Gathered{});
  CHECK(found_in(gathered(text, "-I/one", {{"/cache/a.h", "1"}, {"/one/a.h", "1"}})).size() == 1);
}

TEST_CASE("gather: names out of macros") {
  const Disk disk{{"/h/inc types.h", "found"}, {"/h/b.h", "B"}};
  const auto finds = [&](const std::string& operand, const std::string& options,
                         const std::string& before = {}) {
    return gathered(before + "\n#include " + operand + "\n", options, disk).headers.size() == 1;
  };
  const std::string hashcat = "-D XM2S(x)=#x -D M2S(x)=XM2S(x) -D INCLUDE_PATH=/h";
  CHECK(finds("M2S(INCLUDE_PATH/b.h)", hashcat));
  CHECK_FALSE(finds("M2S(INCLUDE_PATH/c.h)", hashcat));
  CHECK_FALSE(finds("M2S(INCLUDE_PATH/b.h", hashcat));
  CHECK_FALSE(finds("M2S(INCLUDE_PATH/b.h, 1)", hashcat));
  CHECK(finds("M2S(FOLDER/b.h)", hashcat + " -D FOLDER=INCLUDE_PATH"));
  CHECK(finds("FILE_", "-DFILE_=\\\"/h/b.h\\\""));
  CHECK(finds("FILE_", "'-DFILE_=\"/h/b.h\"'"));
  CHECK(finds("FILE_", "-DFILE_=<b.h> -I/h"));
  CHECK(finds("FILE_", "", "#define FILE_ \\\n \"/h/inc types.h\" // this one"));
  CHECK(finds("S(/h/inc types.h)", "", "#define S(a) #a"));
  CHECK_FALSE(finds("S(/h/b, h)", "", "#define S(a, b) #a"));
  CHECK_FALSE(finds("A", "", "#define A B\n#define B A"));
  CHECK_FALSE(finds("S(/A)", "", "#define A A/A"));
  CHECK_FALSE(finds("S(A)", "", "#define A \n"));
  CHECK_FALSE(finds("UNKNOWN", ""));
}

TEST_CASE("gather: a macro that has two definitions, or none any more, names no header") {
  const Disk disk{{"/h/a.h", "A"}, {"/h/b.h", "#define NAME \"a.h\""}, {"/h/c.h", "#undef NAME"}};
  const auto count = [&](const std::string& text) {
    return found_in(gathered(text, "-I/h", disk)).size();
  };
  CHECK(count("#define NAME \"a.h\"\n#include NAME") == 1);
  CHECK(count("#ifdef X\n#define NAME \"a.h\"\n#else\n#define NAME  \"a.h\"\n#endif\n"
              "#include NAME") == 1);
  CHECK(count("#ifdef X\n#define NAME \"a.h\"\n#else\n#define NAME \"b.h\"\n#endif\n"
              "#include NAME") == 0);
  CHECK(count("#include NAME\n#include \"b.h\"") == 2);
  // Headers that are named outright are read first.
  CHECK(count("#define NAME \"a.h\"\n#include NAME\n#include \"c.h\"") == 1);
  CHECK(count("#define NAME \"c.h\"\n#include NAME") == 1);
}

TEST_CASE("gather: cycles, comments, quotes and continued lines") {
  const Disk disk{{"/work/a.h", "#include \"b.h\"\n#include \"a.h\""},
                  {"/work/b.h", "#include \"a.h\""}};
  const Gathered all = gathered("#include \"a.h\"\n", "", disk);
  REQUIRE(all.headers.size() == 2);
  CHECK(all.headers[0].includes == std::vector<Include>{{"\"b.h\"", 1}, {"\"a.h\"", 0}});
  CHECK(all.headers[1].includes == std::vector<Include>{{"\"a.h\"", 0}});
  const auto is_found = [&](const std::string& text) {
    return !gathered(text, "", disk).headers.empty();
  };
  CHECK(is_found("/* */ # /* */ include /* x\n */ \"a.h\" // y"));
  CHECK(is_found("#inc\\\nlude \\\r\n\"a.h\""));
  CHECK(is_found("x /* \" */\n#include \"a.h\""));
  CHECK_FALSE(is_found("/*\n#include \"a.h\"\n*/"));
  CHECK_FALSE(is_found("// \\\n#include \"a.h\"\n"));
  CHECK_FALSE(is_found("x #include \"a.h\""));
  CHECK_FALSE(is_found("#include_next \"a.h\""));
  CHECK_FALSE(is_found("char c = '\\\n\n' #include \"a.h\""));
}

TEST_CASE("gather: a name keeps no folder, and limits hold") {
  const Disk disk{{"/etc/.hidden file$", "x"}};
  const Gathered all = gathered("#include \"../../etc/.hidden file$\"", "", disk);
  REQUIRE(all.headers.size() == 1);
  CHECK(all.headers[0].name == "_.hidden_file_");
  CHECK(is_safe_name(all.headers[0].name));
  for (const char* const name : {"", ".", "..", "a/b", "../a", "a b", "a\n", "\xc3\xa9"}) {
    CHECK_FALSE(is_safe_name(name));
  }
  Disk many;
  std::string text;
  for (std::size_t i = 0; i < max_headers + 1; ++i) {
    many["/work/" + std::to_string(i)] = "x";
    text += "#include \"" + std::to_string(i) + "\"\n";
  }
  CHECK(gathered(text, "", many).headers.size() == max_headers);
  const Disk large{{"/work/a", std::string(max_header_bytes, ' ')}, {"/work/b", "x"}};
  CHECK(gathered("#include \"a\"\n#include \"b\"", "", large).headers.size() == 1);
}

TEST_CASE("gather: options without folders keep the others as they were") {
  CHECK(without_folders("-DA=1  -w") == "-DA=1  -w");
  CHECK(without_folders("-DA=1  -I /x -w -I\"/a b\" -D 'B=\"-I c\"' -I") ==
        "-DA=1 -w -D 'B=\"-I c\"'");
  CHECK(without_folders("-D -I/x").empty());
  CHECK(without_folders("-I -x -w") == "-w");
  CHECK(without_folders("'' -w") == "'' -w");
}

}  // namespace clprobe::includes
