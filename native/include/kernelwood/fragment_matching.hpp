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
  void reset(const ElementView& a, const ElementView& b, const SimilarityView& similarities) {
    similarities_ = similarities;
    sides_[0] = a;
    sides_[1] = b;
    number_heads();
  }
  bool softly() const { return similarities_.table != nullptr; }
  // Whether the match is 1 for equal heads, and 0 for others.
  bool plainly() const {
    if (softly()) return false;
    for (int32_t head = 0; head < n_heads(); ++head)
      if (gate(head) != 1) return false;
    return true;
  }
  int32_t n_heads() const { return static_cast<int32_t>(first_.size()); }
  // The number of the head of each element of a side.
  const std::vector<int32_t>& heads(int side) const { return heads_[side]; }
  // Where a head first occurs in a side, -1 if it does not.
  int64_t place(int side, int32_t head) const { return places_[side][static_cast<size_t>(head)]; }

  // If there are too many heads of soft labels to compare, the last ones of each side are left out.
  // Both lists have each head of their side once, the most important first.
  void limit(const std::vector<int32_t>& left, const std::vector<int32_t>& right,
             StepBudget& steps) {
    if (!softly()) return;
    const auto n = static_cast<int64_t>(left.size()), m = static_cast<int64_t>(right.size());
    const int64_t affordable = cells_per_step * (1 + steps.left() / 4);
    int64_t most = std::max(n, m);
    if (n * m > affordable) {
      steps.exceed();
      most = whole_root(affordable);
      leave_out(left, most, places_[0]);
      leave_out(right, most, places_[1]);
    }
    steps.take(std::min(n, most) * std::min(m, most) / cells_per_step);
  }
  // The heads of a side in the order in which they occur.
  std::vector<int32_t> used(int side) const {
    std::vector<int32_t> found;
    for (int64_t i = 0; i < sides_[side].n; ++i) {
      const int32_t head = heads_[side][static_cast<size_t>(i)];
      if (place(side, head) == i) found.push_back(head);
    }
    return found;
  }

  int32_t edge(int32_t head) const {
    const int64_t at = first_[static_cast<size_t>(head)];
    return at < sides_[0].n ? sides_[0].edges[at] : sides_[1].edges[at - sides_[0].n];
  }
  double gate(int32_t head) const {
    const int64_t at = first_[static_cast<size_t>(head)];
    return at < sides_[0].n ? sides_[0].gate(at) : sides_[1].gate(at - sides_[0].n);
  }
  // Of a head of the first structure and one of the second.
  double similarity(int32_t one, int32_t other) const {
    if (!softly()) return one == other ? 1.0 : 0.0;
    const int64_t i = place(0, one), j = place(1, other);
    if (i < 0 || j < 0 || sides_[0].edges[i] != sides_[1].edges[j]) return 0.0;
    return similarities_.table[sides_[0].places[i] * similarities_.n_columns + sides_[1].places[j]];
  }
  // Similarity times both gates.
  double match(int32_t one, int32_t other) const {
    const double similar = similarity(one, other);
    return similar != 0 ? gate(one) * gate(other) * similar : 0.0;
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
      if (starts(k)) first_.push_back(order_[k].second);
    std::sort(first_.begin(), first_.end());
    for (int side = 0; side < 2; ++side) {
      heads_[side].resize(static_cast<size_t>(sides_[side].n));
      places_[side].assign(first_.size(), -1);
    }
    int32_t head = 0;
    for (size_t k = 0; k < order_.size(); ++k) {
      const int64_t at = order_[k].second;
      if (starts(k))
        head = static_cast<int32_t>(std::lower_bound(first_.begin(), first_.end(), at) -
                                    first_.begin());
      const int side = at >= sides_[0].n;
      const int64_t i = at - side * sides_[0].n;
      heads_[side][static_cast<size_t>(i)] = head;
      int64_t& known = places_[side][static_cast<size_t>(head)];
      if (known < 0) known = i;
    }
  }
  bool starts(size_t k) const { return k == 0 || order_[k].first != order_[k - 1].first; }
  uint64_t key(int side, int64_t i) const {
    return (uint64_t{static_cast<uint32_t>(sides_[side].labels[i])} << 32) |
           static_cast<uint32_t>(sides_[side].edges[i]);
  }
  static void leave_out(const std::vector<int32_t>& used, int64_t most,
                        std::vector<int64_t>& places) {
    for (auto k = static_cast<size_t>(most); k < used.size(); ++k)
      places[static_cast<size_t>(used[k])] = -1;
  }

  ElementView sides_[2]{};
  SimilarityView similarities_{};
  std::vector<std::pair<uint64_t, int64_t>> order_;
  std::vector<int64_t>
      first_;  // where each head occurs first, in both structures one after another
  std::vector<int32_t> heads_[2];
  std::vector<int64_t> places_[2];
};

}  // namespace kernelwood
