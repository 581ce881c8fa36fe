// Distinct subtrees of sets of trees: every subtree is interned once (hash-consing), so that a
// kernel compares distinct subtrees instead of pairs of nodes.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernelwood/buffer.hpp"
#include "kernelwood/interning.hpp"
#include "kernelwood/label_matching.hpp"

namespace kernelwood {

// Trees as flat post-order arrays; tree t owns the nodes offsets[t] .. offsets[t+1].
struct TreeArrays {
  const int64_t* offsets;
  int64_t n_trees;
  const int32_t* labels;
  const int32_t* edges;
  const int32_t* n_children;
};

// Each tree as a list of distinct subtrees with counts, children before parents.
struct TreeSide {
  Buffer<int64_t> begin{0};
  Buffer<int32_t> sub;
  Buffer<int32_t> count;
  Buffer<int32_t> root;

  int64_t size() const { return static_cast<int64_t>(root.size()); }
};

class SubtreeTable {
 public:
  // `groups` by label for soft matching, or null.
  SubtreeTable(size_t n_nodes, const int32_t* groups)
      : names_(groups), subtrees_(n_nodes / 2 + 16), shapes_(n_nodes / 4 + 16) {}

  // For trees that are compared with those of a table that no longer changes: the same names and
  // shapes have the same numbers, new ones numbers beyond; subtrees are numbered anew.
  SubtreeTable(size_t n_nodes, const SubtreeTable* base)
      : names_(&base->names_), subtrees_(n_nodes / 2 + 16), shapes_(n_nodes / 4 + 16), base_(base),
        n_base_shapes_(base->n_shapes()) {}

  // Leaves are listed only if the kernel counts them.
  TreeSide add(const TreeArrays& trees, bool list_leaves) {
    TreeSide side;
    side.begin.reserve(static_cast<size_t>(trees.n_trees) + 1);
    side.root.reserve(static_cast<size_t>(trees.n_trees));
    const auto n_nodes = static_cast<size_t>(trees.offsets[trees.n_trees] - trees.offsets[0]);
    side.sub.reserve(n_nodes);
    side.count.reserve(n_nodes);
    Buffer<int64_t> entry_of(roots_.size(), -1);
    for (int64_t t = 0; t < trees.n_trees; ++t) add_tree(trees, t, list_leaves, side, entry_of);
    return side;
  }

  int32_t n_subtrees() const { return static_cast<int32_t>(subtrees_.size()); }
  int32_t n_shapes() const { return n_base_shapes_ + static_cast<int32_t>(shapes_.size()); }
  int32_t n_symbols() const { return names_.n_symbols(); }
  const NameTable& names() const { return names_; }
  int32_t name(int32_t sub) const { return subtrees_.head(sub); }
  int32_t symbol(int32_t sub) const { return roots_[static_cast<size_t>(sub)].symbol; }
  // The shape is -1 for a leaf.
  int32_t shape(int32_t sub) const { return roots_[static_cast<size_t>(sub)].shape; }
  const int32_t* children(int32_t sub) const { return subtrees_.items(sub); }
  int64_t n_children(int32_t sub) const { return subtrees_.n_items(sub); }
  // Of shapes that are not in the table it continues.
  int32_t shape_symbol(int32_t shape) const { return shapes_.head(shape - n_base_shapes_); }
  const int32_t* child_symbols(int32_t shape) const {
    return shapes_.items(shape - n_base_shapes_);
  }
  // -1 if there is none.
  int32_t find_shape(int32_t symbol, const int32_t* child_symbols, int64_t n) const {
    return shapes_.find(symbol, child_symbols, n);
  }
  int64_t arity(int32_t shape) const { return shapes_.n_items(shape - n_base_shapes_); }

  // The number of each subtree in the table that this one continues, -1 if it is not there.
  Buffer<int32_t> in_base() const {
    Buffer<int32_t> found, kids;
    for (int32_t sub = 0; sub < n_subtrees(); ++sub) {
      kids.clear();
      bool all = true;
      for (int64_t i = 0; i < n_children(sub); ++i) {
        kids.push_back(found[static_cast<size_t>(children(sub)[i])]);
        all = all && kids.back() >= 0;
      }
      found.push_back(all ? base_->subtrees_.find(name(sub), kids.data(), n_children(sub)) : -1);
    }
    return found;
  }

 private:
  struct Root {
    int32_t symbol, shape;
  };

  void add_tree(const TreeArrays& trees, int64_t t, bool list_leaves, TreeSide& side,
                Buffer<int64_t>& entry_of) {
    stack_.clear();
    const int64_t first_entry = side.begin.back();
    for (int64_t v = trees.offsets[t]; v < trees.offsets[t + 1]; ++v) {
      const int64_t n = trees.n_children[v];
      if (n < 0 || n > static_cast<int64_t>(stack_.size()))
        throw std::invalid_argument("tree arrays are not a post-order listing");
      const int32_t* kids = stack_.data() + stack_.size() - n;
      const int32_t name = names_.intern(trees.edges[v], trees.labels[v]);
      const int32_t sub = n == 0 ? leaf(name) : subtrees_.intern(name, kids, n);
      if (sub == static_cast<int32_t>(roots_.size())) {
        const int32_t symbol = names_.symbol(name);
        roots_.push_back({symbol, n == 0 ? -1 : intern_shape(symbol, sub)});
        entry_of.push_back(-1);
      }
      stack_.resize(stack_.size() - static_cast<size_t>(n) + 1);
      stack_.back() = sub;
      if (n == 0 && !list_leaves) continue;
      int64_t& entry = entry_of[static_cast<size_t>(sub)];
      if (entry >= first_entry) {
        ++side.count[static_cast<size_t>(entry)];
      } else {
        entry = static_cast<int64_t>(side.sub.size());
        side.sub.push_back(sub);
        side.count.push_back(1);
      }
    }
    if (stack_.size() != 1) throw std::invalid_argument("tree arrays are not a post-order listing");
    side.root.push_back(stack_.back());
    side.begin.push_back(static_cast<int64_t>(side.sub.size()));
  }

  int32_t leaf(int32_t name) {
    if (static_cast<size_t>(name) >= leaf_of_.size())
      leaf_of_.resize(static_cast<size_t>(name) + 1, -1);
    int32_t& sub = leaf_of_[static_cast<size_t>(name)];
    if (sub < 0) sub = subtrees_.intern(name, nullptr, 0);
    return sub;
  }

  int32_t intern_shape(int32_t symbol, int32_t sub) {
    child_symbols_.clear();
    for (int64_t i = 0; i < n_children(sub); ++i)
      child_symbols_.push_back(this->symbol(children(sub)[i]));
    if (base_) {
      const int32_t known = base_->find_shape(symbol, child_symbols_.data(), n_children(sub));
      if (known >= 0) return known;
    }
    return n_base_shapes_ + shapes_.intern(symbol, child_symbols_.data(), n_children(sub));
  }

  NameTable names_;
  SpanInterner subtrees_, shapes_;
  const SubtreeTable* base_ = nullptr;
  int32_t n_base_shapes_ = 0;
  Buffer<Root> roots_;
  Buffer<int32_t> leaf_of_, stack_, child_symbols_;
};

}  // namespace kernelwood
