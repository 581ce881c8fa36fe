// Fragments of trees by number, and the pairs of subtrees that share them.
//
// Every pair of nodes that a kernel counts has a value, and the values sum to the raw kernel value.
// A pair is inside the pair of the parents if the fragment shared there continues through it. So
// the pairs form regions, each consisting of the parts of one largest fragment, and the regions
// partition the kernel value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/tree_classes.hpp"

namespace kernelwood {

// A fragment is a pair of heads, one of each tree, and its parts; a part is the number of a
// fragment or, for a node without its children, ~pair. Parts have smaller numbers.
class FragmentShapes {
 public:
  void reset(const HeadMatching& matching) {
    matching_ = &matching;
    numbers_.clear();
    pairs_.clear();
    known_.clear();
    n_nodes.clear();
    n_inner.clear();
    similarities.clear();
    scores.clear();
    origins.clear();
  }
  size_t size() const { return known_.size(); }
  int64_t pair(int32_t one, int32_t other) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(one)} << 32 | static_cast<uint32_t>(other);
    const auto [entry, is_new] = numbers_.emplace(key, static_cast<int64_t>(pairs_.size()));
    if (is_new) pairs_.push_back({one, other});
    return entry->second;
  }
  std::pair<int32_t, int32_t> heads_of(int64_t pair) const {
    return pairs_[static_cast<size_t>(pair)];
  }
  double similarity(int64_t pair) const {
    const auto [one, other] = heads_of(pair);
    return matching_->similarity(one, other);
  }
  double match(int64_t pair) const {
    const auto [one, other] = heads_of(pair);
    return matching_->match(one, other);
  }
  int64_t root(size_t shape) const { return *known_.begin(shape); }
  const int64_t* parts(size_t shape) const { return known_.begin(shape) + 1; }
  const int64_t* parts_end(size_t shape) const { return known_.end(shape); }

  // Returns the number of a fragment that two subtrees share.
  size_t add(int64_t pair, const std::vector<int64_t>& parts, std::pair<size_t, size_t> ends) {
    key_.assign(1, pair);
    key_.insert(key_.end(), parts.begin(), parts.end());
    const auto [number, is_new] = known_.add(key_);
    if (is_new) measure(pair, parts, ends);
    return number;
  }
  // A fragment and all its parts, smaller parts first.
  std::vector<size_t> inside(size_t shape) const {
    std::vector<size_t> found{shape};
    std::vector<uint8_t> seen(shape + 1, 0);
    for (size_t k = 0; k < found.size(); ++k)
      for (const int64_t* part = parts(found[k]); part < parts_end(found[k]); ++part)
        if (*part >= 0 && !seen[static_cast<size_t>(*part)]) {
          seen[static_cast<size_t>(*part)] = 1;
          found.push_back(static_cast<size_t>(*part));
        }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::vector<int64_t> n_nodes, n_inner;  // of all nodes, and of nodes with parts
  std::vector<double> similarities, scores;  // product and sum of the similarities of all labels
  std::vector<std::pair<size_t, size_t>> origins;  // subtrees that share it

 private:
  void measure(int64_t pair, const std::vector<int64_t>& parts, std::pair<size_t, size_t> ends) {
    int64_t nodes = 1, inner = !parts.empty();
    double product = similarity(pair), score = product;
    for (const int64_t part : parts) {
      const auto at = static_cast<size_t>(part);
      nodes += part >= 0 ? n_nodes[at] : 1;
      inner += part >= 0 ? n_inner[at] : 0;
      const double single = part >= 0 ? 0 : similarity(~part);
      product *= part >= 0 ? similarities[at] : single;
      score += part >= 0 ? scores[at] : single;
    }
    n_nodes.push_back(nodes);
    n_inner.push_back(inner);
    similarities.push_back(product);
    scores.push_back(score);
    origins.push_back(ends);
  }

  const HeadMatching* matching_ = nullptr;
  std::unordered_map<uint64_t, int64_t> numbers_;
  std::vector<std::pair<int32_t, int32_t>> pairs_;
  KeyNumbers known_;
  std::vector<int64_t> key_;
};

// Sums of one fragment over the pairs of nodes that share it.
struct FragmentSums {
  size_t shape;
  double weight = 0, covers = 0;
  bool is_largest = false;
  std::vector<size_t> roots[2];
};

