// Inside and outside probabilities under a small grammar, to tell what a larger one need not try.
//
// Inside values of a cell are multiples of a power of two (CellScale). Outside values are kept as
// out * 2^exponent / Z, so that in * out is the posterior and needs no scale of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernelwood/chart_pairs.hpp"
#include "kernelwood/chart_unary.hpp"
#include "kernelwood/engine.hpp"

namespace kernelwood {

class CoarseChart {
 public:
  CoarseChart(const PairedGrammar& grammar, const Sentence& sentence, StopFlag stop)
      : grammar_(grammar), sentence_(sentence), stop_(stop), n_(sentence.n_words),
        pairs_(grammar, n_), layers_(grammar.unary, grammar.n_symbols, grammar.max_unary),
        cells_(n_cells(n_)), roots_(static_cast<size_t>(grammar.n_symbols), 0.0),
        posterior_(static_cast<size_t>(grammar.n_symbols), 0.0) {
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

  // The items with a posterior of at least exp(-threshold).
  SpanMask mask(double threshold) {
    SpanMask mask(grammar_.n_symbols, n_);
    const double least = std::exp(-threshold);
    pairs_.start_outside();
    for (int32_t length = n_; length >= 1; --length)
      for (int32_t start = 0; start + length <= n_; ++start) {
        if (stop_.raised()) throw Stopped();
        visit(start, start + length, least, mask);
      }
    pairs_.finish_outside();
    return mask;
  }

 private:
  struct Cell {
    int32_t exponent = CellScale::dead;
    size_t first = 0, last = 0;  // entries
  };
  struct Entry {  // of layer 0
    int32_t symbol;
    double value;
  };
  // Parents less likely than the threshold by this factor hand nothing down: all that their parts
  // could get from them is too little to matter, and most of the chart is like that.
  static constexpr double negligible = 1e-6;

  void fill(int32_t start, int32_t end) {
    layers_.clear();
    int32_t base = 0;
    if (end - start == 1) {
      for (const Weighed& tag : sentence_.tags[static_cast<size_t>(start)])
        layers_.start(tag.symbol, tag.p);
    } else {
      base = largest_exponent(start, end);
      if (base == CellScale::dead) return;
      set_weights(start, end, base);
      combine_pairs(pairs_, start, end);
      for (int32_t symbol = 0; symbol < grammar_.n_symbols; ++symbol) {
        double& sum = pairs_.sums[static_cast<size_t>(symbol)];
        if (sum > 0) layers_.start(symbol, sum);
        sum = 0;
      }
    }
    layers_.close([](int32_t) { return true; });
    store(start, end, base);
  }

  int32_t exponents(int32_t start, int32_t split, int32_t end) const {
    const int32_t a = cells_[cell_of(start, split)].exponent;
    const int32_t b = cells_[cell_of(split, end)].exponent;
    return a == CellScale::dead || b == CellScale::dead ? CellScale::dead : a + b;
  }
  int32_t largest_exponent(int32_t start, int32_t end) const {
    int32_t largest = CellScale::dead;
    for (int32_t k = start + 1; k < end; ++k) largest = std::max(largest, exponents(start, k, end));
    return largest;
  }
  // What turns a product of parts, split at k, into a multiple of 2^base.
  void set_weights(int32_t start, int32_t end, int32_t base) {
    for (int32_t k = start + 1; k < end; ++k) {
      const int32_t sum = exponents(start, k, end);
      pairs_.weights[static_cast<size_t>(k)] =
          sum == CellScale::dead ? 0.0 : std::ldexp(1.0, sum - base);
    }
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
    for (const int32_t symbol : layers_.layer(0).symbols())
      entries_.push_back({symbol, scale.apply(layers_.layer(0)[symbol])});
    cell.last = entries_.size();
    for (const int32_t symbol : layers_.total().symbols()) {
      const double value = scale.apply(layers_.total()[symbol]);
      if (value > 0) pairs_.set_inside(symbol, start, end, value);
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

  // Decides which items of a cell stay, and hands down what they have to their parts.
  void visit(int32_t start, int32_t end, double least, SpanMask& mask) {
    const size_t cell = cell_of(start, end);
    if (cells_[cell].exponent == CellScale::dead) return;
    load(start, end);
    find_outside(start, end);
    mask.open(cell);
    for (const int32_t symbol : layers_.total().symbols()) {
      double& posterior = posterior_[static_cast<size_t>(symbol)];
      if (posterior >= least) mask.allow(cell, symbol);
      posterior = 0;
    }
    if (end - start == 1) return;
    bool any = false;
    for (const int32_t symbol : layers_.layer(0).symbols()) {
      const double outside = outside_[0][static_cast<size_t>(symbol)];
      if (!(layers_.layer(0)[symbol] * outside >= least * negligible)) continue;
      pairs_.sums[static_cast<size_t>(symbol)] = outside;
      any = true;
    }
    if (!any) return;
    set_weights(start, end, cells_[cell].exponent);
    share_pairs(pairs_, start, end);
    for (const int32_t symbol : layers_.layer(0).symbols())
      pairs_.sums[static_cast<size_t>(symbol)] = 0;
  }

  // Outside values by layer, and posteriors summed over layers, of the cell that is loaded.
  void find_outside(int32_t start, int32_t end) {
    const bool is_whole = end - start == n_;
    while (static_cast<int32_t>(outside_.size()) < layers_.n_layers())
      outside_.emplace_back(static_cast<size_t>(grammar_.n_symbols));
    for (int32_t l = layers_.n_layers() - 1; l >= 0; --l)
      for (const int32_t symbol : layers_.layer(l).symbols()) {
        const auto s = static_cast<size_t>(symbol);
        double outside = is_whole ? roots_[s] / z_ : pairs_.outside(symbol, start, end);
        if (l + 1 < layers_.n_layers()) outside += from_above(symbol, l + 1);
        outside_[static_cast<size_t>(l)][s] = outside;
        posterior_[s] += layers_.layer(l)[symbol] * outside;
      }
  }

  // What the unary parents of a symbol, which are in `layer`, hand down.
  double from_above(int32_t symbol, int32_t layer) const {
    const std::vector<double>& outside = outside_[static_cast<size_t>(layer)];
    double sum = 0;
    for (const UnaryRules::Step& step : grammar_.unary.above(symbol))
      if (layers_.layer(layer)[step.symbol] > 0)
        sum += step.p * outside[static_cast<size_t>(step.symbol)];
    return sum;
  }

  const PairedGrammar& grammar_;
  const Sentence& sentence_;
  StopFlag stop_;
  int32_t n_;
  PairSums pairs_;
  UnaryLayers<double> layers_;
  std::vector<Cell> cells_;
  std::vector<Entry> entries_;
  std::vector<std::vector<double>> outside_;  // by layer and symbol
  std::vector<double> roots_, posterior_;     // by symbol
  double z_ = 0;
};

}  // namespace kernelwood
