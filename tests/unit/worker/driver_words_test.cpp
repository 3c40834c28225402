// SPDX-License-Identifier: Apache-2.0
#include "measure/device/driver_words.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/hidden_text.hpp"

namespace clprobe {
namespace {

/// Environment variable with a test value; the destructor restores the old one.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name); old != nullptr) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;
  ~Variable() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_{};
};

}  // namespace

TEST_CASE("a driver's words have no folder of this person, nothing hidden, and an end") {
  const Variable home("HOME", "/home/alicesecret/");
  const Variable user("USER", "alicesecret");
  const Variable cache("POCL_CACHE_DIR", "/mnt/cachesecret");
  CHECK(clean_driver_words("/home/alicesecret/.cache/x.so: bad") == "~/.cache/x.so: bad");
  CHECK(clean_driver_words("/mnt/cachesecret/AJ") == "$POCL_CACHE_DIR/AJ");
  CHECK(clean_driver_words("/run/alicesecret/x") == "/run/USER/x");
  const std::string here = std::filesystem::current_path().string();
  CHECK(clean_driver_words("in " + here + "/a.cl:") == "in ./a.cl:");
  CHECK(clean_driver_words(std::string(1200, 'x')).size() == 1200);
  CHECK(clean_driver_words(std::string(1201, 'x')) == std::string(1197, 'x') + "...");
  for (const HiddenCharacter& each : hidden_characters) {
    CAPTURE(each.name);
    CHECK(first_hidden(clean_driver_words("gpu" + std::string(each.utf8))).empty());
  }
}

TEST_CASE("short names and those of every machine are no secret") {
  const Variable user("USER", "al");
  const Variable logname("LOGNAME", "root");
  CHECK(clean_driver_words("/opt/al/root/x") == "/opt/al/root/x");
}

TEST_CASE("PoCL's cache is where PoCL looks, and what is wrong with it is said") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("clprobe-cache-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Variable home("HOME", "/home/me");
  {
    const Variable caches("XDG_CACHE_HOME", "/caches");
    const Variable cache("POCL_CACHE_DIR", folder.string());
    CHECK(pocl_cache_folder() == folder.string());
    CHECK(advise_about_pocl_cache().empty());
    setenv("POCL_CACHE_DIR", "", 1);
    CHECK(pocl_cache_folder() == "/caches/pocl");
    setenv("XDG_CACHE_HOME", "", 1);
    CHECK(pocl_cache_folder() == "/home/me/.cache/pocl");
  }
  CHECK(cache_problem(folder.string()).empty());
  CHECK(cache_problem((folder / "made" / "later").string()).empty());
  CHECK(std::filesystem::is_empty(folder));
  std::ofstream(folder / "file") << "x";
  CHECK(cache_problem((folder / "file").string()) == "Not a directory");
  CHECK(cache_problem("/proc/self/nosuch/x") != "");
  {
    const Variable cache("POCL_CACHE_DIR", (folder / "file").string());
    CHECK(advise_about_pocl_cache().find("set POCL_CACHE_DIR") != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace clprobe
