// Inside and outside probabilities under a small grammar, over dense arrays.
//
// The values of a symbol lie next to each other by split point, as left children (start fixed) and
// as right children (end fixed). So the sum over split points of a pair of children is a product of
// two vectors, made once for all parents of the pair:
//   in(i, j, A) = sum over B C of p(A -> B C) * sum over k of in(i, k, B) in(k, j, C).
// The outside probabilities are handed down by the same vectors. Cells are scaled (CellScale);
// outside values are kept as out * 2^exponent / Z, so that in * out is the posterior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/chart_sentence.hpp"
#include "kernelwood/chart_split_rows.hpp"
#include "kernelwood/chart_unary.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

class CoarseChart;
inline void combine_splits(CoarseChart& chart, int32_t start, int32_t end);
inline void share_splits(CoarseChart& chart, int32_t start, int32_t end);

class CoarseChart {
 public:
  CoarseChart(const PairedGrammar& grammar, const Sentence& sentence, StopFlag stop)
      : grammar_(grammar), sentence_(sentence), stop_(stop), n_(sentence.n_words),
        left_(grammar.n_lefts, n_), right_(grammar.n_rights, n_),
        layers_(grammar.unary, grammar.n_symbols, grammar.max_unary), cells_(n_cells(n_)),
        roots_(static_cast<size_t>(grammar.n_symbols), 0.0),
        posterior_(static_cast<size_t>(grammar.n_symbols), 0.0),
        sums_(static_cast<size_t>(grammar.n_symbols), 0.0), weights_(static_cast<size_t>(n_) + 4),
        scaled_(static_cast<size_t>(n_) + 8), handed_(static_cast<size_t>(n_) + 8) {
    for (const Weighed& root : sentence.roots) roots_[static_cast<size_t>(root.symbol)] += root.p;
  }

  // Returns false when the grammar does not cover the sentence.
  bool inside() {
    for (int32_t length = 1; length <= n_; ++length)
      for (int32_t start = 0; start + length <= n_; ++start) {
        if (stop_.raised()) throw Stopped();
        fill(start, start + length);
      }
    load(0, n_);
    z_ = 0;
    for (const int32_t symbol : layers_.total().symbols())
      z_ += roots_[static_cast<size_t>(symbol)] * layers_.total()[symbol];
    return z_ > 0;
  }

  // The items with a posterior of at least exp(-threshold). Items less likely than that by a factor
  // of a million hand nothing down, which leaves most of the chart unvisited.
  SpanMask mask(double threshold) {
    SpanMask mask(grammar_.n_symbols, n_);
    const double least = std::exp(-threshold);
    left_.start_outside();
    right_.start_outside();
    for (int32_t length = n_; length >= 1; --length)
      for (int32_t start = 0; start + length <= n_; ++start) {
        if (stop_.raised()) throw Stopped();
        if (!weigh(start, start + length, least, mask)) continue;
        if (length > 1) {
          set_weights(start, start + length, cells_[cell_of(start, start + length)].exponent);
          share_splits(*this, start, start + length);
        }
        for (const int32_t symbol : layers_.layer(0).symbols())
          sums_[static_cast<size_t>(symbol)] = 0;
      }
    return mask;
  }

  // The two loops over split points, to be called for an instruction set.
  KW_INLINE void sum_splits(int32_t start, int32_t end) {
    for (int32_t row = 0; row < grammar_.n_lefts; ++row) {
      const Range range = left_range(row, start, end);
      if (range.first > range.last) continue;
      const double* left = scale_left(row, start, range);
      for (int32_t at = grammar_.pair_begin[static_cast<size_t>(row)];
           at < grammar_.pair_begin[static_cast<size_t>(row) + 1]; ++at) {
        const PairedGrammar::Pair& pair = grammar_.pairs[static_cast<size_t>(at)];
        const Range both = right_range(pair.right, end, range);
        if (both.first > both.last) continue;
        const double sum = split_product(left + (both.first - range.first),
                                         right_.in(pair.right, cell_of(both.first, end)),
                                         both.last - both.first + 1);
        if (sum == 0) continue;
        for (int32_t r = pair.first; r < pair.last; ++r) {
          const PairedGrammar::Parent& parent = grammar_.parents[static_cast<size_t>(r)];
          sums_[static_cast<size_t>(parent.symbol)] += parent.p * sum;
        }
      }
    }
  }
  KW_INLINE void hand_down(int32_t start, int32_t end) {
    for (int32_t row = 0; row < grammar_.n_lefts; ++row) {
      const Range range = left_range(row, start, end);
      if (range.first > range.last) continue;
      const double* left = scale_left(row, start, range);
      const int32_t n = range.last - range.first + 1;
      std::fill_n(handed_.data(), n, 0.0);
      for (int32_t at = grammar_.pair_begin[static_cast<size_t>(row)];
           at < grammar_.pair_begin[static_cast<size_t>(row) + 1]; ++at) {
        const PairedGrammar::Pair& pair = grammar_.pairs[static_cast<size_t>(at)];
        const Range both = right_range(pair.right, end, range);
        if (both.first > both.last) continue;
        double outside = 0;
        for (int32_t r = pair.first; r < pair.last; ++r) {
          const PairedGrammar::Parent& parent = grammar_.parents[static_cast<size_t>(r)];
          outside += parent.p * sums_[static_cast<size_t>(parent.symbol)];
        }
        if (outside == 0) continue;
        const int32_t skipped = both.first - range.first;
        const size_t offset = cell_of(both.first, end);
        const double* right = right_.in(pair.right, offset);
        double* to_right = right_.out(pair.right, offset);
        for (int32_t k = 0; k <= both.last - both.first; ++k) {
          handed_[static_cast<size_t>(skipped + k)] += outside * right[k];
          to_right[k] += outside * left[skipped + k];
        }
      }
      double* to_left = left_.out(row, left_offset(start, range.first));
      for (int32_t k = 0; k < n; ++k)
        to_left[k] +=
            handed_[static_cast<size_t>(k)] * weights_[static_cast<size_t>(range.first + k)];
    }
  }

