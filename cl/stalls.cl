// SPDX-License-Identifier: Apache-2.0
// Kernels whose causes of waiting can be taken away one by one, while the instructions stay: masks,
// strides and branches are arguments, and no compiler knows them. clock.clh is put before this
// file. Parameters:
//   PART  0: stalls_fill and stalls_mixed, 1: stalls_copy, 2: stalls_search
//
// What every kernel computes the host computes again for some work-items (src/probes/stalls_*.cpp).

#define LINE_WORDS 32u
#define TILE_WORDS 1024u
// Numerical Recipes' generator; of its bits only the upper ones are any good.
#define NEXT(state) ((state)*1664525u + 1013904223u)
#define LINE_OF(state, mask) (((state) >> 8) & (mask))
#define STEP(x) x = ((x)*multiplier) ^ addend;

// A word that says where it is.
inline uint mixed(uint x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

#if PART == 0

// One store of each work-item. All words of a line are the same, so that the lanes of a sub-group
// that follow what they load stay together.
kernel void stalls_fill(global uint* data) {
  const uint at = (uint)get_global_id(0);
  data[at] = mixed(at / LINE_WORDS);
}

// Four loads that do not wait for each other, of lines that only the generator knows.
#define LOAD_4(state, mask, sum)                        \
  {                                                     \
    const uint line0 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line1 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line2 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint line3 = LINE_OF(state, mask);            \
    state = NEXT(state);                                \
    const uint word0 = data[line0 * LINE_WORDS + lane]; \
    const uint word1 = data[line1 * LINE_WORDS + lane]; \
    const uint word2 = data[line2 * LINE_WORDS + lane]; \
    const uint word3 = data[line3 * LINE_WORDS + lane]; \
    sum += (word0 + word1) + (word2 + word3);           \
  }
// Eight: what is loaded is not waited for before the last is on its way.
#define PLACE(j)                                                    \
  const uint place##j = LINE_OF(far, far_mask) * LINE_WORDS + lane; \
  far = NEXT(far);
#define WORD(j) const uint word##j = data[place##j];
// clang-format off
#define LOAD_FAR_8                                                                      \
  {                                                                                     \
    PLACE(0) PLACE(1) PLACE(2) PLACE(3) PLACE(4) PLACE(5) PLACE(6) PLACE(7)             \
    WORD(0) WORD(1) WORD(2) WORD(3) WORD(4) WORD(5) WORD(6) WORD(7)                     \
    sum += ((word0 + word1) + (word2 + word3)) + ((word4 + word5) + (word6 + word7));   \
  }
// clang-format on
#define TILE_4(place, at, sum)                                                                  \
  sum += tile[(place + at) & (TILE_WORDS - 1)] + tile[(place + at + 1) & (TILE_WORDS - 1)] +    \
         tile[(place + at + 2) & (TILE_WORDS - 1)] + tile[(place + at + 3) & (TILE_WORDS - 1)]; \
  at += 4;

// One iteration of a work-item: 8 * far_loads independent loads of one stream (or far_loads, each
// of which waits for the one before), 4 * near_loads of another, 4 * tile_loads of local memory,
// 4 * chain_steps operations, 4 * turn_steps more of those whose turn it is, a barrier. Work-items
// from `workers` on only make noise: 4 * noise operations or loads, which nothing waits for.
kernel void stalls_mixed(global const uint* restrict data, uint launch, uint iterations,
                         uint workers, uint far_loads, uint far_mask, uint is_chase,
                         uint near_loads, uint near_mask, uint tile_loads, uint tile_stride,
                         uint chain_steps, uint is_chain, uint turn_steps, uint turn_shift,
                         uint turn_mask, uint has_barrier, uint noise_kind, uint noise,
                         uint noise_mask, uint multiplier, uint addend, global uint* restrict out) {
  local uint tile[TILE_WORDS];
  const uint item = (uint)get_local_id(0);
  for (uint at = item; at < TILE_WORDS; at += (uint)get_local_size(0)) tile[at] = mixed(~at);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = item % LINE_WORDS;
  // The same in all lanes that load a line together.
  const uint row = (uint)get_global_id(0) / LINE_WORDS;
  uint far = mixed(row ^ mixed(launch));
  uint near = mixed(far);
  uint turned = 0;
  uint x0 = item, x1 = item + 1, x2 = item + 2, x3 = item + 3;
  uint y0 = x0, y1 = x1, y2 = x2, y3 = x3;
  uint sum = 0;
  const uint place = lane * tile_stride;
  for (uint i = 0; i < iterations; ++i) {
    if (item < workers) {
      if (is_chase != 0) {
        for (uint k = 0; k < far_loads; ++k) {
          far = NEXT(far + data[LINE_OF(far, far_mask) * LINE_WORDS + lane]);
        }
      } else {
        for (uint k = 0; k < far_loads; ++k) LOAD_FAR_8
      }
      for (uint k = 0; k < near_loads; ++k) LOAD_4(near, near_mask, sum)
      for (uint k = 0; k < tile_loads; ++k) {
        TILE_4(place, turned, sum)
      }
      if (is_chain != 0) {
        for (uint k = 0; k < chain_steps; ++k) {
          STEP(x0) STEP(x0) STEP(x0) STEP(x0)
        }
      } else {
        for (uint k = 0; k < chain_steps; ++k) {
          STEP(x0) STEP(x1) STEP(x2) STEP(x3)
        }
      }
      if (((item >> turn_shift) & turn_mask) == (i & turn_mask)) {
        for (uint k = 0; k < turn_steps; ++k) {
          STEP(y0) STEP(y1) STEP(y2) STEP(y3)
        }
      }
    } else if (noise_kind == 0) {
      for (uint k = 0; k < noise; ++k) {
        STEP(y0) STEP(y1) STEP(y2) STEP(y3)
      }
    } else if (noise_kind == 1) {
      for (uint k = 0; k < noise; ++k) {
        TILE_4(lane, turned, sum)
      }
    } else {
      for (uint k = 0; k < noise; ++k) LOAD_4(near, noise_mask, sum)
    }
    if (has_barrier != 0) barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = mixed(far) + mixed(sum) + mixed(x0 ^ mixed(x1)) + mixed(x2 ^ mixed(x3)) +
                          mixed(y0 ^ mixed(y1)) + mixed(y2 ^ mixed(y3));
}

#elif PART == 1

#define WAY_EXPLICIT 0
#define WAY_ASYNC 1

// A group takes a chunk of CHUNK_WORDS words after another, changes each word by 4 * steps
// operations and stores it elsewhere: through local memory, by loads and stores or by
// async_work_group_copy, or straight from global memory. ticks: of each group the clock between
// the start of the copy, its end, the end of the work, and the end of the copy back.
kernel void stalls_copy(global const uint* restrict from, global uint* restrict to, uint way,
                        uint first, uint iterations, uint from_mask, uint to_mask, uint steps,
                        uint is_chain, uint multiplier, uint addend, ulong never,
                        global ulong* restrict ticks) {
  local uint chunk[TILE_WORDS];
  const uint item = (uint)get_local_id(0);
  const uint items = (uint)get_local_size(0);
  ulong copying = 0;
  ulong waiting = 0;
  ulong working = 0;
  ulong storing = 0;
  for (uint i = 0; i < iterations; ++i) {
    const uint number = (first + i) * (uint)get_num_groups(0) + (uint)get_group_id(0);
    global const uint* const source = from + (ulong)(number & from_mask) * TILE_WORDS;
    global uint* const target = to + (ulong)(number & to_mask) * TILE_WORDS;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong begin = clock_after(number, never);
    ulong issued = begin;
    if (way == WAY_ASYNC) {
      event_t copy = async_work_group_copy(chunk, source, TILE_WORDS, 0);
      // On a processor one work-item starts the copy for all, and it need not be the first.
      barrier(CLK_LOCAL_MEM_FENCE);
      issued = clock_after(number, never);
      wait_group_events(1, &copy);
    } else if (way == WAY_EXPLICIT) {
      for (uint at = item; at < TILE_WORDS; at += items) chunk[at] = source[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong copied = clock_after(number, never);
    for (uint at = item; at < TILE_WORDS; at += 4 * items) {
      uint x0, x1, x2, x3;
      if (way > WAY_ASYNC) {
        x0 = source[at];
        x1 = source[at + items];
        x2 = source[at + 2 * items];
        x3 = source[at + 3 * items];
      } else {
        x0 = chunk[at];
        x1 = chunk[at + items];
        x2 = chunk[at + 2 * items];
        x3 = chunk[at + 3 * items];
      }
      if (is_chain != 0) {
        for (uint k = 0; k < steps; ++k) {
          STEP(x0) STEP(x0) STEP(x0) STEP(x0)
        }
      } else {
        for (uint k = 0; k < steps; ++k) {
          STEP(x0) STEP(x1) STEP(x2) STEP(x3)
        }
      }
      x1 ^= x0;
      x2 ^= x0;
      x3 ^= x0;
      if (way > WAY_ASYNC) {
        target[at] = x0;
        target[at + items] = x1;
        target[at + 2 * items] = x2;
        target[at + 3 * items] = x3;
      } else {
        chunk[at] = x0;
        chunk[at + items] = x1;
        chunk[at + 2 * items] = x2;
        chunk[at + 3 * items] = x3;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong worked = clock_after(number, never);
    if (way == WAY_ASYNC) {
      event_t copy = async_work_group_copy(target, chunk, TILE_WORDS, 0);
      wait_group_events(1, &copy);
    } else if (way == WAY_EXPLICIT) {
      for (uint at = item; at < TILE_WORDS; at += items) target[at] = chunk[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong stored = clock_after(number, never);
    copying += issued - begin;
    waiting += copied - issued;
    working += worked - copied;
    storing += stored - worked;
  }
  if (item == 0) {
    global ulong* const own = ticks + 4 * get_group_id(0);
    own[0] = copying;
    own[1] = waiting;
    own[2] = working;
    own[3] = storing;
  }
}

#else

// Unbalanced tree search. The nodes are numbers; children[n] is the first child of n and
// children[n + 1] - 1 the last, known beforehand; a node enters a queue when its parent was worked
// on. One queue for all groups, or one for each and a common one for what does not fit and for who
// has nothing.
//
// What is handed over is handed over by atomics on 32 bits alone: a slot is EMPTY until the node is
// in it, and what takes it leaves EMPTY behind. Each atomic's answer is looked at before the next
// one, so that no order of memory is asked for which OpenCL 1.2 does not promise.
//
// Forward progress: only the first work-item of a group waits, and only for holders of a lock,
// which have started. Who finds no work asks again `patience` times and then ends; who has work
// never does. So a device that runs one group after another lets the first do it all. Every wait
// has a budget, behind which all groups end and the host says so.

#define EMPTY 0xffffffffu
#define FRONT 32u
// A node has at most 8 children; the root, which nothing is taken with, as many as a front has.
#define MOST_CHILDREN 8u
// A queue for each group: what it may hold before it gives half to the common one.
#define OWN_MOST 32u

// Of a queue in `control`.
#define LOCK 0u
#define HEAD 1u
#define TAIL 2u
#define QUEUE_WORDS 32u
// Of all.
#define DONE 0u
#define ABORTED 1u

inline uint read(volatile global uint* word) { return atomic_add(word, 0u); }

// Nonzero when the lock is held now.
inline uint lock(volatile global uint* queue, volatile global uint* all,
                 volatile global uint* apart, uint budget) {
  uint pause = 1;
  for (uint tries = 0; tries < budget; ++tries) {
    if (atomic_cmpxchg(queue + LOCK, 0u, 1u) == 0u) return 1;
    if ((tries & 255u) == 255u && read(all + ABORTED) != 0u) return 0;
    // Back off, by reads of a word that nobody else asks for.
    for (uint k = 0; k < pause; ++k) (void)read(apart);
    pause = pause < 16u ? 2 * pause : pause;
  }
  atomic_xchg(all + ABORTED, 1u);
  return 0;
}

// `seen` are answers of what must have happened before, of which none is `never`.
inline void unlock(volatile global uint* queue, uint seen, uint never) {
  if (seen != never) atomic_xchg(queue + LOCK, 0u);
}

// Holder of the lock: takes up to `most` of the oldest nodes.
inline uint take(volatile global uint* queue, volatile global uint* slots, uint mask, uint most,
                 local uint* nodes, uint* seen, volatile global uint* all, uint budget) {
  const uint head = read(queue + HEAD);
  const uint tail = read(queue + TAIL);
  const uint count = min(tail - head, most);
  for (uint k = 0; k < count; ++k) {
    uint node = EMPTY;
    uint tries = 0;
    while (node == EMPTY && tries < budget) {
      node = atomic_xchg(slots + ((head + k) & mask), EMPTY);
      ++tries;
    }
    if (node == EMPTY) {
      atomic_xchg(all + ABORTED, 1u);
      return 0;
    }
    nodes[k] = node;
  }
  if (count != 0) *seen = atomic_xchg(queue + HEAD, head + count) & 0x7fffffffu;
  return count;
}

inline void put(volatile global uint* queue, volatile global uint* slots, uint mask,
                local const uint* nodes, uint count, uint* seen) {
  const uint tail = read(queue + TAIL);
  uint answers = 0;
  // The answer is EMPTY, and only then may the place be told.
  for (uint k = 0; k < count; ++k) answers |= ~atomic_xchg(slots + ((tail + k) & mask), nodes[k]);
  *seen = atomic_xchg(queue + TAIL, tail + count + answers) & 0x7fffffffu;
}

// A launch is a search. control: the words of all, then QUEUE_WORDS of each queue, the common one
// first. counts: of each group its nodes, the sum of what they came to, and the ticks waiting for
// locks, holding them, working, of nothing to do, and of all.
kernel void stalls_search(global const uint* restrict children, uint nodes, uint is_shared,
                          uint slot_mask, uint steps, uint patience, uint budget, uint multiplier,
                          uint addend, uint never_seen, ulong never,
                          volatile global uint* restrict control,
                          volatile global uint* restrict slots, global ulong* restrict counts) {
  local uint front[FRONT];
  local uint found[FRONT * MOST_CHILDREN];
  local uint front_count;
  local uint found_count;
  local uint value;
  local uint is_over;
  const uint item = (uint)get_local_id(0);
  const uint group = (uint)get_group_id(0);
  volatile global uint* const all = control;
  volatile global uint* const common = control + QUEUE_WORDS;
  volatile global uint* const own = is_shared != 0 ? common : common + (group + 1) * QUEUE_WORDS;
  volatile global uint* const own_slots =
      is_shared != 0 ? slots : slots + (ulong)(group + 1) * (slot_mask + 1);
  volatile global uint* const apart = common + (group + 2) * QUEUE_WORDS - 1;
  ulong waiting = 0;
  ulong holding = 0;
  ulong working = 0;
  ulong idling = 0;
  uint worked = 0;
  uint polls = 0;
  uint over = 0;
  if (item == 0) value = 0;
  const ulong begin = clock_after(item, never);
  do {
    if (item == 0) {
      found_count = 0;
      front_count = 0;
      is_over = 0;
      uint seen = 0;
      const ulong asked = clock_after(polls, never);
      ulong got = asked;
      if (lock(own, all, apart, budget) != 0) {
        got = clock_after(polls, never);
        front_count = take(own, own_slots, slot_mask, FRONT, front, &seen, all, budget);
        if (is_shared == 0 && front_count == 0 && lock(common, all, apart, budget) != 0) {
          front_count = take(common, slots, slot_mask, FRONT, front, &seen, all, budget);
          unlock(common, seen, never_seen);
        }
        unlock(own, seen, never_seen);
      }
      const ulong left = clock_after(polls, never);
      if (front_count == 0) {
        idling += left - asked;
        ++polls;
        is_over = read(all + DONE) == nodes || polls > patience ? 1 : 0;
      } else {
        waiting += got - asked;
        holding += left - got;
        polls = 0;
      }
      if (read(all + ABORTED) != 0u) is_over = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    over = is_over;
    const uint mine = item < front_count ? front[item] : EMPTY;
    const ulong started = clock_after(mine, never);
    if (mine != EMPTY) {
      uint x = mine;
      for (uint k = 0; k < steps; ++k) {
        STEP(x)
      }
      atomic_add(&value, mixed(x));
      const uint first = children[mine];
      const uint count = children[mine + 1] - first;
      const uint at = atomic_add(&found_count, count);
      for (uint k = 0; k < count; ++k) found[at + k] = first + k;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && over == 0 && front_count != 0) {
      const ulong finished = clock_after(value, never);
      working += finished - started;
      worked += front_count;
      uint seen = 0;
      uint given = 0;
      ulong got = finished;
      if (found_count != 0 && lock(own, all, apart, budget) != 0) {
        got = clock_after(value, never);
        if (is_shared == 0) {
          const uint held = read(own + TAIL) - read(own + HEAD);
          given = held + found_count > OWN_MOST ? found_count / 2 : 0u;
          if (given != 0 && lock(common, all, apart, budget) != 0) {
            put(common, slots, slot_mask, found, given, &seen);
            unlock(common, seen, never_seen);
          }
        }
        put(own, own_slots, slot_mask, found + given, found_count - given, &seen);
        unlock(own, seen, never_seen);
      }
      waiting += got - finished;
      holding += clock_after(value, never) - got;
      atomic_add(all + DONE, front_count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  } while (over == 0);
  if (item == 0) {
    global ulong* const result = counts + 8 * group;
    result[0] = worked;
    result[1] = value;
    result[2] = waiting;
    result[3] = holding;
    result[4] = working;
    result[5] = idling;
    result[6] = clock_after(value, never) - begin;
  }
}
#endif
