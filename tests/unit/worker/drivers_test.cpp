// SPDX-License-Identifier: Apache-2.0
// Drivers that the loaders open, read from temporary folders.
#include "measure/worker/drivers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace clprobe {
namespace {

namespace fs = std::filesystem;

/// Temporary folder, which the destructor removes.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "drivers-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_{};
};

LoaderVariables vendors(const std::string& value) { return {value, "", ""}; }

}  // namespace

TEST_CASE("a folder: its .icd files by name, and of each the first line") {
  const Folder folder;
  folder.write("b.icd", "libb.so.1\n");
  folder.write("a.icd", "/opt/a/liba.so\nanother line\n");
  folder.write("c.txt", "libc.so\n");
  folder.write("empty.icd", "");
  fs::create_directory(folder.file("folder.icd"));
  const std::vector<Driver> expected{{folder.file("a.icd"), "/opt/a/liba.so"},
                                     {folder.file("b.icd"), "libb.so.1"}};
  CHECK(registered_drivers(vendors(folder.path())) == expected);
  CHECK(registered_drivers({"", folder.path(), ""}) == expected);
  // OCL_ICD_VENDORS takes precedence.
  CHECK(registered_drivers({folder.file("b.icd"), folder.path(), ""}).size() == 1);
}

TEST_CASE("what a side's own variables say comes before the environment") {
  setenv("OCL_ICD_VENDORS", "/usual", 1);
  CHECK(LoaderVariables::of_environment().icd_vendors == "/usual");
  const LoaderVariables own = LoaderVariables::of_environment({{"OCL_ICD_VENDORS", "/first"},
                                                               {"OCL_ICD_VENDORS", "/own"},
                                                               {"OCL_ICD_FILENAMES", "lib.so"}});
  CHECK(own.icd_vendors == "/own");
  CHECK(own.icd_filenames == "lib.so");
  unsetenv("OCL_ICD_VENDORS");
}

TEST_CASE("an ICD file, by its path or by its name in the folder, and a library") {
  const Folder folder;
  folder.write("a.icd", "liba.so\n");
  const std::vector<Driver> a{{folder.file("a.icd"), "liba.so"}};
  CHECK(registered_drivers(vendors(folder.file("a.icd"))) == a);
  CHECK(registered_drivers({"a.icd", folder.path(), ""}) == a);
  CHECK(registered_drivers(vendors(folder.file("none.icd"))).empty());
  const std::string none = folder.file("none/");
  CHECK(registered_drivers(vendors(none)) == std::vector<Driver>{{none, none}});
  CHECK(registered_drivers(vendors("libx.so")) == std::vector<Driver>{{"libx.so", "libx.so"}});
}

TEST_CASE("OCL_ICD_FILENAMES: libraries beside those of the folder") {
  const Folder folder;
  folder.write("a.icd", "liba.so\n");
  CHECK(registered_drivers({folder.path(), "", "libx.so::/y/liby.so:"}) ==
        std::vector<Driver>{{"libx.so", "libx.so"},
                            {"/y/liby.so", "/y/liby.so"},
                            {folder.file("a.icd"), "liba.so"}});
}

TEST_CASE("a folder of some drivers holds these, in their order, and is gone with its owner") {
  const std::vector<Driver> drivers{{"z.icd", "libz.so"}, {"liba.so", "liba.so"}};
  std::string path;
  {
    const DriverFolder folder(drivers);
    CHECK(folder.path().ends_with('/'));  // some loaders append a file name
    path = folder.path();
    const std::vector<Driver> found = registered_drivers(vendors(path));
    REQUIRE(found.size() == 2);
    CHECK(found[0].library == "libz.so");
    CHECK(found[1].library == "liba.so");
  }
  CHECK_FALSE(fs::exists(path));
}

}  // namespace clprobe
