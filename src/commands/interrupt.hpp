// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first asks the program to end cleanly, a second one ends it at once.
#pragma once

namespace clprobe::commands {

void watch_for_interrupts();
bool is_interrupted();

}  // namespace clprobe::commands
