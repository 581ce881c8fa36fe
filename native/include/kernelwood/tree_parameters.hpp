#pragma once

#include <cstdint>

namespace kernelwood {

enum class TreeKernel { subtree, subset, partial, rooted };

struct TreeParameters {
  TreeKernel kind = TreeKernel::subset;
  double decay = 0.4;
  double depth_decay = 1.0;   // partial: mu
  double leaf_leaf = 0.0;     // partial: Delta of two leaves
  double leaf_inner = 0.0;    // partial: Delta of a leaf and an inner node
  bool span_decay = false;    // partial: decay over spans instead of gaps
  bool contiguous = false;    // rooted
  bool count_leaves = false;  // subset
  int64_t max_bytes = int64_t{1} << 33;
};

}  // namespace kernelwood
