// The largest fragments that two trees share, by the kernels on trees.
//
// Subset trees and subtrees: fragments of the definition, at pairs of nodes with matching
// productions or subtrees. Partial and rooted trees: fragments are too many to list; a pair of
// nodes counts for the largest fragment there, with children aligned from left to right for the
// largest sum of similarities.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/fragment_matching.hpp"
#include "kernelwood/fragment_pairs.hpp"
#include "kernelwood/tree_classes.hpp"
#include "kernelwood/tree_parameters.hpp"

namespace kernelwood {

// Fragments of many pairs of trees, flat: those of pair k are `n_fragments[k]` in number.
struct FoundTrees {
  std::vector<int64_t> n_fragments;
  std::vector<uint8_t> exceeded;                  // of each pair: whether the steps were used up
  std::vector<int64_t> n_nodes;                   // of each fragment
  std::vector<double> weight, covers, similarity;  // similarity: of all labels
  std::vector<int64_t> count_a, count_b;
  // Of each node, in post-order: where its labels occur in the arrays, and the similarity of these.
  std::vector<int64_t> left, right;
  std::vector<int32_t> n_children;
  std::vector<double> node_similarity;
};

class LargestTrees {
 public:
  // Without `top` (0), all fragments are returned.
  LargestTrees(const TreeParameters& parameters, int64_t top, int64_t max_steps)
      : parameters_(parameters), decay_(parameters.decay), top_(top), max_steps_(max_steps) {}

  // Appends the fragments of a pair, whose nodes begin at these places of the arrays.
  void search(const ElementView& a, const ElementView& b, const int32_t* a_children,
              const int32_t* b_children, const SimilarityView& similarities, int64_t left_begin,
              int64_t right_begin, FoundTrees& out, const StopFlag& stop) {
    StepBudget steps(max_steps_);
    matching_.reset(a, b, similarities);
    shapes_.reset(matching_);
    begins_[0] = left_begin;
    begins_[1] = right_begin;
    n_found_ = 0;
    const int32_t* const n_children[2] = {a_children, b_children};
    if (parameters_.kind == TreeKernel::rooted) {
      number_nodes(n_children);
      matching_.limit(preorder_heads(0), preorder_heads(1), steps);
      find_rooted(steps, stop);
      yield_pairs(out);
    } else {
      classes_.reset(matching_, n_children);
      matching_.limit(classes_.used_heads(0, matching_.n_heads()),
                      classes_.used_heads(1, matching_.n_heads()), steps);
      is_plain_ = matching_.plainly();
      pair_cost_ = matching_.softly() ? 8 : 1;
      pairs_.reset(classes_.counts[0], classes_.counts[1]);
      if (parameters_.kind == TreeKernel::subtree) {
        find_subtrees(steps, stop);
        yield_pairs(out);
      } else if (parameters_.kind == TreeKernel::partial) {
        find_partial(steps, stop);
        yield_pairs(out);
      } else {
        find_subset(steps, stop);
        yield_subset(steps, out, stop);
      }
    }
    out.n_fragments.push_back(n_found_);
    out.exceeded.push_back(steps.exceeded());
  }

 private:
  using Matches = std::vector<std::pair<int64_t, int64_t>>;
  int32_t head(size_t c) const { return classes_.heads[c]; }

  // Subtrees.

  void find_subtrees(StepBudget& steps, const StopFlag& stop) {
    const bool soft = matching_.softly();
    std::vector<int64_t> keys(classes_.size());
    KeyNumbers forms;  // shape and edges of subtrees, without node labels
    std::vector<int64_t> key, form(classes_.size());
    for (size_t c = 0; c < classes_.size(); ++c) {
      key.assign(1, matching_.edge(head(c)));
      for (size_t k = 0; k < classes_.width(c); ++k) key.push_back(form[classes_.child(c, k)]);
      form[c] = soft ? static_cast<int64_t>(forms.add(key).first) : static_cast<int64_t>(c);
      keys[c] = classes_.width(c) ? form[c] : -1;
    }
    Matches same;
    for (size_t c = 0; c < classes_.size(); ++c)
      same.push_back({static_cast<int64_t>(c), static_cast<int64_t>(c)});
    const SubtreeCandidates candidates(classes_, std::move(keys), same, pair_cost_);
    SubtreeCandidates::Affordable some{-1, -1};
    if (soft) some = candidates.within(steps, steps.left(), false);
    candidates.each(some, steps, false, stop,
                    [&](size_t one, size_t other) { add_subtree(one, other); });
  }

