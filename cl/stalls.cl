// SPDX-License-Identifier: Apache-2.0
// Kernels whose causes of waiting arguments can remove one by one, while the instructions stay:
// masks, strides and branches that no compiler knows. clock.clh is put before this file.
// Parameters:
//   PART  0: stalls_fill and stalls_mixed, 1: stalls_copy, 2: stalls_search
//   WAY     of stalls_copy, 0: loads and stores, 1: async_work_group_copy, 2: no copy
//   STAMPS  of stalls_mixed, 1: it reads clocks when sub-groups begin, end, and meet; 2: when they
//           begin and end
//   STRUCTURAL  of stalls_mixed, 1: its work waits for a unit (stalls_structural.clh), and nothing
//           else is in it but loads; 2: it may have a fence, too
//
// The host computes the results of some work-items again (src/probes/stalls).

#include "mixed.clh"
#include "stamps.clh"

#define LINE_WORDS 32u
#define TILE_WORDS 1024u
// Numerical Recipes' generator; of its bits only the upper ones are any good.
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
