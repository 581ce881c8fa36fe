// Where the distinct subtrees of the stream side stand.
//
// Each gets a slot: contiguous per root symbol, and within it per shape (a shape is a production:
// root symbol and child symbols). Inside a shape they are ordered by the last stream tree that
// holds them, so that work on the trees from some index on needs only a prefix.
#pragma once

#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/slot_range.hpp"
#include "kernelwood/subtree_table.hpp"

namespace kernelwood {

// What a row needs to know of a shape, in one half cache line.
struct Shape {
  int32_t begin = 0;      // slots of its members are begin .. begin + n_members
  int32_t n_members = 0;
  int32_t arity = 0;
  int32_t last = -1;      // last stream tree that has it
  int64_t child_symbols = 0;
  int64_t child_slots = 0;
};

// Slots of the stream side, and the shapes that can meet a given one.
class SlotIndex {
 public:
  SlotIndex(const SubtreeTable& table, const TreeSide& stream) : table_(table) {
    order_by_last_tree(stream);
    assign_slots();
    rank_shapes();
    place_members();
    fill_child_slots();
  }

  int32_t n_slots() const { return static_cast<int32_t>(last_of_slot_.size()); }
  int32_t slot(int32_t sub) const {
    return static_cast<size_t>(sub) < slot_of_.size() ? slot_of_[static_cast<size_t>(sub)] : -1;
  }
  // Stream shapes by rank; -1 is the rank of a shape that only panel trees have.
  int32_t n_ranks() const { return static_cast<int32_t>(shapes_.size()); }
  int32_t rank(int32_t shape) const {
    const auto at = static_cast<size_t>(shape);
    return at < rank_of_.size() ? rank_of_[at] : -1;
  }
  int32_t shape_of_rank(int32_t rank) const { return ranked_[static_cast<size_t>(rank)]; }
  const Shape& shape(int32_t rank) const { return shapes_[static_cast<size_t>(rank)]; }
  const int32_t* child_symbols(const Shape& shape) const {
    return child_symbols_.data() + shape.child_symbols;
  }
  // Slots of the subtrees with a symbol, and of the leaves among them, which come first.
  SlotRange group(int32_t symbol) const {
    const auto at = static_cast<size_t>(symbol);
    if (at >= leaves_end_.size()) return {};
    return {group_begin_[at], group_begin_[at + 1]};
  }
  SlotRange leaves(int32_t symbol) const {
    const auto at = static_cast<size_t>(symbol);
    if (at >= leaves_end_.size()) return {};
    return {group_begin_[at], leaves_end_[at]};
  }
  const Buffer<int32_t>& subs_by_last() const { return subs_by_last_; }

  // Rank of the shape of a slot that is no leaf.
  int32_t rank_of_slot(int32_t slot) const { return rank_of_slot_[static_cast<size_t>(slot)]; }
  // Last stream tree that holds the slot's subtree.
  int32_t last_of_slot(int32_t slot) const { return last_of_slot_[static_cast<size_t>(slot)]; }
  // How many members of the shape can occur in stream trees from `stream_begin` on: an upper
  // bound, since for few members looking costs more than computing.
  int32_t live(const Shape& shape, int64_t stream_begin) const {
    int32_t n = shape.n_members;
    const int32_t* last = last_of_slot_.data() + shape.begin;
    while (n > 8 && last[n - 1] < stream_begin) --n;
    return n;
  }
  // Slots of the j-th children of the shape's members, in member order.
  const int32_t* child_slots(const Shape& shape, int64_t j) const {
    return child_slots_.data() + shape.child_slots + j * shape.n_members;
  }

 private:
  void order_by_last_tree(const TreeSide& stream) {
    last_.assign(static_cast<size_t>(table_.n_subtrees()), -1);
    for (int64_t t = stream.size() - 1; t >= 0; --t)
      for (int64_t e = stream.begin[static_cast<size_t>(t)];
           e < stream.begin[static_cast<size_t>(t) + 1]; ++e) {
        const int32_t sub = stream.sub[static_cast<size_t>(e)];
        if (last_[static_cast<size_t>(sub)] < 0) {
          last_[static_cast<size_t>(sub)] = static_cast<int32_t>(t);
          subs_by_last_.push_back(sub);
        }
      }
  }

