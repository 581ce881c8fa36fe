// Values of chart items laid out so that sums over split points are products of vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/chart_sentence.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

// Where the symbols of one side (left or right children) are alive: values by row, line and split
// point, a line being the fixed end of a span.
class SplitRows {
 public:
  SplitRows(int32_t n_rows, int32_t n_words)
      : n_lines_(static_cast<size_t>(n_words) + 1), row_size_(n_cells(n_words)),
        // The vector loops read up to three values past the end.
        in_(row_size_ * static_cast<size_t>(n_rows) + 4, 0.0),
        first_(n_lines_ * static_cast<size_t>(n_rows), n_words + 1),
        last_(n_lines_ * static_cast<size_t>(n_rows), -1) {}

  void start_outside() { out_.assign(in_.size(), 0.0); }
  void finish_outside() { Buffer<double>().swap(out_); }
  size_t line(int32_t row, int32_t line) const {
    return static_cast<size_t>(row) * n_lines_ + static_cast<size_t>(line);
  }
  size_t at(int32_t row, size_t offset) const {
    return static_cast<size_t>(row) * row_size_ + offset;
  }
  void set(int32_t row, int32_t line_end, int32_t split, size_t offset, double value) {
    in_[at(row, offset)] = value;
    const size_t l = line(row, line_end);
    first_[l] = std::min(first_[l], split);
    last_[l] = std::max(last_[l], split);
  }
  int32_t first(size_t line) const { return first_[line]; }
  int32_t last(size_t line) const { return last_[line]; }
  const double* in(int32_t row, size_t offset) const { return in_.data() + at(row, offset); }
  double* out(int32_t row, size_t offset) { return out_.data() + at(row, offset); }

 private:
  static size_t checked_size(int32_t n_rows, int32_t n_words) {
    check_chart_size(n_cells(n_words), static_cast<size_t>(n_rows) * 2 * sizeof(double));
    return n_cells(n_words);
  }

  size_t n_lines_, row_size_;
  Buffer<double> in_, out_;
  Buffer<int32_t> first_, last_;
};

// Sum of products in four fixed lanes, whatever the machine: every one gives the same bits.
// `left` holds zeros beyond the range; both may be read up to the next multiple of four.
KW_INLINE double split_product(const double* left, const double* right, int32_t n) {
  using Lanes = VectorOf<double, 32>::type;
  Lanes sum = *reinterpret_cast<const Lanes*>(left) * *reinterpret_cast<const Lanes*>(right);
  for (int32_t k = 4; k < n; k += 4)
    sum += *reinterpret_cast<const Lanes*>(left + k) * *reinterpret_cast<const Lanes*>(right + k);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

}  // namespace kernelwood
