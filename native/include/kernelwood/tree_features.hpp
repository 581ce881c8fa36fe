// Stream trees as sparse vectors of countable things.
//
// A tree kernel is K(a, b) = sum over features f of value_a(f) * count_b(f). Most pairs of
// subtrees that meet at all meet with one constant value, so that value is carried by a feature
// they share (their shape or symbol) and only what exceeds it by features of single slots.
// Features that no other panel tree can reach are left out, if the panel is known; the diagonal is
// summed elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/child_postings.hpp"
#include "kernelwood/presence.hpp"
#include "kernelwood/tree_parameters.hpp"

namespace kernelwood {

class TreeFeatures {
 public:
  TreeFeatures(TreeKernel kind, bool count_leaves, const SubtreeTable& table,
               const SlotIndex& slots, const ChildPostings* postings, const TreeSide* panel,
               const TreeSide& stream, bool symmetric)
      : kind_(kind), count_leaves_(count_leaves), table_(table), slots_(slots) {
    n_shapes_ = table.n_shapes();
    n_symbols_ = table.n_symbols();
    find_reachable(postings, panel, symmetric);
    list_stream(stream);
    renumber_by_frequency();
  }

  int32_t size() const { return n_features_; }
  // Dense feature ids; -1 where nothing can meet.
  int32_t of_slot(int32_t slot) const { return ids_[static_cast<size_t>(slot)]; }
  int32_t of_shape(int32_t shape) const { return shape < n_shapes_ ? ids_[shape_at(shape)] : -1; }
  int32_t of_inner(int32_t symbol) const {
    return symbol < n_symbols_ ? ids_[inner_at(symbol)] : -1;
  }
  int32_t of_leaf(int32_t symbol) const { return symbol < n_symbols_ ? ids_[leaf_at(symbol)] : -1; }

  int64_t begin(int64_t tree) const { return begin_[static_cast<size_t>(tree)]; }
  const int64_t* begins() const { return begin_.data(); }
  const int32_t* ids() const { return listed_.data(); }
  const int32_t* counts() const { return counts_.data(); }

 private:
  size_t shape_at(int32_t shape) const { return static_cast<size_t>(slots_.n_slots() + shape); }
  size_t inner_at(int32_t symbol) const {
    return static_cast<size_t>(slots_.n_slots() + n_shapes_ + symbol);
  }
  size_t leaf_at(int32_t symbol) const {
    return static_cast<size_t>(slots_.n_slots() + n_shapes_ + n_symbols_ + symbol);
  }

  void find_reachable(const ChildPostings* postings, const TreeSide* panel, bool symmetric) {
    const bool known = panel != nullptr;
    Presence subs(static_cast<size_t>(table_.n_subtrees()), symmetric, known);
    Presence shapes(static_cast<size_t>(n_shapes_), symmetric, known);
    Presence symbols(static_cast<size_t>(n_symbols_), symmetric, known);
    for (int32_t t = 0; known && t < panel->size(); ++t)
      for (int64_t e = panel->begin[static_cast<size_t>(t)];
           e < panel->begin[static_cast<size_t>(t) + 1]; ++e) {
        const int32_t sub = panel->sub[static_cast<size_t>(e)];
        subs.see(sub, t);
        symbols.see(table_.symbol(sub), t);
        if (table_.shape(sub) >= 0) shapes.see(table_.shape(sub), t);
      }
    ids_.assign(leaf_at(n_symbols_), -1);
    const bool by_symbol = kind_ == TreeKernel::partial;
    for (int32_t s = 0; s < n_symbols_; ++s) {
      if (!symbols.reachable(s)) continue;
      if (by_symbol) ids_[inner_at(s)] = 0;
      if (by_symbol || count_leaves_) ids_[leaf_at(s)] = 0;
    }
    if (kind_ == TreeKernel::subset)
      for (int32_t shape = 0; shape < n_shapes_; ++shape)
        if (slots_.rank(shape) >= 0 && shapes.reachable(shape)) ids_[shape_at(shape)] = 0;
    for (const int32_t sub : slots_.subs_by_last())
      if (table_.shape(sub) >= 0 && slot_reachable(sub, subs, shapes, postings))
        ids_[static_cast<size_t>(slots_.slot(sub))] = 0;
  }

