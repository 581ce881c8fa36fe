#pragma once

#include <cstdint>

namespace kernelwood {

enum class TreeKernel { subtree, subset, partial, rooted };

struct TreeParameters {
  TreeKernel kind = TreeKernel::subset;
  double decay = 0.4;
  double depth_decay = 1.0;   // partial: mu
  double leaf_power = 2.0;       // partial: exponent of the decay for two leaves
  double terminal_factor = 1.0;  // partial: weight of pairs with a leaf
  bool span_decay = false;    // partial: decay over spans instead of gaps
  bool contiguous = false;    // rooted
  bool count_leaves = false;  // subset
  int64_t max_bytes = int64_t{1} << 33;
};

}  // namespace kernelwood
