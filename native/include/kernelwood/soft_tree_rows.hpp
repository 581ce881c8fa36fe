// Rows of the node-pair function Delta where labels match softly.
//
//   subtree Delta = k * decay * prod_j Delta(u_j, v_j)      sigma for two leaves, 0 for one
//   subset  Delta = k * decay * prod_j (sigma(u_j, v_j) + Delta(u_j, v_j))
//   partial Delta = k * mu * (decay^2 + sum_J,J' weight * prod Delta)
//   rooted  Delta = k * (k + sum_I,I' decay^l * (sum_s Delta(u_is, v_js)) * prod k)
//
// sigma is the similarity of two labels, k the same times both gates. Unlike in tree_rows.hpp a row
// has a value of its own in every slot of its symbol; the sums over children are the same.
#pragma once

#include <cstdint>

#include "kernelwood/child_postings.hpp"
#include "kernelwood/child_sums.hpp"
#include "kernelwood/row_store.hpp"

namespace kernelwood {

template <class Real>
class SoftTreeRows {
 public:
  SoftTreeRows(const TreeParameters& parameters, const SubtreeTable& table, const SlotIndex& slots,
               const SoftNodes<Real>& nodes, const ChildPostings* postings, StopFlag stop)
      : kind_(parameters.kind), count_leaves_(parameters.count_leaves), stop_(stop), table_(table),
        slots_(slots), nodes_(nodes), postings_(postings),
        store_(table.n_subtrees(), parameters.max_bytes, kept_values),
        sums_(parameters, table, slots, nodes, stop), decay_(parameters.decay),
        leaf_leaf_(leaf_value(parameters, parameters.leaf_power)),
        leaf_inner_(leaf_value(parameters, 2.0)), walk_(postings, slots, table) {}

  const Row<Real>& row(int32_t sub) const { return store_.row(sub); }

  // Makes the rows of one tree's subtrees in turn and shows each to `visit(entry, sub)`.
  // Only slots of stream trees from `stream_begin` on are filled.
  template <class Visit>
  void for_each_row(const TreeSide& side, int64_t tree, int64_t stream_begin, Visit&& visit) {
    const auto make = [&](int32_t sub) { make_row(sub, stream_begin); };
    store_.for_each_row(table_, side, tree, stop_, make, visit);
  }

 private:
  static constexpr int64_t kept_values = int64_t{1} << 22;  // rows are long and dear
  static constexpr int32_t sparse = 8;  // fewer matches than one in so many are looked up singly

  static Real leaf_value(const TreeParameters& parameters, double decay_power) {
    return Real(parameters.depth_decay) * power<Real>(parameters.decay, decay_power) *
           Real(parameters.terminal_factor);
  }

  void make_row(int32_t sub, int64_t stream_begin) {
    switch (kind_) {
      case TreeKernel::subtree:
      case TreeKernel::subset:
        return table_.shape(sub) < 0 ? leaf_row(sub) : production_row(sub, stream_begin);
      case TreeKernel::partial:
      case TreeKernel::rooted: return group_row(sub, stream_begin);
    }
  }

  // Allocates the row of a range of slots and puts k of each into `match_`.
  Row<Real>& allocate(int32_t sub, SlotRange range) {
    Row<Real>& row = store_.allocate(sub, range.begin, range.size(), table_);
    row.values[row.size] = Real(0.0);
    match_.resize(static_cast<size_t>(range.size()));
    n_matches_ = nodes_.match_all(sub, range, match_.data());
    return row;
  }
  void scale_by_match(Row<Real>& row) {
    for (int32_t k = 0; k < row.size; ++k) row.values[k] *= match_[static_cast<size_t>(k)];
  }

  // Leaves take part in the products of subtrees, and in sums where they count themselves.
  void leaf_row(int32_t sub) {
    const bool subtree = kind_ == TreeKernel::subtree;
    const SlotRange leaves = slots_.leaves(table_.symbol(sub));
    Row<Real>& row = allocate(sub, subtree || count_leaves_ ? leaves : SlotRange{});
    for (int32_t k = 0; k < row.size; ++k)
      row.values[k] =
          subtree ? nodes_.similarity(sub, row.begin + k) : decay_ * match_[static_cast<size_t>(k)];
  }

