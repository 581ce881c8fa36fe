// Distinct subtrees of two sets of trees, and where each of them stands.
//
// Every subtree is interned once (hash-consing), so a kernel compares distinct subtrees, not
// node pairs. The *stream* side's distinct subtrees get slots: contiguous per root symbol, and
// within it per shape (a shape is a production: root symbol and child symbols). Inside a shape
// they are ordered by the last stream tree that holds them, so that work on the trees from
// some index on needs only a prefix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernelwood/interning.hpp"

namespace kernelwood {

// Trees as flat post-order arrays; tree t owns the nodes offsets[t] .. offsets[t+1].
struct TreeArrays {
  const int64_t* offsets;
  int64_t n_trees;
  const int32_t* labels;
  const int32_t* edges;
  const int32_t* n_children;
};

// Each tree as a list of distinct subtrees with counts, children before parents.
struct TreeSide {
  std::vector<int64_t> begin{0};
  std::vector<int32_t> sub;
  std::vector<int32_t> count;
  std::vector<int32_t> root;

  int64_t size() const { return static_cast<int64_t>(root.size()); }
};

class SubtreeTable {
 public:
  explicit SubtreeTable(size_t n_nodes) : subtrees_(n_nodes / 2 + 16), shapes_(n_nodes / 4 + 16) {}

  TreeSide add(const TreeArrays& trees) {
    TreeSide side;
    side.begin.reserve(static_cast<size_t>(trees.n_trees) + 1);
    side.root.reserve(static_cast<size_t>(trees.n_trees));
    std::vector<int64_t> entry_of(shape_of_.size(), -1);
    for (int64_t t = 0; t < trees.n_trees; ++t) add_tree(trees, t, side, entry_of);
    return side;
  }

  int32_t n_subtrees() const { return static_cast<int32_t>(subtrees_.size()); }
  int32_t n_shapes() const { return static_cast<int32_t>(shapes_.size()); }
  int32_t n_symbols() const { return static_cast<int32_t>(symbols_.size()); }
  int32_t symbol(int32_t sub) const { return subtrees_.head(sub); }
  int32_t shape(int32_t sub) const { return shape_of_[static_cast<size_t>(sub)]; }  // -1: a leaf
  const int32_t* children(int32_t sub) const { return subtrees_.items(sub); }
  int64_t n_children(int32_t sub) const { return subtrees_.n_items(sub); }
  int32_t shape_symbol(int32_t shape) const { return shapes_.head(shape); }
  const int32_t* child_symbols(int32_t shape) const { return shapes_.items(shape); }
  int64_t arity(int32_t shape) const { return shapes_.n_items(shape); }

 private:
  void add_tree(const TreeArrays& trees, int64_t t, TreeSide& side,
                std::vector<int64_t>& entry_of) {
    stack_.clear();
    const int64_t first_entry = side.begin.back();
    for (int64_t v = trees.offsets[t]; v < trees.offsets[t + 1]; ++v) {
      const int64_t n = trees.n_children[v];
      if (n < 0 || n > static_cast<int64_t>(stack_.size()))
        throw std::invalid_argument("tree arrays are not a post-order listing");
      const uint64_t key = (static_cast<uint64_t>(static_cast<uint32_t>(trees.edges[v])) << 32) |
                           static_cast<uint32_t>(trees.labels[v]);
      const int32_t* kids = stack_.data() + stack_.size() - n;
      const int32_t sub = subtrees_.intern(symbols_.intern(key), kids, n);
      if (sub == static_cast<int32_t>(shape_of_.size())) {
        shape_of_.push_back(n == 0 ? -1 : intern_shape(sub));
        entry_of.push_back(-1);
      }
      stack_.resize(stack_.size() - static_cast<size_t>(n));
      stack_.push_back(sub);
      int64_t& entry = entry_of[static_cast<size_t>(sub)];
      if (entry >= first_entry) {
        ++side.count[static_cast<size_t>(entry)];
      } else {
        entry = static_cast<int64_t>(side.sub.size());
        side.sub.push_back(sub);
        side.count.push_back(1);
      }
    }
    if (stack_.size() != 1) throw std::invalid_argument("tree arrays are not a post-order listing");
    side.root.push_back(stack_.back());
    side.begin.push_back(static_cast<int64_t>(side.sub.size()));
  }

  int32_t intern_shape(int32_t sub) {
    child_symbols_.clear();
    for (int64_t i = 0; i < n_children(sub); ++i) child_symbols_.push_back(symbol(children(sub)[i]));
    return shapes_.intern(symbol(sub), child_symbols_.data(), n_children(sub));
  }

