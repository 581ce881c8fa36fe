// Distinct parts of sets of packed forests: hyper-edges and nodes with all that hangs below them
// are interned once, so that a kernel compares distinct parts instead of pairs of hyper-edges.
//
// Most nodes of a pruned forest have a single hyper-edge ("simple" nodes); where that holds for all
// nodes below too, it is a plain tree, shared by many sentences. Ambiguous nodes, and all that has
// one below it, belong to their forest alone: their probabilities hardly ever recur.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelwood/buffer.hpp"
#include "kernelwood/forest_weights.hpp"
#include "kernelwood/interning.hpp"

namespace kernelwood {

// Each forest as a list of distinct hyper-edges with expected counts, children before heads, and
// of the distinct nodes that have hyper-edges.
struct ForestSide {
  Buffer<int64_t> begin{0};
  Buffer<int32_t> edge;
  Buffer<double> weight;
  Buffer<int64_t> node_begin{0};
  Buffer<int32_t> node;

  int64_t size() const { return static_cast<int64_t>(begin.size()) - 1; }
};

// A hyper-edge below an ambiguous node, and its probability given the node.
struct Alternative {
  int32_t edge;
  double given_head;
};

class ForestTable {
 public:
  explicit ForestTable(size_t n_edges)
      : edges_(n_edges / 2 + 16), shapes_(n_edges / 4 + 16), ambiguous_(n_edges / 4 + 16) {}

  ForestSide add(const ForestArrays& forests, double sharpness) {
    ForestSide side;
    ForestWeights weights(sharpness);
    for (int64_t f = 0; f < forests.n_forests; ++f) {
      weights.read(forests, f);
      add_forest(weights, forests.labels + forests.node_offsets[f], side);
    }
    return side;
  }

  int32_t n_edges() const { return static_cast<int32_t>(edges_.size()); }
  int32_t n_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t n_shapes() const { return static_cast<int32_t>(shapes_.size()); }
  int32_t n_symbols() const { return static_cast<int32_t>(symbols_.size()); }
  // The shape of a hyper-edge is its production: the symbols of head and children.
  int32_t shape(int32_t edge) const { return edges_.head(edge); }
  int64_t arity(int32_t shape) const { return shapes_.n_items(shape); }
  int32_t shape_symbol(int32_t shape) const { return shapes_.head(shape); }
  const int32_t* children(int32_t edge) const { return edges_.items(edge); }
  int64_t n_children(int32_t edge) const { return edges_.n_items(edge); }
  // Whether something below the hyper-edge is ambiguous, so that no other forest has it.
  bool is_owned(int32_t edge) const { return owned_[static_cast<size_t>(edge)] != 0; }

  int32_t symbol(int32_t node) const { return nodes_[static_cast<size_t>(node)].symbol; }
  bool is_terminal(int32_t node) const { return n_alternatives(node) == 0; }
  bool is_simple(int32_t node) const { return n_alternatives(node) == 1; }
  int32_t n_alternatives(int32_t node) const { return nodes_[static_cast<size_t>(node)].n; }
  const Alternative* alternatives(int32_t node) const {
    return alternatives_.data() + nodes_[static_cast<size_t>(node)].first;
  }

 private:
  struct Node {
    int32_t symbol, n;
    int64_t first;
  };

  void add_forest(const ForestWeights& forest, const int32_t* labels, ForestSide& side) {
    node_of_.resize(static_cast<size_t>(forest.n_nodes()));
    for (const int32_t v : forest.order()) {
      const int32_t symbol = symbols_.intern(0, labels[v]);
      const int32_t node = forest.n_edges(v) == 0 ? terminal(symbol) : inner(forest, v, symbol);
      node_of_[static_cast<size_t>(v)] = node;
      if (forest.n_edges(v) == 0) continue;
      list_node(node, side);
      for (int32_t k = 0; k < n_alternatives(node); ++k) {
        const Alternative& choice = alternatives(node)[k];
        list_edge(choice.edge, forest.expected(v) * choice.given_head, side);
      }
    }
    side.begin.push_back(static_cast<int64_t>(side.edge.size()));
    side.node_begin.push_back(static_cast<int64_t>(side.node.size()));
    ++forest_;
  }

