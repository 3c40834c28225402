// SPDX-License-Identifier: Apache-2.0
// Bundles on disk, hostile ones among them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "profile/api/bundle.hpp"
#include "system/api/files.hpp"

namespace clprobe::bundle {
namespace {

Bundle read_bundle(const std::string& folder, const std::string& headers = {}) {
  return read_source({.launch = folder, .kernel_file = {}, .headers = headers});
}

Bundle read_described(const std::string& text_path, const std::string& launch_path,
                      const std::string& headers = {}) {
  return read_source({.launch = launch_path, .kernel_file = text_path, .headers = headers});
}

namespace fs = std::filesystem;

constexpr std::string_view text = "kernel void k(global int* a) { a[0] = 1; }";
const std::string bytes(64, 'x');

/// A bundle of one kernel and one object.
class TestBundle {
 public:
  TestBundle() {
    launch.program.units = {{sha256_of(text), "-DN=1", {}}};
    launch.kernel = "k";
    launch.range = {.dimensions = 1, .offset = {}, .global = {16}, .local = {}};
    launch.objects = {{.name = "a", .bytes = bytes.size(), .sha256 = sha256_of(bytes)}};
    launch.arguments = {{.kind = ArgumentKind::buffer, .object = 0}};
    write(text_file(sha256_of(text)), std::string(text));
    write(object_file(sha256_of(bytes)), bytes);
    save();
  }

  void save() { write(std::string(launch_file), to_json(launch)); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path_of(name), std::ios::binary) << content;
  }
  [[nodiscard]] fs::path path_of(const std::string& name) const {
    return fs::path(folder_.path()) / name;
  }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  /// Why it cannot be read; empty where it can.
  [[nodiscard]] std::string refusal() const {
    try {
      const Bundle bundle = read_bundle(folder());
      for (const Object& object : bundle.launch.objects) {
        static_cast<void>(read_object(bundle, object, 1));
      }
    } catch (const FormatError& error) {
      return error.what();
    }
    return {};
  }

  Launch launch{};

