// Rows of the node-pair function Delta: one panel subtree u against many stream subtrees v.
//
//   subset  Delta = decay * prod_j (1 + Delta(u_j, v_j))          same production
//   partial Delta = mu * (decay^2 + sum_J,J' weight * prod Delta)   same label, inner nodes
//   rooted  Delta = 1 + sum_I,I' decay^l * (sum_s Delta(u_is, v_js))   same label
//
// The sums over child subsequences run over *cells* (i, j), pairs of children with equal
// symbols. With S(y) the sum over subsequence pairs that end in cell y,
//   partial S(y) = Delta(y) * (start + sum_{z before y} link(z, y) * S(z))
//   rooted  A(y) = decay * (1 + sum_z A(z)),  B(y) = A(y) * Delta(y) + decay * sum_z B(z)
// (z before y in both trees; right before it in the contiguous variant). Few cells are summed
// over their list, for all members of a shape at once; many by a running table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/row_store.hpp"
#include "kernelwood/scaled.hpp"
#include "kernelwood/tree_features.hpp"

namespace kernelwood {

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

template <class Real>
class TreeRows {
 public:
  TreeRows(const TreeParameters& parameters, const SubtreeTable& table, const SlotIndex& slots,
           const ChildPostings* postings, const TreeFeatures* features)
      : kind_(parameters.kind), contiguous_(parameters.contiguous), table_(table), slots_(slots),
        postings_(postings), features_(features), store_(table.n_subtrees(), parameters.max_bytes),
        decay_(parameters.decay), depth_decay_(parameters.depth_decay),
        leaf_leaf_(kind_ == TreeKernel::rooted ? Real(1.0) : Real(parameters.leaf_leaf)),
        leaf_inner_(kind_ == TreeKernel::rooted ? Real(1.0) : Real(parameters.leaf_inner)),
        start_(parameters.span_decay ? Real(parameters.decay) * Real(parameters.decay) : Real(1.0)),
        link_(start_), stamp_(static_cast<size_t>(slots.n_ranks()), 0),
        live_(postings ? postings->n_pairs() : 0, -1) {
    inner_base_ = kind_ == TreeKernel::rooted   ? Real(1.0)
                  : kind_ == TreeKernel::subset ? decay_
                                                : depth_decay_ * decay_ * decay_;
    if (postings) head_.assign(static_cast<size_t>(table.n_symbols()), -1);
  }

