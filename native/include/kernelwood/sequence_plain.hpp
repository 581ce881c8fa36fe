// The subsequence kernel of one pair of sequences by its textbook recurrence.
//
// A sequence is the names of its elements. `match.begin_row(i)` announces an element of the first
// one; then `match(j)` says how well it and an element of the second match. Where that is 0 nothing
// is computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/scaled_table.hpp"

namespace kernelwood {

struct NameSpan {
  const int32_t* data;
  int64_t size;
};

// The recurrence below where values leave the range of double, at nearly the cost of doubles; false
// if a number is too large or too small for that.
template <class Match>
bool all_lengths_by_blocks(NameSpan a, NameSpan b, Match&& match, Scaled decay, StopFlag stop,
                           Scaled& total) {
  ScaledTable blocks;
  const double plain = decay.plain();
  if (!decay.is_plain() || !blocks.begin(a.size, b.size, 1.0, plain * plain, plain)) return false;
  Buffer<double> factors(static_cast<size_t>(b.size));
  for (int64_t i = 0; i < a.size && !stop.raised(); ++i) {
    match.begin_row(i);
    bool accepted = true;
    for (int64_t j = 0; j < b.size; ++j) {
      factors[static_cast<size_t>(j)] = match(j);
      accepted &= ScaledTable::accepts(factors[static_cast<size_t>(j)]);
    }
    if (!accepted) return false;
    blocks.add_line(factors.data());
  }
  total = blocks.total();
  return true;
}

// The textbook recurrence without subtraction: P(a,b) = decay P(a-1,b) + run(a,b),
// run(a,b) = decay run(a,b-1) + D(a,b), D(a,b) = match (1 + decay^2 P(a-1,b-1)).
template <class Real, class Match>
Real plain_all_lengths(NameSpan a, NameSpan b, Match&& match, Real decay, Buffer<Real>& table,
                       StopFlag stop) {
  if constexpr (std::is_same_v<Real, Scaled>)
    if (Scaled sum; all_lengths_by_blocks(a, b, match, decay, stop, sum)) return sum;
  table.assign(static_cast<size_t>(b.size), Real(0.0));
  const Real squared = decay * decay;
  Real total(0.0);
  for (int64_t i = 0; i < a.size && !stop.raised(); ++i) {
    match.begin_row(i);
    Real run(0.0), diagonal(0.0);
    for (int64_t j = 0; j < b.size; ++j) {
      const Real above = table[static_cast<size_t>(j)];
      const Real matched(match(j));
      run *= decay;
      if (matched != Real(0.0)) {
        const Real value = matched * (Real(1.0) + squared * diagonal);
        run += value;
        total += value;
      }
      table[static_cast<size_t>(j)] = decay * above + run;
      diagonal = above;
    }
  }
  return total;
}

// The same by layers of subsequence length.
template <class Real, class Match>
Real plain_bounded(NameSpan a, NameSpan b, Match&& match, Real decay, int64_t max_length,
                   Buffer<Real>& table, StopFlag stop) {
  const int64_t layers = std::min(max_length, std::min(a.size, b.size));
  table.assign(static_cast<size_t>(layers * b.size), Real(0.0));
  const Real squared = decay * decay;
  Real total(0.0);
  for (int64_t i = 0; i < a.size && !stop.raised(); ++i) {
    match.begin_row(i);
    for (int64_t l = layers - 1; l >= 0; --l) {
      Real* line = table.data() + l * b.size;
      const Real* below = line - b.size;
      Real run(0.0);
      for (int64_t j = 0; j < b.size; ++j) {
        const Real matched(match(j));
        run *= decay;
        if (matched != Real(0.0)) {
          const Real value = matched * (l == 0   ? Real(1.0)
                                        : j == 0 ? Real(0.0)
                                                 : squared * below[j - 1]);
          run += value;
          total += value;
        }
        line[j] = decay * line[j] + run;
      }
    }
  }
  return total;
}

}  // namespace kernelwood
