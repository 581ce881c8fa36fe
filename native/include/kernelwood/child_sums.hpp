// Sums over pairs of child subsequences of a panel subtree u and stream subtrees v.
//
// They run over *cells* (i, j), pairs of children with equal symbols. With S(y) the sum over
// subsequence pairs that end in cell y, and z before y in both trees (right before it in the
// contiguous variant),
//   partial S(y) = Delta(y) * (start + sum_z link(z, y) * S(z))
//   rooted  A(y) = decay * k(y) * (1 + sum_z A(z)),
//           B(y) = A(y) * Delta(y) + decay * k(y) * sum_z B(z)
// where k(y) is how well the two children's labels match.
// Few cells are summed over their list, for all subtrees of a shape at once; many by a running
// table.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/child_postings.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/node_matching.hpp"
#include "kernelwood/row_store.hpp"
#include "kernelwood/scaled_table.hpp"
#include "kernelwood/tree_parameters.hpp"

namespace kernelwood {

template <class Real, class Nodes, class Table = SubtreeTable, class Slots = SlotIndex>
class ChildSums {
 public:
  ChildSums(const TreeParameters& parameters, const Table& table, const Slots& slots,
            const Nodes& nodes, StopFlag stop)
      : kind_(parameters.kind), stop_(stop), contiguous_(parameters.contiguous), table_(table),
        slots_(slots), nodes_(nodes), decay_(parameters.decay),
        depth_decay_(parameters.depth_decay),
        start_(parameters.span_decay ? Real(parameters.decay) * Real(parameters.decay) : Real(1.0)),
        link_(start_), base_(kind_ == TreeKernel::partial ? depth_decay_ * decay_ * decay_
                                                          : Real(Nodes::soft ? 0.0 : 1.0)),
        head_(static_cast<size_t>(table.n_symbols()), -1) {}

  // What two inner nodes without a common child start from, and the weight of a common child.
  // The rooted kernel starts from k of the two nodes: 1 here, 0 where it is added later.
  Real base() const { return base_; }
  Real child_weight() const {
    return kind_ == TreeKernel::partial ? depth_decay_ * start_ : decay_;
  }

  // Overwrites what the row of u has at stream subtrees in which two children can match at once.
  void add_sequences(int32_t sub, int64_t stream_begin, const RowStore<Real>& rows,
                     PostingsWalk& walk, Row<Real>& row) {
    begin(sub, rows);
    walk.for_each_met_twice(table_.shape(sub), stream_begin, stop_, [&](const Shape& shape) {
      sum_shape(shape, 0, slots_.live(shape, stream_begin), row.values + (shape.begin - row.begin));
    });
    end();
  }

  // Takes up the children of u, chained by symbol; `end` lets go of them.
  template <class Rows>
  void begin(int32_t sub, const Rows& rows) {
    const int64_t n = table_.n_children(sub);
    next_.resize(static_cast<size_t>(n));
    children_.resize(static_cast<size_t>(n));
    for (int64_t i = n - 1; i >= 0; --i) {
      const int32_t child = table_.children(sub)[i];
      int32_t& head = head_[static_cast<size_t>(table_.symbol(child))];
      next_[static_cast<size_t>(i)] = head;
      head = static_cast<int32_t>(i);
      children_[static_cast<size_t>(i)] = {table_.symbol(child), child, rows.row(child)};
    }
    if constexpr (!Nodes::soft)
      if (kind_ == TreeKernel::rooted) base_ = nodes_.weight(table_.symbol(sub));
  }
  void end() {
    for (const Child& child : children_) head_[static_cast<size_t>(child.symbol)] = -1;
  }

  // Overwrites what n members of the shape have in `out`, if two children can match at once.
  void sum_shape(const Shape& shape, int32_t first, int32_t n, Real* out) {
    const int32_t* symbols = slots_.child_symbols(shape);
    int n_cells = 0;
    for (int32_t j = 0; j < shape.arity; ++j)
      for (int32_t i = head_[static_cast<size_t>(symbols[j])]; i >= 0;
           i = next_[static_cast<size_t>(i)]) {
        if (n_cells == many_cells) return sum_by_table(shape, first, n, out);
        cells_[n_cells++] = {i, j};
      }
    if (kind_ == TreeKernel::partial) {
      if (n_cells == 2) return sum_few_cells<2>(shape, first, n, out);
      if (n_cells == 3) return sum_few_cells<3>(shape, first, n, out);
      if (n_cells == 4) return sum_few_cells<4>(shape, first, n, out);
    }
    if (link_cells(n_cells) == 0) return;  // no two in order: single children were all
    if (kind_ == TreeKernel::partial)
      sum_cells_partial(shape, n_cells, first, n, out);
    else
      sum_cells_rooted(shape, n_cells, first, n, out);
  }