  int32_t terminal(int32_t symbol) {
    if (static_cast<size_t>(symbol) >= terminal_of_.size())
      terminal_of_.resize(static_cast<size_t>(symbol) + 1, -1);
    int32_t& node = terminal_of_[static_cast<size_t>(symbol)];
    if (node < 0) node = add_node(symbol, {});
    return node;
  }

  int32_t inner(const ForestWeights& forest, int32_t v, int32_t symbol) {
    choices_.clear();
    for (const int32_t* e = forest.edges_begin(v); e < forest.edges_end(v); ++e)
      choices_.push_back({intern_edge(forest, *e, symbol), forest.given_head(*e)});
    if (choices_.size() > 1) return intern_ambiguous(symbol);
    int32_t& simple = simple_of_[static_cast<size_t>(choices_[0].edge)];
    if (simple < 0) simple = add_node(symbol, choices_);
    return simple;
  }

  int32_t intern_edge(const ForestWeights& forest, int32_t e, int32_t symbol) {
    children_now_.clear();
    symbols_now_.clear();
    for (const int32_t* c = forest.children_begin(e); c < forest.children_end(e); ++c) {
      children_now_.push_back(node_of_[static_cast<size_t>(*c)]);
      symbols_now_.push_back(this->symbol(children_now_.back()));
    }
    const auto n = static_cast<int64_t>(children_now_.size());
    const int32_t shape = shapes_.intern(symbol, symbols_now_.data(), n);
    const int32_t edge = edges_.intern(shape, children_now_.data(), n);
    if (edge == static_cast<int32_t>(simple_of_.size())) {
      owned_.push_back(std::any_of(children_now_.begin(), children_now_.end(),
                                   [&](int32_t node) { return has_ambiguity(node); }));
      simple_of_.push_back(-1);
      entry_of_.push_back(-1);
      forest_of_edge_.push_back(-1);
    }
    return edge;
  }

  bool has_ambiguity(int32_t node) const {
    return n_alternatives(node) > 1 || (is_simple(node) && is_owned(alternatives(node)->edge));
  }

  int32_t intern_ambiguous(int32_t symbol) {
    key_.assign(1, forest_);
    for (const Alternative& choice : choices_) {
      int32_t bits[2];
      std::memcpy(bits, &choice.given_head, sizeof bits);
      key_.insert(key_.end(), {choice.edge, bits[0], bits[1]});
    }
    const int32_t id = ambiguous_.intern(symbol, key_.data(), static_cast<int64_t>(key_.size()));
    if (id == static_cast<int32_t>(ambiguous_node_.size()))
      ambiguous_node_.push_back(add_node(symbol, choices_));
    return ambiguous_node_[static_cast<size_t>(id)];
  }

  int32_t add_node(int32_t symbol, const Buffer<Alternative>& choices) {
    nodes_.push_back(
        {symbol, static_cast<int32_t>(choices.size()), static_cast<int64_t>(alternatives_.size())});
    alternatives_.insert(alternatives_.end(), choices.begin(), choices.end());
    forest_of_node_.push_back(-1);
    return static_cast<int32_t>(nodes_.size()) - 1;
  }

  void list_node(int32_t node, ForestSide& side) {
    if (forest_of_node_[static_cast<size_t>(node)] == forest_) return;
    forest_of_node_[static_cast<size_t>(node)] = forest_;
    side.node.push_back(node);
  }

  void list_edge(int32_t edge, double weight, ForestSide& side) {
    const auto at = static_cast<size_t>(edge);
    if (forest_of_edge_[at] != forest_) {
      forest_of_edge_[at] = forest_;
      entry_of_[at] = static_cast<int64_t>(side.edge.size());
      side.edge.push_back(edge);
      side.weight.push_back(0.0);
    }
    side.weight[static_cast<size_t>(entry_of_[at])] += weight;
  }

  SymbolInterner symbols_;
  SpanInterner edges_, shapes_, ambiguous_;
  Buffer<Node> nodes_;
  Buffer<Alternative> alternatives_, choices_;
  Buffer<int32_t> terminal_of_, simple_of_, ambiguous_node_;
  Buffer<int32_t> node_of_, children_now_, symbols_now_, key_;
  Buffer<int32_t> forest_of_edge_, forest_of_node_;
  Buffer<uint8_t> owned_;
  Buffer<int64_t> entry_of_;
  int32_t forest_ = 0;  // of all sides, so that what was listed last is known
};

}  // namespace kernelwood
