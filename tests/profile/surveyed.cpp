// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "modes.hpp"

namespace {

struct Mode {
  std::string_view word;
  int (*run)(surveyed::Words);
};

constexpr std::array modes{
    Mode{"many", surveyed::many},           Mode{"threads", surveyed::threads},
    Mode{"events", surveyed::events},       Mode{"programs", surveyed::programs},
    Mode{"binary", surveyed::binary},       Mode{"tasks", surveyed::tasks},
    Mode{"sizes", surveyed::sizes},         Mode{"gaps", surveyed::gaps},
    Mode{"queues", surveyed::queues},       Mode{"unfinished", surveyed::unfinished},
    Mode{"crash", surveyed::crash},         Mode{"leave", surveyed::leave},
    Mode{"fork", surveyed::fork_away},      Mode{"orphan", surveyed::orphan},
    Mode{"parts", surveyed::parts},         Mode{"images", surveyed::images},
    Mode{"opengl", surveyed::opengl},       Mode{"pipe", surveyed::pipe},
    Mode{"il", surveyed::intermediate},     Mode{"headers", surveyed::headers},
    Mode{"held-back", surveyed::held_back}, Mode{"second", surveyed::second},
    Mode{"nothing", surveyed::nothing},     Mode{"polls", surveyed::polls},
    Mode{"drops", surveyed::drops},         Mode{"dies", surveyed::dies},
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  for (const Mode& mode : modes) {
    if (arguments.empty() || mode.word != arguments.front()) continue;
    return mode.run(surveyed::Words(arguments).subspan(1));
  }
  std::fprintf(stderr, "surveyed: no such mode\n");
  return 2;
}
