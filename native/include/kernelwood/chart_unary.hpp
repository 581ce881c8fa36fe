// One cell while it is made: values by symbol, and what chains of unary rules add to them.
//
// Layer 0 comes from words or binary rules, layer l from layer l - 1 by one unary rule each. Chains
// are thereby finite where rules form cycles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernelwood/chart_grammar.hpp"

namespace kernelwood {

// The probability of all derivations of an item, and of the best one.
struct Mass {
  double sum, best;
};

inline void accumulate(double& to, double p, double from) { to += p * from; }
inline void accumulate(Mass& to, double p, Mass from) {
  to.sum += p * from.sum;
  to.best = std::max(to.best, p * from.best);
}
inline bool is_zero(double value) { return value == 0; }
inline bool is_zero(Mass value) { return value.sum == 0; }

// Values by symbol with a list of those that are not zero.
template <class Value>
class SymbolValues {
 public:
  explicit SymbolValues(int32_t n_symbols) : values_(static_cast<size_t>(n_symbols)) {}

  void clear() {
    for (const int32_t symbol : symbols_) values_[static_cast<size_t>(symbol)] = Value();
    symbols_.clear();
  }
  void add(int32_t symbol, double p, Value value) {
    Value& to = values_[static_cast<size_t>(symbol)];
    const bool is_new = is_zero(to);
    accumulate(to, p, value);
    if (is_new && !is_zero(to)) symbols_.push_back(symbol);
  }
  Value operator[](int32_t symbol) const { return values_[static_cast<size_t>(symbol)]; }
  const std::vector<int32_t>& symbols() const { return symbols_; }

 private:
  std::vector<Value> values_;
  std::vector<int32_t> symbols_;
};

template <class Value>
class UnaryLayers {
 public:
  UnaryLayers(const UnaryRules& rules, int32_t n_symbols, int32_t max_unary)
      : rules_(rules), n_symbols_(n_symbols), max_unary_(max_unary), total_(n_symbols) {
    layers_.emplace_back(n_symbols);
  }

  void clear() {
    for (int32_t l = 0; l < n_layers_; ++l) layers_[static_cast<size_t>(l)].clear();
    total_.clear();
    n_layers_ = 1;
  }
  void start(int32_t symbol, Value value) { layers_[0].add(symbol, 1.0, value); }

  // Builds the layers above 0; `allowed(symbol)` says what the chart may hold here.
  template <class Allowed>
  void close(const Allowed& allowed) {
    while (n_layers_ <= max_unary_) {
      if (static_cast<int32_t>(layers_.size()) <= n_layers_) layers_.emplace_back(n_symbols_);
      SymbolValues<Value>& next = layers_[static_cast<size_t>(n_layers_)];
      const SymbolValues<Value>& last = layers_[static_cast<size_t>(n_layers_) - 1];
      for (const int32_t child : last.symbols())
        for (const UnaryRules::Step& step : rules_.above(child))
          if (allowed(step.symbol)) next.add(step.symbol, step.p, last[child]);
      if (next.symbols().empty()) break;
      ++n_layers_;
    }
    for (int32_t l = 0; l < n_layers_; ++l)
      for (const int32_t symbol : layer(l).symbols()) total_.add(symbol, 1.0, layer(l)[symbol]);
  }

  int32_t n_layers() const { return n_layers_; }
  const SymbolValues<Value>& layer(int32_t l) const { return layers_[static_cast<size_t>(l)]; }
  const SymbolValues<Value>& total() const { return total_; }

 private:
  const UnaryRules& rules_;
  int32_t n_symbols_, max_unary_, n_layers_ = 1;
  std::vector<SymbolValues<Value>> layers_;
  SymbolValues<Value> total_;
};

// Values of a cell are kept as multiples of a power of two, so that the largest is in [0.5, 1) and
// sentences of any length stay within the range of double. What is less likely by more than 2^-900
// than the likeliest item of its span counts as impossible.
class CellScale {
 public:
  static constexpr int32_t dead = INT32_MIN;
  static constexpr double smallest = 0x1p-900;
  static constexpr double smallest_cell = 0x1p-1000;

  // `largest` is the largest value at exponent `base`.
  CellScale(double largest, int32_t base) {
    if (!std::isfinite(largest))
      throw std::invalid_argument("the unary rules sum to more than a number can hold");
    if (largest < smallest_cell) return;
    int shift = 0;
    std::frexp(largest, &shift);
    factor_ = std::ldexp(1.0, -shift);
    exponent_ = base + shift;
  }
  int32_t exponent() const { return exponent_; }
  double apply(double value) const {
    const double scaled = value * factor_;
    return scaled < smallest ? 0.0 : scaled;
  }

 private:
  double factor_ = 0;
  int32_t exponent_ = dead;
};

}  // namespace kernelwood