  void assign_slots() {
    const auto n_symbols = static_cast<size_t>(table_.n_symbols());
    group_begin_.assign(n_symbols + 1, 0);
    Buffer<int32_t> n_leaves(n_symbols, 0);
    shapes_.resize(static_cast<size_t>(table_.n_shapes()));
    for (const int32_t sub : subs_by_last_) {
      const auto symbol = static_cast<size_t>(table_.symbol(sub));
      ++group_begin_[symbol + 1];
      if (table_.shape(sub) < 0) {
        ++n_leaves[symbol];
      } else {
        Shape& shape = shapes_[static_cast<size_t>(table_.shape(sub))];
        if (shape.n_members++ == 0) shapes_by_last_.push_back(table_.shape(sub));
      }
    }
    leaves_end_.resize(n_symbols);
    for (size_t s = 0; s < n_symbols; ++s) {
      leaves_end_[s] = group_begin_[s] + n_leaves[s];
      group_begin_[s + 1] += group_begin_[s];
    }
    Buffer<int32_t> next(leaves_end_);
    for (const int32_t id : shapes_by_last_) {
      Shape& shape = shapes_[static_cast<size_t>(id)];
      shape.begin = next[static_cast<size_t>(table_.shape_symbol(id))];
      next[static_cast<size_t>(table_.shape_symbol(id))] += shape.n_members;
    }
  }

  // Lays the shapes out by symbol, latest first: the order in which rows walk through them.
  void rank_shapes() {
    Buffer<int64_t> next(static_cast<size_t>(table_.n_symbols()) + 1, 0);
    for (const int32_t id : shapes_by_last_)
      ++next[static_cast<size_t>(table_.shape_symbol(id)) + 1];
    for (size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
    ranked_.resize(shapes_by_last_.size());
    for (const int32_t id : shapes_by_last_)
      ranked_[static_cast<size_t>(next[static_cast<size_t>(table_.shape_symbol(id))]++)] = id;
    rank_of_.assign(shapes_.size(), -1);
    Buffer<Shape> shapes;
    shapes.reserve(ranked_.size());
    int64_t n_symbols = 0, n_slots = 0;
    for (const int32_t id : ranked_) {
      rank_of_[static_cast<size_t>(id)] = static_cast<int32_t>(shapes.size());
      Shape shape = shapes_[static_cast<size_t>(id)];
      shape.arity = static_cast<int32_t>(table_.arity(id));
      shape.child_symbols = n_symbols;
      shape.child_slots = n_slots;
      n_symbols += shape.arity;
      n_slots += int64_t{shape.arity} * shape.n_members;
      shapes.push_back(shape);
      child_symbols_.insert(child_symbols_.end(), table_.child_symbols(id),
                            table_.child_symbols(id) + shape.arity);
    }
    shapes_.swap(shapes);
    child_slots_.resize(static_cast<size_t>(n_slots));
  }

  void place_members() {
    slot_of_.assign(static_cast<size_t>(table_.n_subtrees()), -1);
    last_of_slot_.resize(subs_by_last_.size());
    rank_of_slot_.resize(subs_by_last_.size());
    Buffer<int32_t> placed(shapes_.size(), 0);
    Buffer<int32_t> next_leaf(group_begin_);
    for (const int32_t sub : subs_by_last_) {
      const int32_t last = last_[static_cast<size_t>(sub)];
      int32_t slot;
      if (table_.shape(sub) < 0) {
        slot = next_leaf[static_cast<size_t>(table_.symbol(sub))]++;
      } else {
        const auto rank = static_cast<size_t>(this->rank(table_.shape(sub)));
        if (placed[rank] == 0) shapes_[rank].last = last;
        slot = shapes_[rank].begin + placed[rank]++;
        rank_of_slot_[static_cast<size_t>(slot)] = static_cast<int32_t>(rank);
      }
      slot_of_[static_cast<size_t>(sub)] = slot;
      last_of_slot_[static_cast<size_t>(slot)] = last;
    }
  }

  void fill_child_slots() {
    for (const int32_t sub : subs_by_last_) {
      if (table_.shape(sub) < 0) continue;
      const Shape& shape = this->shape(rank(table_.shape(sub)));
      int64_t at = shape.child_slots + (slot(sub) - shape.begin);
      for (int64_t j = 0; j < shape.arity; ++j, at += shape.n_members)
        child_slots_[static_cast<size_t>(at)] = slot(table_.children(sub)[j]);
    }
  }

  const SubtreeTable& table_;
  Buffer<int32_t> last_, last_of_slot_;
  Buffer<int32_t> subs_by_last_, shapes_by_last_, slot_of_, child_slots_;
  Buffer<int32_t> group_begin_, leaves_end_, rank_of_slot_;
  Buffer<int32_t> rank_of_, ranked_, child_symbols_;
  Buffer<Shape> shapes_;
};

}  // namespace kernelwood
