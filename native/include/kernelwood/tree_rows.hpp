// Rows of the node-pair function Delta: one panel subtree u against many stream subtrees v.
//
//   subset  Delta = k * decay * prod_j (1 + Delta(u_j, v_j))                same production
//   partial Delta = k * mu * (decay^2 + sum_J,J' weight * prod Delta)       same label
//   rooted  Delta = k * (k + sum_I,I' decay^l * (sum_s Delta(u_is, v_js)) * prod k)   same label
//
// with k = 1, or the squared gate of the label.
// The sums over child subsequences are those of child_sums.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/child_sums.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/row_store.hpp"
#include "kernelwood/tree_features.hpp"

namespace kernelwood {

// Delta of a leaf and a node with its label.
template <class Real>
Real leaf_value(const TreeParameters& parameters, double decay_power) {
  if (parameters.kind == TreeKernel::rooted) return Real(1.0);
  return Real(parameters.depth_decay) * power<Real>(parameters.decay, decay_power) *
         Real(parameters.terminal_factor);
}

template <class Real>
class TreeRows {
 public:
  TreeRows(const TreeParameters& parameters, const SubtreeTable& table, const SlotIndex& slots,
           const ExactNodes<Real>& nodes, const ChildPostings* postings,
           const TreeFeatures* features, StopFlag stop)
      : kind_(parameters.kind), stop_(stop), table_(table), slots_(slots), nodes_(nodes),
        postings_(postings), features_(features), gated_(nodes.gated()),
        store_(table.n_subtrees(), parameters.max_bytes),
        sums_(parameters, table, slots, nodes, stop),
        leaf_leaf_(leaf_value<Real>(parameters, parameters.leaf_power)),
        leaf_inner_(leaf_value<Real>(parameters, 2.0)),
        inner_base_(kind_ == TreeKernel::subset ? Real(parameters.decay) : sums_.base()),
        walk_(postings, slots, table),
        children_show_(!gated_ && smallest_child(parameters) > 1e-6) {}

  // The value a row of these kernels has wherever nothing below the two roots matches.
  Real base(int32_t sub) const { return weighted(sub, unweighted_base(sub)); }
  // Delta against a leaf with the same symbol.
  Real against_leaf(int32_t sub) const {
    return weighted(sub, table_.shape(sub) < 0 ? leaf_leaf_ : leaf_inner_);
  }
  const Row<Real>& row(int32_t sub) const { return store_.row(sub); }

  // Calls visit(feature, excess) for each slot in which the row of `sub` differs from its base.
  template <class Visit>
  void for_each_touched(int32_t sub, Visit&& visit) const {
    const Row<Real>& row = store_.row(sub);
    const Real base = this->base(sub);
    const Touched* touched = store_.touched();
    for (int32_t i = row.touched_begin; i < row.touched_end; ++i)
      visit(touched[i].feature, row.values[touched[i].slot - row.begin] - base);
  }

  // Makes the rows of one tree's subtrees in turn and shows each to `visit(entry, sub)`.
  // Only slots of stream trees from `stream_begin` on are filled.
  template <class Visit>
  void for_each_row(const TreeSide& side, int64_t tree, int64_t stream_begin, Visit&& visit) {
    const auto make = [&](int32_t sub) { make_row(sub, stream_begin); };
    store_.for_each_row(table_, side, tree, stop_, make, visit);
  }

 private:
  // What the least child that matches adds to a sum, relative to its base.
  static double smallest_child(const TreeParameters& p) {
    const double leaf = p.depth_decay * std::pow(p.decay, std::max(p.leaf_power, 2.0)) *
                        std::min(p.terminal_factor, 1.0);
    return p.span_decay ? leaf : leaf / (p.decay * p.decay);
  }

  Real unweighted_base(int32_t sub) const {
    return table_.shape(sub) < 0 ? leaf_inner_ : inner_base_;
  }
  Real weighted(int32_t sub, Real value) const {
    return gated_ ? nodes_.weight(table_.symbol(sub)) * value : value;
  }

  void make_row(int32_t sub, int64_t stream_begin) {
    const int32_t touched_begin = store_.n_touched();
    Row<Real>& row = gated_                        ? gated_row(sub, stream_begin)
                     : kind_ == TreeKernel::subset ? subset_row(sub, stream_begin)
                                                   : group_row(sub, stream_begin);
    row.touched_begin = touched_begin;
    row.touched_end = store_.n_touched();
  }

  __attribute__((noinline)) Row<Real>& gated_row(int32_t sub, int64_t stream_begin) {
    const Real weight = nodes_.weight(table_.symbol(sub));
    if (weight == Real(0.0)) return allocate(sub, 0, 0, Real(0.0), Real(0.0));
    Row<Real>& row =
        kind_ == TreeKernel::subset ? subset_row(sub, stream_begin) : group_row(sub, stream_begin);
    for (int32_t k = 0; k <= row.size; ++k) row.values[k] *= weight;
    return row;
  }

  Row<Real>& allocate(int32_t sub, int32_t begin, int32_t end, Real inside, Real outside) {
    if (begin > end) begin = end = 0;
    Row<Real>& row = store_.allocate(sub, begin, end - begin, table_);
    for (int32_t k = 0; k < row.size; ++k) row.values[k] = inside;
    row.values[row.size] = outside;
    return row;
  }

