// How plausible a constituent is by the parts of speech beside it, known before any parse.
//
// A treebank is counted: which parts of speech follow each other, and which stand directly before
// and after the constituents of each symbol. In a sentence,
//   merit(A, i, j) = sum over t, u of forward(t, i) P(A | t) inside(A, i, j) P(u | A) backward(u,
//   j)
// relative to the probability of all words, with the parts of speech as a Markov chain. It is the
// posterior that the item would have if everything around it were that chain: the boundary figure
// of merit of Caraballo and Charniak (1998). For a part of speech it is the posterior of the chain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernelwood/chart_grammar.hpp"
#include "kernelwood/chart_sentence.hpp"

namespace kernelwood {

// Counts of a treebank. A side is a label as part of speech, or `n_labels`: beyond the sentence.
struct BoundaryCounts {
  int32_t n_labels = 0;
  std::vector<double> neighbors;  // by left side and right side
  std::vector<double> before, after;  // by symbol and side
};

class BoundaryModel {
 public:
  // Occurrences of "any side, by frequency" that are added to every distribution, so that nothing
  // is impossible.
  static constexpr double smoothing = 1.0;

  BoundaryModel(const BoundaryCounts& counts, int32_t symbol_count)
      : n_sides(counts.n_labels + 1), n_symbols(symbol_count) {
    const size_t sides = static_cast<size_t>(n_sides), symbols = static_cast<size_t>(n_symbols);
    ChartRules::require(counts.n_labels >= 0 && counts.n_labels <= n_symbols &&
                            counts.neighbors.size() == sides * sides &&
                            counts.before.size() == symbols * sides &&
                            counts.after.size() == symbols * sides,
                        "the counts of boundaries do not fit the grammar");
    for (const auto* all : {&counts.neighbors, &counts.before, &counts.after})
      for (const double count : *all)
        ChartRules::require(count >= 0 && count <= most_count,
                            "a count of boundaries is out of range");
    std::vector<double> as_left(sides, 0.0), as_right(sides, 0.0);
    double total = 0;
    for (size_t t = 0; t < sides; ++t)
      for (size_t u = 0; u < sides; ++u) {
        const double count = counts.neighbors[t * sides + u];
        as_left[t] += count;
        as_right[u] += count;
        total += count;
      }
    ChartRules::require(total > 0, "there are no counts of boundaries");
    const auto smoothed = [](double count, double sum, double prior) {
      return (count + smoothing * prior) / (sum + smoothing);
    };
    next_.resize(sides * sides);
    for (size_t t = 0; t < sides; ++t)
      for (size_t u = 0; u < sides; ++u)
        next_[t * sides + u] =
            smoothed(counts.neighbors[t * sides + u], as_left[t], as_right[u] / total);
    begin_.resize(sides * symbols);
    follow_.resize(sides * symbols);
    for (size_t s = 0; s < symbols; ++s) {
      double n = 0;
      for (size_t u = 0; u < sides; ++u) n += counts.after[s * sides + u];
      for (size_t t = 0; t < sides; ++t) {
        begin_[t * symbols + s] = smoothed(counts.before[s * sides + t], as_left[t], n / total);
        follow_[t * symbols + s] = smoothed(counts.after[s * sides + t], n, as_right[t] / total);
      }
    }
  }

  // P(right side | left side).
  double next(int32_t left, int32_t right) const {
    return next_[static_cast<size_t>(left) * static_cast<size_t>(n_sides) +
                 static_cast<size_t>(right)];
  }
  // By symbol: how many begin after a side, and P(side | symbol) directly after it.
  const double* begin(int32_t side) const { return row(begin_, side); }
  const double* follow(int32_t side) const { return row(follow_, side); }

  int32_t n_sides, n_symbols;

 private:
  static constexpr double most_count = 1e100;
  const double* row(const std::vector<double>& table, int32_t side) const {
    return table.data() + static_cast<size_t>(side) * static_cast<size_t>(n_symbols);
  }

  std::vector<double> next_, begin_, follow_;
};

// The factors of the merits of one sentence, in the symbols of the coarse grammar. Values of a
// place are multiples of a power of two of its own.
class BoundaryMerits {
 public:
  // Items with a merit below exp(-threshold) are not worth trying.
  BoundaryMerits(const BoundaryModel& model, const Sentence& sentence, double threshold)
      : model_(model), n_(sentence.n_words), n_symbols_(static_cast<size_t>(model.n_symbols)) {
    check_chart_size(static_cast<size_t>(n_) + 1, 2 * n_symbols_ * sizeof(double));
    const size_t places = static_cast<size_t>(n_) + 1;
    left_.assign(places * n_symbols_, 0.0);
    right_.assign(places * n_symbols_, 0.0);
    left_exponent_.assign(places, 0);
    right_exponent_.assign(places, 0);
    const double all = pass_forward(sentence);
    pass_backward(sentence);
    is_usable_ = all > 0 && std::isfinite(all);
    if (is_usable_) least_ = std::exp(-threshold) * all;
  }

