// SPDX-License-Identifier: Apache-2.0
// Kernels from which arguments remove causes of waiting, one by one. The arguments are masks,
// strides and conditions that compilers do not know, so the instructions stay. The host puts
// clock.clh before this file, and recomputes the results of some work-items (src/probes/stalls).
// Parameters:
//   PART        0: stalls_fill and stalls_mixed, 1: stalls_copy, 2: stalls_search
//   WAY         copy by stalls_copy, 0: loads and stores, 1: async_work_group_copy, 2: no copy
//   STAMPS      of stalls_mixed, 1: it reads clocks at the beginning, the end and the barriers of
//               sub-groups; 2: only at the beginning and the end
//   STRUCTURAL  of stalls_mixed, 1: its work waits for a unit (stalls_structural.clh), and includes
//               nothing else except loads; 2: it can also have a fence

#include "mixed.clh"
#include "stamps.clh"

#define LINE_WORDS 32u
#define TILE_WORDS 1024u
// Generator from Numerical Recipes. Only the upper bits of its states are random.
#define NEXT(state) ((state)*1664525u + 1013904223u)
#define LINE_OF(state, mask) (((state) >> 8) & (mask))
#define STEP(x) x = ((x)*multiplier) ^ addend;

#if PART == 0
#include "stalls_noise.clh"
#if STRUCTURAL
#include "stalls_structural.clh"
#endif
#include "stalls_mixed.clh"
#elif PART == 1
#include "stalls_copy.clh"
#else
#include "stalls_search.clh"
#endif