  // Adds a pair of subtrees of equal form if all their nodes match.
  void add_subtree(size_t one, size_t other) {
    double value = decay_ * matching_.match(head(one), head(other));
    bool matched = value > 0;
    parts_.clear();
    inside_.clear();
    for (size_t k = 0; k < classes_.width(one); ++k) {
      const size_t child = classes_.child(one, k), twin = classes_.child(other, k);
      const int64_t number = pairs_.find(child, twin);
      if (number >= 0) {
        inside_.push_back(number);
        parts_.push_back(static_cast<int64_t>(pairs_.fragments[static_cast<size_t>(number)]));
        value *= pairs_.values[static_cast<size_t>(number)];
      } else if (classes_.width(child)) {
        return;
      } else {
        const double similarity = matching_.similarity(head(child), head(twin));
        matched = matched && similarity > 0;
        value *= similarity;
        parts_.push_back(~shapes_.pair(head(child), head(twin)));
      }
    }
    if (!matched) return;
    if (is_plain_)  // as a power, which rounds once
      value = std::pow(decay_, static_cast<double>(classes_.n_inner[one]));
    add_pair(one, other, value);
  }

  void add_pair(size_t one, size_t other, double value) {
    const int64_t pair = shapes_.pair(head(one), head(other));
    pairs_.add(one, other, value, shapes_.add(pair, parts_, {one, other}), inside_);
  }

  // Subset trees.

  void find_subset(StepBudget& steps, const StopFlag& stop) {
    const Matches matches = match_productions(steps, stop);
    std::vector<int64_t> keys(classes_.productions.begin(), classes_.productions.end());
    const SubtreeCandidates candidates(classes_, std::move(keys), matches, pair_cost_);
    const auto some = candidates.within(steps, steps.left() / 2, false);
    if (parameters_.count_leaves) add_leaves(steps, stop);
    candidates.each(some, steps, false, stop, [&](size_t one, size_t other) {
      double delta = decay_ * matching_.match(head(one), head(other));
      parts_.clear();
      inside_.clear();
      for (size_t k = 0; k < classes_.width(one); ++k) {
        const size_t child = classes_.child(one, k), twin = classes_.child(other, k);
        const double similarity = matching_.similarity(head(child), head(twin));
        const int64_t number = pairs_.find(child, twin);
        if (number >= 0) inside_.push_back(number);
        if (number >= 0 && classes_.width(child)) {
          delta *= similarity + pairs_.values[static_cast<size_t>(number)];
          parts_.push_back(static_cast<int64_t>(pairs_.fragments[static_cast<size_t>(number)]));
        } else {
          delta *= similarity;
          parts_.push_back(~shapes_.pair(head(child), head(twin)));
        }
      }
      add_pair(one, other, delta);
    });
  }

