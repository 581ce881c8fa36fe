// Memory for rows: one row per distinct subtree, its values against a range of slots.
//
// Rows are kept from tree to tree while they fit (a subtree seen again costs nothing). A tree
// whose rows alone exceed that is handled frugally: each row is freed after its last parent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/row_arena.hpp"
#include "kernelwood/scaled.hpp"
#include "kernelwood/slot_index.hpp"

namespace kernelwood {

// A slot of a row whose value differs from the row's base, and its feature.
struct Touched {
  int32_t slot, feature;
};

// Values against the slots begin .. begin + size; values[size] stands for every other slot.
template <class Real>
struct Row {
  Real* values = nullptr;
  int32_t begin = 0;
  int32_t size = 0;
  int32_t touched_begin = 0;
  int32_t touched_end = 0;

  Real operator[](int32_t slot) const {
    const auto at = static_cast<uint32_t>(slot - begin), end = static_cast<uint32_t>(size);
    return values[at < end ? at : end];
  }
};

template <class Real>
class RowStore {
 public:
  RowStore(int32_t n_subtrees, int64_t max_bytes, int64_t kept_values = int64_t{1} << 18)
      : rows_(static_cast<size_t>(n_subtrees)), kept_values_(kept_values), max_bytes_(max_bytes) {}

  const Row<Real>& row(int32_t sub) const { return rows_[static_cast<size_t>(sub)]; }
  bool has(int32_t sub) const { return row(sub).values != nullptr; }

  // Touched slots of all rows, one row's after the other's. New ones are written past the end,
  // into room for `n` (and a spare), and kept up to where end_touched says.
  const Touched* touched() const { return touched_.data(); }
  int32_t n_touched() const { return static_cast<int32_t>(n_touched_); }
  Touched* reserve_touched(int64_t n) {
    const size_t needed = n_touched_ + static_cast<size_t>(n) + 1;
    if (needed > touched_.size())
      touched_.resize(std::max(needed + needed / 2, kept_touched + kept_touched / 4));
    return touched_.data() + n_touched_;
  }
  void end_touched(const Touched* end) { n_touched_ = static_cast<size_t>(end - touched_.data()); }

  // Makes the rows of one tree's subtrees in turn by make(sub), unless they are there, and shows
  // each to visit(entry, sub).
  template <class Make, class Visit>
  void for_each_row(const SubtreeTable& table, const TreeSide& side, int64_t tree, StopFlag stop,
                    Make&& make, Visit&& visit) {
    begin_tree(side, tree);
    for (int64_t e = side.begin[static_cast<size_t>(tree)];
         e < side.begin[static_cast<size_t>(tree) + 1] && !stop.raised(); ++e) {
      const int32_t sub = side.sub[static_cast<size_t>(e)];
      if (!has(sub)) make(sub);
      visit(e, sub);
      finish(sub, table);
    }
  }

  Row<Real>& allocate(int32_t sub, int32_t begin, int32_t size, const SubtreeTable& table) {
    const int64_t needed = int64_t{size} + 1;
    if (!frugal_ && arena_.used() + needed > most_values) be_frugal(table);
    Row<Real>& row = rows_[static_cast<size_t>(sub)];
    row.values = frugal_ ? allocate_alone(sub, needed) : arena_.allocate(needed);
    row.begin = begin;
    row.size = size;
    stored_.push_back(sub);
    return row;
  }

 private:
  static constexpr int64_t most_values = int64_t{1} << 24;   // for the rows of one tree
  static constexpr size_t kept_touched = size_t{1} << 18;

  // Announces a tree. Rows of earlier trees may go; those of this tree stay till its end.
  void begin_tree(const TreeSide& side, int64_t tree) {
    side_ = &side;
    tree_ = tree;
    if (!frugal_ && arena_.used() < kept_values_ && n_touched_ < kept_touched) return;
    clear();
    frugal_ = false;
  }

  // The row has been used: in a frugal tree, children nobody else waits for are freed.
  void finish(int32_t sub, const SubtreeTable& table) {
    if (!frugal_) return;
    n_touched_ = static_cast<size_t>(row(sub).touched_begin);
    for (int64_t i = 0; i < table.n_children(sub); ++i) {
      const auto child = static_cast<size_t>(table.children(sub)[i]);
      if (--uses_[child] > 0 || !alone_[child]) continue;
      live_bytes_ -= (int64_t{rows_[child].size} + 1) * static_cast<int64_t>(sizeof(Real));
      alone_[child].reset();
      rows_[child] = {};
    }
  }

  // Counts how many parents each subtree of the current tree still serves.
  void be_frugal(const SubtreeTable& table) {
    frugal_ = true;
    alone_.resize(rows_.size());
    uses_.assign(rows_.size(), 0);
    for (int64_t e = side_->begin[static_cast<size_t>(tree_)];
         e < side_->begin[static_cast<size_t>(tree_) + 1]; ++e) {
      const int32_t sub = side_->sub[static_cast<size_t>(e)];
      if (has(sub)) continue;
      for (int64_t i = 0; i < table.n_children(sub); ++i)
        ++uses_[static_cast<size_t>(table.children(sub)[i])];
    }
  }

  Real* allocate_alone(int32_t sub, int64_t size) {
    live_bytes_ += size * static_cast<int64_t>(sizeof(Real));
    if (live_bytes_ > max_bytes_) throw BudgetExceeded(live_bytes_);
    alone_[static_cast<size_t>(sub)].reset(new Real[static_cast<size_t>(size)]);
    return alone_[static_cast<size_t>(sub)].get();
  }

  void clear() {
    for (const int32_t sub : stored_) rows_[static_cast<size_t>(sub)] = {};
    stored_.clear();
    n_touched_ = 0;
    alone_.clear();
    arena_.clear();
    live_bytes_ = 0;
  }

  Buffer<Row<Real>> rows_;
  Buffer<int32_t> stored_, uses_;
  Buffer<Touched> touched_;
  RowArena<Real> arena_;
  std::vector<std::unique_ptr<Real[]>> alone_;
  const TreeSide* side_ = nullptr;
  int64_t kept_values_;  // by default about a core's cache
  size_t n_touched_ = 0;
  int64_t tree_ = 0, live_bytes_ = 0, max_bytes_;
  bool frugal_ = false;
};

}  // namespace kernelwood
