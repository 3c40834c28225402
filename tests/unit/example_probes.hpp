// SPDX-License-Identifier: Apache-2.0
// Two made-up probes for tests of the command line: it must know no real one.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "clprobe/probe.hpp"

namespace clprobe::example {

inline constexpr std::array<std::string_view, 3> address_words{"auto", "pointer", "offset"};
inline constexpr std::array<std::string_view, 3> operation_words{"read", "write", "copy"};

inline constexpr Option latency_options[]{
    {.name = "sizes",
     .value_name = "RANGE",
     .summary = "working sets",
     .details = "Working sets.",
     .value = Sizes{}},
    {.name = "step",
     .value_name = "SIZE",
     .summary = "bytes between nodes",
     .details = "Bytes between nodes.",
     .value = Size{.multiple_of = 8}},
    {.name = "unroll",
     .value_name = "N",
     .summary = "loads in one iteration",
     .details = "Loads in one iteration.",
     .value = Number{1, 64}},
    {.name = "address",
     .value_name = "FORM",
     .summary = "how a load is addressed",
     .details = "How a load is addressed.",
     .value = Choice{address_words}},
};
inline constexpr Series latency_series[]{{.name = "global"}, {.name = "local"}};

inline constexpr Option bandwidth_options[]{
    {.name = "grid",
     .value_name = "N",
     .summary = "work-items",
     .details = "Work-items.",
     .value = Count{.power_of_two = true}},
    {.name = "operation",
     .value_name = "LIST",
     .summary = "what is done",
     .details = "What is done.",
     .value = Choices{operation_words}},
    {.name = "loads",
     .value_name = "LIST",
     .summary = "independent loads",
     .details = "Independent loads.",
     .value = Numbers{1, 16}},
    {.name = "step",
     .value_name = "SIZE",
     .summary = "bytes between elements",
     .details = "Bytes between elements.",
     .value = Size{}},
};

inline constexpr Probe latency{.id = "latency",
                               .title = "Latency",
                               .question = "How long does a load take?",
                               .options = latency_options,
                               .series = latency_series};
inline constexpr Probe bandwidth{.id = "bandwidth",
                                 .title = "Bandwidth",
                                 .question = "How much is moved?",
                                 .options = bandwidth_options};

inline constexpr std::array probe_list{&latency, &bandwidth};

inline std::span<const Probe* const> probes() { return probe_list; }

}  // namespace clprobe::example
