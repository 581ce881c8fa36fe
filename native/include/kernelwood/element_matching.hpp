// How well an element of a stream sequence matches one of a panel sequence: k of the kernel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/label_matching.hpp"

namespace kernelwood {

// Elements match if their names are equal, and then as much as the gate says, squared.
template <class Number>
class ExactElements {
 public:
  static constexpr bool soft = false;

  ExactElements(const LabelMatching<Number>& labels, const NameTable& names)
      : weights_(labels.template gates<double>(names)) {
    for (double& weight : weights_) weight *= weight;
  }

  bool gated() const { return !weights_.empty(); }
  // Names that came later match none of these, whatever their weight.
  double weight(int32_t name) const {
    const auto at = static_cast<size_t>(name);
    return at < weights_.size() ? weights_[at] : 1.0;
  }
  // Whether a name can match anything.
  bool visible(int32_t name) const { return weight(name) != 0.0; }

 private:
  Buffer<double> weights_;
};

// Elements with one symbol match as well as their labels are similar, times both gates; a
// SimilarityBlock says how well.
template <class Number>
class SoftElements {
 public:
  static constexpr bool soft = true;

  SoftElements(const LabelMatching<Number>& labels, const NameTable& names)
      : labels_(labels), gates_(labels.template gates<double>(names)) {}

  const LabelMatching<Number>& labels() const { return labels_; }
  bool visible(int32_t name) const {
    return gates_.empty() || gates_[static_cast<size_t>(name)] != 0.0;
  }

 private:
  LabelMatching<Number> labels_;
  Buffer<double> gates_;
};

}  // namespace kernelwood
