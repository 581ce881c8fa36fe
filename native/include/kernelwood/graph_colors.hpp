// Graphs as counts of colors, for the Weisfeiler-Lehman kernels (Shervashidze et al. 2011): the
// first color of a node is its label, the next one is its color with the sorted list of (edge
// label, direction, color) of its neighbors. Equal lists get one number by comparison, not by hash
// alone. A node adds its gate to the count of each of its colors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/feature_rows.hpp"
#include "kernelwood/graph_arrays.hpp"

namespace kernelwood {

struct ColorParameters {
  int64_t n_iterations = 3;
  bool to_unit_range = false;
  int64_t max_bytes = int64_t{1} << 40;
};

// Numbers of colors by what they stand for; a number of a first color continues those of others.
class ColorNumbers {
 public:
  explicit ColorNumbers(const ColorNumbers* base) : base_(base), n_(base ? base->n_ : 0) {}
  int32_t size() const { return n_; }
  int64_t nbytes() const { return 8 * static_cast<int64_t>(parts_.size()) + 32 * int64_t{n_}; }

  int32_t of_label(int32_t label) {
    const auto key = static_cast<uint64_t>(label);
    int32_t found = base_ ? base_->labels_.find(key) : -1;
    if (found < 0) found = labels_.find(key);
    if (found < 0) labels_.add(key, found = n_++);
    return found;
  }

  // The first part is the color before, so that lists of different iterations differ.
  int32_t of_parts(const Buffer<uint64_t>& parts) {
    uint64_t hash = parts.size();
    for (const uint64_t part : parts) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    if (base_)
      if (const int32_t found = base_->find(hash, parts); found >= 0)
        return base_->numbers_[static_cast<size_t>(found)];
    if (const int32_t found = find(hash, parts); found >= 0)
      return numbers_[static_cast<size_t>(found)];
    lists_.add(hash, static_cast<int32_t>(numbers_.size()));
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    ends_.push_back(static_cast<int64_t>(parts_.size()));
    numbers_.push_back(n_);
    return n_++;
  }

 private:
  int32_t find(uint64_t hash, const Buffer<uint64_t>& parts) const {
    return lists_.find(hash, [&](int32_t list) {
      const int64_t begin = ends_[static_cast<size_t>(list)];
      const int64_t end = ends_[static_cast<size_t>(list) + 1];
      return static_cast<size_t>(end - begin) == parts.size() &&
             std::equal(parts.begin(), parts.end(), parts_.begin() + begin);
    });
  }

  const ColorNumbers* base_;
  NumberTable labels_;
  HashPlaces lists_;
  Buffer<uint64_t> parts_;
  Buffer<int64_t> ends_{0};
  Buffer<int32_t> numbers_;  // of each list
  int32_t n_;
};

class ColorFeatures {
 public:
  // `base`: features of other graphs, whose numbers are continued.
  ColorFeatures(const ColorParameters& parameters, const GraphArrays& graphs,
                const ColorFeatures* base, StopFlag stop)
      : parameters_(parameters), rows_(parameters.max_bytes),
        numbers_(base ? &base->numbers_ : nullptr) {
    for (int64_t g = 0; g < graphs.n && !stop.raised(); ++g) add(graphs, g, stop);
  }

  const FeatureRows& rows() const { return rows_; }
  int64_t n_features() const { return numbers_.size(); }
  int64_t nbytes() const { return rows_.nbytes() + numbers_.nbytes(); }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  void add(const GraphArrays& graphs, int64_t index, StopFlag stop) {
    graph_.read(graphs, index);
    join();
    const int32_t n = graph_.n_nodes();
    colors_.resize(at(n));
    next_.resize(at(n));
    for (int32_t v = 0; v < n; ++v) colors_[at(v)] = numbers_.of_label(graph_.labels[at(v)]);
    count();
    for (int64_t i = 0; i < parameters_.n_iterations && !stop.raised(); ++i) {
      for (int32_t v = 0; v < n; ++v) next_[at(v)] = refined(v);
      colors_.swap(next_);
      if (numbers_.nbytes() > parameters_.max_bytes) throw BudgetExceeded(numbers_.nbytes());
      count();
    }
    rows_.end_row(parameters_.to_unit_range);
  }

  // Neighbors of each node, with the label and the direction of the edge.
  void join() {
    const int32_t n = graph_.n_nodes();
    begin_.assign(at(n) + 2, 0);
    const auto each = [&](auto&& take) {
      for (int32_t v = 0; v < n; ++v)
        for (int32_t e = graph_.begin[at(v)]; e < graph_.begin[at(v) + 1]; ++e) {
          const auto label = static_cast<uint64_t>(graph_.edges[at(e)]) << 33;
          take(v, graph_.targets[at(e)], label);
          take(graph_.targets[at(e)], v, label | uint64_t{1} << 32);
        }
    };
    each([&](int32_t v, int32_t, uint64_t) { ++begin_[at(v) + 2]; });
    for (size_t v = 2; v < begin_.size(); ++v) begin_[v] += begin_[v - 1];
    neighbors_.resize(at(begin_.back()));
    joins_.resize(neighbors_.size());
    each([&](int32_t v, int32_t other, uint64_t how) {
      const auto place = at(begin_[at(v) + 1]++);
      neighbors_[place] = other;
      joins_[place] = how;
    });
  }

  int32_t refined(int32_t v) {
    parts_.assign(1, static_cast<uint64_t>(colors_[at(v)]));
    for (int64_t k = begin_[at(v)]; k < begin_[at(v) + 1]; ++k)
      parts_.push_back(joins_[at(k)] | static_cast<uint64_t>(colors_[at(neighbors_[at(k)])]));
    std::sort(parts_.begin() + 1, parts_.end());
    return numbers_.of_parts(parts_);
  }

  void count() {
    if (listed_.size() < at(numbers_.size())) listed_.resize(at(2 * int64_t{numbers_.size()}), -1);
    for (int32_t v = 0; v < graph_.n_nodes(); ++v) {
      int64_t& listed = listed_[at(colors_[at(v)])];
      if (listed >= rows_.row_begin())
        rows_.increase(listed, graph_.gates[at(v)]);
      else
        listed = rows_.add(colors_[at(v)], graph_.gates[at(v)]);
    }
  }

  ColorParameters parameters_;
  FeatureRows rows_;
  ColorNumbers numbers_;

  VisibleGraph graph_;
  Buffer<int32_t> colors_, next_, neighbors_;
  Buffer<int64_t> begin_, listed_;
  Buffer<uint64_t> joins_, parts_;
};

}  // namespace kernelwood
