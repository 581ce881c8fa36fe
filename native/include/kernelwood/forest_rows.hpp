// Rows of the forest kernel: what one panel hyper-edge or node shares with those of the stream.
//
//   Delta(e1, e2) = decay * prod_j (1 + D(c1_j, c2_j))                          same production
//   D(v1, v2)     = sum over e1 of v1, e2 of v2, same production, of q(e1) q(e2) Delta(e1, e2)
//
// These are the Delta* of the definition over beta(v1) beta(v2), hence always in range.
//
// Rows are kept from forest to forest while they fit. A forest whose rows alone exceed that is
// handled frugally: each row is freed after the last hyper-edge or node that is made from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/forest_slots.hpp"
#include "kernelwood/row_arena.hpp"

namespace kernelwood {

// D of one panel node: against the simple nodes of a range of places, and, where there are any,
// against ambiguous ones of another range. 0 everywhere else.
template <class Real>
struct NodeRow {
  const Real* simple = nullptr;
  const Real* ambiguous = nullptr;
  int32_t simple_begin = 0, simple_size = 0;
  int32_t ambiguous_begin = 0, ambiguous_size = 0;
  bool made = false;

  // Where the value at a place stands; `zero` for the rest. Addresses are chosen without a jump:
  // whether a place is in range is as good as random.
  const Real* find_simple(int32_t place, const Real* zero) const {
    const auto at = static_cast<uint32_t>(place - simple_begin);
    return at < static_cast<uint32_t>(simple_size) ? simple + at : zero;
  }
  const Real* find(int32_t place, const Real* zero) const {
    const auto at = static_cast<uint32_t>(place - ambiguous_begin);
    return find_simple(place, at < static_cast<uint32_t>(ambiguous_size) ? ambiguous + at : zero);
  }
};

template <class Real>
class ForestRows {
 public:
  ForestRows(double decay, int64_t max_bytes, const ForestTable& table, const ForestSlots& slots)
      : table_(table), slots_(slots), decay_(decay), max_bytes_(max_bytes), arena_(max_bytes),
        edges_(static_cast<size_t>(table.n_edges()), nullptr),
        nodes_(static_cast<size_t>(table.n_nodes())) {}

  Real base() const { return decay_; }

  // Announces a forest; rows of earlier ones may go.
  void begin_forest(const ForestSide& side, int64_t forest) {
    side_ = &side;
    forest_ = static_cast<size_t>(forest);
    n_finished_ = 0;
    if (!frugal_ && arena_.used() < kept_values) return;
    frugal_ = false;
    edges_alone_.clear();
    nodes_alone_.clear();
    live_bytes_ = 0;
    for (const int32_t edge : made_edges_) edges_[static_cast<size_t>(edge)] = nullptr;
    for (const int32_t node : made_nodes_) nodes_[static_cast<size_t>(node)] = {};
    made_edges_.clear();
    made_nodes_.clear();
    arena_.clear();
  }

  // Delta against the members of the edge's own shape, by slot from the shape's first; null where
  // the stream has none. Rows of the edges below must be there. Only what can occur in stream
  // forests from `stream_begin` on is right.
  const Real* edge_row(int32_t edge, int64_t stream_begin) {
    if (!frugal_ && arena_.used() > most_values) be_frugal();
    const ForestShape& shape = slots_.shape(table_.shape(edge));
    if (shape.size == 0) return nullptr;
    const Real*& made = edges_[static_cast<size_t>(edge)];
    if (made == nullptr) {
      made = make_edge_row(edge, shape, stream_begin);
      made_edges_.push_back(edge);
    }
    return made;
  }

  // Hyper-edges are finished in the order of the forest, when their rows have been used: if it is
  // frugal, rows that nothing else waits for are freed.
  void finish(int32_t edge) {
    ++n_finished_;
    if (!frugal_) return;
    for (int64_t j = 0; j < table_.n_children(edge); ++j) {
      const int32_t child = table_.children(edge)[j];
      if (--node_uses_[static_cast<size_t>(child)] == 0) finish_node(child);
    }
    if (edge_uses_[static_cast<size_t>(edge)] == 0) free_edge(edge);
  }