  // Whether the chain can produce the words; if not, everything is worth trying.
  bool is_usable() const { return is_usable_; }

  // What the merits of a span are compared with: inside * left * right of an item with the
  // exponent of its cell.
  double least(int32_t start, int32_t end, int32_t exponent) const {
    const int64_t shift = int64_t{all_exponent_} - left_exponent_[static_cast<size_t>(start)] -
                          right_exponent_[static_cast<size_t>(end)] - exponent;
    const int64_t most = 4000;
    return std::ldexp(least_, static_cast<int>(std::clamp(shift, -most, most)));
  }
  const double* left(int32_t start) const {
    return left_.data() + static_cast<size_t>(start) * n_symbols_;
  }
  const double* right(int32_t end) const {
    return right_.data() + static_cast<size_t>(end) * n_symbols_;
  }

 private:
  using Chain = std::vector<Weighed>;  // sides with their probabilities

  // Returns the probability of all words, a multiple of 2^all_exponent_.
  double pass_forward(const Sentence& sentence) {
    const int32_t beyond = model_.n_sides - 1;
    Chain here = {{beyond, 1.0}}, after;
    int32_t exponent = 0;
    for (int32_t place = 0;; ++place) {
      left_exponent_[static_cast<size_t>(place)] = exponent;
      for (const Weighed& side : here) add(left_, place, side.p, model_.begin(side.symbol));
      if (place == n_) break;
      after.clear();
      for (const Weighed& tag : tags(sentence, place)) {
        double sum = 0;
        for (const Weighed& side : here) sum += side.p * model_.next(side.symbol, tag.symbol);
        after.push_back({tag.symbol, sum * tag.p});
      }
      exponent += rescale(after);
      here.swap(after);
    }
    double all = 0;
    for (const Weighed& side : here) all += side.p * model_.next(side.symbol, beyond);
    all_exponent_ = exponent;
    return all;
  }

  void pass_backward(const Sentence& sentence) {
    Chain here = {{model_.n_sides - 1, 1.0}}, before;
    int32_t exponent = 0;
    for (int32_t place = n_;; --place) {
      right_exponent_[static_cast<size_t>(place)] = exponent;
      for (const Weighed& side : here) add(right_, place, side.p, model_.follow(side.symbol));
      if (place == 0) break;
      before.clear();
      for (const Weighed& tag : tags(sentence, place - 1)) {
        double sum = 0;
        for (const Weighed& side : here) sum += model_.next(tag.symbol, side.symbol) * side.p;
        before.push_back({tag.symbol, sum * tag.p});
      }
      exponent += rescale(before);
      here.swap(before);
    }
  }

  // A tag that is no label has no counts.
  Chain tags(const Sentence& sentence, int32_t position) const {
    Chain known = sentence.tags[static_cast<size_t>(position)];
    known.erase(
        std::remove_if(known.begin(), known.end(),
                       [&](const Weighed& tag) { return tag.symbol >= model_.n_sides - 1; }),
        known.end());
    return known;
  }

  void add(std::vector<double>& to, int32_t place, double p, const double* values) {
    double* sums = to.data() + static_cast<size_t>(place) * n_symbols_;
    for (size_t s = 0; s < n_symbols_; ++s) sums[s] += p * values[s];
  }

  // Makes the largest value a number in [0.5, 1); returns the exponent taken out.
  static int32_t rescale(Chain& chain) {
    double largest = 0;
    for (const Weighed& side : chain) largest = std::max(largest, side.p);
    if (!(largest > 0)) return 0;
    int shift = 0;
    std::frexp(largest, &shift);
    for (Weighed& side : chain) side.p = std::ldexp(side.p, -shift);
    return shift;
  }

  const BoundaryModel& model_;
  int32_t n_;
  size_t n_symbols_;
  std::vector<double> left_, right_;  // by place and symbol
  std::vector<int32_t> left_exponent_, right_exponent_;
  int32_t all_exponent_ = 0;
  double least_ = 0;
  bool is_usable_ = false;
};

}  // namespace kernelwood
