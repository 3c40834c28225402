// SPDX-License-Identifier: Apache-2.0
// What only one probe knows.
#include <array>

#include "cli/flag_groups.hpp"
#include "cli/updates.hpp"

namespace clprobe::cli {
namespace {

constexpr std::array probe_rows{
    Flag{
        .name = "elements",
        .value_name = "N",
        .kind = ValueKind::text,
        .category = Category::stride,
        .commands = measuring,
        .summary = "elements in each buffer, a power of two: 2^28, 256M",
        .details =
            "Elements in each buffer, a power of two: `268435456`, `256M` or `2^28`. Without it, 1 "
            "GiB of them on a large GPU, 256 MiB on another, four times the last cache on a CPU.",
        .update = update_elements},
    Flag{.name = "grid",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::stride,
         .commands = measuring,
         .summary = "work-items of a launch, a power of two",
         .details = "Work-items of a launch, a power of two that is at most the number of "
                    "elements. Without it, enough to fill the device twice.",
         .update = update_grid},
    Flag{.name = "work-group",
         .value_name = "N",
         .kind = ValueKind::text,
         .category = Category::stride,
         .commands = measuring,
         .summary = "work-items in a work-group, a power of two",
         .details = "Work-items in a work-group, a power of two that is at most the grid. Without "
                    "it, 256.",
         .update = update_work_group},
    Flag{.name = "type",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "types of the elements",
         .details = "Types of the elements, as a comma list; `int` by default.",
         .choices = type_words,
         .update = update_type},
    Flag{.name = "vector",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "values in an element",
         .details = "How many values an element has, as a comma list: `4` makes it an int4. "
                    "Without it, 1 and 4, and 16 on a CPU as well.",
         .choices = vector_words,
         .update = update_vector},
    Flag{.name = "operation",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "what is done with the elements",
         .details = "What a work-item does with its elements, as a comma list: `read` them, "
                    "`write` them, `copy` them to another buffer, or `update` them in place. A "
                    "copy and an update move every byte twice, and both count.",
         .choices = operation_words,
         .update = update_operation},
    Flag{.name = "buffer",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stride,
         .commands = measuring,
         .summary = "where the buffers lie",
         .details = "Where the buffers lie, as a comma list: in the memory of the `device`, in "
                    "memory that the driver takes from the `host` (CL_MEM_ALLOC_HOST_PTR), or in "
                    "shared virtual memory, `svm`. The first by default.",
         .choices = buffer_words,
         .update = update_buffer},
    Flag{.name = "timer",
         .value_name = "WORD",
         .kind = ValueKind::choice,
         .category = Category::stride,
         .commands = measuring,
         .summary = "what times a launch",
         .details = "What times a launch: its `event`, or the clock of the `host`. Without it, "
                    "events where they are true.",
         .choices = timer_words,
         .update = update_timer},
    Flag{.name = "work-items",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "work-items of the group: 2-64 or 32,64,128",
         .details =
             "How many work-items the one work-group has: numbers and ranges, at most 256 of "
             "them. Without it, every second up to two sub-groups, every eighth up to what "
             "a group takes, and every second around jumps.",
         .update = update_work_items},
    Flag{.name = "loads",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "independent loads of a work-item: 1-4 or 1,2,8",
         .details = "How many loads each work-item makes that do not wait for each other: numbers "
                    "and ranges from 1 to 16. Without it, 1, 2, 3, 4 and 8.",
         .update = update_loads},
    Flag{.name = "mergers",
         .value_name = "LIST",
         .kind = ValueKind::text,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "work-items, and sub-groups, that share a line: 1,2,4",
         .details = "How many neighbouring work-items share a line, and, in curves of their own, "
                    "the same lanes of how many neighbouring sub-groups: numbers and ranges. "
                    "Without it, 1, and 2, 4 and 8 where that shows a limit.",
         .update = update_mergers},
    Flag{.name = "target",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::inflight,
         .commands = measuring,
         .summary = "what answers the loads",
         .details =
             "What answers the loads, as a comma list: the last `cache`, `memory`, or, where "
             "a device reads it without a copy, memory of the `host`. The first two by "
             "default.",
         .choices = target_words,
         .update = update_target},
    Flag{.name = "case",
         .value_name = "LIST",
         .kind = ValueKind::choices,
         .category = Category::stalls,
         .commands = measuring,
         .summary = "kernels whose stalls are shown",
         .details = "Kernels whose stalls are shown, as a comma list: a tree search with one queue "
                    "(`uts`), with a queue for each compute unit (`utsd`), a pass over an array by "
                    "way of local memory (`implicit`), and on devices kernels that are built to "
                    "wait for one thing (`memory`, `latency`, `banks`, `barrier`, `chain`, "
                    "`divergence`). Without it, all that the device can run.",
         .choices = case_words,
         .update = update_case},
};

}  // namespace

std::span<const Flag> probe_flags() { return probe_rows; }

}  // namespace clprobe::cli