 private:
  static constexpr int64_t kept_values = int64_t{1} << 18;  // about a core's cache
  static constexpr int64_t most_values = int64_t{1} << 23;  // for the rows of one forest

  // The memory of one row.
  struct Alone {
    std::unique_ptr<Real[]> values;
    int64_t bytes = 0;
  };

  // Counts the hyper-edges to come that use each node, and the nodes to come of each hyper-edge.
  void be_frugal() {
    frugal_ = true;
    edges_alone_.resize(edges_.size());
    nodes_alone_.resize(nodes_.size());
    edge_uses_.assign(edges_.size(), 0);
    node_uses_.assign(nodes_.size(), 0);
    for (int64_t i = side_->begin[forest_] + n_finished_; i < side_->begin[forest_ + 1]; ++i) {
      const int32_t edge = side_->edge[static_cast<size_t>(i)];
      for (int64_t j = 0; j < table_.n_children(edge); ++j)
        ++node_uses_[static_cast<size_t>(table_.children(edge)[j])];
    }
    for (int64_t i = side_->node_begin[forest_]; i < side_->node_begin[forest_ + 1]; ++i) {
      const int32_t node = side_->node[static_cast<size_t>(i)];
      if (node_uses_[static_cast<size_t>(node)] == 0) continue;
      for (int32_t k = 0; k < table_.n_alternatives(node); ++k)
        ++edge_uses_[static_cast<size_t>(table_.alternatives(node)[k].edge)];
    }
  }

  void finish_node(int32_t node) {
    Alone& alone = nodes_alone_[static_cast<size_t>(node)];
    live_bytes_ -= alone.bytes;
    alone = {};
    nodes_[static_cast<size_t>(node)] = {};
    for (int32_t k = 0; k < table_.n_alternatives(node); ++k) {
      const int32_t edge = table_.alternatives(node)[k].edge;
      if (--edge_uses_[static_cast<size_t>(edge)] == 0) free_edge(edge);
    }
  }

  void free_edge(int32_t edge) {
    Alone& alone = edges_alone_[static_cast<size_t>(edge)];
    if (!alone.values) return;
    live_bytes_ -= alone.bytes;
    alone = {};
    edges_[static_cast<size_t>(edge)] = nullptr;
  }

  // Memory for a row of an edge or node, by its place in `alone`.
  Real* allocate(int64_t size, std::vector<Alone>& alone, int32_t at) {
    if (!frugal_) return arena_.allocate(size);
    const int64_t bytes = size * static_cast<int64_t>(sizeof(Real));
    live_bytes_ += bytes;
    if (live_bytes_ > max_bytes_) throw BudgetExceeded(live_bytes_);
    alone[static_cast<size_t>(at)] = {std::unique_ptr<Real[]>(new Real[static_cast<size_t>(size)]),
                                      bytes};
    return alone[static_cast<size_t>(at)].values.get();
  }

  const Real* make_edge_row(int32_t edge, const ForestShape& shape, int64_t stream_begin) {
    Real* values = allocate(shape.size, edges_alone_, edge);
    std::fill(values, values + shape.size, decay_);
    SlotRange live[n_runs];
    for (int run = 0; run < n_runs; ++run) live[run] = slots_.live(shape, run, stream_begin);
    for (int64_t j = 0; j < shape.arity; ++j) {
      const int32_t child = table_.children(edge)[j];
      if (table_.is_terminal(child)) continue;
      const NodeRow<Real>& row = node_row(child, stream_begin);
      const int32_t* places = slots_.children(shape, j);
      for (const SlotRange& some : live) multiply(values, places, some, row);
    }
    return values;
  }

