// Sums over split points for all pairs of children of a grammar, and their way back.
//
// A pair of children is summed over all split points once, as a product of two vectors, and then
// handed to all parents of the pair:
//   in(i, j, A) = sum over B C of p(A -> B C) * sum over k of in(i, k, B) in(k, j, C).
// Outside probabilities are handed down by the same vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/chart_split_rows.hpp"

namespace kernelwood {

class PairSums {
 public:
  PairSums(const PairedGrammar& grammar, int32_t n_words)
      : sums(static_cast<size_t>(grammar.n_symbols), 0.0),
        weights(static_cast<size_t>(n_words) + 4, 0.0), grammar_(grammar), n_(n_words),
        left_(grammar.n_lefts, n_words), right_(grammar.n_rights, n_words),
        scaled_(static_cast<size_t>(n_words) + 8), handed_(static_cast<size_t>(n_words) + 8) {}

  void set_inside(int32_t symbol, int32_t start, int32_t end, double value) {
    const int32_t left = left_row(symbol), right = right_row(symbol);
    if (left >= 0) left_.set(left, start, end, left_offset(start, end), value);
    if (right >= 0) right_.set(right, end, start, cell_of(start, end), value);
  }
  // What parents have handed down to an item.
  double outside(int32_t symbol, int32_t start, int32_t end) {
    const int32_t left = left_row(symbol), right = right_row(symbol);
    return (left >= 0 ? *left_.out(left, left_offset(start, end)) : 0.0) +
           (right >= 0 ? *right_.out(right, cell_of(start, end)) : 0.0);
  }
  void start_outside() {
    left_.start_outside();
    right_.start_outside();
  }
  void finish_outside() {
    left_.finish_outside();
    right_.finish_outside();
  }

  // Adds the inside values of all parents over a span to `sums`.
  KW_INLINE void combine(int32_t start, int32_t end) {
    for (int32_t row = 0; row < grammar_.n_lefts; ++row) {
      const Range range = left_range(row, start, end);
      if (range.first <= range.last) combine_row(row, end, range, scale_left(row, start, range));
    }
  }

  // Hands the outside values in `sums` down to all parts of a span.
  KW_INLINE void share(int32_t start, int32_t end) {
    for (int32_t row = 0; row < grammar_.n_lefts; ++row) {
      const Range range = left_range(row, start, end);
      if (range.first > range.last) continue;
      const int32_t n = range.last - range.first + 1;
      std::fill_n(handed_.data(), n, 0.0);
      share_row(row, end, range, scale_left(row, start, range));
      double* to_left = left_.out(row, left_offset(start, range.first));
      const double* weight = weights.data() + range.first;
      for (int32_t k = 0; k < n; ++k) to_left[k] += handed_[static_cast<size_t>(k)] * weight[k];
    }
  }

  Buffer<double> sums;     // by symbol, of one span
  Buffer<double> weights;  // by split point, of one span

 private:
  // Split points at which something is alive; empty where first > last.
  struct Range {
    int32_t first, last;
  };

  int32_t left_row(int32_t symbol) const { return grammar_.left_row[static_cast<size_t>(symbol)]; }
  int32_t right_row(int32_t symbol) const {
    return grammar_.right_row[static_cast<size_t>(symbol)];
  }
  // Left children with one start lie next to each other, by end; right ones are as cells are.
  size_t left_offset(int32_t start, int32_t end) const {
    const auto i = static_cast<size_t>(start), n = static_cast<size_t>(n_);
    return i * n - i * (i + 1) / 2 + static_cast<size_t>(end - 1);
  }
  Range left_range(int32_t row, int32_t start, int32_t end) const {
    const size_t line = left_.line(row, start);
    return {left_.first(line), std::min(left_.last(line), end - 1)};
  }
  Range right_range(int32_t row, int32_t end, Range left) const {
    const size_t line = right_.line(row, end);
    return {std::max(right_.first(line), left.first), std::min(right_.last(line), left.last)};
  }

  // The values of a left row times the weights, with zeros behind.
  KW_INLINE const double* scale_left(int32_t row, int32_t start, Range range) {
    const double* values = left_.in(row, left_offset(start, range.first));
    const double* weight = weights.data() + range.first;
    double* to = scaled_.data();
    const int32_t n = range.last - range.first + 1;
    for (int32_t k = 0; k < n; ++k) to[k] = values[k] * weight[k];
    std::fill_n(to + n, 4, 0.0);
    return to;
  }

  KW_INLINE void combine_row(int32_t row, int32_t end, Range range, const double* left) {
    for (const PairedGrammar::Pair& pair : grammar_.pairs_of(row)) {
      const Range both = right_range(pair.right, end, range);
      if (both.first > both.last) continue;
      const double sum = split_product(left + (both.first - range.first),
                                       right_.in(pair.right, cell_of(both.first, end)),
                                       both.last - both.first + 1);
      if (sum == 0) continue;
      for (const PairedGrammar::Parent& parent : grammar_.parents_of(pair))
        sums[static_cast<size_t>(parent.symbol)] += parent.p * sum;
    }
  }

  KW_INLINE void share_row(int32_t row, int32_t end, Range range, const double* left) {
    for (const PairedGrammar::Pair& pair : grammar_.pairs_of(row)) {
      const Range both = right_range(pair.right, end, range);
      if (both.first > both.last) continue;
      double outside = 0;
      for (const PairedGrammar::Parent& parent : grammar_.parents_of(pair))
        outside += parent.p * sums[static_cast<size_t>(parent.symbol)];
      if (outside == 0) continue;
      const size_t offset = cell_of(both.first, end);
      const double* from_right = right_.in(pair.right, offset);
      const double* from_left = left + (both.first - range.first);
      double* to_right = right_.out(pair.right, offset);
      double* to_left = handed_.data() + (both.first - range.first);
      for (int32_t k = 0; k <= both.last - both.first; ++k) {
        to_left[k] += outside * from_right[k];
        to_right[k] += outside * from_left[k];
      }
    }
  }

  const PairedGrammar& grammar_;
  int32_t n_;
  SplitRows left_, right_;
  Buffer<double> scaled_, handed_;  // by split point
};

template <int Bytes>
KW_INLINE void combine_pairs_impl(PairSums& pairs, int32_t start, int32_t end) {
  pairs.combine(start, end);
}
KW_DISPATCH(combine_pairs, (PairSums & pairs, int32_t start, int32_t end), (pairs, start, end))

template <int Bytes>
KW_INLINE void share_pairs_impl(PairSums& pairs, int32_t start, int32_t end) {
  pairs.share(start, end);
}
KW_DISPATCH(share_pairs, (PairSums & pairs, int32_t start, int32_t end), (pairs, start, end))

}  // namespace kernelwood
