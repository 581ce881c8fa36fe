// Linear-chain conditional random fields: the best labels of a sequence, and probabilities of
// segments with given labels.
//
// The score of labels y of a chain of n places is
//   sum_t e_t(y_t) + sum_t w(y_{t-1}, y_t), with y_0 allowed first and y_{n-1} allowed last,
// where e are emissions and w transitions; a transition of -infinity is forbidden. The probability
// of a labeling is proportional to exp(score).
//
// J. Lafferty, A. McCallum and F. Pereira, "Conditional random fields", ICML 2001.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernelwood {

struct ChainScores {
  const double* emissions;    // places x labels
  const double* transitions;  // labels x labels, from the label before
  const uint8_t* first;       // labels that the first place may have
  const uint8_t* last;        // labels that the last place may have
  int64_t n_labels;
};

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

class ChainLabels {
 public:
  explicit ChainLabels(const ChainScores& scores) : s_(scores), weights_(size(), 0.0) {
    largest_ = kImpossible;
    for (int64_t i = 0; i < size(); ++i) largest_ = std::max(largest_, s_.transitions[i]);
    if (largest_ == kImpossible) largest_ = 0.0;
    for (int64_t i = 0; i < size(); ++i) weights_[i] = std::exp(s_.transitions[i] - largest_);
  }

  // Writes the best labels of the places from begin to end; of equal ones those that come first,
  // compared from the last place.
  void decode(int64_t begin, int64_t end, int32_t* labels) {
    const int64_t n = s_.n_labels;
    if (begin == end) return;
    best_.assign(n, 0.0);
    next_.resize(n);
    before_.resize((end - begin) * n);
    for (int64_t y = 0; y < n; ++y)
      best_[y] = s_.first[y] ? s_.emissions[begin * n + y] : kImpossible;
    for (int64_t t = begin + 1; t < end; ++t) {
      int32_t* from = before_.data() + (t - begin) * n;
      for (int64_t y = 0; y < n; ++y) {
        double most = kImpossible;
        from[y] = 0;
        for (int64_t x = 0; x < n; ++x) {
          const double value = best_[x] + s_.transitions[x * n + y];
          if (value > most) most = value, from[y] = static_cast<int32_t>(x);
        }
        next_[y] = most + s_.emissions[t * n + y];
      }
      best_.swap(next_);
    }
    int64_t chosen = 0;
    double most = kImpossible;
    for (int64_t y = 0; y < n; ++y)
      if (s_.last[y] && best_[y] > most) most = best_[y], chosen = y;
    for (int64_t t = end - 1; t > begin; --t) {
      labels[t] = static_cast<int32_t>(chosen);
      chosen = before_[(t - begin) * n + chosen];
    }
    labels[begin] = static_cast<int32_t>(chosen);
  }

  // Computes log sums of exp(score) over all labels of the places from begin to end, up to each
  // place and from it on.
  void sum(int64_t begin, int64_t end) {
    const int64_t n = s_.n_labels, length = end - begin;
    begin_ = begin;
    forward_.assign(length * n, kImpossible);
    backward_.assign(length * n, kImpossible);
    shifted_.resize(n);
    for (int64_t y = 0; y < n; ++y) {
      if (s_.first[y]) forward_[y] = s_.emissions[begin * n + y];
      if (s_.last[y]) backward_[(length - 1) * n + y] = 0.0;
    }
    for (int64_t t = 1; t < length; ++t) {
      const double most = shift(forward_.data() + (t - 1) * n, nullptr);
      for (int64_t y = 0; y < n; ++y) {
        double sum = 0.0;
        for (int64_t x = 0; x < n; ++x) sum += shifted_[x] * weights_[x * n + y];
        forward_[t * n + y] = s_.emissions[(begin + t) * n + y] + most + largest_ + std::log(sum);
      }
    }
    for (int64_t t = length - 2; t >= 0; --t) {
      const double most = shift(backward_.data() + (t + 1) * n, s_.emissions + (begin + t + 1) * n);
      for (int64_t x = 0; x < n; ++x) {
        double sum = 0.0;
        for (int64_t y = 0; y < n; ++y) sum += shifted_[y] * weights_[x * n + y];
        backward_[t * n + x] = most + largest_ + std::log(sum);
      }
    }
    const double most =
        shift(forward_.data() + (length - 1) * n, backward_.data() + (length - 1) * n);
    double sum = 0.0;
    for (int64_t y = 0; y < n; ++y) sum += shifted_[y];
    total_ = most + std::log(sum);
  }

  // Returns the probability that the places from first to last (included) have these labels,
  // whatever the others have; the places are in the chain of the last call of sum.
  double probability(int64_t first, int64_t last, const int32_t* labels) const {
    const int64_t n = s_.n_labels;
    double score = forward_[(first - begin_) * n + labels[first]];
    for (int64_t t = first + 1; t <= last; ++t)
      score += s_.transitions[labels[t - 1] * n + labels[t]] + s_.emissions[t * n + labels[t]];
    score += backward_[(last - begin_) * n + labels[last]];
    const double found = std::exp(score - total_);
    return std::isnan(found) ? 0.0 : std::min(1.0, found);  // impossible labels have no score
  }

 private:
  int64_t size() const { return s_.n_labels * s_.n_labels; }

  // Writes exp(values + added - most) to shifted_, and returns most, their largest sum.
  double shift(const double* values, const double* added) {
    double most = kImpossible;
    for (int64_t y = 0; y < s_.n_labels; ++y) {
      shifted_[y] = values[y] + (added ? added[y] : 0.0);
      most = std::max(most, shifted_[y]);
    }
    if (most == kImpossible) most = 0.0;
    for (int64_t y = 0; y < s_.n_labels; ++y) shifted_[y] = std::exp(shifted_[y] - most);
    return most;
  }

  ChainScores s_;
  std::vector<double> weights_;  // exp(transitions - largest_)
  double largest_ = 0.0, total_ = 0.0;
  int64_t begin_ = 0;
  std::vector<double> best_, next_, forward_, backward_, shifted_;
  std::vector<int32_t> before_;
};

}  // namespace kernelwood
