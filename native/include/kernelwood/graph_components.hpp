// Strongly connected components of a graph in topological order, by Tarjan's algorithm without
// recursion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernelwood/buffer.hpp"

namespace kernelwood {

class Components {
 public:
  // `begin` and `targets`: the edges that leave each of n nodes.
  void find(int32_t n, const int32_t* begin, const int32_t* targets) {
    nodes_.clear();
    starts_.assign(1, 0);
    index_.assign(static_cast<size_t>(n), -1);
    low_.resize(static_cast<size_t>(n));
    next_.resize(static_cast<size_t>(n));
    int32_t n_seen = 0;
    for (int32_t root = n - 1; root >= 0; --root) {
      if (index_[at(root)] >= 0) continue;
      visit(root, begin, n_seen);
      while (!path_.empty()) {
        const int32_t v = path_.back();
        if (next_[at(v)] < begin[v + 1]) {
          const int32_t w = targets[next_[at(v)]++];
          if (index_[at(w)] < 0)
            visit(w, begin, n_seen);
          else
            low_[at(v)] = std::min(low_[at(v)], index_[at(w)]);  // done ones are never smaller
          continue;
        }
        path_.pop_back();
        if (!path_.empty()) low_[at(path_.back())] = std::min(low_[at(path_.back())], low_[at(v)]);
        if (low_[at(v)] == index_[at(v)]) close(v, n);
      }
    }
    reverse(n);
  }

  int32_t size() const { return static_cast<int32_t>(starts_.size()) - 1; }
  // Where the nodes of a component begin among all places.
  int32_t start(int32_t component) const { return starts_[at(component)]; }
  int32_t node(int32_t place) const { return nodes_[at(place)]; }
  int32_t place(int32_t node) const { return place_[at(node)]; }
  int32_t of_place(int32_t place) const { return component_[at(place)]; }

 private:
  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  void visit(int32_t v, const int32_t* begin, int32_t& n_seen) {
    index_[at(v)] = low_[at(v)] = n_seen++;
    next_[at(v)] = begin[v];
    path_.push_back(v);
    open_.push_back(v);
  }

  // The component of a node from which all others of it were reached; sinks are closed first.
  void close(int32_t v, int32_t n) {
    int32_t w;
    do {
      w = open_.back();
      open_.pop_back();
      index_[at(w)] = n;  // larger than that of any open node
      nodes_.push_back(w);
    } while (w != v);
    starts_.push_back(static_cast<int32_t>(nodes_.size()));
  }

  void reverse(int32_t n) {
    std::reverse(nodes_.begin(), nodes_.end());
    std::reverse(starts_.begin(), starts_.end());
    for (int32_t& start : starts_) start = n - start;
    place_.resize(nodes_.size());
    component_.resize(nodes_.size());
    for (int32_t c = 0; c < size(); ++c) {
      std::sort(nodes_.begin() + start(c), nodes_.begin() + start(c + 1));
      for (int32_t i = start(c); i < start(c + 1); ++i) {
        place_[at(nodes_[at(i)])] = i;
        component_[at(i)] = c;
      }
    }
  }

  Buffer<int32_t> nodes_, starts_, place_, component_;
  Buffer<int32_t> index_, low_, next_, path_, open_;
};

}  // namespace kernelwood