 private:
  struct Range {
    int32_t first, last;
  };
  struct Cell {
    int32_t exponent = CellScale::dead;
    size_t first = 0, last = 0;  // layer 0
  };
  struct Entry {
    int32_t symbol;
    double value;
  };

  // Values of left children that start at `start`, by their end.
  size_t left_offset(int32_t start, int32_t end) const {
    const auto i = static_cast<size_t>(start), n = static_cast<size_t>(n_);
    return i * n - i * (i - 1) / 2 + static_cast<size_t>(end - start - 1);
  }

  void fill(int32_t start, int32_t end) {
    layers_.clear();
    int32_t base = 0;
    if (end - start == 1) {
      for (const Weighed& tag : sentence_.tags[static_cast<size_t>(start)])
        layers_.start(tag.symbol, tag.p);
    } else {
      base = find_weights(start, end);
      if (base == CellScale::dead) return;
      combine_splits(*this, start, end);
      for (int32_t symbol = 0; symbol < grammar_.n_symbols; ++symbol) {
        double& sum = sums_[static_cast<size_t>(symbol)];
        if (sum > 0) layers_.start(symbol, sum);
        sum = 0;
      }
    }
    layers_.close([](int32_t) { return true; });
    store(start, end, base);
  }

  // weights_[k] = 2^(exponents of both parts - the largest such sum, which is returned).
  int32_t find_weights(int32_t start, int32_t end) {
    int32_t base = CellScale::dead;
    for (int32_t k = start + 1; k < end; ++k) base = std::max(base, exponents(start, k, end));
    set_weights(start, end, base);
    return base;
  }
  void set_weights(int32_t start, int32_t end, int32_t base) {
    for (int32_t k = start + 1; k < end; ++k) {
      const int32_t sum = exponents(start, k, end);
      weights_[static_cast<size_t>(k)] = sum == CellScale::dead ? 0.0 : std::ldexp(1.0, sum - base);
    }
  }
  int32_t exponents(int32_t start, int32_t split, int32_t end) const {
    const int32_t a = cells_[cell_of(start, split)].exponent;
    const int32_t b = cells_[cell_of(split, end)].exponent;
    return a == CellScale::dead || b == CellScale::dead ? CellScale::dead : a + b;
  }

  void store(int32_t start, int32_t end, int32_t base) {
    double largest = 0;
    for (const int32_t symbol : layers_.total().symbols())
      largest = std::max(largest, layers_.total()[symbol]);
    const CellScale scale(largest, base);
    Cell& cell = cells_[cell_of(start, end)];
    cell.exponent = scale.exponent();
    if (cell.exponent == CellScale::dead) return;
    cell.first = entries_.size();
    for (const int32_t symbol : layers_.layer(0).symbols()) {
      const double value = scale.apply(layers_.layer(0)[symbol]);
      if (value > 0) entries_.push_back({symbol, value});
    }
    cell.last = entries_.size();
    for (const int32_t symbol : layers_.total().symbols()) {
      const double value = scale.apply(layers_.total()[symbol]);
      const int32_t left = grammar_.left_row[static_cast<size_t>(symbol)];
      const int32_t right = grammar_.right_row[static_cast<size_t>(symbol)];
      if (value == 0) continue;
      if (left >= 0) left_.set(left, start, end, left_offset(start, end), value);
      if (right >= 0) right_.set(right, end, start, cell_of(start, end), value);
    }
  }

  // Makes the layers of a finished cell again.
  void load(int32_t start, int32_t end) {
    layers_.clear();
    const Cell& cell = cells_[cell_of(start, end)];
    for (size_t at = cell.first; at < cell.last; ++at)
      layers_.start(entries_[at].symbol, entries_[at].value);
    layers_.close([](int32_t) { return true; });
  }

