// SPDX-License-Identifier: Apache-2.0
// Where a kernel's cycles go, as far as devices without counters tell. Method: docs/stalls.md.
#include <array>
#include <chrono>

#include "clprobe/probe.hpp"
#include "probes/shared/limits.hpp"
#include "probes/stalls/device.hpp"

namespace clprobe::stalls {

extern const Probe probe;

namespace {

// Few points, of which each is a kernel as a whole: a search with one queue takes seconds to
// simulate.
constexpr Budgets budgets{.quick = {.probe_time = std::chrono::seconds(20), .max_visits = 1},
                          .normal = {.probe_time = std::chrono::seconds(60), .max_visits = 3},
                          .thorough = {.probe_time = std::chrono::seconds(180), .max_visits = 6}};

}  // namespace

namespace {

constexpr std::array<std::string_view, 9> case_words{
    "memory", "latency", "banks", "barrier", "chain", "divergence", "uts", "utsd", "implicit"};
constexpr Option options[]{
    {.name = "case",
     .value_name = "LIST",
     .summary = "kernels whose stalls are shown",
     .details = "Kernels whose stalls are shown, as a comma list: a tree search with one queue "
                "(`uts`), with a queue for each compute unit (`utsd`), a pass over an array by "
                "way of local memory (`implicit`), and on devices kernels that are built to "
                "wait for one thing (`memory`, `latency`, `banks`, `barrier`, `chain`, "
                "`divergence`). Without it, all that the device can run.",
     .value = Choices{case_words}},
};

}  // namespace

const Probe probe{
    .id = "stalls",
    .title = "Stalls",
    .question = "Where do a kernel's cycles go?",
    .options = options,
    .view = {.kind = ViewKind::stacks},
    .budgets = budgets,
    .plan = [](const DeviceInfo& device,
               const Request& request) { return plan(device, limits_of(request)); },
    .open = [](Session& session) -> Preparer {
      return [&session](const Point& point) { return prepare(session, point); };
    },
    .variants = variants,
    .analyse = analyse,
};

}  // namespace clprobe::stalls
