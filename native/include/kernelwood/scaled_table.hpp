// Running tables of sums over pairs of subsequences whose values leave the range of double.
//
// Line by line, with factors f(i, j) of the cells of a line,
//   D(i, j) = f(i, j) * (start + link * T(i-1, j-1)),   T(i, j) = sum decay^(i-i' + j-j') D(i', j')
// over i' <= i, j' <= j, and the sum of all D. Neighbors in a line differ by a bounded factor, so
// blocks of columns are plain doubles with one exponent, as coarse as that of Scaled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/scaled.hpp"

namespace kernelwood {

class ScaledTable {
 public:
  // Whether a factor or value is neither too large nor too small for blocks of doubles.
  static bool accepts(double number) {
    return number == 0.0 || (number >= Scaled::smallest && number <= most);
  }

  // Starts a table; false if neighbors could differ by more than a block can hold.
  bool begin(int64_t n_lines, int64_t width, double start, double link, double decay) {
    if (start < smallest_part || link < smallest_part || decay < smallest_part) return false;
    start_ = start;
    link_ = link;
    decay_ = decay;
    const double growth =
        std::log2(1.0 + static_cast<double>(n_lines) * most * link / decay) - std::log2(decay);
    block_ = std::min<int64_t>(widest_block, static_cast<int64_t>(spread_bits / growth));
    sums_.assign(static_cast<size_t>(width), 0.0);
    weighted_.assign(static_cast<size_t>(width), 0.0);
    exponents_.assign(static_cast<size_t>((width + block_ - 1) / block_), 0);
    total_ = Scaled(0.0);
    return true;
  }

  // Adds a line of accepted factors.
  void add_line(const double* factors) {
    double run = 0.0, diagonal = 0.0;
    const double link = link_, decay = decay_;
    for_each_block([&](int64_t begin, int64_t end, double carry, double start) {
      double total = 0.0;
      run *= carry;
      diagonal *= carry;
      for (int64_t j = begin; j < end; ++j) {
        double& sum = sums_[static_cast<size_t>(j)];
        const double value = factors[j] * (start + link * diagonal);
        run = run * decay + value;
        total += value;
        diagonal = sum;
        sum = decay * diagonal + run;
      }
      return total;
    });
  }

  // The same with decay = link = start = 1 and with what a pair of subsequences weighs, the sum of
  // `values` of its cells: E(i, j) = D(i, j) * value(i, j) + f(i, j) * sum E before. Totals are of
  // E.
  void add_weighted_line(const double* factors, const double* values) {
    double run = 0.0, run_weighted = 0.0, before = 0.0, before_weighted = 0.0;
    for_each_block([&](int64_t begin, int64_t end, double carry, double start) {
      double total = 0.0;
      run *= carry;
      run_weighted *= carry;
      before *= carry;
      before_weighted *= carry;
      for (int64_t j = begin; j < end; ++j) {
        double &sum = sums_[static_cast<size_t>(j)], &weighted = weighted_[static_cast<size_t>(j)];
        const double value = factors[j] * (start + before);
        const double with_values = value * values[j] + factors[j] * before_weighted;
        run += value;
        run_weighted += with_values;
        total += with_values;
        before = sum;
        before_weighted = weighted;
        sum += run;
        weighted += run_weighted;
      }
      return total;
    });
  }

  Scaled total() const { return total_; }

 private:
  static constexpr double most = 64.0, smallest_part = 1e-9;
  static constexpr double spread_bits = 300;  // by which the values of a block may differ
  static constexpr int64_t widest_block = 64;

  // Calls sum(begin, end, carry, start) for each block of a line: `carry` takes values of the block
  // before to the exponent of this one.
  template <class Sum>
  void for_each_block(Sum&& sum) {
    const auto width = static_cast<int64_t>(sums_.size());
    int64_t before = exponents_.empty() ? 0 : exponents_[0];
    for (size_t b = 0; b < exponents_.size(); ++b) {
      const int64_t begin = static_cast<int64_t>(b) * block_;
      const int64_t end = begin + block_ < width ? begin + block_ : width;
      const int64_t exponent = exponents_[b];
      const double carry = Scaled::steps(before - exponent);
      total_ += Scaled(sum(begin, end, carry, start_ * Scaled::steps(-exponent)), exponent);
      before = exponent;
      const double last = sums_[static_cast<size_t>(end - 1)];
      if (last >= Scaled::largest)
        rescale(b, begin, end, 1);
      else if (last < Scaled::smallest && exponent > 0)
        rescale(b, begin, end, -1);
    }
  }

  void rescale(size_t block, int64_t begin, int64_t end, int by) {
    exponents_[block] += by;
    const double factor = Scaled::steps(-by);
    for (int64_t j = begin; j < end; ++j) {
      sums_[static_cast<size_t>(j)] *= factor;
      weighted_[static_cast<size_t>(j)] *= factor;
    }
  }

  double start_ = 1.0, link_ = 1.0, decay_ = 1.0;
  int64_t block_ = 1;
  Buffer<double> sums_, weighted_;  // T, and the same of E
  Buffer<int64_t> exponents_;  // by block
  Scaled total_;
};

}  // namespace kernelwood
