// Matches of the elements of two structures, as the search for shared fragments sees them.
//
// A head is a label and an edge. Heads of a pair of structures are numbered in the order of their
// first occurrence, those of the first structure before others. Two heads match by
// g g' [e = e'] s(l, l'), where s is 1 for equal labels, or the entry of a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelwood {

// The search takes at most so many steps; larger structures are searched in part.
class StepBudget {
 public:
  explicit StepBudget(int64_t limit) : left_(limit) {}
  int64_t left() const { return left_; }
  bool exceeded() const { return exceeded_; }
  void exceed() { exceeded_ = true; }
  // Spends n steps if they are left.
  bool take(int64_t n) {
    if (n > left_) {
      exceeded_ = true;
      return false;
    }
    left_ -= n;
    return true;
  }

 private:
  int64_t left_;
  bool exceeded_ = false;
};

// The largest whole number whose square is at most n.
inline int64_t whole_root(int64_t n) {
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (root * root > n) --root;
  while ((root + 1) * (root + 1) <= n) ++root;
  return root;
}

// The elements of one structure: labels, edges, and gates or the labels' places in a table if any.
struct ElementView {
  const int32_t* labels;
  const int32_t* edges;
  const double* gates;
  const int32_t* places;
  int64_t n;
  double gate(int64_t i) const { return gates ? gates[i] : 1.0; }
};

// Similarities of labels: rows for labels of the first structures, columns for those of the second.
struct SimilarityView {
  const double* table;  // null for exact matching
  int64_t n_columns;
};

constexpr int64_t cells_per_step = 10;  // similarities computed in the time of one comparison

// The heads of two structures and their matches.
class HeadMatching {
 public:
  void reset(const ElementView& a, const ElementView& b, const SimilarityView& similarities,
             StepBudget& steps) {
    similarities_ = similarities;
    sides_[0] = a;
    sides_[1] = b;
    number_heads();
    if (softly()) limit(steps);
  }
  bool softly() const { return similarities_.table != nullptr; }
  int64_t n_heads() const { return static_cast<int64_t>(first_.size()); }
  // The number of the head of each element of a side.
  const std::vector<int32_t>& heads(int side) const { return heads_[side]; }

  double similarity(int64_t i, int64_t j) const {
    const int32_t one = heads_[0][static_cast<size_t>(i)], other = heads_[1][static_cast<size_t>(j)];
    if (!softly()) return one == other ? 1.0 : 0.0;
    if (sides_[0].edges[i] != sides_[1].edges[j] || is_left_out(0, one) || is_left_out(1, other))
      return 0.0;
    return similarities_.table[sides_[0].places[i] * similarities_.n_columns +
                               sides_[1].places[j]];
  }
  // Similarity times both gates.
  double match(int64_t i, int64_t j) const {
    const double similar = similarity(i, j);
    return similar != 0 ? sides_[0].gate(i) * sides_[1].gate(j) * similar : 0.0;
  }

 private:
  // Numbers heads by sorting: structures are small, and nothing is allocated for most of them.
  void number_heads() {
    order_.clear();
    for (int side = 0; side < 2; ++side)
      for (int64_t i = 0; i < sides_[side].n; ++i)
        order_.push_back({key(side, i), side * sides_[0].n + i});
    std::sort(order_.begin(), order_.end());
    first_.clear();
    for (size_t k = 0; k < order_.size(); ++k)
      if (k == 0 || order_[k].first != order_[k - 1].first) first_.push_back(order_[k].second);
    std::sort(first_.begin(), first_.end());
    heads_[0].resize(static_cast<size_t>(sides_[0].n));
    heads_[1].resize(static_cast<size_t>(sides_[1].n));
    int32_t head = 0;
    for (size_t k = 0; k < order_.size(); ++k) {
      if (k == 0 || order_[k].first != order_[k - 1].first)
        head = static_cast<int32_t>(std::lower_bound(first_.begin(), first_.end(),
                                                     order_[k].second) -
                                    first_.begin());
      const int64_t at = order_[k].second;
      if (at < sides_[0].n)
        heads_[0][static_cast<size_t>(at)] = head;
      else
        heads_[1][static_cast<size_t>(at - sides_[0].n)] = head;
    }
  }
  uint64_t key(int side, int64_t i) const {
    return (uint64_t{static_cast<uint32_t>(sides_[side].labels[i])} << 32) |
           static_cast<uint32_t>(sides_[side].edges[i]);
  }
  // If there are too many heads to compare, the last ones of each side are left out.
  void limit(StepBudget& steps) {
    int64_t n_used[2];
    for (int side = 0; side < 2; ++side) {
      ranks_[side].assign(first_.size(), -1);
      int32_t n = 0;
      for (const int32_t head : heads_[side])
        if (ranks_[side][static_cast<size_t>(head)] < 0)
          ranks_[side][static_cast<size_t>(head)] = n++;
      n_used[side] = n;
    }
    const int64_t affordable = cells_per_step * (1 + steps.left() / 4);
    most_ = std::max(n_used[0], n_used[1]);
    if (n_used[0] * n_used[1] > affordable) {
      steps.exceed();
      most_ = whole_root(affordable);
    }
    steps.take(std::min(n_used[0], most_) * std::min(n_used[1], most_) / cells_per_step);
  }
  bool is_left_out(int side, int32_t head) const {
    return ranks_[side][static_cast<size_t>(head)] >= most_;
  }

  ElementView sides_[2]{};
  SimilarityView similarities_{};
  std::vector<std::pair<uint64_t, int64_t>> order_;
  std::vector<int64_t> first_;  // where each head occurs first, in both structures one after another
  std::vector<int32_t> heads_[2], ranks_[2];
  int64_t most_ = 0;
};

}  // namespace kernelwood
