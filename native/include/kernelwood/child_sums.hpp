// Sums over pairs of child subsequences of a panel subtree u and stream subtrees v.
//
// They run over *cells* (i, j), pairs of children with equal symbols. With S(y) the sum over
// subsequence pairs that end in cell y, and z before y in both trees (right before it in the
// contiguous variant),
//   partial S(y) = Delta(y) * (start + sum_z link(z, y) * S(z))
//   rooted  A(y) = decay * (1 + sum_z A(z)),  B(y) = A(y) * Delta(y) + decay * sum_z B(z).
// Few cells are summed over their list, for all subtrees of a shape at once; many by a running
// table.
#pragma once

#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/row_store.hpp"
#include "kernelwood/tree_parameters.hpp"

namespace kernelwood {

template <class Real>
class ChildSums {
 public:
  ChildSums(const TreeParameters& parameters, const SubtreeTable& table, const SlotIndex& slots,
            StopFlag stop)
      : kind_(parameters.kind), stop_(stop), contiguous_(parameters.contiguous), table_(table),
        slots_(slots), decay_(parameters.decay), depth_decay_(parameters.depth_decay),
        start_(parameters.span_decay ? Real(parameters.decay) * Real(parameters.decay) : Real(1.0)),
        link_(start_),
        base_(kind_ == TreeKernel::rooted ? Real(1.0) : depth_decay_ * decay_ * decay_),
        head_(static_cast<size_t>(table.n_symbols()), -1) {}

  // Delta of two inner nodes without a common child, and the weight of a common child.
  Real base() const { return base_; }
  Real child_weight() const {
    return kind_ == TreeKernel::partial ? depth_decay_ * start_ : decay_;
  }

  // Takes up the children of u, chained by symbol; `end` lets go of them.
  void begin(int32_t sub, const RowStore<Real>& rows) {
    const int64_t n = table_.n_children(sub);
    next_.resize(static_cast<size_t>(n));
    children_.resize(static_cast<size_t>(n));
    for (int64_t i = n - 1; i >= 0; --i) {
      const int32_t child = table_.children(sub)[i];
      int32_t& head = head_[static_cast<size_t>(table_.symbol(child))];
      next_[static_cast<size_t>(i)] = head;
      head = static_cast<int32_t>(i);
      children_[static_cast<size_t>(i)] = {table_.symbol(child), rows.row(child)};
    }
  }
  void end() {
    for (const Child& child : children_) head_[static_cast<size_t>(child.symbol)] = -1;
  }

  // Overwrites what the shape's first n members have in `out`, if two children can match at once.
  void sum_shape(const Shape& shape, int32_t n, Real* out) {
    const int32_t* symbols = slots_.child_symbols(shape);
    int n_cells = 0;
    for (int32_t j = 0; j < shape.arity; ++j)
      for (int32_t i = head_[static_cast<size_t>(symbols[j])]; i >= 0;
           i = next_[static_cast<size_t>(i)]) {
        if (n_cells == many_cells) return sum_by_table(shape, n, out);
        cells_[n_cells++] = {i, j};
      }
    if (kind_ == TreeKernel::partial) {
      if (n_cells == 2) return sum_few_cells<2>(shape, n, out);
      if (n_cells == 3) return sum_few_cells<3>(shape, n, out);
      if (n_cells == 4) return sum_few_cells<4>(shape, n, out);
    }
    if (link_cells(n_cells) == 0) return;  // no two in order: single children were all
    if (kind_ == TreeKernel::partial)
      sum_cells_partial(shape, n_cells, n, out);
    else
      sum_cells_rooted(shape, n_cells, n, out);
  }

 private:
  static constexpr int chunk = 16;       // members summed at a time
  static constexpr int many_cells = 48;  // beyond this a running table is cheaper

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

  // The partial sums of a few cells, unrolled.
  template <int n_cells>
  void sum_few_cells(const Shape& shape, int32_t n, Real* out) {
    Row<Real> rows[n_cells];
    const int32_t* at[n_cells];
    Real links[n_cells][n_cells];
    bool linked = false;
    for (int y = 0; y < n_cells; ++y) {
      rows[y] = children_[static_cast<size_t>(cells_[y].i)].row;
      at[y] = slots_.child_slots(shape, cells_[y].j);
      for (int z = 0; z < y; ++z) {
        const int32_t gap_i = cells_[y].i - cells_[z].i - 1, gap_j = cells_[y].j - cells_[z].j - 1;
        const bool ordered = gap_i >= 0 && gap_j >= 0;
        links[z][y] = ordered ? link_ * gap_power(gap_i + gap_j) : Real(0.0);
        linked |= ordered;
      }
    }
    if (!linked) return;  // single children were all
    const Real start = start_, base = base_, depth_decay = depth_decay_;
    for (int32_t k = 0; k < n; ++k) {
      Real sums[n_cells], total(0.0);
      for (int y = 0; y < n_cells; ++y) {
        Real before = start;
        for (int z = 0; z < y; ++z) before += links[z][y] * sums[z];
        sums[y] = rows[y][at[y][k]] * before;
        total += sums[y];
      }
      out[k] = base + depth_decay * total;
    }
  }

  // Lists which earlier cells lead to each cell, with what weight; returns how many do.
  int link_cells(int n_cells) {
    int n = 0;
    for (int y = 0; y < n_cells; ++y) {
      for (int z = 0; z < y; ++z) {
        const int32_t gap_i = cells_[y].i - cells_[z].i - 1, gap_j = cells_[y].j - cells_[z].j - 1;
        if (gap_i < 0 || gap_j < 0 || (contiguous_ && gap_i + gap_j > 0)) continue;
        links_[n++] = {z,
                       kind_ == TreeKernel::partial ? link_ * gap_power(gap_i + gap_j) : Real(1.0)};
      }
      links_end_[y] = n;
    }
    return n;
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
        const Row<Real> child = children_[static_cast<size_t>(cells_[y].i)].row;
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
      for (int32_t k = 0; k < width; ++k) out[k0 + k] = base_ + depth_decay_ * total[k];
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
      out[k] = base_ + total;
    }
  }

  // All subsequence pairs by running tables over (i, j): O(children * children) per member.
  void sum_by_table(const Shape& shape, int32_t n, Real* out) {
    for (int32_t k = 0; k < n; ++k)
      out[k] = base_ + (kind_ == TreeKernel::partial ? depth_decay_ * table_partial(shape, k)
                                                     : table_rooted(shape, k));
  }

  // Walks the table line by line: step(j, true, Delta) where the children i and j match.
  template <class Start, class Step>
  void scan_table(const Shape& shape, int32_t k, Start&& start_line, Step&& step) {
    const int32_t* at = slots_.child_slots(shape, 0) + k;
    const int32_t* symbols = slots_.child_symbols(shape);
    for (const Child& child : children_) {
      if (stop_.raised()) return;
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
  StopFlag stop_;
  bool contiguous_;
  const SubtreeTable& table_;
  const SlotIndex& slots_;
  Real decay_, depth_decay_, start_, link_, base_;

  Buffer<int32_t> head_, next_;
  Buffer<Child> children_;
  Buffer<Real> gap_powers_, table_a_, table_b_;
  Cell cells_[many_cells];
  Link links_[many_cells * many_cells / 2];
  int links_end_[many_cells];
  Real sums_[many_cells][chunk];
};

}  // namespace kernelwood
