// SPDX-License-Identifier: Apache-2.0
#include "text/api/secrets.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace clprobe {
namespace {

std::string hidden(std::string_view text) {
  const std::vector<Place> places{{"/home/alice", "~"},
                                  {"/home/alice/work", "."},
                                  {"/var/pocl", "$POCL_CACHE_DIR"},
                                  {"alice", "USER"},
                                  {"box7", "HOST"},
                                  {"/root", "~"},
                                  {"/", "ROOT"},
                                  {"", "NOTHING"}};
  return hide_places(text, places);
}

}  // namespace

TEST_CASE("folders are replaced where they begin a path, the inner one first") {
  CHECK(hidden("cannot open /home/alice/.cache/x: no") == "cannot open ~/.cache/x: no");
  CHECK(hidden("\"/home/alice\"") == "\"~\"");
  CHECK(hidden("/home/alice/work/a.cl:3: error") == "./a.cl:3: error");
  CHECK(hidden("(/home/alice/works/a.cl)") == "(~/works/a.cl)");
  CHECK(hidden("/var/pocl/AJ/x.so /var/pocl") == "$POCL_CACHE_DIR/AJ/x.so $POCL_CACHE_DIR");
  CHECK(hidden("-I/home/alice/include") == "-I~/include");
  CHECK(hidden("/root/x, -L/mnt/home/alice/x") == "~/x, -L/mnt~/x");
  CHECK(hidden("/opt/root/x") == "/opt/root/x");
  // Others of which they are a part.
  CHECK(hidden("/home/alicette/x") == "/home/alicette/x");
  CHECK(hidden("/var/pocl-3/x") == "/var/pocl-3/x");
  CHECK(hidden("/usr/lib/x.so") == "/usr/lib/x.so");
}

TEST_CASE("names are replaced in paths and addresses, and not in prose") {
  CHECK(hidden("/scratch/alice/x") == "/scratch/USER/x");
  CHECK(hidden("/tmp/pocl-alice.1/x") == "/tmp/pocl-USER.1/x");
  CHECK(hidden("alice@box7: denied") == "USER@HOST: denied");
  CHECK(hidden("box7:/export") == "HOST:/export");
  CHECK(hidden("malice and alice in box7") == "malice and alice in box7");
  CHECK(hidden("/opt/alice2/x") == "/opt/alice2/x");
  CHECK(hidden("/opt/\xC3\xA9"
               "alice/x") ==
        "/opt/\xC3\xA9"
        "alice/x");
  CHECK(hidden("").empty());
}

}  // namespace clprobe
