// What the probabilities of a packed forest come to: for every hyper-edge its probability given
// its head, and for every node how often it is expected to occur in a tree of the forest.
//
// With beta the inside probability, q(e) = P(e) prod_j beta(child_j) / beta(head), and top down
// m(root) = 1, m(child) += m(head) q(e). These ratios stay in range however long the sentence is;
// beta itself is carried with an exponent of its own.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernelwood/buffer.hpp"
#include "kernelwood/scaled.hpp"

namespace kernelwood {

// Forests as flat arrays: forest f owns the nodes node_offsets[f] .. node_offsets[f+1], and
// likewise hyper-edges, children (edge by edge) and one root. Heads, children and roots count
// from the forest's first node.
struct ForestArrays {
  int64_t n_forests;
  const int64_t* node_offsets;
  const int32_t* labels;
  const int64_t* edge_offsets;
  const int32_t* heads;
  const int32_t* n_children;
  const double* probabilities;
  const int64_t* child_offsets;
  const int32_t* children;
  const int64_t* root_offsets;
  const int32_t* roots;
};

// One forest at a time, its scratch kept for the next.
class ForestWeights {
 public:
  explicit ForestWeights(double sharpness) : sharpness_(sharpness) {}

  void read(const ForestArrays& forests, int64_t f) {
    n_nodes_ = static_cast<int32_t>(forests.node_offsets[f + 1] - forests.node_offsets[f]);
    n_edges_ = static_cast<int32_t>(forests.edge_offsets[f + 1] - forests.edge_offsets[f]);
    heads_ = forests.heads + forests.edge_offsets[f];
    children_ = forests.children + forests.child_offsets[f];
    probabilities_ = forests.probabilities + forests.edge_offsets[f];
    root_ = forests.roots[forests.root_offsets[f]];
    index_children(forests, f);
    index_edges();
    order_nodes();
    weigh_inside();
    weigh_nodes();
  }

  int32_t n_nodes() const { return n_nodes_; }
  // Nodes, children before heads.
  const Buffer<int32_t>& order() const { return order_; }
  const int32_t* edges_begin(int32_t node) const { return edges_.data() + first_edge(node); }
  const int32_t* edges_end(int32_t node) const { return edges_.data() + first_edge(node + 1); }
  int64_t n_edges(int32_t node) const { return first_edge(node + 1) - first_edge(node); }
  const int32_t* children_begin(int32_t edge) const { return children_ + first_child(edge); }
  const int32_t* children_end(int32_t edge) const { return children_ + first_child(edge + 1); }
  double given_head(int32_t edge) const { return given_head_[static_cast<size_t>(edge)]; }
  double expected(int32_t node) const { return expected_[static_cast<size_t>(node)]; }

 private:
  int64_t first_edge(int32_t node) const { return first_edge_[static_cast<size_t>(node)]; }
  int64_t first_child(int32_t edge) const { return first_child_[static_cast<size_t>(edge)]; }
  static void require(bool condition) {
    if (!condition) throw std::invalid_argument("the arrays do not describe packed forests");
  }
  bool is_node(int32_t node) const { return 0 <= node && node < n_nodes_; }

  void index_children(const ForestArrays& forests, int64_t f) {
    const int64_t n_all = forests.child_offsets[f + 1] - forests.child_offsets[f];
    const int32_t* n_children = forests.n_children + forests.edge_offsets[f];
    first_child_.assign(1, 0);
    for (int32_t e = 0; e < n_edges_; ++e) {
      require(n_children[e] > 0 && n_children[e] <= n_all - first_child_.back());
      require(is_node(heads_[e]) && probabilities_[e] > 0 && probabilities_[e] <= 1);
      first_child_.push_back(first_child_.back() + n_children[e]);
    }
    require(first_child_.back() == n_all && is_node(root_));
    for (int64_t i = 0; i < n_all; ++i) require(is_node(children_[i]));
  }

