// Two sets of sequences, ready to be compared: symbols, the elements that can match, and their
// weights.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/interning.hpp"
#include "kernelwood/sequence_plain.hpp"

namespace kernelwood {

struct SequenceArrays {
  const int64_t* offsets;
  int64_t n_sequences;
  const int32_t* labels;
  const int32_t* edges;
};

struct SequenceParameters {
  double decay = 0.8;
  int64_t max_length = 0;  // 0: all lengths
};

// One side: all symbols, and the kept elements (those that can match) with their weights.
template <class Real>
struct SequenceSide {
  using Weight = Output<Real>;
  Buffer<int64_t> begin{0}, kept_begin{0};
  Buffer<int32_t> symbols, kept;
  Buffer<Weight> up, down;
  Buffer<uint8_t> is_long;
  Buffer<double> self;  // all-lengths self-similarity of the short ones

  int64_t size() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t kept_length(int64_t s) const {
    return kept_begin[static_cast<size_t>(s) + 1] - kept_begin[static_cast<size_t>(s)];
  }
  SymbolSpan span(int64_t s) const {
    const int64_t at = begin[static_cast<size_t>(s)];
    return {symbols.data() + at, begin[static_cast<size_t>(s) + 1] - at};
  }
};

// The panel side and the stream side; without a stream the panel is both.
template <class Real>
class SequenceSides {
 public:
  SequenceSides(const SequenceParameters& parameters, const SequenceArrays& panel,
                const SequenceArrays* stream, StopFlag stop)
      : decay_(parameters.decay), symmetric_(stream == nullptr) {
    SymbolInterner symbols;
    add(panel, symbols, panel_, stop);
    if (stream) add(*stream, symbols, other_, stop);
    n_symbols_ = symbols.size();
    keep_matching();
  }

  const SequenceSide<Real>& panel() const { return panel_; }
  const SequenceSide<Real>& stream() const { return symmetric_ ? panel_ : other_; }
  size_t n_symbols() const { return n_symbols_; }

  // Longer ones never take the vectorised form.
  static constexpr int64_t longest_short = 2048;

 private:
  // log2 of what one side may contribute to a rescaled sum: two sides stay within the range.
  static constexpr double short_limit = sizeof(Real) == 4 ? 60.0 : 500.0;

  void add(const SequenceArrays& arrays, SymbolInterner& symbols, SequenceSide<Real>& side,
           StopFlag stop) const {
    const int64_t base = arrays.offsets[0];
    for (int64_t s = 0; s < arrays.n_sequences; ++s)
      side.begin.push_back(arrays.offsets[s + 1] - base);
    for (int64_t e = base; e < arrays.offsets[arrays.n_sequences]; ++e)
      side.symbols.push_back(symbols.intern(arrays.edges[e], arrays.labels[e]));
    Buffer<double> table;
    for (int64_t s = 0; s < side.size(); ++s) {
      if (stop.raised()) throw Stopped();
      const SymbolSpan span = side.span(s);
      double self = 0.0;
      bool is_long = std::is_same_v<Real, Scaled> || span.size > longest_short;
      if (!is_long && span.size > 0) {
        self = plain_all_lengths<double>(span, span, decay_, table, StopFlag(nullptr));
        is_long = !(0.5 * std::log2(self) - static_cast<double>(span.size) * std::log2(decay_) <
                    short_limit);
      }
      side.self.push_back(self);
      side.is_long.push_back(is_long);
    }
  }

  // An element is kept if another sequence (of the other side, or of the same) has its symbol.
  void keep_matching() {
    Buffer<int64_t> first(n_symbols_, -1);
    Buffer<uint8_t> in_panel(n_symbols_, 0), keep(n_symbols_, 0);
    for (int64_t s = 0; s < panel_.size(); ++s)
      for (int64_t e = panel_.begin[static_cast<size_t>(s)];
           e < panel_.begin[static_cast<size_t>(s) + 1]; ++e) {
        const auto symbol = static_cast<size_t>(panel_.symbols[static_cast<size_t>(e)]);
        in_panel[symbol] = 1;
        if (first[symbol] < 0) first[symbol] = s;
        if (symmetric_ && first[symbol] != s) keep[symbol] = 1;
      }
    for (const int32_t symbol : other_.symbols)
      if (in_panel[static_cast<size_t>(symbol)]) keep[static_cast<size_t>(symbol)] = 1;
    weigh(panel_, keep);
    if (!symmetric_) weigh(other_, keep);
  }

  void weigh(SequenceSide<Real>& side, const Buffer<uint8_t>& keep) const {
    Buffer<double> powers{1.0};
    for (int64_t s = 0; s < side.size(); ++s) {
      const SymbolSpan span = side.span(s);
      for (int64_t i = 0; i < span.size && !side.is_long[static_cast<size_t>(s)]; ++i) {
        if (!keep[static_cast<size_t>(span.data[i])]) continue;
        while (powers.size() <= static_cast<size_t>(i)) powers.push_back(powers.back() * decay_);
        side.kept.push_back(span.data[i]);
        side.up.push_back(static_cast<Output<Real>>(1.0 / powers[static_cast<size_t>(i)]));
        side.down.push_back(static_cast<Output<Real>>(powers[static_cast<size_t>(i)]));
      }
      side.kept_begin.push_back(static_cast<int64_t>(side.kept.size()));
    }
  }

  double decay_;
  bool symmetric_;
  SequenceSide<Real> panel_, other_;
  size_t n_symbols_ = 0;
};

}  // namespace kernelwood
