// A decision tree on bits, as it is written while it grows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/bit_split.hpp"

namespace kernelwood {

using ClassRuns = std::vector<ClassRun>;

// The second child of a node follows the first; a leaf has the split -1 and, where the child would
// be, its class, or n_classes + the number of a leaf of several classes.
struct BitTree {
  std::vector<int32_t> nodes;      // (n, 2): split, child
  std::vector<int64_t> leaf_ends;  // of the leaves of several classes
  std::vector<int32_t> leaf_class;
  std::vector<double> leaf_share;
  std::vector<double> gains;  // by drawn bit: how much impurity it removed, as share of the root

  int32_t add_nodes(size_t n) {
    const size_t first = nodes.size() / 2;
    nodes.resize(nodes.size() + 2 * n);
    return static_cast<int32_t>(first);
  }

  void set_node(int32_t node, int32_t split, int32_t child) {
    nodes[2 * static_cast<size_t>(node)] = split;
    nodes[2 * static_cast<size_t>(node) + 1] = child;
  }
};

struct BitTreeParameters {
  const double* class_weights;
  int32_t n_classes;
  int32_t max_depth;  // -1: none
  int32_t min_leaf;

  // The weight of examples, and their score if they stay together (see bit_split.hpp).
  std::pair<double, double> weight_and_score(const ClassRuns& runs) const {
    double sum = 0, squares = 0;
    for (const ClassRun& run : runs) {
      const double weight = run.n * class_weights[run.label];
      sum += weight;
      squares += weight * weight;
    }
    return {sum, squares / sum};
  }

  void set_leaf(BitTree& tree, int32_t node, const ClassRuns& runs) const {
    if (runs.size() == 1) return tree.set_node(node, -1, runs[0].label);
    tree.set_node(node, -1, n_classes + static_cast<int32_t>(tree.leaf_ends.size()));
    const double total = weight_and_score(runs).first;
    for (const ClassRun& run : runs) {
      tree.leaf_class.push_back(run.label);
      tree.leaf_share.push_back(run.n * class_weights[run.label] / total);
    }
    tree.leaf_ends.push_back(static_cast<int64_t>(tree.leaf_class.size()));
  }
};

}  // namespace kernelwood