  // Against the subtrees of the same shape.
  void production_row(int32_t sub, int64_t stream_begin) {
    const int32_t rank = slots_.rank(table_.shape(sub));
    if (rank < 0) {
      allocate(sub, {});
      return;
    }
    const Shape& shape = slots_.shape(rank);
    Row<Real>& row = allocate(sub, {shape.begin, shape.begin + shape.n_members});
    const int32_t n = slots_.live(shape, stream_begin);
    for (int32_t k = 0; k < row.size; ++k) row.values[k] = k < n ? decay_ : Real(0.0);
    for (int64_t j = 0; j < shape.arity && !stop_.raised(); ++j) {
      const int32_t child = table_.children(sub)[j];
      const int32_t* at = slots_.child_slots(shape, j);
      const Row<Real> below = store_.row(child);
      if (kind_ == TreeKernel::subtree) {
        for (int32_t k = 0; k < n; ++k) row.values[k] *= below[at[k]];
      } else if (table_.shape(child) < 0) {
        for (int32_t k = 0; k < n; ++k) row.values[k] *= nodes_.similarity(child, at[k]);
      } else {
        for (int32_t k = 0; k < n; ++k)
          row.values[k] *= nodes_.similarity(child, at[k]) + below[at[k]];
      }
    }
    scale_by_match(row);
  }

  // Against all subtrees whose root has the same symbol.
  void group_row(int32_t sub, int64_t stream_begin) {
    const bool is_leaf = table_.shape(sub) < 0, rooted = kind_ == TreeKernel::rooted;
    Row<Real>& row = allocate(sub, slots_.group(table_.symbol(sub)));
    const SlotRange leaves = slots_.leaves(table_.symbol(sub));
    const Real base = rooted ? Real(0.0) : is_leaf ? leaf_inner_ : sums_.base();
    const Real at_leaves = rooted ? Real(0.0) : is_leaf ? leaf_leaf_ : leaf_inner_;
    for (int32_t k = 0; k < row.size; ++k) row.values[k] = k < leaves.size() ? at_leaves : base;
    if (!is_leaf && row.size > leaves.size()) {
      if (n_matches_ * sparse < row.size) {
        sum_single_slots(sub, leaves.size(), row);
      } else {
        add_single_children(sub, stream_begin, row);
        if (table_.n_children(sub) > 1) sums_.add_sequences(sub, stream_begin, store_, walk_, row);
      }
    }
    if (rooted)
      for (int32_t k = 0; k < row.size; ++k) row.values[k] += match_[static_cast<size_t>(k)];
    scale_by_match(row);
  }

  // Where few labels match, only those pairs of subtrees are compared.
  void sum_single_slots(int32_t sub, int32_t first_inner, Row<Real>& row) {
    sums_.begin(sub, store_);
    for (int32_t k = first_inner; k < row.size && !stop_.raised(); ++k) {
      if (match_[static_cast<size_t>(k)] == Real(0.0)) continue;
      const Shape& shape = slots_.shape(slots_.rank_of_slot(row.begin + k));
      row.values[k] = sums_.sum_member(shape, row.begin + k - shape.begin);
    }
    sums_.end();
  }

  void add_single_children(int32_t sub, int64_t stream_begin, Row<Real>& row) {
    const Real weight = sums_.child_weight();
    Real* values = row.values - row.begin;
    const int32_t* child_sub = table_.children(sub);
    for (const int32_t pair : walk_.pairs(table_.shape(sub))) {
      if (stop_.raised()) return;
      const int32_t child = *child_sub++;
      const Row<Real> below = store_.row(child);
      const int64_t n = walk_.live(pair, stream_begin);
      const ChildPostings::Entry* entries = postings_->entries(pair).first;
      if (kind_ == TreeKernel::rooted) {
        for (int64_t k = 0; k < n; ++k)
          values[entries[k].slot] +=
              weight * nodes_.match(child, entries[k].child_slot) * below[entries[k].child_slot];
      } else {
        for (int64_t k = 0; k < n; ++k)
          values[entries[k].slot] += weight * below[entries[k].child_slot];
      }
    }
  }

  TreeKernel kind_;
  bool count_leaves_;
  StopFlag stop_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  const SoftNodes<Real>& nodes_;
  const ChildPostings* postings_;
  RowStore<Real> store_;
  ChildSums<Real, SoftNodes<Real>> sums_;
  Real decay_, leaf_leaf_, leaf_inner_;
  Buffer<Real> match_;
  int32_t n_matches_ = 0;
  PostingsWalk walk_;
};

}  // namespace kernelwood
