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

#include <cstdint>
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
           const ShapePostings* postings)
      : kind_(parameters.kind), contiguous_(parameters.contiguous), table_(table), slots_(slots),
        postings_(postings), store_(table.n_subtrees(), parameters.max_bytes),
        decay_(parameters.decay), depth_decay_(parameters.depth_decay),
        leaf_leaf_(kind_ == TreeKernel::rooted ? Real(1.0) : Real(parameters.leaf_leaf)),
        leaf_inner_(kind_ == TreeKernel::rooted ? Real(1.0) : Real(parameters.leaf_inner)),
        start_(parameters.span_decay ? Real(parameters.decay) * Real(parameters.decay) : Real(1.0)),
        link_(start_), stamp_(static_cast<size_t>(table.n_shapes()), 0) {
    inner_base_ = kind_ == TreeKernel::rooted   ? Real(1.0)
                  : kind_ == TreeKernel::subset ? decay_
                                                : depth_decay_ * decay_ * decay_;
    if (postings) head_.assign(static_cast<size_t>(table.n_symbols()), -1);
  }

  // The value a row has wherever nothing below the two roots matches.
  Real base(int32_t sub) const { return table_.shape(sub) < 0 ? leaf_inner_ : inner_base_; }

  SlotRange range(int32_t sub) const {
    const int32_t shape = table_.shape(sub);
    if (kind_ == TreeKernel::subset) return shape < 0 ? SlotRange{} : slots_.members(shape);
    return slots_.group(table_.symbol(sub));
  }
  const Real* row(int32_t sub) const { return store_.row(sub); }

  // Calls visit(sub, shape) for each shape in which the row of `sub` may differ from its base.
  template <class Visit>
  void for_each_touched(int32_t sub, Visit&& visit) {
    const auto range = store_.touched(sub);
    for (int64_t i = range.first; i < range.second; ++i)
      visit(store_.touched_shapes()[static_cast<size_t>(i)]);
  }

  // Makes the rows of one tree's subtrees in turn and shows each to `visit(entry, sub)`.
  // Only slots of stream trees from `stream_begin` on are filled.
  template <class Visit>
  void for_each_row(const TreeSide& side, int64_t tree, int64_t stream_begin, Visit&& visit) {
    const int64_t first = side.begin[static_cast<size_t>(tree)];
    const int64_t last = side.begin[static_cast<size_t>(tree) + 1];
    int64_t lacking = 0;
    for (int64_t e = first; e < last; ++e)
      if (!store_.has(side.sub[static_cast<size_t>(e)]))
        lacking += range(side.sub[static_cast<size_t>(e)]).size() + 1;
    store_.begin_tree(side, tree, table_, lacking);
    for (int64_t e = first; e < last; ++e) {
      const int32_t sub = side.sub[static_cast<size_t>(e)];
      if (!store_.has(sub)) make_row(sub, stream_begin);
      visit(e, sub);
      store_.release_children(sub, table_);
    }
  }

 private:
  static constexpr int chunk = 16;        // members summed at a time
  static constexpr size_t many_cells = 48;  // beyond this a running table is cheaper

  void make_row(int32_t sub, int64_t stream_begin) {
    const SlotRange range = this->range(sub);
    const size_t touched_begin = store_.touched_shapes().size();
    if (range.size() > 0) {
      Real* out = store_.allocate(sub, range.size() + 1);
      const Real base = this->base(sub);
      for (int32_t k = 0; k < range.size(); ++k) out[k] = base;
      out[range.size()] = Real(0.0);  // read where a slot lies outside the row
      if (kind_ == TreeKernel::subset)
        subset_row(sub, stream_begin, out);
      else
        group_row(sub, stream_begin, out - range.begin);
    }
    store_.set_touched(sub, touched_begin);
  }

  void subset_row(int32_t sub, int64_t stream_begin, Real* out) {
    const int32_t shape = table_.shape(sub);
    const int32_t n = slots_.live(shape, stream_begin);
    bool touched = false;
    for (int64_t j = 0; j < table_.n_children(sub); ++j) {
      const int32_t child = table_.children(sub)[j];
      if (!store_.has(child)) continue;
      touched = true;
      const SlotRange range = this->range(child);
      const Real* values = store_.row(child);
      const int32_t* at = slots_.child_slots(shape, j);
      const auto size = static_cast<uint32_t>(range.size());
      for (int32_t k = 0; k < n; ++k) {
        const auto position = static_cast<uint32_t>(at[k] - range.begin);
        out[k] *= Real(1.0) + values[position < size ? position : size];
      }
    }
    if (touched) store_.touched_shapes().push_back(shape);
  }

  // `out` is indexed by slot.
  void group_row(int32_t sub, int64_t stream_begin, Real* out) {
    const int32_t symbol = table_.symbol(sub);
    const int32_t leaf = slots_.leaf_slot(symbol);
    const bool is_leaf = table_.shape(sub) < 0;
    if (leaf >= 0) out[leaf] = is_leaf ? leaf_leaf_ : leaf_inner_;
    if (is_leaf) return;
    link_children(sub);
    ++current_stamp_;
    for (const int32_t child_symbol : distinct_) {
      const int32_t id = postings_->find(symbol, child_symbol);
      if (id < 0) continue;
      for (const int32_t* shape = postings_->begin(id); shape != postings_->end(id); ++shape) {
        int64_t& stamp = stamp_[static_cast<size_t>(*shape)];
        if (stamp == current_stamp_) continue;
        if (slots_.last_of_slot(slots_.members(*shape).begin) < stream_begin) break;
        stamp = current_stamp_;
        store_.touched_shapes().push_back(*shape);
        sum_shape(*shape, stream_begin, out);
      }
    }
    for (const int32_t child_symbol : distinct_) head_[static_cast<size_t>(child_symbol)] = -1;
  }

  // Chains the positions of u's children by symbol and notes where their rows are.
  void link_children(int32_t sub) {
    const int64_t n = table_.n_children(sub);
    next_.resize(static_cast<size_t>(n));
    child_rows_.resize(static_cast<size_t>(n));
    child_symbol_.resize(static_cast<size_t>(n));
    distinct_.clear();
    for (int64_t i = n - 1; i >= 0; --i) {
      const int32_t child = table_.children(sub)[i];
      const int32_t symbol = table_.symbol(child);
      child_symbol_[static_cast<size_t>(i)] = symbol;
      int32_t& head = head_[static_cast<size_t>(symbol)];
      if (head < 0) distinct_.push_back(symbol);
      next_[static_cast<size_t>(i)] = head;
      head = static_cast<int32_t>(i);
      child_rows_[static_cast<size_t>(i)] =
          store_.has(child) ? store_.row(child) - slots_.group(symbol).begin : nullptr;
    }
  }

  void sum_shape(int32_t shape, int64_t stream_begin, Real* out) {
    const int32_t n = slots_.live(shape, stream_begin);
    Real* at = out + slots_.members(shape).begin;
    const int32_t* symbols = table_.child_symbols(shape);
    cells_.clear();
    for (int64_t j = 0; j < table_.arity(shape); ++j)
      for (int32_t i = head_[static_cast<size_t>(symbols[j])]; i >= 0; i = next_[static_cast<size_t>(i)]) {
        if (cells_.size() == many_cells) return sum_by_table(shape, n, at);
        cells_.push_back({i, static_cast<int32_t>(j)});
      }
    if (cells_.size() == 1) return sum_one_cell(shape, n, at);
    link_cells();
    if (kind_ == TreeKernel::partial)
      sum_cells_partial(shape, n, at);
    else
      sum_cells_rooted(shape, n, at);
  }

  void sum_one_cell(int32_t shape, int32_t n, Real* out) {
    const Real* values = child_rows_[static_cast<size_t>(cells_[0].i)];
    const int32_t* at = slots_.child_slots(shape, cells_[0].j);
    const Real factor = kind_ == TreeKernel::partial ? depth_decay_ * start_ : decay_;
    for (int32_t k = 0; k < n; ++k) out[k] = inner_base_ + factor * values[at[k]];
  }

  struct Cell {
    int32_t i, j;
  };
  struct Link {
    int32_t from;
    Real weight;
  };

  // Which earlier cells lead to each cell, and with what weight.
  void link_cells() {
    links_.clear();
    links_end_.clear();
    for (size_t y = 0; y < cells_.size(); ++y) {
      for (size_t z = 0; z < y; ++z) {
        const int32_t gap_i = cells_[y].i - cells_[z].i - 1, gap_j = cells_[y].j - cells_[z].j - 1;
        if (gap_i < 0 || gap_j < 0 || (contiguous_ && gap_i + gap_j > 0)) continue;
        links_.push_back({static_cast<int32_t>(z),
                          kind_ == TreeKernel::partial ? link_ * gap_power(gap_i + gap_j) : Real(1.0)});
      }
      links_end_.push_back(links_.size());
    }
  }

  Real gap_power(int32_t n) {
    while (gap_powers_.size() <= static_cast<size_t>(n))
      gap_powers_.push_back(gap_powers_.empty() ? Real(1.0) : gap_powers_.back() * decay_);
    return gap_powers_[static_cast<size_t>(n)];
  }

  void sum_cells_partial(int32_t shape, int32_t n, Real* out) {
    for (int32_t k0 = 0; k0 < n; k0 += chunk) {
      const int32_t width = n - k0 < chunk ? n - k0 : chunk;
      Real total[chunk];
      for (int32_t k = 0; k < width; ++k) total[k] = Real(0.0);
      size_t link = 0;
      for (size_t y = 0; y < cells_.size(); ++y) {
        const Real* values = child_rows_[static_cast<size_t>(cells_[y].i)];
        const int32_t* at = slots_.child_slots(shape, cells_[y].j) + k0;
        Real* sum = sums_[y];
        for (int32_t k = 0; k < width; ++k) sum[k] = start_;
        for (; link < links_end_[y]; ++link) {
          const Real* from = sums_[links_[link].from];
          const Real weight = links_[link].weight;
          for (int32_t k = 0; k < width; ++k) sum[k] += weight * from[k];
        }
        for (int32_t k = 0; k < width; ++k) {
          sum[k] *= values[at[k]];
          total[k] += sum[k];
        }
      }
      for (int32_t k = 0; k < width; ++k) out[k0 + k] = inner_base_ + depth_decay_ * total[k];
    }
  }

  void sum_cells_rooted(int32_t shape, int32_t n, Real* out) {
    Real products[many_cells];
    size_t link = 0;
    for (size_t y = 0; y < cells_.size(); ++y) {
      Real sum(1.0);
      for (; link < links_end_[y]; ++link) sum += products[links_[link].from];
      products[y] = decay_ * sum;
    }
    for (int32_t k = 0; k < n; ++k) {
      Real total(0.0);
      link = 0;
      for (size_t y = 0; y < cells_.size(); ++y) {
        Real before(0.0);
        for (; link < links_end_[y]; ++link) before += sums_[links_[link].from][0];
        const int32_t* at = slots_.child_slots(shape, cells_[y].j);
        sums_[y][0] = products[y] * child_rows_[static_cast<size_t>(cells_[y].i)][at[k]] + decay_ * before;
        total += sums_[y][0];
      }
      out[k] = inner_base_ + total;
    }
  }

  // All subsequence pairs by running tables over (i, j): O(children * children) per member.
  void sum_by_table(int32_t shape, int32_t n, Real* out) {
    for (int32_t k = 0; k < n; ++k)
      out[k] = inner_base_ + (kind_ == TreeKernel::partial ? depth_decay_ * table_partial(shape, k)
                                                           : table_rooted(shape, k));
  }

  // Calls cell(j, Delta) for the children j of member k that match u's child i, 0 elsewhere.
  template <class Start, class Step>
  void scan_table(int32_t shape, int32_t k, Start&& start_line, Step&& step) {
    const int64_t arity = table_.arity(shape);
    const int32_t n_members = slots_.members(shape).size();
    const int32_t* at = slots_.child_slots(shape, 0) + k;
    for (size_t i = 0; i < next_.size(); ++i) {
      start_line();
      const SlotRange range = child_group(i);
      for (int64_t j = 0; j < arity; ++j) {
        const int32_t slot = at[j * n_members];
        const bool match = slot >= range.begin && slot < range.end;
        step(static_cast<size_t>(j), match ? child_rows_[i] + slot : nullptr);
      }
    }
  }

  SlotRange child_group(size_t i) const { return slots_.group(child_symbol_[i]); }

  Real table_partial(int32_t shape, int32_t k) {
    table_a_.assign(static_cast<size_t>(table_.arity(shape)), Real(0.0));
    Real total(0.0), run(0.0), diagonal(0.0);
    scan_table(
        shape, k, [&] { run = diagonal = Real(0.0); },
        [&](size_t j, const Real* delta) {
          const Real above = table_a_[j];
          run *= decay_;
          if (delta) {
            const Real sum = *delta * (start_ + link_ * diagonal);
            run += sum;
            total += sum;
          }
          table_a_[j] = decay_ * above + run;
          diagonal = above;
        });
    return total;
  }

  Real table_rooted(int32_t shape, int32_t k) {
    table_a_.assign(static_cast<size_t>(table_.arity(shape)), Real(0.0));
    table_b_.assign(static_cast<size_t>(table_.arity(shape)), Real(0.0));
    Real total(0.0), run_a(0.0), run_b(0.0), before_a(0.0), before_b(0.0);
    scan_table(
        shape, k, [&] { run_a = run_b = before_a = before_b = Real(0.0); },
        [&](size_t j, const Real* delta) {
          const Real above_a = table_a_[j], above_b = table_b_[j];
          Real a(0.0), b(0.0);
          if (delta) {
            a = decay_ * (Real(1.0) + before_a);
            b = a * *delta + decay_ * before_b;
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
  const ShapePostings* postings_;
  RowStore<Real> store_;
  Real decay_, depth_decay_, leaf_leaf_, leaf_inner_, start_, link_, inner_base_;

  int64_t current_stamp_ = 0;
  std::vector<int64_t> stamp_;
  std::vector<int32_t> head_, next_, distinct_, child_symbol_;
  std::vector<const Real*> child_rows_;
  std::vector<Cell> cells_;
  std::vector<Link> links_;
  std::vector<size_t> links_end_;
  std::vector<Real> gap_powers_, table_a_, table_b_;
  Real sums_[many_cells][chunk];
};

}  // namespace kernelwood
