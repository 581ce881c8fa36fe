// Many examples led through the trees of a forest on packed bits.
//
// Examples go in groups of 64, whose bits of one kind are one word, and all of a group take a step
// before any takes the next: the steps of one example wait for memory, those of many do not wait
// for each other. What trees say is summed in their order, example by example, so that it does not
// matter how examples are cut into blocks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/bit_columns.hpp"
#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"

namespace kernelwood {

// The nodes of all trees, in pairs (split, child) as in bit_tree.hpp, children counted from the
// first node of the tree. A leaf has the split -1 and instead of a child its class, or n_classes +
// the number of a leaf of several classes: entries leaf_offsets[i] to leaf_offsets[i + 1].
// Children must come after their parents and inside the tree, or this never ends.
struct BitForestArrays {
  const int64_t* offsets;
  int64_t n_trees;
  const int32_t* nodes;
  int32_t n_classes;
  const int64_t* leaf_offsets;
  const int32_t* leaf_class;
  const double* leaf_share;
};

// Examples [first, last) of some codes; first is the beginning of a group.
struct CodeRange {
  const uint64_t* codes;
  int64_t width, first, last;
  int64_t n() const { return last - first; }
};

class BitForestWalk {
 public:
  BitForestWalk(const BitForestArrays& forest, const CodeRange& range)
      : forest_(forest), range_(range),
        turned_(static_cast<size_t>(groups_of(range.n()) * range.width * 64)) {
    turn_codes(range.codes + range.first * range.width, range.n(), range.width, turned_.data());
  }

  // Adds to out (rows of all examples) what the trees say. Where bit i % 64 of word i / 64 of a
  // tree's row of `skipped` is set, that tree has no say on example i.
  void add_shares(const uint64_t* skipped, int64_t skipped_stride, double* out, StopFlag stop) {
    const int64_t first_group = range_.first / group_size;
    for_each_group(stop, [&](int64_t tree, const int32_t* nodes, int64_t group, uint64_t wanted) {
      if (skipped) wanted &= ~skipped[tree * skipped_stride + first_group + group];
      walk(nodes, group, wanted);
      double* rows = out + (range_.first + group * group_size) * forest_.n_classes;
      for (; wanted; wanted &= wanted - 1) {
        const int lane = __builtin_ctzll(wanted);
        add_leaf(nodes[2 * static_cast<int64_t>(at_[lane]) + 1], rows + lane * forest_.n_classes);
      }
    });
  }

  // The node, counted from the first of its tree, where each example ends: rows of all examples.
  void find_leaves(int32_t* out, StopFlag stop) {
    for_each_group(stop, [&](int64_t tree, const int32_t* nodes, int64_t group, uint64_t wanted) {
      walk(nodes, group, wanted);
      int32_t* rows = out + (range_.first + group * group_size) * forest_.n_trees + tree;
      for (int lane = 0; wanted; ++lane, wanted >>= 1) rows[lane * forest_.n_trees] = at_[lane];
    });
  }

 private:
  template <class Visit>
  void for_each_group(StopFlag stop, Visit visit) {
    const int64_t n = range_.n();
    for (int64_t tree = 0; tree < forest_.n_trees && !stop.raised(); ++tree)
      for (int64_t group = 0; group * group_size < n; ++group) {
        const int64_t left = n - group * group_size;
        const uint64_t examples = ~uint64_t{0} >> (left < group_size ? group_size - left : 0);
        visit(tree, forest_.nodes + 2 * forest_.offsets[tree], group, examples);
      }
  }

  // Leads the wanted examples of a group to their leaves. Whether an example has arrived decides
  // no jump, only whether it stays in the list of those on their way: 64 * its node + its lane.
  void walk(const int32_t* nodes, int64_t group, uint64_t wanted) {
    const uint64_t* words = turned_.data() + group;
    const int64_t stride = groups_of(range_.n());
    uint64_t walking[group_size];
    int64_t n = 0;
    for (; wanted; wanted &= wanted - 1)
      walking[n++] = static_cast<uint64_t>(__builtin_ctzll(wanted));
    while (n > 0) {
      int64_t n_left = 0;
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t node = walking[i] / group_size, lane = walking[i] % group_size;
        const int64_t split = nodes[2 * node];
        const auto child = static_cast<uint64_t>(nodes[2 * node + 1]);
        const int64_t is_leaf = split >> 63;  // -1 or 0
        const uint64_t side = words[(split & ~is_leaf) * stride] >> lane & 1;
        at_[lane] = static_cast<int32_t>(node);
        walking[n_left] = (child + side) * group_size + lane;
        n_left += 1 + is_leaf;
      }
      n = n_left;
    }
  }

  void add_leaf(int32_t leaf, double* shares) const {
    if (leaf < forest_.n_classes) {
      shares[leaf] += 1.0;
      return;
    }
    const int64_t* range = forest_.leaf_offsets + (leaf - forest_.n_classes);
    for (int64_t e = range[0]; e < range[1]; ++e)
      shares[forest_.leaf_class[e]] += forest_.leaf_share[e];
  }

  BitForestArrays forest_;
  CodeRange range_;
  Buffer<uint64_t> turned_;
  int32_t at_[group_size] = {};  // the node of each example of the group at hand
};

}  // namespace kernelwood