  KeyInterner symbols_;
  SpanInterner subtrees_, shapes_;
  std::vector<int32_t> shape_of_, stack_, child_symbols_;
};

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
  int32_t rank(int32_t shape) const { return rank_of_[static_cast<size_t>(shape)]; }
  int32_t shape_of_rank(int32_t rank) const { return ranked_[static_cast<size_t>(rank)]; }
  const Shape& shape(int32_t rank) const { return shapes_[static_cast<size_t>(rank)]; }
  const int32_t* child_symbols(const Shape& shape) const {
    return child_symbols_.data() + shape.child_symbols;
  }
  int32_t leaf_slot(int32_t symbol) const { return leaf_slot_[static_cast<size_t>(symbol)]; }
  const std::vector<int32_t>& subs_by_last() const { return subs_by_last_; }

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
    std::vector<int32_t> n_in_group(n_symbols, 0);
    shapes_.resize(static_cast<size_t>(table_.n_shapes()));
    leaf_slot_.assign(n_symbols, -1);
    for (const int32_t sub : subs_by_last_) {
      ++n_in_group[static_cast<size_t>(table_.symbol(sub))];
      if (table_.shape(sub) < 0) {
        leaf_slot_[static_cast<size_t>(table_.symbol(sub))] = 0;  // placed below
      } else {
        Shape& shape = shapes_[static_cast<size_t>(table_.shape(sub))];
        if (shape.n_members++ == 0) shapes_by_last_.push_back(table_.shape(sub));
      }
    }
    std::vector<int32_t> next(n_symbols);
    int32_t at = 0;
    for (size_t s = 0; s < n_symbols; ++s) {
      next[s] = at;
      at += n_in_group[s];
      if (leaf_slot_[s] == 0) leaf_slot_[s] = next[s]++;
    }
    for (const int32_t id : shapes_by_last_) {
      Shape& shape = shapes_[static_cast<size_t>(id)];
      shape.begin = next[static_cast<size_t>(table_.shape_symbol(id))];
      next[static_cast<size_t>(table_.shape_symbol(id))] += shape.n_members;
    }
  }

  // Lays the shapes out by symbol, latest first: the order in which rows walk through them.
  void rank_shapes() {
    std::vector<int64_t> next(static_cast<size_t>(table_.n_symbols()) + 1, 0);
    for (const int32_t id : shapes_by_last_) ++next[static_cast<size_t>(table_.shape_symbol(id)) + 1];
    for (size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
    ranked_.resize(shapes_by_last_.size());
    for (const int32_t id : shapes_by_last_)
      ranked_[static_cast<size_t>(next[static_cast<size_t>(table_.shape_symbol(id))]++)] = id;
    rank_of_.assign(shapes_.size(), -1);
    std::vector<Shape> shapes;
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
    std::vector<int32_t> placed(shapes_.size(), 0);
    for (const int32_t sub : subs_by_last_) {
      const int32_t last = last_[static_cast<size_t>(sub)];
      int32_t slot = leaf_slot(table_.symbol(sub));
      if (table_.shape(sub) >= 0) {
        const auto rank = static_cast<size_t>(this->rank(table_.shape(sub)));
        if (placed[rank] == 0) shapes_[rank].last = last;
        slot = shapes_[rank].begin + placed[rank]++;
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
  std::vector<int32_t> last_, last_of_slot_;
  std::vector<int32_t> subs_by_last_, shapes_by_last_, slot_of_, leaf_slot_, child_slots_;
  std::vector<int32_t> rank_of_, ranked_, child_symbols_;
  std::vector<Shape> shapes_;
};

// For a root symbol and a child symbol: the ranks of the stream shapes that have both.
class ShapePostings {
 public:
  ShapePostings(const SubtreeTable& table, const SlotIndex& slots) {
    for (int32_t shape = 0; shape < table.n_shapes(); ++shape) list_pairs(table, shape);
    begin_.assign(keys_.size() + 1, 0);
    for (int32_t rank = 0; rank < slots.n_ranks(); ++rank)
      for (const int32_t pair : pairs(slots.shape_of_rank(rank))) ++begin_[static_cast<size_t>(pair) + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    ranks_.resize(static_cast<size_t>(begin_.back()));
    std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
    for (int32_t rank = 0; rank < slots.n_ranks(); ++rank)
      for (const int32_t pair : pairs(slots.shape_of_rank(rank)))
        ranks_[static_cast<size_t>(next[static_cast<size_t>(pair)]++)] = rank;
  }

  struct Span {
    const int32_t *first, *last;
    const int32_t* begin() const { return first; }
    const int32_t* end() const { return last; }
  };
  // Ids of the shape's distinct (root symbol, child symbol) pairs.
  Span pairs(int32_t shape) const { return span(pairs_, pairs_begin_, shape); }
  // Ranks of the shapes with a pair, latest first.
  Span ranks(int32_t pair) const { return span(ranks_, begin_, pair); }
  size_t n_pairs() const { return keys_.size(); }

 private:
  static Span span(const std::vector<int32_t>& items, const std::vector<int64_t>& begin, int32_t i) {
    return {items.data() + begin[static_cast<size_t>(i)],
            items.data() + begin[static_cast<size_t>(i) + 1]};
  }

  void list_pairs(const SubtreeTable& table, int32_t shape) {
    const int32_t* symbols = table.child_symbols(shape);
    distinct_.assign(symbols, symbols + table.arity(shape));
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    const auto symbol = static_cast<uint64_t>(static_cast<uint32_t>(table.shape_symbol(shape)));
    for (const int32_t child : distinct_)
      pairs_.push_back(keys_.intern(symbol << 32 | static_cast<uint32_t>(child)));
    pairs_begin_.push_back(static_cast<int64_t>(pairs_.size()));
  }

  KeyInterner keys_;
  std::vector<int64_t> begin_, pairs_begin_{0};
  std::vector<int32_t> ranks_, pairs_, distinct_;
};

}  // namespace kernelwood
