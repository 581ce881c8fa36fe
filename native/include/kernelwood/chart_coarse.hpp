// Inside and outside probabilities under a small grammar, to tell what a larger one need not try.
//
// Inside values of a cell are multiples of a power of two (CellScale). Outside values are kept as
// out * 2^exponent / Z, so that in * out is the posterior and needs no scale of its own.
//
// Most items of a full chart are far from any parse. Given merits by the parts of speech beside a
// span (BoundaryMerits), an item that falls below their threshold is not built into longer spans.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/chart_boundary.hpp"
#include "kernelwood/chart_unary.hpp"
#include "kernelwood/engine.hpp"

namespace kernelwood {

class CoarseChart {
 public:
  // `merits` may be null: then nothing is left out.
  CoarseChart(const PairedGrammar& grammar, const Sentence& sentence, const BoundaryMerits* merits,
              StopFlag stop)
      : grammar_(grammar), sentence_(sentence),
        merits_(merits && merits->is_usable() ? merits : nullptr), stop_(stop),
        n_(sentence.n_words), layers_(grammar.unary, grammar.n_symbols, grammar.max_unary),
        roots_(static_cast<size_t>(grammar.n_symbols), 0.0),
        posterior_(static_cast<size_t>(grammar.n_symbols), 0.0),
        sums_(static_cast<size_t>(grammar.n_symbols), 0.0), pair_sums_(grammar.n_pairs(), 0.0),
        parts_(static_cast<size_t>(n_)), right_set_(n_, grammar.n_symbols) {
    check_chart_size(n_cells(n_), sizeof(Cell));
    check_chart_size(static_cast<size_t>(n_), static_cast<size_t>(grammar.n_symbols) * 4);
    cells_.resize(n_cells(n_));
    right_.assign(static_cast<size_t>(n_) * static_cast<size_t>(grammar.n_symbols), none);
    for (const Weighed& root : sentence.roots) roots_[static_cast<size_t>(root.symbol)] += root.p;
  }