  // The matching productions of two trees; soft matching takes at most half of the steps left.
  Matches match_productions(StepBudget& steps, const StopFlag& stop) {
    Matches matches;
    const auto heads_of = [&](int64_t production) {
      return classes_.by_heads.begin(static_cast<size_t>(production));
    };
    const auto n = static_cast<int64_t>(classes_.by_heads.size());
    if (!matching_.softly()) {
      for (int64_t p = 0; p < n; ++p) {
        const auto root = static_cast<int32_t>(*heads_of(p));
        if (decay_ * matching_.match(root, root) != 0) matches.push_back({p, p});
      }
      return matches;
    }
    std::vector<uint8_t> used[2];
    for (int side = 0; side < 2; ++side) {
      used[side].assign(static_cast<size_t>(n), 0);
      for (size_t c = 0; c < classes_.size(); ++c)
        if (classes_.productions[c] >= 0 && classes_.counts[side][c] > 0)
          used[side][static_cast<size_t>(classes_.productions[c])] = 1;
    }
    KeyNumbers edges;  // which must be equal in matching productions
    std::vector<int64_t> key, edges_of(static_cast<size_t>(n));
    std::vector<std::vector<int64_t>> partners;
    for (int64_t p = 0; p < n; ++p) {
      key.clear();
      for (const int64_t* at = heads_of(p); at < classes_.by_heads.end(static_cast<size_t>(p));
           ++at)
        key.push_back(matching_.edge(static_cast<int32_t>(*at)));
      const auto [number, is_new] = edges.add(key);
      if (is_new) partners.emplace_back();
      edges_of[static_cast<size_t>(p)] = static_cast<int64_t>(number);
      if (used[1][static_cast<size_t>(p)]) partners[number].push_back(p);
    }
    const int64_t reserved = steps.left() / 2;
    std::vector<int64_t> found;
    for (int64_t p = 0; p < n; ++p) {
      const auto& some = partners[static_cast<size_t>(edges_of[static_cast<size_t>(p)])];
      if (!used[0][static_cast<size_t>(p)] || some.empty()) continue;
      if (stop.raised()) throw Stopped();
      found.clear();
      for (const int64_t other : some)
        if (growth(heads_of(p), classes_.by_heads.end(static_cast<size_t>(p)), heads_of(other)) *
                decay_ !=
            0)
          found.push_back(other);
      const auto n_some = static_cast<int64_t>(some.size());
      const auto n_found = static_cast<int64_t>(found.size());
      // About forty comparisons take the time of one step.
      if (steps.left() < reserved || !steps.take(1 + n_some / 40 + n_found * pair_cost_)) {
        steps.exceed();
        break;
      }
      for (const int64_t other : found) matches.push_back({p, other});
    }
    return matches;
  }

  // The factor of a fragment that is expanded by two productions, but for the similarity of the
  // roots, which is a factor already before.
  double growth(const int64_t* heads, const int64_t* end, const int64_t* others) const {
    const auto one = static_cast<int32_t>(*heads), other = static_cast<int32_t>(*others);
    double value =
        matching_.similarity(one, other) > 0 ? matching_.gate(one) * matching_.gate(other) : 0.0;
    for (const int64_t* at = heads + 1; at < end; ++at)
      value *=
          matching_.similarity(static_cast<int32_t>(*at), static_cast<int32_t>(others[at - heads]));
    return value;
  }

  // Adds the pairs of leaves that match; soft matching takes at most half of the steps.
  void add_leaves(StepBudget& steps, const StopFlag& stop) {
    std::vector<int64_t> keys(classes_.size());
    for (size_t c = 0; c < classes_.size(); ++c) keys[c] = classes_.width(c) ? -1 : head(c);
    const Matches matches = head_pairs();
    const SubtreeCandidates candidates(classes_, std::move(keys), matches, pair_cost_);
    const int64_t most = steps.left() / 2 / pair_cost_;
    int64_t n = 0;
    candidates.visit(-1, [&](size_t one, size_t other) {
      if (matching_.softly() && n == most) return false;
      if (stop.raised()) throw Stopped();
      ++n;
      parts_.clear();
      inside_.clear();
      add_pair(one, other, decay_ * matching_.match(head(one), head(other)));
      return true;
    });
    if (!matching_.softly()) return;
    steps.take(n * pair_cost_);
    if (static_cast<double>(n * pair_cost_) < candidates.cost(-1, false)) steps.exceed();
  }

