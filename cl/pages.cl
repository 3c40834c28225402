// SPDX-License-Identifier: Apache-2.0
// Chases of one word per page, and of as many adjacent lines (ring.clh). The host puts clock.clh
// before this file. There are no build options.

#include "permutation.clh"
#include "places.clh"
#include "ring.clh"