  // Returns false when the grammar does not cover the sentence.
  bool inside() {
    for (int32_t end = 1; end <= n_; ++end) {
      for (int32_t start = end - 1; start >= 0; --start) {
        if (stop_.raised()) throw Stopped();
        fill(start, end);
        show_right(start, end);
      }
      for (int32_t start = 0; start < end; ++start) hide_right(start, end);
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
    outside_of_.assign(items_.size(), 0.0);
    for (int32_t end = n_; end >= 1; --end) {
      for (int32_t start = 0; start < end; ++start) show_right(start, end);
      for (int32_t start = 0; start < end; ++start) {
        if (stop_.raised()) throw Stopped();
        visit(start, end, least, mask);
      }
      for (int32_t start = 0; start < end; ++start) hide_right(start, end);
    }
    return mask;
  }

 private:
  static constexpr int32_t none = -1;
  static constexpr double nothing = -1;  // a sum that is known to be zero
  struct Cell {
    int32_t exponent = CellScale::dead;
    size_t first_base = 0, last_base = 0;
    size_t first = 0, last = 0;  // items
  };
  struct Value {
    int32_t symbol;
    double value;
  };
  struct Part {  // a cell that can be the left part of a longer span
    int32_t end, exponent;
  };
  // Parents less likely than the threshold by this factor hand nothing down: all that their parts
  // could get from them is too little to matter, and most of the chart is like that.
  double negligible() const { return merits_ ? 1e-2 : 1e-6; }

  Cell& cell_at(int32_t start, int32_t end) { return cells_[cell_of(start, end)]; }

  // Where the items of the cells with one end are, by start and symbol.
  int32_t* right_at(int32_t start) {
    return right_.data() + static_cast<size_t>(start) * static_cast<size_t>(grammar_.n_symbols);
  }
  void show_right(int32_t start, int32_t end) {
    const Cell& cell = cell_at(start, end);
    int32_t* places = right_at(start);
    for (size_t at = cell.first; at < cell.last; ++at) {
      places[items_[at].symbol] = static_cast<int32_t>(at);
      right_set_.add(start, items_[at].symbol);
    }
  }
  void hide_right(int32_t start, int32_t end) {
    const Cell& cell = cell_at(start, end);
    int32_t* places = right_at(start);
    for (size_t at = cell.first; at < cell.last; ++at) {
      places[items_[at].symbol] = none;
      right_set_.remove(start, items_[at].symbol);
    }
  }

  void fill(int32_t start, int32_t end) {
    int32_t base = 0;
    layers_.clear();
    if (end - start == 1) {
      for (const Weighed& tag : sentence_.tags[static_cast<size_t>(start)])
        layers_.start(tag.symbol, tag.p);
    } else {
      base = largest_exponent(start, end);
      if (base == CellScale::dead) return;
      combine(start, end, base);
    }
    layers_.close([](int32_t) { return true; });
    store(start, end, base);
  }

  // Calls use(split, scale) for all ways to put a span together; the scale turns a product of the
  // parts into a multiple of 2^base.
  template <class Use>
  void each_split(int32_t start, int32_t end, int32_t base, const Use& use) {
    for (const Part& left : parts_[static_cast<size_t>(start)]) {
      if (left.end >= end) break;
      const int32_t right = cell_at(left.end, end).exponent;
      if (right == CellScale::dead) continue;
      use(left.end, std::ldexp(1.0, left.exponent + right - base));
    }
  }
  int32_t largest_exponent(int32_t start, int32_t end) {
    int32_t largest = CellScale::dead;
    for (const Part& left : parts_[static_cast<size_t>(start)]) {
      if (left.end >= end) break;
      const int32_t right = cell_at(left.end, end).exponent;
      if (right != CellScale::dead) largest = std::max(largest, left.exponent + right);
    }
    return largest;
  }

  // A pair of children is summed over all split points, then handed to all its parents.
  void combine(int32_t start, int32_t end, int32_t base) {
    each_split(start, end, base, [&](int32_t split, double scale) {
      const int32_t* right = right_at(split);
      const Cell& left = cell_at(start, split);
      for (size_t at = left.first; at < left.last; ++at) {
        const double from = items_[at].value * scale;
        grammar_.pairs.each(items_[at].symbol, right_set_.at(split),
                            [&](int32_t symbol, int32_t pair) {
                              double& sum = pair_sums_[static_cast<size_t>(pair)];
                              if (sum == 0) found_.push_back(pair);
                              sum += from * items_[static_cast<size_t>(right[symbol])].value;
                            });
      }
    });
    for (const int32_t pair : found_) {
      double& sum = pair_sums_[static_cast<size_t>(pair)];
      for (const PairedGrammar::Parent& parent : grammar_.parents_of(pair))
        layers_.start(parent.symbol, parent.p * sum);
      sum = 0;
    }
    found_.clear();
  }

  void store(int32_t start, int32_t end, int32_t base) {
    double largest = 0;
    for (const int32_t symbol : layers_.total().symbols())
      largest = std::max(largest, layers_.total()[symbol]);
    const CellScale scale(largest, base);
    if (scale.exponent() == CellScale::dead) return;
    Cell& cell = cell_at(start, end);
    cell.first = cell.last = items_.size();
    const bool is_whole = end - start == n_, is_judged = merits_ && !is_whole;
    const double least = is_judged ? merits_->least(start, end, scale.exponent()) : 0.0;
    const double* left = is_judged ? merits_->left(start) : nullptr;
    const double* right = is_judged ? merits_->right(end) : nullptr;
    for (const int32_t symbol : layers_.total().symbols()) {
      const double value = scale.apply(layers_.total()[symbol]);
      if (value == 0 || (is_judged && value * left[symbol] * right[symbol] < least)) continue;
      items_.push_back({symbol, value});
    }
    check_chart_size(items_.size(), sizeof(Value) + sizeof(double));
    cell.last = items_.size();
    if (cell.first == cell.last) return;
    cell.exponent = scale.exponent();
    cell.first_base = bases_.size();
    for (const int32_t symbol : layers_.layer(0).symbols())
      bases_.push_back({symbol, scale.apply(layers_.layer(0)[symbol])});
    cell.last_base = bases_.size();
    parts_[static_cast<size_t>(start)].push_back({end, cell.exponent});
  }

  // Makes the layers of a finished cell again.
  void load(int32_t start, int32_t end) {
    layers_.clear();
    const Cell& cell = cell_at(start, end);
    for (size_t at = cell.first_base; at < cell.last_base; ++at)
      layers_.start(bases_[at].symbol, bases_[at].value);
    layers_.close([](int32_t) { return true; });
  }

  // Decides which items of a cell stay, and hands down what they have to their parts.
  void visit(int32_t start, int32_t end, double least, SpanMask& mask) {
    const Cell& cell = cell_at(start, end);
    if (cell.exponent == CellScale::dead || !is_reached(start, end, least * negligible())) return;
    load(start, end);
    find_outside(start, end);
    mask.open(cell_of(start, end));
    for (const int32_t symbol : layers_.total().symbols()) {
      double& posterior = posterior_[static_cast<size_t>(symbol)];
      if (posterior >= least) mask.allow(cell_of(start, end), symbol);
      posterior = 0;
    }
    if (end - start == 1) return;
    bool any = false;
    for (const int32_t symbol : layers_.layer(0).symbols()) {
      const double outside = outside_[0][static_cast<size_t>(symbol)];
      if (!(layers_.layer(0)[symbol] * outside >= least * negligible())) continue;
      sums_[static_cast<size_t>(symbol)] = outside;
      any = true;
    }
    if (any) share(start, end);
    for (const int32_t symbol : layers_.layer(0).symbols()) sums_[static_cast<size_t>(symbol)] = 0;
  }

  // Whether the posterior of a cell, that of its items together, is worth a look.
  bool is_reached(int32_t start, int32_t end, double least) {
    if (end - start == n_) return true;
    const Cell& cell = cell_at(start, end);
    double posterior = 0;
    for (size_t at = cell.first; at < cell.last; ++at)
      posterior += items_[at].value * outside_of_[at];
    return posterior >= least;
  }

  // Hands the outside values in `sums_` down to the parts of a span.
  void share(int32_t start, int32_t end) {
    each_split(start, end, cell_at(start, end).exponent, [&](int32_t split, double scale) {
      const int32_t* right = right_at(split);
      const Cell& left = cell_at(start, split);
      for (size_t at = left.first; at < left.last; ++at) {
        double to_left = 0;
        grammar_.pairs.each(items_[at].symbol, right_set_.at(split),
                            [&](int32_t symbol, int32_t pair) {
                              const double outside = from_parents(pair) * scale;
                              if (outside == 0) return;
                              const auto with = static_cast<size_t>(right[symbol]);
                              to_left += outside * items_[with].value;
                              outside_of_[with] += outside * items_[at].value;
                            });
        outside_of_[at] += to_left;
      }
    });
    for (const int32_t pair : found_) pair_sums_[static_cast<size_t>(pair)] = 0;
    found_.clear();
  }

  // What all parents of a pair hand down, computed once for a span.
  double from_parents(int32_t pair) {
    double& sum = pair_sums_[static_cast<size_t>(pair)];
    if (sum == 0) {
      for (const PairedGrammar::Parent& parent : grammar_.parents_of(pair))
        sum += parent.p * sums_[static_cast<size_t>(parent.symbol)];
      if (sum == 0) sum = nothing;
      found_.push_back(pair);
    }
    return sum == nothing ? 0.0 : sum;
  }

  // Outside values by layer, and posteriors summed over layers, of the cell that is loaded.
  void find_outside(int32_t start, int32_t end) {
    const bool is_whole = end - start == n_;
    while (static_cast<int32_t>(outside_.size()) < layers_.n_layers())
      outside_.emplace_back(static_cast<size_t>(grammar_.n_symbols));
    const int32_t* places = right_at(start);
    for (int32_t l = layers_.n_layers() - 1; l >= 0; --l)
      for (const int32_t symbol : layers_.layer(l).symbols()) {
        const auto s = static_cast<size_t>(symbol);
        double outside = is_whole                 ? roots_[s] / z_
                         : places[symbol] != none ? outside_of_[static_cast<size_t>(places[symbol])]
                                                  : 0.0;
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
  const BoundaryMerits* merits_;
  StopFlag stop_;
  int32_t n_;
  UnaryLayers<double> layers_;
  std::vector<Cell> cells_;
  std::vector<Value> items_, bases_;  // of all layers together, and of layer 0
  std::vector<double> outside_of_;    // by item
  std::vector<std::vector<double>> outside_;        // by layer and symbol
  std::vector<double> roots_, posterior_, sums_;    // by symbol
  std::vector<double> pair_sums_;                   // by pair of children
  std::vector<int32_t> found_;                      // pairs
  std::vector<std::vector<Part>> parts_;            // by start, by rising end
  // The items of the cells with one end, by start and symbol.
  std::vector<int32_t> right_;
  PlacedSets right_set_;
  double z_ = 0;
};

}  // namespace kernelwood
