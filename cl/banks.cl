// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of local memory. The offsets of the accesses come from the host, so that one build
// serves all patterns. A work-item makes CHAINS * STEPS accesses of WORD bytes per iteration. The
// host puts clock.clh before this file. Parameters:
//   WORD    bytes per access: 4, 8 or 16
//   STORE   1: stores, otherwise loads
//   CHAINS  independent accesses, 1 to 32
//   STEPS   accesses of a chain per iteration, 1 or 32
//   ONCE    1: one iteration without a loop, because a loop would take as long as a few accesses
//   LOCAL_BYTES  bytes of local memory, at least the footprint plus 16
//   TRANSPOSE  1: builds banks_transpose (banks_transpose.clh) instead of banks_access
//   GROUP   size of the work-group, if it exceeds the size that compilers assume
//
// For loads, each word of the footprint contains the offset of the word `hop` bytes further in its
// block of 8 KiB. The address of a load is the result of the previous load in its chain, so that
// compilers cannot merge, drop or move loads. `hop` is a multiple of the width of all banks, so a
// chain stays in its bank. The other components of a wide word are 0 and are added, so that
// compilers cannot narrow the load. A store writes its own offset. Only one instruction computes
// the next offset in the bank, because the stores would otherwise wait for arithmetic.

#include "banks_words.clh"
#include "mixed.clh"

#ifdef TRANSPOSE
#include "banks_transpose.clh"
#else

#define BLOCK_BYTES 8192u
#define MOVED(offset, by) \
  (((offset) & ~(BLOCK_BYTES - 1)) | (((offset) + (by)) & (BLOCK_BYTES - 1)))

#if STORE
#if WORD == 16 && (defined(SUB_GROUP) || (defined(__AMDGCN__) && defined(GROUP)))
// In AMD's largest work-groups and on Intel's GPUs, a work-item has too few registers for 16 words
// of 16 bytes. A chain therefore keeps only an offset. The word of an offset is computed when the
// word is stored, which costs one instruction.
typedef uint chain;
#define CHAIN_OF(offset) (offset)
#define OFFSET_OF(c) (c)
#define STORED(c) WORD_OF(c)
#else
typedef word chain;
#define CHAIN_OF(offset) WORD_OF(offset)
#define OFFSET_OF(c) FIRST(c)
#define STORED(c) (c)
#endif
#define ACCESS(c)                      \
  {                                    \
    WORD_AT(OFFSET_OF(c)) = STORED(c); \
    OFFSET_OF(c) ^= flip;              \
  }
// Alternates between hop and 2 * hop. The offsets repeat after four stores, which compilers cannot
// know.
#define ADVANCE flip ^= 3 * hop;
#else
typedef uint chain;
#define CHAIN_OF(offset) (offset)
#define OFFSET_OF(c) (c)
#define ACCESS(c)                 \
  {                               \
    const word seen = WORD_AT(c); \
    c = SUM(seen);                \
  }
#define ADVANCE
#endif

// clang-format off
#if CHAINS == 1
#define EACH(f) f(0)
#elif CHAINS <= 4
#define EACH(f) f(0) f(1) f(2) f(3)
#elif CHAINS <= 16
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#else
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14)   \
  f(15) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) \
  f(31)
#endif
#define DECLARE(j) chain c##j = CHAIN_OF(j < CHAINS ? offsets[j * lanes + lane] : 0u);
#define STEP(j) if (j < CHAINS) ACCESS(c##j)
#define ADD(j) + (j < CHAINS ? OFFSET_OF(c##j) : 0u)
#define ADD_STORED(j) + (j < CHAINS ? SUM(WORD_AT(OFFSET_OF(c##j) ^ flip ^ (3 * hop))) : 0u)
// clang-format on
#define ALL EACH(STEP) ADVANCE
#define ALL_4 ALL ALL ALL ALL
#define ALL_16 ALL_4 ALL_4 ALL_4 ALL_4
#if STEPS == 1
#define BLOCK ALL
#else
#define BLOCK ALL_16 ALL_16
#endif

// DONE is the value for which the clock read waits. For stores, DONE is the result of a load, which
// local memory serves after the stores. Compilers cannot know that the loaded word differs from all
// stored words, so they cannot move the load.
#define OFFSETS (0u EACH(ADD))
#if STORE
#define DONE SUM(WORD_AT(footprint))
#define RESULT (0u EACH(ADD_STORED))
#else
#define DONE OFFSETS
#define RESULT OFFSETS
#endif

// Without this hint, AMD's compiler would unroll the loop further (see latency.cl).
#ifdef __AMDGCN__
#define LOOP_HINT _Pragma("nounroll")
#else
#define LOOP_HINT
#endif

#ifdef ONCE
#define TIMED BLOCK
#else
#define TIMED                             \
  LOOP_HINT                               \
  for (uint i = 0; i < iterations; ++i) { \
    BLOCK                                 \
  }
#endif

// Runs one work-group of whole sub-groups. `offsets` has a row of `lanes` numbers per chain. If
// `lead` is not 0, the chains first make untimed accesses. A round is a barrier, and `iterations`
// iterations between two clock reads. Only the last round counts, because earlier rounds load the
// code into the instruction cache. The clock read directly follows the barrier, so all work-items
// start together. out[2 * slot] is the time in ticks from the first start to the last end of all
// work-items. out[2 * slot + 1] is the checksum.
#ifdef GROUP
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif
kernel void
banks_access(global const uint* offsets, uint lanes, uint footprint, uint hop, uint lead,
             uint rounds, uint iterations, ulong never, uint slot, global ulong* restrict out) {
  local uchar memory[LOCAL_BYTES] __attribute__((aligned(64)));
  local ulong base;
  local uint first;
  local uint last;
  local uint witness;
  const uint item = (uint)get_local_id(0);
  const uint lane = item % lanes;
  for (uint at = item * 4; at < footprint + 16; at += (uint)get_local_size(0) * 4) {
#if STORE
    const uint content = ~0u;
#else
    const uint content = at % WORD == 0 ? MOVED(at, hop) : 0u;
#endif
    *(local uint*)(memory + at) = content;
  }
  EACH(DECLARE)
#if STORE
  uint flip = hop;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lead != 0) {
    ALL
  }
  // Only one work-item waits for its accesses here. If all work-items waited, they would start at
  // different times, which costs a fifth of the time on NVIDIA's GPUs.
  if (item == 0) {
    base = clock_after(DONE, never);
    first = ~0u;
    last = 0;
    witness = 0;
  }
  ulong before = 0;
  ulong after = 0;
  for (uint round = 0; round < rounds; ++round) {
    barrier(CLK_LOCAL_MEM_FENCE);
    before = clock_now();
    TIMED
    after = clock_after(DONE, never);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(&first, (uint)(before - base));
  atomic_max(&last, (uint)(after - base));
  const uint result = RESULT;
  atomic_add(&witness, mixed(result + item));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    out[2 * slot] = last - first;
    out[2 * slot + 1] = witness;
  }
}
#endif
