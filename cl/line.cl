// SPDX-License-Identifier: Apache-2.0
// Loads of single words and of pairs of words at random places (ring.clh). The host puts clock.clh
// before this file. There are no build options.

#include "permutation.clh"
#include "places.clh"
#include "ring.clh"
