// Rows of the node-pair function Delta: one panel subtree u against many stream subtrees v.
//
//   subset  Delta = decay * prod_j (1 + Delta(u_j, v_j))            same production
//   partial Delta = mu * (decay^2 + sum_J,J' weight * prod Delta)   same label, inner nodes
//   rooted  Delta = 1 + sum_I,I' decay^l * (sum_s Delta(u_is, v_js))   same label
//
// The sums over child subsequences are those of child_sums.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/child_sums.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/row_store.hpp"
#include "kernelwood/tree_features.hpp"

namespace kernelwood {

template <class Real>
class TreeRows {
 public:
  TreeRows(const TreeParameters& parameters, const SubtreeTable& table, const SlotIndex& slots,
           const ChildPostings* postings, const TreeFeatures* features, StopFlag stop)
      : kind_(parameters.kind), stop_(stop), table_(table), slots_(slots), postings_(postings),
        features_(features), store_(table.n_subtrees(), parameters.max_bytes),
        sums_(parameters, table, slots, stop),
        leaf_leaf_(leaf_value(parameters, parameters.leaf_power)),
        leaf_inner_(leaf_value(parameters, 2.0)),
        inner_base_(kind_ == TreeKernel::subset ? Real(parameters.decay) : sums_.base()),
        stamp_(static_cast<size_t>(slots.n_ranks()), 0),
        live_(postings ? postings->n_pairs() : 0, -1) {}

  // The value a row has wherever nothing below the two roots matches.
  Real base(int32_t sub) const { return table_.shape(sub) < 0 ? leaf_inner_ : inner_base_; }
  // Delta of two nodes of which one is a leaf, the other too or not.
  Real leaf_leaf() const { return leaf_leaf_; }
  Real leaf_inner() const { return leaf_inner_; }
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
    store_.begin_tree(side, tree);
    for (int64_t e = side.begin[static_cast<size_t>(tree)];
         e < side.begin[static_cast<size_t>(tree) + 1] && !stop_.raised(); ++e) {
      const int32_t sub = side.sub[static_cast<size_t>(e)];
      if (!store_.has(sub)) make_row(sub, stream_begin);
      visit(e, sub);
      store_.finish(sub, table_);
    }
  }

 private:
  static Real leaf_value(const TreeParameters& parameters, double decay_power) {
    if (parameters.kind == TreeKernel::rooted) return Real(1.0);
    return Real(parameters.depth_decay) * power<Real>(parameters.decay, decay_power) *
           Real(parameters.terminal_factor);
  }

  void make_row(int32_t sub, int64_t stream_begin) {
    const int32_t touched_begin = store_.n_touched();
    Row<Real>& row =
        kind_ == TreeKernel::subset ? subset_row(sub, stream_begin) : group_row(sub, stream_begin);
    row.touched_begin = touched_begin;
    row.touched_end = store_.n_touched();
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
    const Real base = this->base(sub), leaf_value = is_leaf ? leaf_leaf_ : leaf_inner_;
    const int32_t leaf = leaf_value != base ? slots_.leaf_slot(table_.symbol(sub)) : -1;
    int32_t begin = leaf >= 0 ? leaf : std::numeric_limits<int32_t>::max(), end = leaf + 1;
    if (is_leaf) {
      Row<Real>& row = allocate(sub, begin, end, leaf_value, base);
      return row;
    }
    for (const int32_t pair : postings_->pairs(table_.shape(sub))) {
      begin = std::min(begin, postings_->first_slot(pair));
      end = std::max(end, postings_->last_slot(pair) + 1);
    }
    Row<Real>& row = allocate(sub, begin, end, base, base);
    if (leaf >= 0) row.values[leaf - begin] = leaf_value;
    add_single_children(sub, stream_begin, row);
    if (table_.n_children(sub) > 1) add_child_sequences(sub, stream_begin, row);
    return row;
  }

  void add_single_children(int32_t sub, int64_t stream_begin, Row<Real>& row) {
    const Real weight = sums_.child_weight(), base = inner_base_;
    Real* values = row.values - row.begin;
    const int32_t* child_sub = table_.children(sub);
    for (const int32_t pair : postings_->pairs(table_.shape(sub))) {
      if (stop_.raised()) return;
      const Row<Real> child = store_.row(*child_sub++);
      const int64_t n = live(pair, stream_begin);
      const ChildPostings::Entry* entries = postings_->entries(pair).first;
      Touched* touched = store_.reserve_touched(n);
      for (int64_t k = 0; k < n; ++k) {
        const ChildPostings::Entry entry = entries[k];
        Real& value = values[entry.slot];
        *touched = {entry.slot, entry.feature};
        touched += (entry.feature >= 0) & (value == base);
        value += weight * child[entry.child_slot];
      }
      store_.end_touched(touched);
    }
  }

  // Entries of a pair in stream trees from `stream_begin` on. Blocks go forward, so the count
  // only falls.
  int64_t live(int32_t pair, int64_t stream_begin) {
    const auto entries = postings_->entries(pair);
    int64_t& n = live_[static_cast<size_t>(pair)];
    if (n < 0) n = entries.size();
    while (n > 0 && slots_.last_of_slot(entries.first[n - 1].slot) < stream_begin) --n;
    return n;
  }

  void add_child_sequences(int32_t sub, int64_t stream_begin, Row<Real>& row) {
    sums_.begin(sub, store_);
    current_stamp_ += 2;
    for (const int32_t pair : postings_->pairs(table_.shape(sub))) {
      if (stop_.raised()) break;
      for (const int32_t rank : postings_->ranks(pair)) {
        const Shape& shape = slots_.shape(rank);
        if (shape.last < stream_begin) break;
        int64_t& stamp = stamp_[static_cast<size_t>(rank)];
        if (stamp < current_stamp_) {
          stamp = current_stamp_;  // met once
        } else if (stamp == current_stamp_) {
          stamp = current_stamp_ + 1;  // met twice: now it counts
          sums_.sum_shape(shape, slots_.live(shape, stream_begin),
                          row.values + (shape.begin - row.begin));
        }
      }
    }
    sums_.end();
  }

  TreeKernel kind_;
  StopFlag stop_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  const ChildPostings* postings_;
  const TreeFeatures* features_;
  RowStore<Real> store_;
  ChildSums<Real> sums_;
  Real leaf_leaf_, leaf_inner_, inner_base_;
  int64_t current_stamp_ = 0;
  Buffer<int64_t> stamp_, live_;
};

}  // namespace kernelwood
