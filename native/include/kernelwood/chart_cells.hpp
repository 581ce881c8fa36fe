// The fine chart: for each span, blocks of values by group of symbols, and only where some are not
// zero. Holds inside sums and best derivations side by side, each scaled by its own power of two.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/chart_sentence.hpp"
#include "kernelwood/chart_unary.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/row_store.hpp"

namespace kernelwood {

class ChartCells {
 public:
  struct Block {
    int32_t group;
    size_t at;  // of its first symbol in the values
  };
  struct Blocks {
    const Block *first, *last;
    const Block* begin() const { return first; }
    const Block* end() const { return last; }
    bool empty() const { return first == last; }
  };
  static constexpr size_t max_bytes = size_t{3} << 30;

  ChartCells(const GroupedGrammar& grammar, int32_t n_words)
      : grammar_(grammar), cells_(n_cells(n_words)) {}

  // Stores the cell that `layers` holds, its values being multiples of 2^sum_base and 2^best_base.
  void store(size_t cell, const UnaryLayers<Mass>& layers, int32_t sum_base, int32_t best_base) {
    Mass largest;
    for (const int32_t symbol : layers.total().symbols()) {
      const Mass value = layers.total()[symbol];
      largest = {std::max(largest.sum, value.sum), std::max(largest.best, value.best)};
    }
    const CellScale sum(largest.sum, sum_base), best(largest.best, best_base);
    if (sum.exponent() == CellScale::dead || best.exponent() == CellScale::dead) return;
    Cell& to = cells_[cell];
    to.sum_exponent = sum.exponent();
    to.best_exponent = best.exponent();
    to.first = blocks_.size();
    add_blocks(layers);
    to.last = blocks_.size();
    const auto scaled = [&](Mass value) {
      return Mass{sum.apply(value.sum), best.apply(value.best)};
    };
    for (const int32_t symbol : layers.layer(0).symbols())
      base_[place(symbol)] = scaled(layers.layer(0)[symbol]);
    for (const int32_t symbol : layers.total().symbols())
      total_[place(symbol)] = scaled(layers.total()[symbol]);
    for (size_t b = to.first; b < to.last; ++b)
      place_[static_cast<size_t>(blocks_[b].group)] = none;
  }

  Blocks blocks(size_t cell) const {
    const Cell& from = cells_[cell];
    return {blocks_.data() + from.first, blocks_.data() + from.last};
  }
  size_t n_values() const { return total_.size(); }
  Mass base(size_t at) const { return base_[at]; }        // layer 0
  Mass total(size_t at) const { return total_[at]; }      // all layers
  const Mass* totals(size_t at) const { return total_.data() + at; }
  int32_t sum_exponent(size_t cell) const { return cells_[cell].sum_exponent; }
  int32_t best_exponent(size_t cell) const { return cells_[cell].best_exponent; }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Cell {
    size_t first = 0, last = 0;
    int32_t sum_exponent = CellScale::dead, best_exponent = CellScale::dead;
  };

  size_t place(int32_t symbol) const {
    const int32_t group = grammar_.group(symbol);
    return place_[static_cast<size_t>(group)] +
           static_cast<size_t>(symbol - grammar_.first_of(group));
  }
  void add_blocks(const UnaryLayers<Mass>& layers) {
    place_.resize(static_cast<size_t>(grammar_.n_groups), none);
    size_t size = total_.size();
    for (const int32_t symbol : layers.total().symbols()) {
      const int32_t group = grammar_.group(symbol);
      if (place_[static_cast<size_t>(group)] != none) continue;
      place_[static_cast<size_t>(group)] = size;
      blocks_.push_back({group, size});
      size += static_cast<size_t>(grammar_.size_of(group));
    }
    if (size > max_bytes / (2 * sizeof(Mass)))
      throw BudgetExceeded(static_cast<int64_t>(max_bytes));
    base_.resize(size, Mass{});
    total_.resize(size, Mass{});
  }

  const GroupedGrammar& grammar_;
  std::vector<Cell> cells_;
  std::vector<Block> blocks_;
  std::vector<size_t> place_;  // by group, of the cell that is being stored
  Buffer<Mass> base_, total_;
};

// Where the blocks of one cell are, by group.
class BlockTable {
 public:
  explicit BlockTable(int32_t n_groups) : at_(static_cast<size_t>(n_groups), none) {}
  void show(ChartCells::Blocks blocks) {
    for (const int32_t group : shown_) at_[static_cast<size_t>(group)] = none;
    shown_.clear();
    for (const ChartCells::Block& block : blocks) {
      at_[static_cast<size_t>(block.group)] = block.at;
      shown_.push_back(block.group);
    }
  }
  bool has(int32_t group) const { return at_[static_cast<size_t>(group)] != none; }
  size_t operator[](int32_t group) const { return at_[static_cast<size_t>(group)]; }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  std::vector<size_t> at_;
  std::vector<int32_t> shown_;
};

// The pairs of parts of a span that can be put together, with the power of two that turns a product
// of their values into a value of the whole.
struct Split {
  int32_t at;
  double sum_scale, best_scale;
};

class SplitList {
 public:
  SplitList(const ChartCells& cells) : cells_(cells) {}

  // Relative to the largest of all splits; false when there is none.
  bool find(int32_t start, int32_t end) {
    splits_.clear();
    sum_base_ = best_base_ = CellScale::dead;
    each(start, end, [&](int32_t, int32_t sum, int32_t best) {
      sum_base_ = std::max(sum_base_, sum);
      best_base_ = std::max(best_base_, best);
    });
    return fill(start, end);
  }
  // Relative to the values that the whole has.
  bool find_within(int32_t start, int32_t end) {
    splits_.clear();
    sum_base_ = cells_.sum_exponent(cell_of(start, end));
    best_base_ = cells_.best_exponent(cell_of(start, end));
    return fill(start, end);
  }

  const std::vector<Split>& splits() const { return splits_; }
  int32_t sum_base() const { return sum_base_; }
  int32_t best_base() const { return best_base_; }

 private:
  bool fill(int32_t start, int32_t end) {
    each(start, end, [&](int32_t split, int32_t sum, int32_t best) {
      splits_.push_back(
          {split, std::ldexp(1.0, sum - sum_base_), std::ldexp(1.0, best - best_base_)});
    });
    return !splits_.empty();
  }
  template <class Use>
  void each(int32_t start, int32_t end, const Use& use) const {
    for (int32_t split = start + 1; split < end; ++split) {
      const size_t left = cell_of(start, split), right = cell_of(split, end);
      if (cells_.sum_exponent(left) == CellScale::dead) continue;
      if (cells_.sum_exponent(right) == CellScale::dead) continue;
      use(split, cells_.sum_exponent(left) + cells_.sum_exponent(right),
          cells_.best_exponent(left) + cells_.best_exponent(right));
    }
  }

  const ChartCells& cells_;
  std::vector<Split> splits_;
  int32_t sum_base_ = 0, best_base_ = 0;
};

}  // namespace kernelwood
