// The maximum-margin boundary between two small sets of points of a kernel's space.
//
// The boundary halves the shortest way between the convex hulls of the two sets:
//   min || q - p ||^2,  p = sum_i a_i phi(x_i),  q = sum_j b_j phi(y_j),  a and b in the simplex,
// the dual of the hard-margin support vector machine. It is found by moving weight, in the set
// that gains more, from the point that is farthest off to the one that is best (Mitchell,
// Demyanov and Malozemov 1974). A point z lies on the side of the second set iff
//   <q - p, phi(z)> > (<q - p, p> + <q - p, q>) / 2.
// Sets whose hulls meet have no boundary: all weights are 0 then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernelwood {

class MarginBoundary {
 public:
  MarginBoundary(const double* gram, int64_t n_references, int64_t subset_size)
      : gram_(gram), stride_(n_references), size_(subset_size) {
    const auto n = static_cast<size_t>(2 * size_);
    share_.resize(n);
    product_.resize(n);
    similarities_.resize(n * n);
  }

  // Signed weights of the points of both subsets, and the threshold.
  void solve(const int32_t* subset, double* weights, double* threshold) {
    points_ = subset;
    start();
    for (int64_t step = 0; step < std::max(always_steps, most_steps * size_); ++step)
      if (!improve()) break;
    finish(weights, threshold);
  }

 private:
  // The way to the optimum shrinks by a constant factor with each step. Large sets that hardly
  // differ would take many more than so many for a point, for a boundary that hardly moves.
  static constexpr int64_t always_steps = 1000, most_steps = 20;
  static constexpr double precise = 1e-11;  // what is still to be gained, relative to the distance
  // Relative to the largest self-similarity: below these, numbers are rounding, and hulls meet.
  static constexpr double rounding = 1e-14, touching = 1e-10;

  struct Move {
    int64_t from = -1, to = -1;
    double gain = 0.0;
  };

  const double* row(int64_t i) const { return similarities_.data() + 2 * size_ * i; }
  double kernel(int64_t i, int64_t j) const { return row(i)[j]; }
  double sign(int64_t i) const { return i < size_ ? -1.0 : 1.0; }

  void start() {
    double* copy = similarities_.data();
    for (int64_t i = 0; i < 2 * size_; ++i)
      for (int64_t j = 0; j < 2 * size_; ++j)
        *copy++ = gram_[static_cast<int64_t>(points_[i]) * stride_ + points_[j]];
    scale_ = std::numeric_limits<double>::min();
    for (int64_t i = 0; i < 2 * size_; ++i) {
      scale_ = std::max(scale_, kernel(i, i));
      share_[static_cast<size_t>(i)] = 1.0 / static_cast<double>(size_);
    }
    for (int64_t i = 0; i < 2 * size_; ++i) {
      double sum = 0.0;
      for (int64_t j = 0; j < 2 * size_; ++j)
        sum += sign(j) * share_[static_cast<size_t>(j)] * kernel(i, j);
      product_[static_cast<size_t>(i)] = sum;
    }
    distance_ = squared_distance();
  }

  Move best_move(int64_t first) const {
    Move move;
    double lowest = 0.0, highest = 0.0;
    const double side = sign(first);
    for (int64_t i = first; i < first + size_; ++i) {
      const double slope = side * product_[static_cast<size_t>(i)];
      if (move.to < 0 || slope < lowest) {
        lowest = slope;
        move.to = i;
      }
      if (share_[static_cast<size_t>(i)] > 0.0 && (move.from < 0 || slope > highest)) {
        highest = slope;
        move.from = i;
      }
    }
    move.gain = highest - lowest;
    return move;
  }

  double squared_distance() const {
    double sum = 0.0;
    for (int64_t i = 0; i < 2 * size_; ++i)
      sum += sign(i) * share_[static_cast<size_t>(i)] * product_[static_cast<size_t>(i)];
    return sum;
  }

  bool improve() {
    const Move one = best_move(0), two = best_move(size_);
    const Move& move = one.gain >= two.gain ? one : two;
    if (!goes_on(distance_, move.gain, 2.0)) {  // near the end: the exact distance decides
      distance_ = squared_distance();
      if (!goes_on(distance_, move.gain, 1.0)) return false;
    }
    const double apart =
        kernel(move.from, move.from) + kernel(move.to, move.to) - 2.0 * kernel(move.from, move.to);
    double& from = share_[static_cast<size_t>(move.from)];
    // A similarity that is no inner product can make points "less than nothing" apart.
    const double moved = apart * from > move.gain ? move.gain / apart : from;
    from = moved == from ? 0.0 : from - moved;
    share_[static_cast<size_t>(move.to)] += moved;
    const double step = sign(move.to) * moved;
    const double *row_to = row(move.to), *row_from = row(move.from);
    double* product = product_.data();
    for (int64_t i = 0; i < 2 * size_; ++i) product[i] += step * (row_to[i] - row_from[i]);
    distance_ -= moved * (2.0 * move.gain - moved * apart);
    return true;
  }

  // Whether a step is worth it, so many times over.
  bool goes_on(double distance, double gain, double times) const {
    return distance > times * touching * scale_ &&
           gain > times * (precise * distance + rounding * scale_);
  }

  void finish(double* weights, double* threshold) const {
    double along[2] = {0.0, 0.0};  // <q - p, p> and <q - p, q>
    for (int64_t i = 0; i < 2 * size_; ++i)
      along[i >= size_] += share_[static_cast<size_t>(i)] * product_[static_cast<size_t>(i)];
    const bool apart = along[1] - along[0] > touching * scale_;
    for (int64_t i = 0; i < 2 * size_; ++i)
      weights[i] = apart ? sign(i) * share_[static_cast<size_t>(i)] : 0.0;
    *threshold = apart ? (along[0] + along[1]) / 2.0 : 0.0;
  }

  const double* gram_;
  int64_t stride_, size_;
  const int32_t* points_ = nullptr;
  double scale_ = 1.0, distance_ = 0.0;  // the largest self-similarity; squared, between the hulls
  std::vector<double> similarities_;  // of the points of both subsets
  std::vector<double> share_, product_;  // a and b; <q - p, phi(x_i)>
};

}  // namespace kernelwood