  // All pairs of heads that match.
  Matches head_pairs() const {
    Matches found;
    for (int32_t one = 0; one < matching_.n_heads(); ++one) {
      if (!matching_.softly()) {
        if (matching_.gate(one) > 0) found.push_back({one, one});
        continue;
      }
      for (int32_t other = 0; other < matching_.n_heads(); ++other)
        if (matching_.match(one, other) != 0) found.push_back({one, other});
    }
    return found;
  }

  // Appends the largest subset trees with the counts of all their occurrences.
  void yield_subset(StepBudget& steps, FoundTrees& out, const StopFlag& stop) {
    std::vector<FragmentSums> found = ranked();
    if (found.empty()) return;
    std::vector<std::vector<size_t>> by_production(classes_.by_heads.size());
    std::vector<std::vector<size_t>> leaves(static_cast<size_t>(matching_.n_heads()));
    for (size_t c = 0; c < classes_.size(); ++c) {
      const int32_t production = classes_.productions[c];
      (production < 0 ? leaves[static_cast<size_t>(head(c))]
                      : by_production[static_cast<size_t>(production)])
          .push_back(c);
    }
    for (const FragmentSums& sums : found) {
      if (stop.raised()) throw Stopped();
      const std::vector<size_t> inside = shapes_.inside(sums.shape);
      std::vector<const std::vector<size_t>*> candidates[2];
      int64_t cost = 0;
      for (int side = 0; side < (matching_.softly() ? 2 : 1); ++side)
        for (const size_t shape : inside) {
          const auto& ends = shapes_.origins[shape];
          const size_t origin = side ? ends.second : ends.first;
          const int32_t production = classes_.productions[origin];
          const bool bare = shapes_.parts(shape) == shapes_.parts_end(shape);
          const auto& some = bare ? leaves[static_cast<size_t>(head(origin))]
                                  : by_production[static_cast<size_t>(production)];
          candidates[side].push_back(&some);
          cost += 10 + static_cast<int64_t>(some.size()) / 40;
        }
      if (!steps.take(cost)) continue;
      const auto left = roots(inside, candidates[0]);
      const auto right = matching_.softly() ? roots(inside, candidates[1]) : left;
      int64_t counts[2] = {0, 0};
      for (const size_t c : left) counts[0] += classes_.counts[0][c];
      for (const size_t c : right) counts[1] += classes_.counts[1][c];
      const double weight = factor(sums.shape, inside) * static_cast<double>(counts[0]) *
                            static_cast<double>(counts[1]);
      append(sums.shape, weight, sums.covers, counts[0], counts[1], out);
      if (n_found_ == top_) return;
    }
  }

  // The subtrees of one tree at whose roots a fragment occurs.
  std::vector<size_t> roots(const std::vector<size_t>& inside,
                            const std::vector<const std::vector<size_t>*>& candidates) {
    std::vector<std::vector<size_t>> found(inside.size());
    for (size_t at = 0; at < inside.size(); ++at) {
      const int64_t* parts = shapes_.parts(inside[at]);
      const auto n = static_cast<size_t>(shapes_.parts_end(inside[at]) - parts);
      for (const size_t c : *candidates[at]) {
        bool occurs = true;
        for (size_t k = 0; k < n && occurs; ++k) {
          if (parts[k] < 0) continue;
          const auto place =
              std::lower_bound(inside.begin(), inside.end(), static_cast<size_t>(parts[k]));
          const auto& below = found[static_cast<size_t>(place - inside.begin())];
          occurs = std::binary_search(below.begin(), below.end(), classes_.child(c, k));
        }
        if (occurs) found[at].push_back(c);
      }
    }
    return found.back();
  }