  // What a single member of the shape has, to the bit as where all of them are summed.
  Real sum_member(const Shape& shape, int32_t k) {
    Real value = base_;
    int64_t n_cells = 0;
    for (const Child& child : children_) {
      const Real weight = child_weight();
      for (int32_t j = 0; j < shape.arity; ++j) {
        if (slots_.child_symbols(shape)[j] != child.symbol) continue;
        const int32_t slot = slots_.child_slots(shape, j)[k];
        const Real below = child.row[slot];
        value += kind_ == TreeKernel::rooted ? weight * match(child, slot) * below : weight * below;
        ++n_cells;
      }
    }
    if (n_cells > 1) sum_shape(shape, k, 1, &value);
    return value;
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
    int32_t symbol, sub;
    Row<Real> row;
  };

  // k of a child of u and a slot with the child's symbol.
  Real match(const Child& child, int32_t slot) const {
    if constexpr (Nodes::soft) {
      return nodes_.match(child.sub, slot);
    } else {
      return nodes_.weight(child.symbol);
    }
  }

  // The partial sums of a few cells, unrolled.
  template <int n_cells>
  void sum_few_cells(const Shape& shape, int32_t first, int32_t n, Real* out) {
    Row<Real> rows[n_cells];
    const int32_t* at[n_cells];
    Real links[n_cells][n_cells];
    bool linked = false;
    for (int y = 0; y < n_cells; ++y) {
      rows[y] = children_[static_cast<size_t>(cells_[y].i)].row;
      at[y] = slots_.child_slots(shape, cells_[y].j) + first;
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

  void sum_cells_partial(const Shape& shape, int n_cells, int32_t first, int32_t n, Real* out) {
    for (int32_t k0 = 0; k0 < n; k0 += chunk) {
      const int32_t width = n - k0 < chunk ? n - k0 : chunk;
      Real total[chunk];
      for (int32_t k = 0; k < width; ++k) total[k] = Real(0.0);
      int link = 0;
      for (int y = 0; y < n_cells; ++y) {
        const Row<Real> child = children_[static_cast<size_t>(cells_[y].i)].row;
        const int32_t* at = slots_.child_slots(shape, cells_[y].j) + first + k0;
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

  void sum_cells_rooted(const Shape& shape, int n_cells, int32_t first, int32_t n, Real* out) {
    Real products[many_cells];
    for (int32_t k = 0; k < n; ++k) {
      // Where labels match exactly, the products are the same for all members.
      if (Nodes::soft || k == 0) cell_products(shape, n_cells, first + k, products);
      Real total(0.0);
      int link = 0;
      for (int y = 0; y < n_cells; ++y) {
        Real before(0.0);
        for (; link < links_end_[y]; ++link) before += sums_[links_[link].from][0];
        const Child& child = children_[static_cast<size_t>(cells_[y].i)];
        const int32_t slot = slots_.child_slots(shape, cells_[y].j)[first + k];
        sums_[y][0] = products[y] * child.row[slot] + decay_ * match(child, slot) * before;
        total += sums_[y][0];
      }
      out[k] = base_ + total;
    }
  }

  void cell_products(const Shape& shape, int n_cells, int32_t k, Real* products) {
    int link = 0;
    for (int y = 0; y < n_cells; ++y) {
      Real sum(1.0);
      for (; link < links_end_[y]; ++link) sum += products[links_[link].from];
      const int32_t slot = slots_.child_slots(shape, cells_[y].j)[k];
      products[y] = decay_ * match(children_[static_cast<size_t>(cells_[y].i)], slot) * sum;
    }
  }

  // All subsequence pairs by running tables over (i, j): O(children * children) per member.
  void sum_by_table(const Shape& shape, int32_t first, int32_t n, Real* out) {
    for (int32_t k = 0; k < n; ++k)
      out[k] =
          base_ + (kind_ == TreeKernel::partial ? depth_decay_ * table_partial(shape, first + k)
                                                : table_rooted(shape, first + k));
  }

  // The same where values leave the range of double, at nearly the cost of doubles; false if a
  // number is too large or too small for that.
  bool sum_by_blocks(const Shape& shape, int32_t k, Scaled& total) {
    if (contiguous_ || !decay_.is_plain() || !link_.is_plain()) return false;
    const bool rooted = kind_ == TreeKernel::rooted;
    const double start = rooted ? 1.0 : start_.plain(), link = rooted ? 1.0 : link_.plain();
    const auto n_lines = static_cast<int64_t>(children_.size());
    if (!blocks_.begin(n_lines, shape.arity, start, link, rooted ? 1.0 : decay_.plain()))
      return false;
    factors_.resize(static_cast<size_t>(shape.arity));
    values_.resize(static_cast<size_t>(shape.arity));
    int32_t filled = -1;
    for (const Child& child : children_) {
      if (stop_.raised()) break;
      if (child.sub != filled && !fill_line(shape, k, child)) return false;
      filled = child.sub;
      if (rooted)
        blocks_.add_weighted_line(factors_.data(), values_.data());
      else
        blocks_.add_line(factors_.data());
    }
    total = blocks_.total();
    return true;
  }

  bool fill_line(const Shape& shape, int32_t k, const Child& child) {
    const int32_t* at = slots_.child_slots(shape, 0) + k;
    const int32_t* symbols = slots_.child_symbols(shape);
    for (int32_t j = 0; j < shape.arity; ++j) {
      Real factor(0.0), value(0.0);
      if (symbols[j] == child.symbol) {
        const int32_t slot = at[int64_t{j} * shape.n_members];
        value = child.row[slot];
        factor = kind_ == TreeKernel::rooted ? decay_ * match(child, slot) : value;
      }
      factors_[static_cast<size_t>(j)] = factor.plain();
      values_[static_cast<size_t>(j)] = value.plain();
      if (!factor.is_plain() || !ScaledTable::accepts(factor.plain())) return false;
      if (!value.is_plain() || !ScaledTable::accepts(value.plain())) return false;
    }
    return true;
  }

  // Walks the table line by line: step(j, child, slot) where the children i and j can match,
  // step(j, child, -1) where they cannot.
  template <class Start, class Step>
  void scan_table(const Shape& shape, int32_t k, Start&& start_line, Step&& step) {
    const int32_t* at = slots_.child_slots(shape, 0) + k;
    const int32_t* symbols = slots_.child_symbols(shape);
    for (const Child& child : children_) {
      if (stop_.raised()) return;
      start_line();
      for (int32_t j = 0; j < shape.arity; ++j) {
        const bool possible = symbols[j] == child.symbol;
        step(static_cast<size_t>(j), child, possible ? at[int64_t{j} * shape.n_members] : -1);
      }
    }
  }

  Real table_partial(const Shape& shape, int32_t k) {
    if constexpr (std::is_same_v<Real, Scaled>)
      if (Scaled sum; sum_by_blocks(shape, k, sum)) return sum;
    table_a_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    Real total(0.0), run(0.0), diagonal(0.0);
    scan_table(
        shape, k, [&] { run = diagonal = Real(0.0); },
        [&](size_t j, const Child& child, int32_t slot) {
          const Real above = table_a_[j];
          run *= decay_;
          if (slot >= 0) {
            const Real sum = child.row[slot] * (start_ + link_ * diagonal);
            run += sum;
            total += sum;
          }
          table_a_[j] = decay_ * above + run;
          diagonal = above;
        });
    return total;
  }

  Real table_rooted(const Shape& shape, int32_t k) {
    if constexpr (std::is_same_v<Real, Scaled>)
      if (Scaled sum; sum_by_blocks(shape, k, sum)) return sum;
    table_a_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    table_b_.assign(static_cast<size_t>(shape.arity), Real(0.0));
    Real total(0.0), run_a(0.0), run_b(0.0), before_a(0.0), before_b(0.0);
    scan_table(
        shape, k, [&] { run_a = run_b = before_a = before_b = Real(0.0); },
        [&](size_t j, const Child& child, int32_t slot) {
          const Real above_a = table_a_[j], above_b = table_b_[j];
          Real a(0.0), b(0.0);
          if (slot >= 0) {
            const Real step = decay_ * match(child, slot);
            a = step * (Real(1.0) + before_a);
            b = a * child.row[slot] + step * before_b;
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
  const Table& table_;
  const Slots& slots_;
  const Nodes& nodes_;
  Real decay_, depth_decay_, start_, link_, base_;

  Buffer<int32_t> head_, next_;
  Buffer<Child> children_;
  Buffer<Real> gap_powers_, table_a_, table_b_;
  ScaledTable blocks_;
  Buffer<double> factors_, values_;  // of a line of the blocks
  Cell cells_[many_cells];
  Link links_[many_cells * many_cells / 2];
  int links_end_[many_cells];
  Real sums_[many_cells][chunk];
};

}  // namespace kernelwood