// Pairs of subtrees with the fragments they share; pairs of parts are added first.
class SubtreePairs {
 public:
  void reset(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
    counts_[0] = &left;
    counts_[1] = &right;
    numbers_.clear();
    ends_.clear();
    values.clear();
    fragments.clear();
    parts_.clear();
    part_ends_.assign(1, 0);
    times_.clear();
  }
  // The number of a pair, -1 for none.
  int64_t find(size_t one, size_t other) const {
    const auto entry = numbers_.find(key(one, other));
    return entry == numbers_.end() ? -1 : entry->second;
  }
  // Adds a pair of subtrees, its kernel value per pair of nodes, and its largest fragment, which
  // continues through the pairs of `parts`.
  void add(size_t one, size_t other, double value, size_t fragment,
           const std::vector<int64_t>& parts) {
    numbers_.emplace(key(one, other), static_cast<int64_t>(ends_.size()));
    ends_.push_back({one, other});
    values.push_back(value);
    fragments.push_back(fragment);
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    part_ends_.push_back(parts_.size());
    times_.push_back((*counts_[0])[one] * (*counts_[1])[other]);
  }
  // The largest fragments, with the values of their pairs and regions.
  std::vector<FragmentSums> largest(size_t n_shapes) const {
    std::vector<int64_t> free = times_;
    std::vector<double> totals = values;
    for (size_t number = 0; number < ends_.size(); ++number)
      for (size_t k = part_ends_[number]; k < part_ends_[number + 1]; ++k) {
        const auto part = static_cast<size_t>(parts_[k]);
        free[part] -= times_[number];
        totals[number] += totals[part];
      }
    std::vector<int64_t> place(n_shapes, -1);
    std::vector<FragmentSums> found;
    for (size_t number = 0; number < ends_.size(); ++number) {
      int64_t& at = place[fragments[number]];
      if (at < 0) {
        at = static_cast<int64_t>(found.size());
        found.push_back({fragments[number], 0, 0, false, {}});
      }
      FragmentSums& sums = found[static_cast<size_t>(at)];
      sums.weight += static_cast<double>(times_[number]) * values[number];
      sums.covers += static_cast<double>(free[number]) * totals[number];
      sums.is_largest = sums.is_largest || free[number] > 0;
      sums.roots[0].push_back(ends_[number].first);
      sums.roots[1].push_back(ends_[number].second);
    }
    found.erase(std::remove_if(found.begin(), found.end(),
                               [](const FragmentSums& sums) { return !sums.is_largest; }),
                found.end());
    return found;
  }
  // How often the roots of a fragment occur in a tree.
  int64_t count(FragmentSums& sums, int side) const {
    std::vector<size_t>& roots = sums.roots[side];
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    int64_t total = 0;
    for (const size_t root : roots) total += (*counts_[side])[root];
    return total;
  }

  std::vector<double> values;
  std::vector<size_t> fragments;

 private:
  static uint64_t key(size_t one, size_t other) { return uint64_t{one} << 32 | uint64_t{other}; }
  const std::vector<int64_t>* counts_[2]{};
  std::unordered_map<uint64_t, int64_t> numbers_;
  std::vector<std::pair<size_t, size_t>> ends_;
  std::vector<int64_t> parts_, times_;
  std::vector<size_t> part_ends_;
};

