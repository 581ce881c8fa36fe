// Decision trees grown greedily on a few bits of packed codes, to the end and without recursion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/bit_columns.hpp"
#include "kernelwood/bit_examples.hpp"
#include "kernelwood/bit_split.hpp"
#include "kernelwood/bit_tree.hpp"
#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"

namespace kernelwood {

class BitTreeGrower {
 public:
  // The rows of the columns are examples in order of their classes.
  BitTreeGrower(const BitTreeParameters& parameters, const BitColumns& columns,
                const int64_t* class_sizes)
      : parameters_(parameters), columns_(columns), class_sizes_(class_sizes),
        counts_(static_cast<size_t>(parameters.n_classes) * word_bits) {}

  // `times` says how often each example was drawn; null: once.
  BitTree grow(const int32_t* bits, int64_t n_bits, const int32_t* times, StopFlag stop) {
    tree_ = {};
    bits_ = bits;
    tree_.gains.assign(static_cast<size_t>(n_bits), 0.0);
    runs_ = examples_.load(columns_, class_sizes_, parameters_.n_classes, bits, n_bits, times);
    root_weight_ = parameters_.weight_and_score(runs_).first;
    int32_t n = 0;
    for (const ClassRun& run : runs_) n += run.n;
    settle({tree_.add_nodes(1), 0, n, 0, 0}, runs_);
    while (!pending_.empty()) {
      if (stop.raised()) throw Stopped();
      const Pending next = pending_.back();
      pending_.pop_back();
      const auto first = pending_runs_.end() - next.n_runs;
      runs_.assign(first, pending_runs_.end());
      pending_runs_.erase(first, pending_runs_.end());
      divide(next);
    }
    return std::move(tree_);
  }

 private:
  // Examples [begin, begin + n) that become a node.
  struct Pending {
    int32_t node, begin, n, depth, n_runs;
  };

  // A leaf if it must be one; otherwise it is looked at later.
  void settle(Pending place, const ClassRuns& runs) {
    if (runs.size() == 1 || place.n / 2 < parameters_.min_leaf ||
        place.depth == parameters_.max_depth)
      return parameters_.set_leaf(tree_, place.node, runs);
    place.n_runs = static_cast<int32_t>(runs.size());
    pending_.push_back(place);
    pending_runs_.insert(pending_runs_.end(), runs.begin(), runs.end());
  }

  BitChoice best_bit(const Pending& place) {
    BitChoice best;
    for (int64_t p = 0; p < examples_.n_planes(); ++p) {
      const BitChoice choice =
          choose_bit({examples_.words(p, place.begin), runs_.data(), place.n_runs, place.n,
                      parameters_.class_weights, parameters_.min_leaf, counts_.data()});
      if (choice.score > best.score)
        best = {choice.score, choice.bit + static_cast<int>(p) * word_bits};
    }
    return best;
  }

  void divide(const Pending& place) {
    const BitChoice choice = best_bit(place);
    if (choice.bit < 0) return parameters_.set_leaf(tree_, place.node, runs_);
    const double gain = choice.score - parameters_.weight_and_score(runs_).second;
    tree_.gains[static_cast<size_t>(choice.bit)] += std::max(gain, 0.0) / root_weight_;
    const int32_t child = tree_.add_nodes(2);
    tree_.set_node(place.node, bits_[choice.bit], child);
    const int32_t n_left = examples_.part(place.begin, place.n, choice.bit, runs_, left_, right_);
    const int32_t depth = place.depth + 1;
    settle({child + 1, place.begin + n_left, place.n - n_left, depth, 0}, right_);
    settle({child, place.begin, n_left, depth, 0}, left_);
  }

  BitTreeParameters parameters_;
  BitColumns columns_;
  const int64_t* class_sizes_;
  const int32_t* bits_ = nullptr;
  double root_weight_ = 0;
  BitExamples examples_;
  Buffer<int32_t> counts_;
  ClassRuns runs_, left_, right_;  // of the node at hand, and of its sides
  std::vector<Pending> pending_;   // nodes that wait, the last one first
  ClassRuns pending_runs_;
  BitTree tree_;
};

}  // namespace kernelwood
