// The fine chart: for each span, blocks of values by group of symbols, and only where some are not
// zero. Holds inside sums and best derivations side by side, each scaled by its own power of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/chart_sentence.hpp"
#include "kernelwood/chart_unary.hpp"
#include "kernelwood/engine.hpp"

namespace kernelwood {

class ChartCells {
 public:
  struct Block {
    int32_t group;
    size_t at;  // of its first symbol in the values
  };
  struct Base {
    int32_t symbol;
    Mass value;
  };
  using Blocks = ListOf<Block>;  // with the values of all layers together
  using Bases = ListOf<Base>;    // the items of layer 0
  struct Part {                  // a cell that can be the left part of a longer span
    int32_t end, sum_exponent, best_exponent;
  };

  // Room for all that the mask allows is reserved at once: it costs nothing until it is used.
  ChartCells(const GroupedGrammar& grammar, const SpanMask& mask, int32_t n_words)
      : grammar_(grammar), cells_(n_cells(n_words)), parts_(static_cast<size_t>(n_words)),
        place_(static_cast<size_t>(grammar.n_groups), none) {
    size_t size = 0;
    for (const int32_t group : mask.groups()) size += static_cast<size_t>(grammar.size_of(group));
    total_.reserve(std::min(size, max_chart_bytes / sizeof(Mass)));
  }

  // Stores the cell that `layers` holds, its values being multiples of 2^sum_base and 2^best_base.
  // Cells with one start are stored by rising end.
  void store(int32_t start, int32_t end, const UnaryLayers<Mass>& layers, int32_t sum_base,
             int32_t best_base) {
    Mass largest{0, 0};
    for (const int32_t symbol : layers.total().symbols()) {
      const Mass value = layers.total()[symbol];
      largest = {std::max(largest.sum, value.sum), std::max(largest.best, value.best)};
    }
    const CellScale sum(largest.sum, sum_base), best(largest.best, best_base);
    if (sum.exponent() == CellScale::dead || best.exponent() == CellScale::dead) return;
    Cell& to = cells_[cell_of(start, end)];
    to.sum_exponent = sum.exponent();
    to.best_exponent = best.exponent();
    const auto scaled = [&](Mass value) {
      return Mass{sum.apply(value.sum), best.apply(value.best)};
    };
    to.first_base = bases_.size();
    for (const int32_t symbol : layers.layer(0).symbols())
      bases_.push_back({symbol, scaled(layers.layer(0)[symbol])});
    to.last_base = bases_.size();
    to.first = blocks_.size();
    add_blocks(layers);
    to.last = blocks_.size();
    if (can_be_left(blocks(cell_of(start, end))))
      parts_[static_cast<size_t>(start)].push_back({end, sum.exponent(), best.exponent()});
    for (const int32_t symbol : layers.total().symbols())
      total_[place(symbol)] = scaled(layers.total()[symbol]);
    for (const Block& block : blocks(cell_of(start, end)))
      place_[static_cast<size_t>(block.group)] = none;
  }

  Blocks blocks(size_t cell) const {
    const Cell& from = cells_[cell];
    return {blocks_.data() + from.first, blocks_.data() + from.last};
  }
  Bases bases(size_t cell) const {
    const Cell& from = cells_[cell];
    return {bases_.data() + from.first_base, bases_.data() + from.last_base};
  }
  const std::vector<Part>& parts(int32_t start) const { return parts_[static_cast<size_t>(start)]; }
  size_t n_values() const { return total_.size(); }
  Mass total(size_t at) const { return total_[at]; }      // all layers
  const Mass* totals(size_t at) const { return total_.data() + at; }
  int32_t sum_exponent(size_t cell) const { return cells_[cell].sum_exponent; }
  int32_t best_exponent(size_t cell) const { return cells_[cell].best_exponent; }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Cell {
    size_t first = 0, last = 0, first_base = 0, last_base = 0;
    int32_t sum_exponent = CellScale::dead, best_exponent = CellScale::dead;
  };

  bool can_be_left(Blocks blocks) const {
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const Block& block) { return grammar_.pairs.has_left(block.group); });
  }
  size_t place(int32_t symbol) const {
    const int32_t group = grammar_.group(symbol);
    return place_[static_cast<size_t>(group)] +
           static_cast<size_t>(symbol - grammar_.first_of(group));
  }
  void add_blocks(const UnaryLayers<Mass>& layers) {
    size_t size = total_.size();
    for (const int32_t symbol : layers.total().symbols()) {
      const int32_t group = grammar_.group(symbol);
      if (place_[static_cast<size_t>(group)] != none) continue;
      place_[static_cast<size_t>(group)] = size;
      blocks_.push_back({group, size});
      size += static_cast<size_t>(grammar_.size_of(group));
    }
    check_chart_size(size, sizeof(Mass));
    const size_t before = total_.size();
    total_.resize(size);
    std::memset(static_cast<void*>(total_.data() + before), 0, (size - before) * sizeof(Mass));
  }

  const GroupedGrammar& grammar_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Part>> parts_;  // by start
  std::vector<Block> blocks_;
  std::vector<size_t> place_;  // by group, of the cell that is being stored
  Buffer<Base> bases_;
  Buffer<Mass> total_;
};

// Where the blocks of a cell are, by group; for several cells side by side, each at its place.
class BlockTable {
 public:
  explicit BlockTable(int32_t n_groups, int32_t n_places = 1)
      : n_groups_(static_cast<size_t>(n_groups)),
        at_(n_groups_ * static_cast<size_t>(n_places), none), shown_(static_cast<size_t>(n_places)),
        sets_(n_places, n_groups) {}

  void show(ChartCells::Blocks blocks, int32_t place = 0) {
    size_t* at = at_.data() + static_cast<size_t>(place) * n_groups_;
    std::vector<int32_t>& shown = shown_[static_cast<size_t>(place)];
    for (const int32_t group : shown) {
      at[group] = none;
      sets_.remove(place, group);
    }
    shown.clear();
    for (const ChartCells::Block& block : blocks) {
      at[block.group] = block.at;
      sets_.add(place, block.group);
      shown.push_back(block.group);
    }
  }
  bool has(int32_t group) const { return at_[static_cast<size_t>(group)] != none; }
  size_t operator[](int32_t group) const { return at_[static_cast<size_t>(group)]; }
  const size_t* at(int32_t place) const {
    return at_.data() + static_cast<size_t>(place) * n_groups_;
  }
  const uint64_t* groups(int32_t place = 0) const { return sets_.at(place); }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  size_t n_groups_;
  std::vector<size_t> at_;
  std::vector<std::vector<int32_t>> shown_;
  PlacedSets sets_;
};

// The pairs of parts of a span that can be put together, with the power of two that turns a product
// of their values into a value of the whole.
struct Split {
  int32_t at;
  double sum_scale, best_scale;
};

class SplitList {
 public:
  explicit SplitList(const ChartCells& cells) : cells_(cells) {}

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
    for (const ChartCells::Part& left : cells_.parts(start)) {
      if (left.end >= end) break;
      const size_t right = cell_of(left.end, end);
      if (cells_.sum_exponent(right) == CellScale::dead) continue;
      use(left.end, left.sum_exponent + cells_.sum_exponent(right),
          left.best_exponent + cells_.best_exponent(right));
    }
  }

  const ChartCells& cells_;
  std::vector<Split> splits_;
  int32_t sum_base_ = 0, best_base_ = 0;
};

}  // namespace kernelwood