// Pairs of subtrees, one of each tree, whose keys match.
class SubtreeCandidates {
 public:
  // A key for each subtree, negative for none, and the keys of the second tree that match each.
  SubtreeCandidates(const TreeClasses& classes, std::vector<int64_t> keys,
                    const std::vector<std::pair<int64_t, int64_t>>& matches, int64_t pair_cost)
      : classes_(classes), keys_(std::move(keys)), matches_(matches), pair_cost_(pair_cost) {
    int64_t most = -1;
    for (const int64_t key : keys_) most = std::max(most, key);
    for (const auto& [one, other] : matches_) most = std::max({most, one, other});
    n_keys_ = static_cast<size_t>(most + 1);
  }
  // The steps for pairs of subtrees up to a size, with or without pairs of children.
  double cost(int64_t max_nodes, bool children) const {
    double total = 0;
    for (int by_width = 0; by_width <= (children ? 1 : 0); ++by_width) {
      std::vector<double> sums[2];
      for (int side = 0; side < 2; ++side) {
        sums[side].assign(n_keys_, 0);
        for (size_t c = 0; c < classes_.size(); ++c)
          if (is_member(side, c, max_nodes))
            sums[side][static_cast<size_t>(keys_[c])] +=
                by_width ? static_cast<double>(classes_.width(c)) : 1.0;
      }
      double product = 0;
      for (const auto& [one, other] : matches_)
        product += sums[0][static_cast<size_t>(one)] * sums[1][static_cast<size_t>(other)];
      total += by_width ? product : product * static_cast<double>(pair_cost_);
    }
    return total;
  }
  // Calls `visit` for the pairs of subtrees up to a size, pairs of children before their parents,
  // until it returns false.
  template <class Visit>
  void visit(int64_t max_nodes, Visit&& visit) const {
    std::vector<std::vector<size_t>> by_key(n_keys_);
    for (size_t c = 0; c < classes_.size(); ++c)
      if (is_member(1, c, max_nodes)) by_key[static_cast<size_t>(keys_[c])].push_back(c);
    std::vector<std::vector<size_t>> partners(n_keys_);
    for (const auto& [one, other] : matches_) {
      auto& own = partners[static_cast<size_t>(one)];
      const auto& more = by_key[static_cast<size_t>(other)];
      own.insert(own.end(), more.begin(), more.end());
    }
    for (auto& own : partners) std::sort(own.begin(), own.end());
    for (size_t c = 0; c < classes_.size(); ++c)
      if (is_member(0, c, max_nodes))
        for (const size_t other : partners[static_cast<size_t>(keys_[c])])
          if (!visit(c, other)) return;
  }
  // Which pairs cost at most `limit` steps: those of subtrees up to a size and, with soft matching,
  // some of the next size. Pairs of large subtrees are left out first. Parts of a subtree are
  // smaller than the subtree, so values computed from these pairs are exact.
  struct Affordable {
    int64_t max_nodes;  // -1 for all
    int64_t left;  // steps for pairs of the next size, -1 for none
  };
  Affordable within(StepBudget& steps, int64_t limit, bool children) const {
    const double whole = cost(-1, children), most = static_cast<double>(limit);
    if (whole <= most) {
      steps.take(static_cast<int64_t>(whole));
      return {-1, -1};
    }
    std::vector<int64_t> sizes = classes_.n_nodes;
    sizes.push_back(0);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    size_t low = 0, high = sizes.size() - 1;
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (cost(sizes[middle], children) <= most ? low : high) = middle;
    }
    const auto spent = static_cast<int64_t>(cost(sizes[low], children));
    steps.take(spent);
    steps.exceed();
    return {sizes[low], pair_cost_ == 1 ? -1 : limit - spent};
  }
  // Calls `add` for affordable pairs.
  template <class Add>
  void each(Affordable some, StepBudget& steps, bool children, const StopFlag& stop,
            Add&& add) const {
    const auto checked = [&](size_t one, size_t other) {
      if (stop.raised()) throw Stopped();
      add(one, other);
      return true;
    };
    visit(some.max_nodes, checked);
    if (some.left < 0) return;
    int64_t size = INT64_MAX;
    for (const int64_t n : classes_.n_nodes)
      if (n > some.max_nodes) size = std::min(size, n);
    visit(size, [&](size_t one, size_t other) {
      if (std::max(classes_.n_nodes[one], classes_.n_nodes[other]) <= some.max_nodes) return true;
      int64_t cost = pair_cost_;
      if (children) cost += static_cast<int64_t>(classes_.width(one) * classes_.width(other));
      if (cost > some.left || !steps.take(cost)) return false;
      some.left -= cost;
      return checked(one, other);
    });
  }

 private:
  bool is_member(int side, size_t c, int64_t max_nodes) const {
    return keys_[c] >= 0 && classes_.counts[side][c] > 0 &&
           (max_nodes < 0 || classes_.n_nodes[c] <= max_nodes);
  }
  const TreeClasses& classes_;
  std::vector<int64_t> keys_;
  const std::vector<std::pair<int64_t, int64_t>>& matches_;
  int64_t pair_cost_;
  size_t n_keys_ = 0;
};

}  // namespace kernelwood
