// Weights of hashed features for a few classes.
//
// A table consists of rows of a power of two of places, at least as many as there are classes. The
// hash of a feature chooses a row and how far the classes are turned in it, so that the weights of
// the features that share a row lie in different places: most features have weights for few
// classes. Weights are integers, so sums are exact in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/transition_hash.hpp"

namespace kernelwood {

struct WeightShape {
  int32_t n_classes;
  int32_t width;   // places of a row
  int64_t n_rows;  // a power of two

  static WeightShape of(int32_t n_classes, int64_t n_places) {
    int32_t width = 1;
    while (width < n_classes) width *= 2;
    return {n_classes, width, n_places / width};
  }
  int64_t row(uint64_t feature) const {
    return static_cast<int64_t>(feature & static_cast<uint64_t>(n_rows - 1)) * width;
  }
  int32_t turn(uint64_t feature) const { return static_cast<int32_t>(feature >> 57) & (width - 1); }
};

// Adds the weights of features to scores; classes from 0 to n_classes.
template <class T>
void add_weights(const WeightShape& shape, const T* table, const std::vector<uint64_t>& features,
                 int32_t* scores) {
  std::fill(scores, scores + shape.n_classes, 0);
  for (const uint64_t feature : features) {
    const T* row = table + shape.row(feature);
    const int32_t turn = shape.turn(feature);
    const int32_t straight = std::min(shape.n_classes, shape.width - turn);
    for (int32_t c = 0; c < straight; ++c) scores[c] += row[turn + c];
    for (int32_t c = straight; c < shape.n_classes; ++c) scores[c] += row[turn + c - shape.width];
  }
}

// Weights that are learned: an averaged perceptron. The average over all steps is the weight minus
// the sum of its changes, each times the step before which it was made, divided by the steps.
class LearnedWeights {
 public:
  explicit LearnedWeights(const WeightShape& shape)
      : shape_(shape), now_(static_cast<size_t>(shape.n_rows * shape.width), 0),
        changed_(now_.size(), 0) {}

  const WeightShape& shape() const { return shape_; }

  void score(const std::vector<uint64_t>& features, int32_t* scores) const {
    add_weights(shape_, now_.data(), features, scores);
  }
  void change(const std::vector<uint64_t>& features, int32_t c, int32_t by) {
    for (const uint64_t feature : features) {
      const int64_t at = shape_.row(feature) + ((shape_.turn(feature) + c) & (shape_.width - 1));
      now_[at] += by;
      changed_[at] += by * steps_;
    }
  }
  void step() { ++steps_; }

  // The averages in 8 bits: multiples of a unit, which is chosen such that one in `clipped` of the
  // weights that are not zero exceeds the range and is cut.
  std::vector<int8_t> quantized(int64_t clipped) const {
    const int64_t steps = std::max<int64_t>(steps_, 1);
    std::vector<int64_t> sums(now_.size()), sizes;
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = now_[i] * steps - changed_[i];
      if (sums[i] != 0) sizes.push_back(std::abs(sums[i]));
    }
    std::vector<int8_t> small(sums.size(), 0);
    if (sizes.empty()) return small;
    const auto place = sizes.end() - 1 - static_cast<int64_t>(sizes.size()) / clipped;
    std::nth_element(sizes.begin(), place, sizes.end());
    const int64_t unit = std::max<int64_t>(1, *place / 127);
    for (size_t i = 0; i < sums.size(); ++i) {
      const int64_t size = std::min<int64_t>(127, (std::abs(sums[i]) + unit / 2) / unit);
      small[i] = static_cast<int8_t>(sums[i] < 0 ? -size : size);
    }
    return small;
  }

 private:
  WeightShape shape_;
  std::vector<int32_t> now_;
  std::vector<int64_t> changed_;
  int64_t steps_ = 0;
};

// Weights of a file.
struct FixedWeights {
  WeightShape shape_;
  const int8_t* table;

  const WeightShape& shape() const { return shape_; }
  void score(const std::vector<uint64_t>& features, int32_t* scores) const {
    add_weights(shape_, table, features, scores);
  }
};

}  // namespace kernelwood