  // The weight of one pair of occurrences of a subset tree.
  double factor(size_t shape, const std::vector<size_t>& inside) const {
    if (is_plain_)  // a leaf counts as one production
      return std::pow(decay_, static_cast<double>(std::max<int64_t>(1, shapes_.n_inner[shape])));
    std::vector<double> made(inside.size());
    for (size_t at = 0; at < inside.size(); ++at) {
      made[at] = decay_ * shapes_.match(shapes_.root(inside[at]));
      const int64_t* const end = shapes_.parts_end(inside[at]);
      for (const int64_t* part = shapes_.parts(inside[at]); part < end; ++part) {
        const auto place =
            std::lower_bound(inside.begin(), inside.end(), static_cast<size_t>(*part));
        made[at] *= *part >= 0 ? made[static_cast<size_t>(place - inside.begin())]
                               : shapes_.similarity(~*part);
      }
    }
    return made.back();
  }

  // Partial trees.

  void find_partial(StepBudget& steps, const StopFlag& stop) {
    std::vector<int64_t> keys(classes_.heads.begin(), classes_.heads.end());
    const Matches matches = head_pairs();
    const SubtreeCandidates candidates(classes_, std::move(keys), matches, pair_cost_);
    const auto some = candidates.within(steps, steps.left(), true);
    candidates.each(some, steps, true, stop, [&](size_t one, size_t other) {
      const size_t n = classes_.width(one), m = classes_.width(other);
      table_.assign(n * m, -1);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j)
          table_[i * m + j] = pairs_.find(classes_.child(one, i), classes_.child(other, j));
      const double value = delta(n, m) * matching_.match(head(one), head(other));
      align(n, m);
      add_pair(one, other, value);
    });
  }

  // Delta of two nodes with match 1 from the Deltas of their children.
  double delta(size_t n, size_t m) {
    if (n == 0 || m == 0) {
      const double power = n || m ? 2.0 : parameters_.leaf_power;
      return parameters_.depth_decay * std::pow(decay_, power) * parameters_.terminal_factor;
    }
    // Factor of a subsequence of one child, and of each step to an adjacent child.
    const double once = parameters_.span_decay ? std::pow(decay_, 2.0) : 1.0;
    double total = std::pow(decay_, 2.0);
    above_.assign(m + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      sums_.assign(1, 0);
      double in_row = 0;
      for (size_t j = 0; j < m; ++j) {
        in_row *= decay_;
        const int64_t number = table_[i * m + j];
        if (number >= 0) {
          const double ending = pairs_.values[static_cast<size_t>(number)] * once * (1 + above_[j]);
          total += ending;
          in_row += ending;
        }
        sums_.push_back(in_row + decay_ * above_[j + 1]);
      }
      above_.swap(sums_);
    }
    return parameters_.depth_decay * total;
  }