 private:
  system::TemporaryFolder folder_{};
};

bool has(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("bundle: texts and objects are what their names say") {
  const TestBundle made;
  const Bundle bundle = read_bundle(made.folder());
  CHECK(bundle.launch == made.launch);
  REQUIRE(bundle.texts.size() == 1);
  CHECK(bundle.texts.front() == text);
  CHECK(bundle.id.size() == 16);
  CHECK(read_object(bundle, bundle.launch.objects.front(), 1) == bytes);
  CHECK(made.refusal().empty());
}

TEST_CASE("bundle: another text, size or hash, a missing file and a link are refused") {
  SUBCASE("another text") {
    const TestBundle made;
    made.write(text_file(sha256_of(text)), "kernel void k() {}");
    CHECK(has(made.refusal(), "does not match the SHA-256 in its name"));
  }
  SUBCASE("other bytes") {
    const TestBundle made;
    made.write(object_file(sha256_of(bytes)), std::string(64, 'y'));
    CHECK(has(made.refusal(), "does not match the SHA-256 in its name"));
  }
  SUBCASE("more bytes than it says") {
    const TestBundle made;
    made.write(object_file(sha256_of(bytes)), std::string(65, 'x'));
    CHECK(has(made.refusal(), "has 65 bytes instead of 64"));
    CHECK_THROWS_AS(read_bundle(made.folder()), FormatError);  // before anything is measured
  }
  SUBCASE("another size in the launch") {
    TestBundle made;
    made.launch.objects.front().bytes = 65;
    made.save();
    CHECK(has(made.refusal(), "has 64 bytes instead of 65"));
  }
  SUBCASE("a missing file") {
    const TestBundle made;
    fs::remove(made.path_of(object_file(sha256_of(bytes))));
    CHECK(has(made.refusal(), "No such file"));
  }
  SUBCASE("a link, though to the right bytes") {
    const TestBundle made;
    const fs::path object = made.path_of(object_file(sha256_of(bytes)));
    fs::rename(object, made.path_of("elsewhere"));
    fs::create_symlink("elsewhere", object);
    CHECK(has(made.refusal(), "symbolic link"));
  }
  SUBCASE("a folder") {
    const TestBundle made;
    fs::remove(made.path_of(text_file(sha256_of(text))));
    fs::create_directory(made.path_of(text_file(sha256_of(text))));
    CHECK(has(made.refusal(), "cannot read"));
  }
  SUBCASE("no bundle at all") { CHECK_THROWS_AS(read_bundle("/no/such/folder"), FormatError); }
}

TEST_CASE("bundle: the same launch has the same id, and another argument another") {
  TestBundle made;
  const std::string id = read_bundle(made.folder()).id;
  made.launch.tool = "another";
  made.launch.ordinal = 7;
  made.launch.app_event_ns = {12};
  made.launch.epilogue = {{0, sha256_of("other")}};
  made.save();
  CHECK(read_bundle(made.folder()).id == id);
  made.launch.arguments.push_back({.kind = ArgumentKind::local, .bytes = 4});
  made.save();
  CHECK(read_bundle(made.folder()).id != id);
}

TEST_CASE("described: a text beside the launch, in the place of one that it names") {
  TestBundle made;
  made.write("k.cl", "kernel void k(global int* a) { a[0] = 2; }");
  const std::string kernel = made.path_of("k.cl").string();
  const std::string launch = made.path_of(std::string(launch_file)).string();
  const Bundle other = read_described(kernel, launch);
  CHECK(other.texts.front() == "kernel void k(global int* a) { a[0] = 2; }");
  CHECK(other.id != read_bundle(made.folder()).id);
  CHECK(read_object(other, other.launch.objects.front(), 1) == bytes);
  made.launch.program.units = {{"", "-DN=2", {}}};
  made.save();
  const Bundle bundle = read_described(kernel, launch);
  CHECK(bundle.launch.program.units.front() == Unit{sha256_of(bundle.texts.front()), "-DN=2", {}});
  CHECK(has(made.refusal(), "--kernel-file"));
  made.launch.program.units.push_back({"", "", {}});
  made.save();
  CHECK_THROWS_AS(read_described(kernel, launch), FormatError);
}

namespace {

constexpr std::string_view including =
    "#include \"a.h\"\n#ifdef NOBODY\n#include <none.h>\n#endif\nkernel void k() {}\n";

/// The text of the bundle includes a header, which includes another one.
void add_headers(TestBundle& made) {
  made.launch.program.units = {{sha256_of(including), "-DN=1 -I /somewhere -w", {{"\"a.h\"", 0}}}};
  made.launch.program.headers = {{"a.h", sha256_of("#include \"b.h\"\nA\n"), {{"\"b.h\"", 1}}},
                                 {"b.h", sha256_of("B\n"), {}}};
  made.write(text_file(sha256_of(including)), std::string(including));
  made.write(text_file(sha256_of("#include \"b.h\"\nA\n")), "#include \"b.h\"\nA\n");
  made.write(text_file(sha256_of("B\n")), "B\n");
  made.save();
}

TEST_CASE("a description of a launch to edit, from the kernel's text") {
  const std::string made = launch_template(
      "int f(int a) { return a; }\n"
      "kernel void scale(global const float4 *restrict in, __constant unsigned int* table,\n"
      "                  local double* tile, const int n, float factor, size_t last) {}");
  const Launch launch = launch_from_json(made);
  CHECK(launch.kernel == "scale");
  REQUIRE(launch.arguments.size() == 6);
  CHECK(launch.arguments[2].kind == ArgumentKind::local);
  REQUIRE(launch.objects.size() == 2);
  CHECK(launch.objects[0].contents->type == Type::float32);
  CHECK(launch.objects[1].contents->type == Type::uint32);
  CHECK(launch.objects[1].contents->fill == Fill::iota);
  const auto arguments = nlohmann::json::parse(made)["arguments"];
  CHECK(arguments[3] == nlohmann::json{{"type", "int"}, {"value", 1024}});
  CHECK(arguments[4] == nlohmann::json{{"type", "float"}, {"value", 1}});
  CHECK(arguments[5] == nlohmann::json{{"type", "ulong"}, {"value", 1024}});
  CHECK_THROWS_WITH_AS(launch_template("int f(int a) { return a; }"), "the text has no kernel",
                       FormatError);
}

}  // namespace

TEST_CASE("bundle: headers are in the text, and their folders in no option") {
  TestBundle made;
  add_headers(made);
  const Bundle bundle = read_bundle(made.folder());
  REQUIRE(bundle.texts.size() == 1);
  CHECK(has(bundle.texts.front(), "\nB\n"));
  CHECK(has(bundle.texts.front(), "\nA\n"));
  CHECK(has(bundle.texts.front(), "#error missing header: <none.h>"));
  CHECK(bundle.missing == std::vector<std::string>{"<none.h>"});
  CHECK(bundle.options == std::vector<std::string>{"-DN=1 -w"});
  CHECK(bundle.launch == made.launch);
  made.launch.program.headers[1].sha256 = sha256_of("C\n");
  made.write(text_file(sha256_of("C\n")), "C\n");
  made.save();
  CHECK(read_bundle(made.folder()).id != bundle.id);
}

TEST_CASE("bundle: headers that are not what their names say, too large, or double for ever") {
  TestBundle made;
  add_headers(made);
  SUBCASE("another text") {
    made.write(text_file(sha256_of("B\n")), "C\n");
    CHECK(has(made.refusal(), "does not match the SHA-256 in its name"));
  }
  SUBCASE("a missing file") {
    fs::remove(made.path_of(text_file(sha256_of("B\n"))));
    CHECK(has(made.refusal(), "No such file"));
  }
  SUBCASE("a link") {
    fs::remove(made.path_of(text_file(sha256_of("B\n"))));
    fs::create_symlink("/etc/passwd", made.path_of(text_file(sha256_of("B\n"))));
    CHECK(has(made.refusal(), "symbolic link"));
  }
  SUBCASE("more than all together may have") {
    const std::string large(includes::max_header_bytes, ' ');
    made.launch.program.headers[0] = {"a.h", sha256_of(large), {}};
    made.write(text_file(sha256_of(large)), large);
    made.save();
    CHECK(has(made.refusal(), "File too large"));
  }
  SUBCASE("a text that would be too long") {
    const std::string half(includes::max_whole_bytes / 2, ' ');
    const std::string twice = "#include \"a.h\"\n#include \"a.h\"\n";
    made.launch.program.headers = {{"a.h", sha256_of(half), {}}};
    made.launch.program.units = {{sha256_of(twice), "", {{"\"a.h\"", 0}}}};
    made.write(text_file(sha256_of(half)), half);
    made.write(text_file(sha256_of(twice)), twice);
    made.save();
    CHECK(has(made.refusal(), "bytes with its headers"));
  }
}

TEST_CASE("described: headers beside the text and in folders of the options, the bundle's first") {
  TestBundle made;
  add_headers(made);
  const std::string kernel = made.path_of("k.cl").string();
  const std::string launch = made.path_of(std::string(launch_file)).string();
  made.write("k.cl", "#include \"a.h\"\n#include \"c.h\"\n#include <d.h>\n#include <e.h>\n");
  made.write("a.h", "another\n");
  made.write("c.h", "#include \"c2.h\"\nC\n");
  made.write("c2.h", "C2\n");
  fs::create_directory(made.path_of("folder"));
  made.write("folder/d.h", "E\n");
  made.launch.program.units.front().options = "-I" + made.path_of("folder").string();
  made.save();
  const Bundle bundle = read_described(kernel, launch);
  for (const char* const part : {"\nA\n", "\nB\n", "\nC\n", "\nC2\n", "\nE\n"}) {
    CAPTURE(part);
    CHECK(has(bundle.texts.front(), part));
  }
  CHECK_FALSE(has(bundle.texts.front(), "another"));
  CHECK(bundle.missing == std::vector<std::string>{"<e.h>"});
  CHECK(bundle.options == std::vector<std::string>{""});
}

TEST_CASE("bundle: no file outside of it is in its text, unless its folder is named") {
  TestBundle made;
  const system::TemporaryFolder elsewhere;
  const std::string secret = elsewhere.path() + "/secret.h";
  std::ofstream(secret) << "SECRET\n";
  fs::create_symlink(secret, made.path_of("link.h"));
  const std::string relative = fs::relative(secret, fs::current_path()).string();
  for (const std::string& name : {secret, std::string("secret.h"), std::string("link.h"), relative,
                                  fs::relative(secret, made.folder()).string()}) {
    CAPTURE(name);
    const std::string kernel_text = "#include \"" + name + "\"\n";
    const std::string options = "-I" + elsewhere.path() + " -I " + made.folder();
    made.launch.program.units = {{sha256_of(kernel_text), options, {}}};
    made.write(text_file(sha256_of(kernel_text)), kernel_text);
    made.write("k.cl", kernel_text);
    made.save();
    const std::string kernel = made.path_of("k.cl").string();
    const std::string launch = made.path_of(std::string(launch_file)).string();
    CHECK_FALSE(has(read_bundle(made.folder()).texts.front(), "SECRET"));
    CHECK_FALSE(has(read_described(kernel, launch).texts.front(), "SECRET"));
    const std::string& allowed = elsewhere.path();
    CHECK(has(read_described(kernel, launch, allowed).texts.front(), "SECRET"));
    if (name == "link.h") continue;  // a bundle's folder has nothing but the bundle
    CHECK(has(read_bundle(made.folder(), allowed).texts.front(), "SECRET"));
  }
}

TEST_CASE("sources: what a process is told is what it hears") {
  const std::vector<Source> sources{{"/a b/c", "", "/f"}, {"d.json", "e.cl", ""}};
  REQUIRE(::setenv(sources_variable.data(), to_environment(sources).c_str(), 1) == 0);
  CHECK(sources_of_environment() == sources);
  ::unsetenv(sources_variable.data());
  CHECK(sources_of_environment().empty());
  CHECK_THROWS_AS(to_environment({{"a\xff", "", ""}}), FormatError);
}

}  // namespace clprobe::bundle
