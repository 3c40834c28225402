// SPDX-License-Identifier: Apache-2.0
// Steps as often as its word says, of which `more` is left to the next launch.
kernel void stepping(global uint* words, uint more) {
  const uint steps = words[get_global_id(0)];
  uint word = steps;
  for (uint i = 0; i < steps; ++i) word = word * 747796405u + 2891336453u;
  words[get_global_id(0)] = steps + more + (word == 7u ? 1u : 0u);
}