  // Against the subtrees of the same shape; others share no subset tree.
  Row<Real>& subset_row(int32_t sub, int64_t stream_begin) {
    const int32_t rank = table_.shape(sub) < 0 ? -1 : slots_.rank(table_.shape(sub));
    if (rank < 0) return allocate(sub, 0, 0, Real(0.0), Real(0.0));
    const Shape& shape = slots_.shape(rank);
    const int32_t n = slots_.live(shape, stream_begin);
    Row<Real>& row =
        allocate(sub, shape.begin, shape.begin + shape.n_members, inner_base_, Real(0.0));
    bool differs = false;
    for (int64_t j = 0; j < shape.arity; ++j) {
      const int32_t child_sub = table_.children(sub)[j];
      if (table_.shape(child_sub) < 0) continue;
      const Row<Real>& child = store_.row(child_sub);
      if (child.size == 0) continue;
      differs = true;
      multiply_members(row.values, slots_.child_slots(shape, j), n, child);
    }
    if (!differs) return row;
    Touched* touched = store_.reserve_touched(n);
    for (int32_t k = 0; k < n; ++k) {
      if (row.values[k] == inner_base_) continue;
      *touched = {shape.begin + k, features_->of_slot(shape.begin + k)};
      touched += touched->feature >= 0;
    }
    store_.end_touched(touched);
    return row;
  }

  // values[k] *= 1 + child[at[k]].
  static void multiply_members(Real* values, const int32_t* at, int32_t n, const Row<Real> child) {
    if (child.size > 1) {
      for (int32_t k = 0; k < n; ++k) values[k] *= Real(1.0) + child[at[k]];
      return;
    }
    // Mostly a word: one subtree matches and all others do not.
    const Real match = Real(1.0) + child.values[0], other = Real(1.0);
    const int32_t slot = child.begin;
    for (int32_t k = 0; k < n; ++k) values[k] *= at[k] == slot ? match : other;
  }

  // Against the subtrees with the same root symbol. Single children first, for all subtrees
  // alike; then, again, those in which two children or more can match.
  Row<Real>& group_row(int32_t sub, int64_t stream_begin) {
    const bool is_leaf = table_.shape(sub) < 0;
    const bool rooted = kind_ == TreeKernel::rooted;
    const Real k = nodes_.weight(table_.symbol(sub));
    const Real base = rooted ? k : unweighted_base(sub);
    const Real leaf_value = rooted ? k : is_leaf ? leaf_leaf_ : leaf_inner_;
    const SlotRange leaves = slots_.leaves(table_.symbol(sub));
    const int32_t leaf = leaf_value != base && leaves.size() > 0 ? leaves.begin : -1;
    int32_t begin = leaf >= 0 ? leaf : std::numeric_limits<int32_t>::max(), end = leaf + 1;
    if (is_leaf) {
      Row<Real>& row = allocate(sub, begin, end, leaf_value, base);
      return row;
    }
    for (const int32_t pair : walk_.pairs(table_.shape(sub))) {
      begin = std::min(begin, postings_->first_slot(pair));
      end = std::max(end, postings_->last_slot(pair) + 1);
    }
    Row<Real>& row = allocate(sub, begin, end, base, base);
    if (leaf >= 0) row.values[leaf - begin] = leaf_value;
    add_single_children(sub, stream_begin, row);
    if (table_.n_children(sub) > 1) sums_.add_sequences(sub, stream_begin, store_, walk_, row);
    return row;
  }

  void add_single_children(int32_t sub, int64_t stream_begin, Row<Real>& row) {
    const int32_t* child_sub = table_.children(sub);
    for (const int32_t pair : walk_.pairs(table_.shape(sub))) {
      if (stop_.raised()) return;
      const Real weight = kind_ == TreeKernel::rooted
                              ? sums_.child_weight() * nodes_.weight(table_.symbol(*child_sub))
                              : sums_.child_weight();
      const Row<Real> child = store_.row(*child_sub++);
      if (children_show_)
        add_child<true>(pair, walk_.live(pair, stream_begin), weight, child, row);
      else
        add_child<false>(pair, walk_.live(pair, stream_begin), weight, child, row);
    }
  }

  // A slot is touched when it first leaves the base; a child too small to show leaves it there.
  template <bool always_shows>
  void add_child(int32_t pair, int64_t n, Real weight, const Row<Real> child, Row<Real>& row) {
    const Real base = inner_base_;
    Real* values = row.values - row.begin;
    const ChildPostings::Entry* entries = postings_->entries(pair).first;
    Touched* touched = store_.reserve_touched(n);
    for (int64_t k = 0; k < n; ++k) {
      const ChildPostings::Entry entry = entries[k];
      Real& value = values[entry.slot];
      const Real sum = value + weight * child[entry.child_slot];
      *touched = {entry.slot, entry.feature};
      touched += (entry.feature >= 0) & (value == base) & (always_shows || sum != base);
      value = sum;
    }
    store_.end_touched(touched);
  }

  TreeKernel kind_;
  StopFlag stop_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  const ExactNodes<Real>& nodes_;
  const ChildPostings* postings_;
  const TreeFeatures* features_;
  bool gated_;
  RowStore<Real> store_;
  ChildSums<Real, ExactNodes<Real>> sums_;
  Real leaf_leaf_, leaf_inner_, inner_base_;
  PostingsWalk walk_;
  bool children_show_;  // any child that matches changes the sum it is added to
};

}  // namespace kernelwood