  // Edges by head, in the order given.
  void index_edges() {
    first_edge_.assign(static_cast<size_t>(n_nodes_) + 1, 0);
    for (int32_t e = 0; e < n_edges_; ++e) ++first_edge_[static_cast<size_t>(heads_[e]) + 1];
    for (size_t v = 1; v < first_edge_.size(); ++v) first_edge_[v] += first_edge_[v - 1];
    edges_.resize(static_cast<size_t>(n_edges_));
    Buffer<int64_t> next(first_edge_);
    for (int32_t e = 0; e < n_edges_; ++e)
      edges_[static_cast<size_t>(next[static_cast<size_t>(heads_[e])]++)] = e;
  }

  // Depth first from the root, without recursion: a node is listed when all below it are.
  void order_nodes() {
    enum : uint8_t { unseen, open, done };
    struct Visit {
      int32_t node;
      int64_t edge, child;  // next to look at
    };
    Buffer<uint8_t> state(static_cast<size_t>(n_nodes_), unseen);
    Buffer<Visit> stack;
    order_.clear();
    const auto enter = [&](int32_t node) {
      state[static_cast<size_t>(node)] = open;
      const int64_t edge = first_edge(node);
      const bool inner = edge < first_edge(node + 1);
      stack.push_back({node, edge, inner ? first_child(edges_[static_cast<size_t>(edge)]) : 0});
    };
    enter(root_);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.edge == first_edge(visit.node + 1)) {
        state[static_cast<size_t>(visit.node)] = done;
        order_.push_back(visit.node);
        stack.pop_back();
      } else if (visit.child == first_child(edges_[static_cast<size_t>(visit.edge)] + 1)) {
        ++visit.edge;
        if (visit.edge < first_edge(visit.node + 1))
          visit.child = first_child(edges_[static_cast<size_t>(visit.edge)]);
      } else {
        const int32_t child = children_[visit.child++];
        require(state[static_cast<size_t>(child)] != open);
        if (state[static_cast<size_t>(child)] == unseen) enter(child);
      }
    }
    require(static_cast<int32_t>(order_.size()) == n_nodes_);
  }

  void weigh_inside() {
    inside_.assign(static_cast<size_t>(n_nodes_), Scaled(1.0));
    given_head_.resize(static_cast<size_t>(n_edges_));
    for (const int32_t node : order_) {
      if (n_edges(node) == 0) continue;
      scores_.clear();
      Scaled sum(0.0);
      for (const int32_t* e = edges_begin(node); e < edges_end(node); ++e) {
        scores_.push_back(score(*e));
        sum += scores_.back();
      }
      inside_[static_cast<size_t>(node)] = sum;
      for (int64_t k = 0; k < n_edges(node); ++k)
        given_head_[static_cast<size_t>(edges_begin(node)[k])] =
            ratio(scores_[static_cast<size_t>(k)], sum);
    }
  }

  Scaled score(int32_t edge) const {
    const double p = probabilities_[edge];
    Scaled product = sharpness_ == 1.0 ? Scaled(p) : Scaled::power(p, sharpness_);
    for (const int32_t* c = children_begin(edge); c < children_end(edge); ++c)
      product *= inside_[static_cast<size_t>(*c)];
    return product;
  }

  void weigh_nodes() {
    expected_.assign(static_cast<size_t>(n_nodes_), 0.0);
    expected_[static_cast<size_t>(root_)] = 1.0;
    for (size_t i = order_.size(); i-- > 0;)
      for (const int32_t* e = edges_begin(order_[i]); e < edges_end(order_[i]); ++e) {
        const double count = expected(order_[i]) * given_head(*e);
        for (const int32_t* c = children_begin(*e); c < children_end(*e); ++c)
          expected_[static_cast<size_t>(*c)] += count;
      }
  }

  double sharpness_;
  int32_t n_nodes_ = 0, n_edges_ = 0, root_ = 0;
  const int32_t* heads_ = nullptr;
  const int32_t* children_ = nullptr;
  const double* probabilities_ = nullptr;
  Buffer<int64_t> first_child_, first_edge_;
  Buffer<int32_t> edges_, order_;
  Buffer<Scaled> inside_, scores_;
  Buffer<double> given_head_, expected_;
};

}  // namespace kernelwood
