// Directed graphs as arrays, and one of them with the nodes and edges that count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelwood/buffer.hpp"

namespace kernelwood {

// Rows of each graph: its nodes, then its edges. A node row has a label and a negative source, an
// edge row an edge label, source and target, counted from the first node. `weights` are gates of
// nodes and weights of edges.
struct GraphArrays {
  int64_t n;
  const int64_t* offsets;
  const int32_t *labels, *edges, *sources, *targets;
  const double* weights;
};

// Nodes with a gate above 0, numbered in order, and edges between them with a weight above 0, by
// the node they leave, in order.
struct VisibleGraph {
  void read(const GraphArrays& graphs, int64_t index) {
    const int64_t first = graphs.offsets[index], end = graphs.offsets[index + 1];
    int64_t at = first;
    labels.clear();
    gates.clear();
    number.clear();
    for (; at < end && graphs.sources[at] < 0; ++at) {
      const bool seen = graphs.weights[at] > 0;
      number.push_back(seen ? static_cast<int32_t>(labels.size()) : -1);
      if (!seen) continue;
      labels.push_back(graphs.labels[at]);
      gates.push_back(graphs.weights[at]);
    }
    begin.assign(labels.size() + 2, 0);
    const auto each_edge = [&](auto&& take) {
      for (int64_t edge = at; edge < end; ++edge) {
        const int32_t source = number[static_cast<size_t>(graphs.sources[edge])];
        const int32_t target = number[static_cast<size_t>(graphs.targets[edge])];
        if (source >= 0 && target >= 0 && graphs.weights[edge] > 0) take(edge, source, target);
      }
    };
    each_edge([&](int64_t, int32_t source, int32_t) { ++begin[static_cast<size_t>(source) + 2]; });
    for (size_t v = 2; v < begin.size(); ++v) begin[v] += begin[v - 1];
    targets.resize(static_cast<size_t>(begin.back()));
    edges.resize(targets.size());
    weights.resize(targets.size());
    each_edge([&](int64_t edge, int32_t source, int32_t target) {
      const auto place = static_cast<size_t>(begin[static_cast<size_t>(source) + 1]++);
      targets[place] = target;
      edges[place] = graphs.edges[edge];
      weights[place] = graphs.weights[edge];
    });
    begin.pop_back();
  }

  int32_t n_nodes() const { return static_cast<int32_t>(labels.size()); }
  int32_t n_edges() const { return static_cast<int32_t>(targets.size()); }

  Buffer<int32_t> labels;
  Buffer<double> gates;
  Buffer<int32_t> begin;  // of the edges that leave a node
  Buffer<int32_t> targets, edges;
  Buffer<double> weights;

 private:
  Buffer<int32_t> number;
};

}  // namespace kernelwood