  // Sets the parts to the alignment of children with the largest sum of similarities.
  void align(size_t n, size_t m) {
    parts_.clear();
    inside_.clear();
    if (n == 0 || m == 0) return;
    const auto score = [&](size_t i, size_t j) {
      const int64_t number = table_[i * m + j];
      return number < 0 ? 0.0 : shapes_.scores[pairs_.fragments[static_cast<size_t>(number)]];
    };
    best_.assign((n + 1) * (m + 1), 0);
    const auto best = [&](size_t i, size_t j) -> double& { return best_[i * (m + 1) + j]; };
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < m; ++j)
        best(i + 1, j + 1) = std::max({best(i, j) + score(i, j), best(i, j + 1), best(i + 1, j)});
    for (size_t i = n, j = m; i && j;) {
      if (table_[(i - 1) * m + j - 1] >= 0 &&
          best(i, j) == best(i - 1, j - 1) + score(i - 1, j - 1)) {
        inside_.push_back(table_[(i - 1) * m + j - 1]);
        --i;
        --j;
      } else if (best(i, j) == best(i - 1, j)) {
        --i;
      } else {
        --j;
      }
    }
    std::reverse(inside_.begin(), inside_.end());
    for (const int64_t number : inside_)
      parts_.push_back(static_cast<int64_t>(pairs_.fragments[static_cast<size_t>(number)]));
  }

  // Rooted trees.

  // The children of each node, in post-order; the root is the last node.
  void number_nodes(const int32_t* const n_children[2]) {
    std::vector<size_t> ready;
    for (int side = 0; side < 2; ++side) {
      const size_t n = matching_.heads(side).size();
      child_ends_[side].assign(1, 0);
      children_[side].clear();
      ready.clear();
      for (size_t at = 0; at < n; ++at) {
        const auto width = static_cast<std::ptrdiff_t>(n_children[side][at]);
        children_[side].insert(children_[side].end(), ready.end() - width, ready.end());
        child_ends_[side].push_back(children_[side].size());
        ready.resize(ready.size() - static_cast<size_t>(width));
        ready.push_back(at);
      }
      ones_[side].assign(n, 1);
    }
  }
  size_t width(int side, size_t at) const {
    return child_ends_[side][at + 1] - child_ends_[side][at];
  }
  size_t child(int side, size_t at, size_t k) const {
    return children_[side][child_ends_[side][at] + k];
  }
  // The heads of a tree in pre-order.
  std::vector<int32_t> preorder_heads(int side) const {
    const std::vector<int32_t>& heads = matching_.heads(side);
    std::vector<int32_t> found;
    std::vector<uint8_t> seen(static_cast<size_t>(matching_.n_heads()), 0);
    std::vector<size_t> waiting{heads.size() - 1};
    while (!waiting.empty()) {
      const size_t at = waiting.back();
      waiting.pop_back();
      uint8_t& known = seen[static_cast<size_t>(heads[at])];
      if (!known) found.push_back(heads[at]);
      known = 1;
      for (size_t k = width(side, at); k-- > 0;) waiting.push_back(child(side, at, k));
    }
    return found;
  }

  struct Reached {  // a pair of nodes reached from the roots, with the factor of the path to it
    size_t one, other;
    double factor;
  };

  void find_rooted(StepBudget& steps, const StopFlag& stop) {
    pairs_.reset(ones_[0], ones_[1]);
    const std::vector<int32_t>&left = matching_.heads(0), &right = matching_.heads(1);
    const int64_t pair_cost = matching_.softly() ? 8 : 1;
    std::vector<Reached> reached;
    if (matching_.match(left.back(), right.back()) == 0) return;
    reached.push_back({left.size() - 1, right.size() - 1, 1.0});
    for (size_t next = 0; next < reached.size(); ++next) {
      if (stop.raised()) throw Stopped();
      const Reached from = reached[next];
      const size_t n = width(0, from.one), m = width(1, from.other);
      if (!steps.take(static_cast<int64_t>(n * m) * pair_cost)) continue;
      const double own = from.factor * matching_.match(left[from.one], right[from.other]);
      match_.assign(n * m, 0);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j)
          match_[i * m + j] =
              matching_.match(left[child(0, from.one, i)], right[child(1, from.other, j)]);
      chains(n, m, false, before_);
      chains(n, m, true, after_);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) {
          const size_t at = i * m + j;
          if (match_[at] == 0) continue;
          const double factor = decay_ * match_[at] * before_[at] * after_[at];
          reached.push_back({child(0, from.one, i), child(1, from.other, j), own * factor});
        }
    }
    for (size_t k = reached.size(); k-- > 0;) {
      if (stop.raised()) throw Stopped();
      const auto [one, other, factor] = reached[k];
      const size_t n = width(0, one), m = width(1, other);
      table_.assign(n * m, -1);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j)
          table_[i * m + j] = pairs_.find(child(0, one, i), child(1, other, j));
      align(n, m);
      const int64_t pair = shapes_.pair(left[one], right[other]);
      const double match = matching_.match(left[one], right[other]);
      pairs_.add(one, other, factor * (match * match), shapes_.add(pair, parts_, {one, other}),
                 inside_);
    }
  }

  // The summed weights of the subsequences that may precede each pair of children, plus 1; if
  // turned, of those that may follow.
  void chains(size_t n, size_t m, bool turned, std::vector<double>& out) {
    out.assign(n * m, 0);
    const auto place = [&](size_t i, size_t j) {
      return turned ? (n - 1 - i) * m + (m - 1 - j) : i * m + j;
    };
    above_.assign(m + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      if (parameters_.contiguous) {
        for (size_t j = 0; j < m; ++j) {
          const double diagonal = i && j ? match_[place(i - 1, j - 1)] : 0.0;
          out[place(i, j)] =
              1 + (diagonal != 0 ? decay_ * diagonal * out[place(i - 1, j - 1)] : 0.0);
        }
        continue;
      }
      sums_.assign(1, 0);
      double in_row = 0;
      for (size_t j = 0; j < m; ++j) {
        const double k = match_[place(i, j)];
        out[place(i, j)] = 1 + above_[j];
        in_row += k != 0 ? decay_ * k * out[place(i, j)] : 0.0;
        sums_.push_back(in_row + above_[j + 1]);
      }
      above_.swap(sums_);
    }
  }

  // Results.

  std::vector<FragmentSums> ranked() const {
    std::vector<FragmentSums> found = pairs_.largest(shapes_.size());
    std::stable_sort(found.begin(), found.end(), [&](const FragmentSums& x, const FragmentSums& y) {
      const int64_t n = shapes_.n_nodes[x.shape], m = shapes_.n_nodes[y.shape];
      return n > m || (n == m && x.covers > y.covers);
    });
    return found;
  }

  void yield_pairs(FoundTrees& out) {
    for (FragmentSums& sums : ranked()) {
      if (top_ > 0 && n_found_ == top_) return;
      append(sums.shape, sums.weight, sums.covers, pairs_.count(sums, 0), pairs_.count(sums, 1),
             out);
    }
  }

  void append(size_t shape, double weight, double covers, int64_t count_a, int64_t count_b,
              FoundTrees& out) {
    out.n_nodes.push_back(shapes_.n_nodes[shape]);
    out.weight.push_back(weight);
    out.covers.push_back(covers);
    out.similarity.push_back(shapes_.similarities[shape]);
    out.count_a.push_back(count_a);
    out.count_b.push_back(count_b);
    ++n_found_;
    // Post-order is the reverse of the order that visits a node before its children, from right to
    // left.
    const size_t begin = out.left.size();
    std::vector<int64_t> waiting{static_cast<int64_t>(shape)};
    while (!waiting.empty()) {
      const int64_t part = waiting.back();
      waiting.pop_back();
      const int64_t pair = part < 0 ? ~part : shapes_.root(static_cast<size_t>(part));
      const auto [one, other] = shapes_.heads_of(pair);
      out.left.push_back(begins_[0] + matching_.place(0, one));
      out.right.push_back(begins_[1] + matching_.place(1, other));
      out.node_similarity.push_back(matching_.similarity(one, other));
      const int64_t* first = part < 0 ? nullptr : shapes_.parts(static_cast<size_t>(part));
      const int64_t* last = part < 0 ? nullptr : shapes_.parts_end(static_cast<size_t>(part));
      out.n_children.push_back(static_cast<int32_t>(last - first));
      waiting.insert(waiting.end(), first, last);
    }
    const auto from = static_cast<std::ptrdiff_t>(begin);
    std::reverse(out.left.begin() + from, out.left.end());
    std::reverse(out.right.begin() + from, out.right.end());
    std::reverse(out.node_similarity.begin() + from, out.node_similarity.end());
    std::reverse(out.n_children.begin() + from, out.n_children.end());
  }

  TreeParameters parameters_;
  double decay_;
  int64_t top_, max_steps_;
  HeadMatching matching_;
  TreeClasses classes_;
  FragmentShapes shapes_;
  SubtreePairs pairs_;
  bool is_plain_ = false;
  int64_t pair_cost_ = 1, n_found_ = 0;
  int64_t begins_[2]{};
  std::vector<int64_t> parts_, inside_, table_;
  std::vector<double> above_, sums_, best_, match_, before_, after_;
  std::vector<size_t> child_ends_[2], children_[2];
  std::vector<int64_t> ones_[2];
};

}  // namespace kernelwood
