// Where the distinct hyper-edges and nodes of the stream side stand.
//
// Hyper-edges get slots, contiguous per shape, in four runs: first those that are the only one of
// some node, last those that are not; in the middle, of either kind, those owned by one forest.
// Nodes get places, contiguous per symbol: first the simple ones, shape by shape and in the order
// of their slots, then the ambiguous ones. Everything is ordered by the last stream forest that
// holds it, so that work on the forests from some index on needs only a prefix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernelwood/buffer.hpp"
#include "kernelwood/forest_table.hpp"
#include "kernelwood/slot_range.hpp"

namespace kernelwood {

// The runs of a shape: slots of simple nodes or not, owned by one forest or not.
struct SlotRun {
  enum : int { simple, simple_owned, owned, neither };
};
inline constexpr int n_runs = 4;

// What a row needs to know of a shape.
struct ForestShape {
  int32_t begin = 0;  // slots begin .. begin + size
  int32_t size = 0;
  int32_t ends[n_runs] = {};  // of the runs, from the first slot: see SlotRun
  int32_t arity = 0;
  int32_t places = 0;  // place of the first simple node
  int64_t children = 0;
  int64_t shared_begin = 0, shared_end = 0;
};

// A hyper-edge of the shape below an ambiguous node.
struct SharedSlot {
  int32_t slot;  // from the shape's first
  int32_t place;  // of the node
  double given_head;
};

class ForestSlots {
 public:
  ForestSlots(const ForestTable& table, const ForestSide& stream)
      : table_(table), last_edge_(static_cast<size_t>(table.n_edges()), -1),
        last_node_(static_cast<size_t>(table.n_nodes()), -1) {
    find_last(stream);
    place_shapes();
    place_nodes();
    fill_children();
    list_shared();
  }

  int32_t n_slots() const { return static_cast<int32_t>(last_of_slot_.size()); }
  const ForestShape& shape(int32_t id) const { return shapes_[static_cast<size_t>(id)]; }
  int32_t slot(int32_t edge) const { return slot_of_[static_cast<size_t>(edge)]; }
  // Of an owned slot: its forest.
  int32_t owner(int32_t slot) const { return last_of_slot_[static_cast<size_t>(slot)]; }
  const Buffer<int32_t>& edges() const { return edges_; }
  SlotRange places(int32_t symbol) const {
    const auto at = static_cast<size_t>(symbol);
    return {places_[at], places_[at + 1]};
  }
  // The places of ambiguous nodes that can occur in stream forests from `stream_begin` on.
  SlotRange ambiguous(int32_t symbol, int64_t stream_begin) const {
    const int32_t begin = ambiguous_[static_cast<size_t>(symbol)];
    const int32_t end = places_[static_cast<size_t>(symbol) + 1];
    return {begin, first_dead(last_of_place_, begin, end, stream_begin)};
  }
  // Places of the j-th children of the shape's members, in the order of slots; -1 for terminals.
  const int32_t* children(const ForestShape& shape, int64_t j) const {
    return children_.data() + shape.children + j * shape.size;
  }
  // The members of a run that can occur in stream forests from `stream_begin` on, counted from the
  // shape's first slot.
  SlotRange live(const ForestShape& shape, int run, int64_t stream_begin) const {
    const int32_t begin = run == 0 ? 0 : shape.ends[run - 1], end = shape.ends[run];
    const int32_t dead =
        first_dead(last_of_slot_, shape.begin + begin, shape.begin + end, stream_begin);
    return {begin, dead - shape.begin};
  }
  std::pair<const SharedSlot*, const SharedSlot*> shared(const ForestShape& shape,
                                                         int64_t stream_begin) const {
    const SharedSlot* begin = shared_.data() + shape.shared_begin;
    const SharedSlot* end = shared_.data() + shape.shared_end;
    return {begin, std::partition_point(begin, end, [&](const SharedSlot& s) {
              return last_of_place_[static_cast<size_t>(s.place)] >= stream_begin;
            })};
  }

 private:
  // Where, in a run ordered by the last forest, those end that occur from `stream_begin` on.
  static int32_t first_dead(const Buffer<int32_t>& last, int32_t begin, int32_t end,
                            int64_t stream_begin) {
    const auto found = std::partition_point(last.begin() + begin, last.begin() + end,
                                            [&](int32_t forest) { return forest >= stream_begin; });
    return static_cast<int32_t>(found - last.begin());
  }

  int run_of(int32_t edge) const {
    const bool has_simple = has_simple_[static_cast<size_t>(edge)] != 0;
    if (table_.is_owned(edge)) return has_simple ? SlotRun::simple_owned : SlotRun::owned;
    return has_simple ? SlotRun::simple : SlotRun::neither;
  }

  // Lists edges and nodes by the last stream forest that has them, latest first.
  void find_last(const ForestSide& stream) {
    const auto see = [](int32_t id, int64_t f, Buffer<int32_t>& last, Buffer<int32_t>& listed) {
      if (last[static_cast<size_t>(id)] >= 0) return;
      last[static_cast<size_t>(id)] = static_cast<int32_t>(f);
      listed.push_back(id);
    };
    for (int64_t f = stream.size() - 1; f >= 0; --f) {
      const auto at = static_cast<size_t>(f);
      for (int64_t i = stream.begin[at]; i < stream.begin[at + 1]; ++i)
        see(stream.edge[static_cast<size_t>(i)], f, last_edge_, edges_);
      for (int64_t i = stream.node_begin[at]; i < stream.node_begin[at + 1]; ++i)
        see(stream.node[static_cast<size_t>(i)], f, last_node_, nodes_);
    }
  }

