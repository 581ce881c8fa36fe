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
#include <limits>
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

  // Leaves are listed only if the kernel counts them.
  TreeSide add(const TreeArrays& trees, bool list_leaves) {
    TreeSide side;
    side.begin.reserve(static_cast<size_t>(trees.n_trees) + 1);
    side.root.reserve(static_cast<size_t>(trees.n_trees));
    const auto n_nodes = static_cast<size_t>(trees.offsets[trees.n_trees] - trees.offsets[0]);
    side.sub.reserve(n_nodes);
    side.count.reserve(n_nodes);
    std::vector<int64_t> entry_of(shape_of_.size(), -1);
    for (int64_t t = 0; t < trees.n_trees; ++t) add_tree(trees, t, list_leaves, side, entry_of);
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
  void add_tree(const TreeArrays& trees, int64_t t, bool list_leaves, TreeSide& side,
                std::vector<int64_t>& entry_of) {
    stack_.clear();
    const int64_t first_entry = side.begin.back();
    for (int64_t v = trees.offsets[t]; v < trees.offsets[t + 1]; ++v) {
      const int64_t n = trees.n_children[v];
      if (n < 0 || n > static_cast<int64_t>(stack_.size()))
        throw std::invalid_argument("tree arrays are not a post-order listing");
      const int32_t* kids = stack_.data() + stack_.size() - n;
      const int32_t symbol = symbols_.intern(trees.edges[v], trees.labels[v]);
      const int32_t sub = n == 0 ? leaf(symbol) : subtrees_.intern(symbol, kids, n);
      if (sub == static_cast<int32_t>(shape_of_.size())) {
        shape_of_.push_back(n == 0 ? -1 : intern_shape(sub));
        entry_of.push_back(-1);
      }
      stack_.resize(stack_.size() - static_cast<size_t>(n) + 1);
      stack_.back() = sub;
      if (n == 0 && !list_leaves) continue;
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

  int32_t leaf(int32_t symbol) {
    if (static_cast<size_t>(symbol) >= leaf_of_.size())
      leaf_of_.resize(static_cast<size_t>(symbol) + 1, -1);
    int32_t& sub = leaf_of_[static_cast<size_t>(symbol)];
    if (sub < 0) sub = subtrees_.intern(symbol, nullptr, 0);
    return sub;
  }

  int32_t intern_shape(int32_t sub) {
    child_symbols_.clear();
    for (int64_t i = 0; i < n_children(sub); ++i) child_symbols_.push_back(symbol(children(sub)[i]));
    return shapes_.intern(symbol(sub), child_symbols_.data(), n_children(sub));
  }

  SymbolInterner symbols_;
  SpanInterner subtrees_, shapes_;
  std::vector<int32_t> shape_of_, leaf_of_, stack_, child_symbols_;
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

// For every pair of a root symbol and a child symbol: which stream subtrees have such a child.
class ChildPostings {
 public:
  // A stream subtree with the child in question, the child's own slot, and what the subtree
  // counts as (-1: nothing).
  struct Entry {
    int32_t slot, child_slot, feature;
  };
  template <class T>
  struct Span {
    const T *first, *last;
    const T* begin() const { return first; }
    const T* end() const { return last; }
    int64_t size() const { return last - first; }
  };

  ChildPostings(const SubtreeTable& table, const SlotIndex& slots) {
    for (int32_t shape = 0; shape < table.n_shapes(); ++shape) {
      const auto symbol = static_cast<uint64_t>(static_cast<uint32_t>(table.shape_symbol(shape)));
      for (int64_t j = 0; j < table.arity(shape); ++j)
        pairs_.push_back(keys_.intern(symbol << 32 | static_cast<uint32_t>(table.child_symbols(shape)[j])));
      pairs_begin_.push_back(static_cast<int64_t>(pairs_.size()));
    }
    list_entries(table, slots);
    list_ranks(slots);
  }

  template <class FeatureOfSlot>
  void set_features(FeatureOfSlot&& feature) {
    for (Entry& entry : entries_) entry.feature = feature(entry.slot);
  }

  size_t n_pairs() const { return keys_.size(); }
  // The pairs of a shape, one for each of its children.
  Span<int32_t> pairs(int32_t shape) const { return span(pairs_, pairs_begin_, shape); }
  // Stream subtrees with a pair, by falling last tree.
  Span<Entry> entries(int32_t pair) const { return span(entries_, entries_begin_, pair); }
  // Ranks of the stream shapes with a pair and at least two children, latest first.
  Span<int32_t> ranks(int32_t pair) const { return span(ranks_, ranks_begin_, pair); }
  // Smallest range of slots that holds all entries of a pair.
  int32_t first_slot(int32_t pair) const { return first_slot_[static_cast<size_t>(pair)]; }
  int32_t last_slot(int32_t pair) const { return last_slot_[static_cast<size_t>(pair)]; }

 private:
  template <class T>
  static Span<T> span(const std::vector<T>& items, const std::vector<int64_t>& begin, int32_t i) {
    return {items.data() + begin[static_cast<size_t>(i)],
            items.data() + begin[static_cast<size_t>(i) + 1]};
  }

  void list_entries(const SubtreeTable& table, const SlotIndex& slots) {
    const auto visit = [&](auto&& f) {
      for (const int32_t sub : slots.subs_by_last()) {
        if (table.shape(sub) < 0) continue;
        const int32_t* child = table.children(sub);
        for (const int32_t pair : pairs(table.shape(sub))) f(pair, sub, *child++);
      }
    };
    entries_begin_.assign(n_pairs() + 1, 0);
    first_slot_.assign(n_pairs(), std::numeric_limits<int32_t>::max());
    last_slot_.assign(n_pairs(), -1);
    visit([&](int32_t pair, int32_t, int32_t) { ++entries_begin_[static_cast<size_t>(pair) + 1]; });
    for (size_t i = 1; i < entries_begin_.size(); ++i) entries_begin_[i] += entries_begin_[i - 1];
    entries_.resize(static_cast<size_t>(entries_begin_.back()));
    std::vector<int64_t> next(entries_begin_.begin(), entries_begin_.end() - 1);
    visit([&](int32_t pair, int32_t sub, int32_t child) {
      const auto at = static_cast<size_t>(pair);
      const int32_t slot = slots.slot(sub);
      entries_[static_cast<size_t>(next[at]++)] = {slot, slots.slot(child), -1};
      first_slot_[at] = std::min(first_slot_[at], slot);
      last_slot_[at] = std::max(last_slot_[at], slot);
    });
  }

  void list_ranks(const SlotIndex& slots) {
    std::vector<int32_t> last_rank(n_pairs(), -1);  // a shape counts once for a repeated pair
    const auto visit = [&](auto&& f) {
      last_rank.assign(n_pairs(), -1);
      for (int32_t rank = 0; rank < slots.n_ranks(); ++rank) {
        if (slots.shape(rank).arity < 2) continue;
        for (const int32_t pair : pairs(slots.shape_of_rank(rank))) {
          int32_t& seen = last_rank[static_cast<size_t>(pair)];
          if (seen != rank) f(pair, rank);
          seen = rank;
        }
      }
    };
    ranks_begin_.assign(n_pairs() + 1, 0);
    visit([&](int32_t pair, int32_t) { ++ranks_begin_[static_cast<size_t>(pair) + 1]; });
    for (size_t i = 1; i < ranks_begin_.size(); ++i) ranks_begin_[i] += ranks_begin_[i - 1];
    ranks_.resize(static_cast<size_t>(ranks_begin_.back()));
    std::vector<int64_t> next(ranks_begin_.begin(), ranks_begin_.end() - 1);
    visit([&](int32_t pair, int32_t rank) {
      ranks_[static_cast<size_t>(next[static_cast<size_t>(pair)]++)] = rank;
    });
  }

  KeyInterner keys_;
  std::vector<int64_t> pairs_begin_{0}, entries_begin_, ranks_begin_;
  std::vector<int32_t> pairs_, ranks_, first_slot_, last_slot_;
  std::vector<Entry> entries_;
};

}  // namespace kernelwood
