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

// The same by subsequence length. All lengths of a cell are computed together, since each sum along
// a line waits for the one before; they are added to the total line by line and length by length.
template <class Real, class Match>
Real plain_bounded(NameSpan a, NameSpan b, Match&& match, Real decay, int64_t max_length,
                   Buffer<Real>& table, StopFlag stop) {
  const int64_t layers = std::min(max_length, std::min(a.size, b.size));
  table.assign(static_cast<size_t>(layers * b.size), Real(0.0));
  Buffer<Real> values(table.size()), run(static_cast<size_t>(layers)), diagonal(run.size());
  const Real squared = decay * decay;
  Real total(0.0);
  for (int64_t i = 0; i < a.size && !stop.raised(); ++i) {
    match.begin_row(i);
    std::fill(run.begin(), run.end(), Real(0.0));
    std::fill(diagonal.begin(), diagonal.end(), Real(0.0));
    Real *const runs = run.data(), *const before = diagonal.data(), *const all = values.data();
    int64_t n_matched = 0;
    for (int64_t j = 0; j < b.size; ++j) {
      const Real matched(match(j));
      for (int64_t l = 0; l < layers; ++l) runs[l] *= decay;
      if (matched != Real(0.0)) {
        Real* value = all + n_matched++ * layers;
        value[0] = matched;
        for (int64_t l = 1; l < layers; ++l) value[l] = matched * (squared * before[l - 1]);
        for (int64_t l = 0; l < layers; ++l) runs[l] += value[l];
      }
      Real* sums = table.data() + j * layers;
      for (int64_t l = 0; l < layers; ++l) {
        before[l] = sums[l];
        sums[l] = decay * before[l] + runs[l];
      }
    }
    for (int64_t l = layers - 1; l >= 0; --l)
      for (int64_t k = 0; k < n_matched; ++k) total += all[k * layers + l];
  }
  return total;
}

}  // namespace kernelwood