  void place_shapes() {
    shapes_.resize(static_cast<size_t>(table_.n_shapes()));
    has_simple_.assign(static_cast<size_t>(table_.n_edges()), 0);
    for (const int32_t node : nodes_)
      if (table_.is_simple(node))
        has_simple_[static_cast<size_t>(table_.alternatives(node)->edge)] = 1;
    for (const int32_t edge : edges_) {
      ++shape_of(edge).size;
      ++shape_of(edge).ends[run_of(edge)];
    }
    int32_t begin = 0;
    int64_t n_children = 0;
    for (int32_t id = 0; id < table_.n_shapes(); ++id) {
      ForestShape& shape = shapes_[static_cast<size_t>(id)];
      for (int run = 1; run < n_runs; ++run) shape.ends[run] += shape.ends[run - 1];
      shape.begin = begin;
      shape.arity = static_cast<int32_t>(table_.arity(id));
      shape.children = n_children;
      begin += shape.size;
      n_children += int64_t{shape.size} * shape.arity;
    }
    children_.resize(static_cast<size_t>(n_children));
    place_members();
  }

  void place_members() {
    slot_of_.assign(static_cast<size_t>(table_.n_edges()), -1);
    last_of_slot_.resize(edges_.size());
    Buffer<int32_t> next(shapes_.size() * n_runs);
    for (size_t id = 0; id < shapes_.size(); ++id)
      for (int run = 0; run < n_runs; ++run)
        next[id * n_runs + static_cast<size_t>(run)] =
            shapes_[id].begin + (run == 0 ? 0 : shapes_[id].ends[run - 1]);
    for (const int32_t edge : edges_) {
      const auto id = static_cast<size_t>(table_.shape(edge));
      const int32_t slot = next[id * n_runs + static_cast<size_t>(run_of(edge))]++;
      slot_of_[static_cast<size_t>(edge)] = slot;
      last_of_slot_[static_cast<size_t>(slot)] = last_edge_[static_cast<size_t>(edge)];
    }
  }

  void place_nodes() {
    const auto n_symbols = static_cast<size_t>(table_.n_symbols());
    Buffer<int32_t> n_ambiguous(n_symbols, 0), n_simple(n_symbols, 0);
    for (const int32_t node : nodes_) {
      auto& n = table_.is_simple(node) ? n_simple : n_ambiguous;
      ++n[static_cast<size_t>(table_.symbol(node))];
    }
    places_.assign(n_symbols + 1, 0);
    ambiguous_.resize(n_symbols);
    for (size_t s = 0; s < n_symbols; ++s) {
      ambiguous_[s] = places_[s] + n_simple[s];
      places_[s + 1] = ambiguous_[s] + n_ambiguous[s];
    }
    Buffer<int32_t> next(places_);
    for (int32_t id = 0; id < table_.n_shapes(); ++id) {
      ForestShape& shape = shapes_[static_cast<size_t>(id)];
      int32_t& at = next[static_cast<size_t>(table_.shape_symbol(id))];
      shape.places = at;
      at += shape.ends[SlotRun::simple_owned];
    }
    last_of_place_.assign(nodes_.size(), -1);
    place_of_.assign(static_cast<size_t>(table_.n_nodes()), -1);
    Buffer<int32_t> next_ambiguous(ambiguous_);
    for (const int32_t node : nodes_) {
      const int32_t place = table_.is_simple(node)
                                ? simple_place(table_.alternatives(node)->edge)
                                : next_ambiguous[static_cast<size_t>(table_.symbol(node))]++;
      place_of_[static_cast<size_t>(node)] = place;
      last_of_place_[static_cast<size_t>(place)] = last_node_[static_cast<size_t>(node)];
    }
  }

  int32_t simple_place(int32_t edge) {
    const ForestShape& shape = shape_of(edge);
    return shape.places + slot(edge) - shape.begin;
  }

  void fill_children() {
    for (const int32_t edge : edges_) {
      const ForestShape& shape = shape_of(edge);
      int64_t at = shape.children + (slot(edge) - shape.begin);
      for (int64_t j = 0; j < shape.arity; ++j, at += shape.size)
        children_[static_cast<size_t>(at)] =
            place_of_[static_cast<size_t>(table_.children(edge)[j])];
    }
  }

  // Node by node, latest first: what a node sums up comes in an order of its own.
  void list_shared() {
    const auto each = [&](auto&& visit) {
      for (const int32_t node : nodes_)
        if (!table_.is_simple(node))
          for (int32_t k = 0; k < table_.n_alternatives(node); ++k)
            visit(node, table_.alternatives(node)[k]);
    };
    each([&](int32_t, const Alternative& choice) { ++shape_of(choice.edge).shared_end; });
    int64_t n = 0;
    for (ForestShape& shape : shapes_) {
      shape.shared_begin = n;
      n += shape.shared_end;
      shape.shared_end = shape.shared_begin;
    }
    shared_.resize(static_cast<size_t>(n));
    each([&](int32_t node, const Alternative& choice) {
      ForestShape& shape = shape_of(choice.edge);
      shared_[static_cast<size_t>(shape.shared_end++)] = {
          slot(choice.edge) - shape.begin, place_of_[static_cast<size_t>(node)], choice.given_head};
    });
  }

  ForestShape& shape_of(int32_t edge) { return shapes_[static_cast<size_t>(table_.shape(edge))]; }

  const ForestTable& table_;
  Buffer<int32_t> last_edge_, last_node_, edges_, nodes_;
  Buffer<uint8_t> has_simple_;
  Buffer<ForestShape> shapes_;
  Buffer<int32_t> slot_of_, last_of_slot_, place_of_, last_of_place_, children_;
  Buffer<int32_t> places_, ambiguous_;
  Buffer<SharedSlot> shared_;
};

}  // namespace kernelwood