  // values[k] *= 1 + row[places[k]].
  static void multiply(Real* values, const int32_t* places, SlotRange some,
                       const NodeRow<Real> row) {
    const int32_t begin = some.begin, end = some.end;
    const Real one(1.0), zero(0.0);
    if (row.ambiguous_size > 0) {
      for (int32_t k = begin; k < end; ++k) values[k] *= one + *row.find(places[k], &zero);
    } else if (row.simple_size == 1) {
      // Mostly a word: one node matches and all others do not.
      const Real match = one + row.simple[0];
      for (int32_t k = begin; k < end; ++k)
        values[k] *= places[k] == row.simple_begin ? match : one;
    } else if (row.simple_size > 1) {
      for (int32_t k = begin; k < end; ++k) values[k] *= one + *row.find_simple(places[k], &zero);
    }
  }

  const NodeRow<Real>& node_row(int32_t node, int64_t stream_begin) {
    NodeRow<Real>& row = nodes_[static_cast<size_t>(node)];
    if (row.made) return row;
    row =
        table_.is_simple(node) ? simple_row(node, stream_begin) : ambiguous_row(node, stream_begin);
    row.made = true;
    made_nodes_.push_back(node);
    return row;
  }

  // Against simple nodes it is the row of the one hyper-edge.
  NodeRow<Real> simple_row(int32_t node, int64_t stream_begin) {
    NodeRow<Real> row;
    const int32_t edge = table_.alternatives(node)->edge;
    const ForestShape& shape = slots_.shape(table_.shape(edge));
    const Real* values = edge_row(edge, stream_begin);
    row.simple = values;
    row.simple_begin = shape.places;
    row.simple_size = shape.ends[SlotRun::simple_owned];
    if (shape.shared_begin == shape.shared_end) return row;
    const SlotRange places = slots_.ambiguous(table_.symbol(node), stream_begin);
    Real* shared = zeros(node, places.size());
    add_shared(shape, stream_begin, values, Real(1.0), shared - places.begin);
    row.ambiguous = shared;
    row.ambiguous_begin = places.begin;
    row.ambiguous_size = places.size();
    return row;
  }

  NodeRow<Real> ambiguous_row(int32_t node, int64_t stream_begin) {
    NodeRow<Real> row;
    const SlotRange places = slots_.places(table_.symbol(node));
    Real* sums = zeros(node, places.size());
    for (int32_t k = 0; k < table_.n_alternatives(node); ++k) {
      const Alternative& choice = table_.alternatives(node)[k];
      const ForestShape& shape = slots_.shape(table_.shape(choice.edge));
      const Real* values = edge_row(choice.edge, stream_begin);
      if (values == nullptr) continue;
      const Real weight(choice.given_head);
      Real* at = sums + (shape.places - places.begin);
      for (const int run : {SlotRun::simple, SlotRun::simple_owned}) {
        const SlotRange some = slots_.live(shape, run, stream_begin);
        for (int32_t i = some.begin; i < some.end; ++i) at[i] += weight * values[i];
      }
      add_shared(shape, stream_begin, values, weight, sums - places.begin);
    }
    row.simple = sums;
    row.simple_begin = places.begin;
    row.simple_size = places.size();
    return row;
  }

  // What the members of a shape give to the ambiguous nodes they stand below, by place.
  void add_shared(const ForestShape& shape, int64_t stream_begin, const Real* values, Real weight,
                  Real* by_place) const {
    const auto [begin, end] = slots_.shared(shape, stream_begin);
    for (const SharedSlot* s = begin; s < end; ++s)
      by_place[s->place] += weight * Real(s->given_head) * values[s->slot];
  }

  Real* zeros(int32_t node, int32_t n) {
    Real* values = allocate(n, nodes_alone_, node);
    std::fill(values, values + n, Real(0.0));
    return values;
  }

  const ForestTable& table_;
  const ForestSlots& slots_;
  Real decay_;
  int64_t max_bytes_;
  RowArena<Real> arena_;
  Buffer<const Real*> edges_;
  Buffer<NodeRow<Real>> nodes_;
  Buffer<int32_t> made_edges_, made_nodes_;
  bool frugal_ = false;
  const ForestSide* side_ = nullptr;
  size_t forest_ = 0;
  int64_t n_finished_ = 0, live_bytes_ = 0;
  std::vector<Alone> edges_alone_, nodes_alone_;
  Buffer<int32_t> edge_uses_, node_uses_;
};

}  // namespace kernelwood