  // Split points at which a left row is alive; empty where first > last.
  Range left_range(int32_t row, int32_t start, int32_t end) const {
    const size_t line = left_.line(row, start);
    return {left_.first(line), std::min(left_.last(line), end - 1)};
  }
  Range right_range(int32_t row, int32_t end, Range left) const {
    const size_t line = right_.line(row, end);
    return {std::max(right_.first(line), left.first), std::min(right_.last(line), left.last)};
  }

  // scaled_[k - first] = the values of a left row times the weights, with zeros behind.
  const double* scale_left(int32_t row, int32_t start, Range range) {
    const double* values = left_.in(row, left_offset(start, range.first));
    const int32_t n = range.last - range.first + 1;
    for (int32_t k = 0; k < n; ++k)
      scaled_[static_cast<size_t>(k)] = values[k] * weights_[static_cast<size_t>(range.first + k)];
    for (int32_t k = n; k < n + 4; ++k) scaled_[static_cast<size_t>(k)] = 0;
    return scaled_.data();
  }

  // Decides which items of a cell stay, and puts what they hand down into sums_; says whether there
  // is any.
  bool weigh(int32_t start, int32_t end, double least, SpanMask& mask) {
    const size_t cell = cell_of(start, end);
    if (cells_[cell].exponent == CellScale::dead) return false;
    load(start, end);
    find_outside(start, end);
    mask.open(cell);
    for (const int32_t symbol : layers_.total().symbols()) {
      double& posterior = posterior_[static_cast<size_t>(symbol)];
      if (posterior >= least) mask.allow(cell, symbol);
      posterior = 0;
    }
    bool any = false;
    for (const int32_t symbol : layers_.layer(0).symbols()) {
      const double outside = outside_[0][static_cast<size_t>(symbol)];
      const bool stays = layers_.layer(0)[symbol] * outside >= least * negligible;
      sums_[static_cast<size_t>(symbol)] = stays ? outside : 0.0;
      any = any || stays;
    }
    return any;
  }

  // Outside values by layer, and posteriors summed over layers, of the cell that is loaded.
  void find_outside(int32_t start, int32_t end) {
    const bool is_whole = end - start == n_;
    while (static_cast<int32_t>(outside_.size()) < layers_.n_layers())
      outside_.emplace_back(static_cast<size_t>(grammar_.n_symbols));
    for (int32_t l = layers_.n_layers() - 1; l >= 0; --l)
      for (const int32_t symbol : layers_.layer(l).symbols()) {
        double outside =
            is_whole ? roots_[static_cast<size_t>(symbol)] / z_ : received(symbol, start, end);
        if (l + 1 < layers_.n_layers())
          for (const UnaryRules::Step& step : grammar_.unary.above(symbol))
            if (layers_.layer(l + 1)[step.symbol] > 0)
              outside +=
                  step.p * outside_[static_cast<size_t>(l) + 1][static_cast<size_t>(step.symbol)];
        outside_[static_cast<size_t>(l)][static_cast<size_t>(symbol)] = outside;
        posterior_[static_cast<size_t>(symbol)] += layers_.layer(l)[symbol] * outside;
      }
  }

  // What binary parents handed down to an item.
  double received(int32_t symbol, int32_t start, int32_t end) {
    const int32_t left = grammar_.left_row[static_cast<size_t>(symbol)];
    const int32_t right = grammar_.right_row[static_cast<size_t>(symbol)];
    return (left >= 0 ? *left_.out(left, left_offset(start, end)) : 0.0) +
           (right >= 0 ? *right_.out(right, cell_of(start, end)) : 0.0);
  }

  static constexpr double negligible = 1e-6;

  const PairedGrammar& grammar_;
  const Sentence& sentence_;
  StopFlag stop_;
  int32_t n_;
  SplitRows left_, right_;
  UnaryLayers<double> layers_;
  std::vector<Cell> cells_;
  std::vector<Entry> entries_;
  std::vector<std::vector<double>> outside_;  // by layer
  std::vector<double> roots_, posterior_;
  Buffer<double> sums_, weights_, scaled_, handed_;
  double z_ = 0;
};

template <int Bytes>
KW_INLINE void combine_splits_impl(CoarseChart& chart, int32_t start, int32_t end) {
  chart.sum_splits(start, end);
}
KW_DISPATCH(combine_splits, (CoarseChart & chart, int32_t start, int32_t end), (chart, start, end))

template <int Bytes>
KW_INLINE void share_splits_impl(CoarseChart& chart, int32_t start, int32_t end) {
  chart.hand_down(start, end);
}
KW_DISPATCH(share_splits, (CoarseChart & chart, int32_t start, int32_t end), (chart, start, end))

}  // namespace kernelwood
