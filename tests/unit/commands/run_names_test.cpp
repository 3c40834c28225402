// SPDX-License-Identifier: Apache-2.0
#include "app/commands/stored_runs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace clprobe::commands {

TEST_CASE("a comparison's files are told apart by no more folders than that takes") {
  using Names = std::vector<std::string>;
  CHECK(run_names({"a.json", "runs/b.json"}) == Names{"a.json", "runs/b.json"});
  CHECK(run_names({"a.json", "/home/alice/b.json"}) == Names{"a.json", "b.json"});
  CHECK(run_names({"/home/alice/x/r.json", "/home/alice/y/r.json"}) ==
        Names{"x/r.json", "y/r.json"});
  CHECK(run_names({"/home/alice/x/r.json", "/home/alice/x/r.json"}) == Names{"r.json", "r.json"});
  CHECK(run_names({"r.json", "../alice/r.json"}) == Names{"r.json", "alice/r.json"});
  CHECK(run_names({"r.json", "/r.json"}) == Names{"r.json", "/r.json"});
  CHECK(run_names({"a/../../alice/r.json"}) == Names{"r.json"});
  CHECK(run_names({"/r.json[0]", "/r.json[1]"}) == Names{"r.json[0]", "r.json[1]"});
  CHECK(run_names({}).empty());
}

}  // namespace clprobe::commands
