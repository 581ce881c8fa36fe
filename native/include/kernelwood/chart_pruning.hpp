// The forest that is handed out: hyper-edges near the best tree, and what they reach.
//
// With the probability of an edge given its head as weight, an edge stays if the best tree through
// it is at most `threshold` nats less likely than the best tree of all. The best tree always stays.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/chart_forest.hpp"

namespace kernelwood {

struct ChartForest {
  bool found = false;
  double log_likelihood = -std::numeric_limits<double>::infinity();
  std::vector<int32_t> node_label, node_start, node_end;
  std::vector<int32_t> edge_head, edge_n_children, children;
  std::vector<double> edge_p;
  int32_t root = -1;
};

class ForestPruning {
 public:
  ForestPruning(const ForestBuilder& built, int32_t n_words)
      : built_(built), n_words_(n_words), n_nodes_(built.labels.size()),
        n_edges_(built.counts.size()), begin_(n_nodes_ + 1, 0), sorted_(n_edges_), cost_(n_edges_),
        below_(n_nodes_, infinite), above_(n_nodes_, infinite), is_kept_(n_edges_, 0),
        is_reached_(n_nodes_, 0) {
    sort_by_head();
    find_costs();
    find_best();
  }

  bool has_tree() const { return built_.root >= 0 && below_[root()] < infinite; }

  ChartForest run(double threshold) {
    choose(threshold);
    ChartForest forest;
    forest.found = true;
    write_nodes(forest);
    for (size_t node = 0; node < n_nodes_; ++node)
      if (is_reached_[node]) write_edges(node, forest);
    return forest;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  size_t root() const { return static_cast<size_t>(built_.root); }
  size_t head(size_t edge) const {
    return static_cast<size_t>(built_.edges.head(static_cast<int32_t>(edge)));
  }
  template <class Use>
  void each_child(size_t edge, const Use& use) const {
    const auto id = static_cast<int32_t>(edge);
    const int32_t* children = built_.edges.items(id);
    for (int64_t c = 0; c < built_.edges.n_items(id); ++c) use(static_cast<size_t>(children[c]));
  }
  template <class Use>
  void each_edge(size_t node, const Use& use) const {
    for (size_t at = begin_[node]; at < begin_[node + 1]; ++at) use(sorted_[at]);
  }

  void sort_by_head() {
    for (size_t edge = 0; edge < n_edges_; ++edge) ++begin_[head(edge) + 1];
    for (size_t node = 0; node < n_nodes_; ++node) begin_[node + 1] += begin_[node];
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for (size_t edge = 0; edge < n_edges_; ++edge) sorted_[next[head(edge)]++] = edge;
  }

  void find_costs() {
    for (size_t node = 0; node < n_nodes_; ++node) {
      double sum = 0;
      each_edge(node, [&](size_t edge) { sum += built_.counts[edge]; });
      each_edge(node, [&](size_t edge) { cost_[edge] = -std::log(built_.counts[edge] / sum); });
    }
  }

  double cost_below(size_t edge) const {
    double cost = cost_[edge];
    each_child(edge, [&](size_t child) { cost += below_[child]; });
    return cost;
  }

  // Cost of the best tree below every node, and of the best rest of a tree around it.
  void find_best() {
    std::fill_n(below_.begin(), n_words_, 0.0);
    for (size_t node = 0; node < n_nodes_; ++node)
      each_edge(node,
                [&](size_t edge) { below_[node] = std::min(below_[node], cost_below(edge)); });
    if (!has_tree()) return;
    above_[root()] = 0;
    for (size_t node = n_nodes_; node-- > 0;) {
      if (above_[node] == infinite) continue;
      each_edge(node, [&](size_t edge) {
        const double through = above_[node] + cost_below(edge);
        each_child(edge, [&](size_t child) {
          above_[child] = std::min(above_[child], through - below_[child]);
        });
      });
    }
  }

  // The best edge of a node that is reached stays whatever rounding says.
  void choose(double threshold) {
    const double most = below_[root()] + threshold + 1e-9 * (1 + below_[root()]);
    is_reached_[root()] = 1;
    for (size_t node = n_nodes_; node-- > 0;) {
      if (!is_reached_[node]) continue;
      each_edge(node, [&](size_t edge) {
        const double cost = cost_below(edge);
        if (cost == infinite) return;  // a part was too unlikely to be counted
        is_kept_[edge] = above_[node] + cost <= most || cost == below_[node];
        if (is_kept_[edge]) each_child(edge, [&](size_t child) { is_reached_[child] = 1; });
      });
    }
  }

  void write_nodes(ChartForest& forest) {
    number_.assign(n_nodes_, -1);
    for (size_t node = 0; node < n_nodes_; ++node) {
      if (!is_reached_[node] && node >= static_cast<size_t>(n_words_)) continue;
      number_[node] = static_cast<int32_t>(forest.node_label.size());
      forest.node_label.push_back(built_.labels[node]);
      forest.node_start.push_back(built_.starts[node]);
      forest.node_end.push_back(built_.ends[node]);
    }
    forest.root = number_[root()];
  }

  void write_edges(size_t node, ChartForest& forest) const {
    double sum = 0;
    each_edge(node, [&](size_t edge) {
      if (is_kept_[edge]) sum += built_.counts[edge];
    });
    each_edge(node, [&](size_t edge) {
      if (!is_kept_[edge]) return;
      forest.edge_head.push_back(number_[node]);
      forest.edge_p.push_back(built_.counts[edge] / sum);
      forest.edge_n_children.push_back(
          static_cast<int32_t>(built_.edges.n_items(static_cast<int32_t>(edge))));
      each_child(edge, [&](size_t child) { forest.children.push_back(number_[child]); });
    });
  }

  const ForestBuilder& built_;
  int32_t n_words_;
  size_t n_nodes_, n_edges_;
  std::vector<size_t> begin_, sorted_;  // edges by head
  std::vector<double> cost_, below_, above_;
  std::vector<uint8_t> is_kept_, is_reached_;
  std::vector<int32_t> number_;
};

}  // namespace kernelwood