  bool slot_reachable(int32_t sub, const Presence& subs, const Presence& shapes,
                      const ChildPostings* postings) {
    if (kind_ == TreeKernel::subtree) return subs.reachable(sub);
    if (kind_ == TreeKernel::subset)
      return shapes.reachable(table_.shape(sub)) && has_reachable_child(sub, shapes);
    if (pairs_reachable_.empty()) find_reachable_pairs(shapes, *postings);
    return pairs_reachable_[static_cast<size_t>(table_.shape(sub))] != 0;
  }

  // Two subsets exceed their common root only where a child's production is shared too.
  bool has_reachable_child(int32_t sub, const Presence& shapes) const {
    for (int64_t i = 0; i < table_.n_children(sub); ++i) {
      const int32_t shape = table_.shape(table_.children(sub)[i]);
      if (shape >= 0 && shapes.reachable(shape)) return true;
    }
    return false;
  }

  // A shape can be met by any shape with the same symbol that shares a child symbol.
  void find_reachable_pairs(const Presence& shapes, const ChildPostings& postings) {
    Presence pairs = shapes.like(postings.n_pairs());
    for (int32_t shape = 0; shape < n_shapes_; ++shape)
      for (const int32_t pair : postings.pairs(shape)) pairs.widen(pair, shapes, shape);
    pairs_reachable_.assign(static_cast<size_t>(n_shapes_), 0);
    for (int32_t shape = 0; shape < n_shapes_; ++shape)
      for (const int32_t pair : postings.pairs(shape))
        if (pairs.reachable(pair)) pairs_reachable_[static_cast<size_t>(shape)] = 1;
  }

  void list_stream(const TreeSide& stream) {
    begin_.reserve(static_cast<size_t>(stream.size()) + 1);
    listed_.reserve(2 * stream.sub.size());
    counts_.reserve(2 * stream.sub.size());
    Buffer<int64_t> listed_at(ids_.size(), -1);
    int64_t tree_begin = 0;
    const auto add = [&](size_t feature, int32_t count) {
      if (ids_[feature] < 0) return;
      int64_t& at = listed_at[feature];
      if (at >= tree_begin) {
        counts_[static_cast<size_t>(at)] += count;
      } else {
        at = static_cast<int64_t>(listed_.size());
        listed_.push_back(static_cast<int32_t>(feature));
        counts_.push_back(count);
        ++ids_[feature];
      }
    };
    for (int64_t t = 0; t < stream.size(); ++t) {
      tree_begin = static_cast<int64_t>(listed_.size());
      for (int64_t e = stream.begin[static_cast<size_t>(t)];
           e < stream.begin[static_cast<size_t>(t) + 1]; ++e) {
        const int32_t sub = stream.sub[static_cast<size_t>(e)];
        const int32_t count = stream.count[static_cast<size_t>(e)];
        const int32_t shape = table_.shape(sub);
        if (shape < 0) {
          add(leaf_at(table_.symbol(sub)), count);
          continue;
        }
        add(inner_at(table_.symbol(sub)), count);
        add(shape_at(shape), count);
        add(static_cast<size_t>(slots_.slot(sub)), count);
      }
      begin_.push_back(static_cast<int64_t>(listed_.size()));
    }
  }

  void renumber_by_frequency() {
    n_features_ = number_by_frequency(ids_);
    for (int32_t& feature : listed_) feature = ids_[static_cast<size_t>(feature)];
  }

  TreeKernel kind_;
  bool count_leaves_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  int32_t n_shapes_ = 0, n_symbols_ = 0, n_features_ = 0;
  Buffer<int32_t> ids_, listed_, counts_;
  Buffer<int64_t> begin_{0};
  Buffer<uint8_t> pairs_reachable_;
};

}  // namespace kernelwood