  // The value a row has wherever nothing below the two roots matches.
  Real base(int32_t sub) const { return table_.shape(sub) < 0 ? leaf_inner_ : inner_base_; }
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
         e < side.begin[static_cast<size_t>(tree) + 1]; ++e) {
      const int32_t sub = side.sub[static_cast<size_t>(e)];
      if (!store_.has(sub)) make_row(sub, stream_begin);
      visit(e, sub);
      store_.finish(sub, table_);
    }
  }

 private:
  static constexpr int chunk = 16;       // members summed at a time
  static constexpr int many_cells = 48;  // beyond this a running table is cheaper

  void make_row(int32_t sub, int64_t stream_begin) {
    const int32_t touched_begin = store_.n_touched();
    Row<Real>& row = kind_ == TreeKernel::subset ? subset_row(sub, stream_begin)
                                                 : group_row(sub, stream_begin);
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
    Row<Real>& row = allocate(sub, shape.begin, shape.begin + shape.n_members, decay_, Real(0.0));
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
      if (row.values[k] == decay_) continue;
      *touched = {shape.begin + k, features_->of_slot(shape.begin + k)};
      touched += touched->feature >= 0;
    }
    store_.end_touched(touched);
    return row;
  }

  static void multiply_members(Real* values, const int32_t* at, int32_t n, const Row<Real>& child) {
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
    const Real factor = kind_ == TreeKernel::partial ? depth_decay_ * start_ : decay_;
    Real* values = row.values - row.begin;
    const int32_t* child_sub = table_.children(sub);
    for (const int32_t pair : postings_->pairs(table_.shape(sub))) {
      const Row<Real> child = store_.row(*child_sub++);
      const int64_t n = live(pair, stream_begin);
      const ChildPostings::Entry* entries = postings_->entries(pair).first;
      Touched* touched = store_.reserve_touched(n);
      for (int64_t k = 0; k < n; ++k) {
        const ChildPostings::Entry entry = entries[k];
        Real& value = values[entry.slot];
        *touched = {entry.slot, entry.feature};
        touched += (entry.feature >= 0) & (value == inner_base_);
        value += factor * child[entry.child_slot];
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
    link_children(sub);
    current_stamp_ += 2;
    for (const int32_t pair : postings_->pairs(table_.shape(sub)))
      for (const int32_t rank : postings_->ranks(pair)) {
        const Shape& shape = slots_.shape(rank);
        if (shape.last < stream_begin) break;
        int64_t& stamp = stamp_[static_cast<size_t>(rank)];
        if (stamp < current_stamp_) {
          stamp = current_stamp_;  // met once
        } else if (stamp == current_stamp_) {
          stamp = current_stamp_ + 1;  // met twice: now it counts
          sum_shape(shape, slots_.live(shape, stream_begin), row.values + (shape.begin - row.begin));
        }
      }
    for (const int32_t symbol : distinct_) head_[static_cast<size_t>(symbol)] = -1;
  }

  void link_children(int32_t sub) {
    const int64_t n = table_.n_children(sub);
    next_.resize(static_cast<size_t>(n));
    children_.resize(static_cast<size_t>(n));
    distinct_.clear();
    for (int64_t i = n - 1; i >= 0; --i) {
      const int32_t child = table_.children(sub)[i];
      int32_t& head = head_[static_cast<size_t>(table_.symbol(child))];
      if (head < 0) distinct_.push_back(table_.symbol(child));
      next_[static_cast<size_t>(i)] = head;
      head = static_cast<int32_t>(i);
      children_[static_cast<size_t>(i)] = {table_.symbol(child), store_.row(child)};
    }
  }

  void sum_shape(const Shape& shape, int32_t n, Real* out) {
    const int32_t* symbols = slots_.child_symbols(shape);
    int n_cells = 0;
    for (int32_t j = 0; j < shape.arity; ++j)
      for (int32_t i = head_[static_cast<size_t>(symbols[j])]; i >= 0;
           i = next_[static_cast<size_t>(i)]) {
        if (n_cells == many_cells) return sum_by_table(shape, n, out);
        cells_[n_cells++] = {i, j};
      }
    if (n_cells == 2 && kind_ == TreeKernel::partial) return sum_two_cells(shape, n, out);
    link_cells(n_cells);
    if (kind_ == TreeKernel::partial)
      sum_cells_partial(shape, n_cells, n, out);
    else
      sum_cells_rooted(shape, n_cells, n, out);
  }

  void sum_two_cells(const Shape& shape, int32_t n, Real* out) {
    const Row<Real>& first = children_[static_cast<size_t>(cells_[0].i)].row;
    const Row<Real>& second = children_[static_cast<size_t>(cells_[1].i)].row;
    const int32_t* first_at = slots_.child_slots(shape, cells_[0].j);
    const int32_t* second_at = slots_.child_slots(shape, cells_[1].j);
    const int32_t gap_i = cells_[1].i - cells_[0].i - 1, gap_j = cells_[1].j - cells_[0].j - 1;
    const Real link = gap_i < 0 || gap_j < 0 ? Real(0.0) : link_ * gap_power(gap_i + gap_j);
    for (int32_t k = 0; k < n; ++k) {
      const Real a = start_ * first[first_at[k]];
      const Real b = second[second_at[k]] * (start_ + link * a);
      out[k] = inner_base_ + depth_decay_ * (a + b);
    }
  }

  struct Cell {
    int32_t i, j;
  };
  struct Link {
    int32_t from;
    Real weight;
  };
  struct Child {
    int32_t symbol;
    Row<Real> row;
  };

  // Which earlier cells lead to each cell, and with what weight.
  void link_cells(int n_cells) {
    int n = 0;
    for (int y = 0; y < n_cells; ++y) {
      for (int z = 0; z < y; ++z) {
        const int32_t gap_i = cells_[y].i - cells_[z].i - 1, gap_j = cells_[y].j - cells_[z].j - 1;
        if (gap_i < 0 || gap_j < 0 || (contiguous_ && gap_i + gap_j > 0)) continue;
        links_[n++] = {z, kind_ == TreeKernel::partial ? link_ * gap_power(gap_i + gap_j)
                                                       : Real(1.0)};
      }
      links_end_[y] = n;
    }
  }

  Real gap_power(int32_t n) {
    while (gap_powers_.size() <= static_cast<size_t>(n))
      gap_powers_.push_back(gap_powers_.empty() ? Real(1.0) : gap_powers_.back() * decay_);
    return gap_powers_[static_cast<size_t>(n)];
  }

  void sum_cells_partial(const Shape& shape, int n_cells, int32_t n, Real* out) {
    for (int32_t k0 = 0; k0 < n; k0 += chunk) {
      const int32_t width = n - k0 < chunk ? n - k0 : chunk;
      Real total[chunk];
      for (int32_t k = 0; k < width; ++k) total[k] = Real(0.0);
      int link = 0;
      for (int y = 0; y < n_cells; ++y) {
        const Row<Real>& child = children_[static_cast<size_t>(cells_[y].i)].row;
        const int32_t* at = slots_.child_slots(shape, cells_[y].j) + k0;
        Real* sum = sums_[y];
        for (int32_t k = 0; k < width; ++k) sum[k] = start_;
        for (; link < links_end_[y]; ++link) {
          const Real* from = sums_[links_[link].from];
          const Real weight = links_[link].weight;
          for (int32_t k = 0; k < width; ++k) sum[k] += weight * from[k];
        }
        for (int32_t k = 0; k < width; ++k) {
          sum[k] *= child[at[k]];
          total[k] += sum[k];
        }
      }
      for (int32_t k = 0; k < width; ++k) out[k0 + k] = inner_base_ + depth_decay_ * total[k];
    }
  }

  void sum_cells_rooted(const Shape& shape, int n_cells, int32_t n, Real* out) {
    Real products[many_cells];
    int link = 0;
    for (int y = 0; y < n_cells; ++y) {
      Real sum(1.0);
      for (; link < links_end_[y]; ++link) sum += products[links_[link].from];
      products[y] = decay_ * sum;
    }
    for (int32_t k = 0; k < n; ++k) {
      Real total(0.0);
      link = 0;
      for (int y = 0; y < n_cells; ++y) {
        Real before(0.0);
        for (; link < links_end_[y]; ++link) before += sums_[links_[link].from][0];
        const int32_t slot = slots_.child_slots(shape, cells_[y].j)[k];
        const Real delta = children_[static_cast<size_t>(cells_[y].i)].row[slot];
        sums_[y][0] = products[y] * delta + decay_ * before;
        total += sums_[y][0];
      }
      out[k] = inner_base_ + total;
    }
  }

  // All subsequence pairs by running tables over (i, j): O(children * children) per member.
  void sum_by_table(const Shape& shape, int32_t n, Real* out) {
    for (int32_t k = 0; k < n; ++k)
      out[k] = inner_base_ + (kind_ == TreeKernel::partial ? depth_decay_ * table_partial(shape, k)
                                                           : table_rooted(shape, k));
  }

  // Walks the table line by line: step(j, true, Delta) where the children i and j match.
  template <class Start, class Step>
  void scan_table(const Shape& shape, int32_t k, Start&& start_line, Step&& step) {
    const int32_t* at = slots_.child_slots(shape, 0) + k;
    const int32_t* symbols = slots_.child_symbols(shape);
    for (const Child& child : children_) {
      start_line();
      for (int32_t j = 0; j < shape.arity; ++j) {
        const bool match = symbols[j] == child.symbol;
        const int64_t slot = int64_t{j} * shape.n_members;
        step(static_cast<size_t>(j), match, match ? child.row[at[slot]] : Real(0.0));
      }
    }
  }

  Real table_partial(const Shape& shape, int32_t k) {
    table_a_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    Real total(0.0), run(0.0), diagonal(0.0);
    scan_table(
        shape, k, [&] { run = diagonal = Real(0.0); },
        [&](size_t j, bool match, Real delta) {
          const Real above = table_a_[j];
          run *= decay_;
          if (match) {
            const Real sum = delta * (start_ + link_ * diagonal);
            run += sum;
            total += sum;
          }
          table_a_[j] = decay_ * above + run;
          diagonal = above;
        });
    return total;
  }

  Real table_rooted(const Shape& shape, int32_t k) {
    table_a_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    table_b_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    Real total(0.0), run_a(0.0), run_b(0.0), before_a(0.0), before_b(0.0);
    scan_table(
        shape, k, [&] { run_a = run_b = before_a = before_b = Real(0.0); },
        [&](size_t j, bool match, Real delta) {
          const Real above_a = table_a_[j], above_b = table_b_[j];
          Real a(0.0), b(0.0);
          if (match) {
            a = decay_ * (Real(1.0) + before_a);
            b = a * delta + decay_ * before_b;
            total += b;
          }
          run_a += a;
          run_b += b;
          table_a_[j] = contiguous_ ? a : above_a + run_a;
          table_b_[j] = contiguous_ ? b : above_b + run_b;
          before_a = above_a;
          before_b = above_b;
        });
    return total;
  }

  TreeKernel kind_;
  bool contiguous_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  const ChildPostings* postings_;
  const TreeFeatures* features_;
  RowStore<Real> store_;
  Real decay_, depth_decay_, leaf_leaf_, leaf_inner_, start_, link_, inner_base_;

  int64_t current_stamp_ = 0;
  std::vector<int64_t> stamp_, live_;
  std::vector<int32_t> head_, next_, distinct_;
  std::vector<Child> children_;
  std::vector<Real> gap_powers_, table_a_, table_b_;
  Cell cells_[many_cells];
  Link links_[many_cells * many_cells / 2];
  int links_end_[many_cells];
  Real sums_[many_cells][chunk];
};

}  // namespace kernelwood
