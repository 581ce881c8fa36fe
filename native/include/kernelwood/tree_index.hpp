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

struct SlotRange {
  int32_t begin = 0, end = 0;
  int32_t size() const { return end - begin; }
};

// Slots of the stream side, and the shapes that can meet a given one.
class SlotIndex {
 public:
  SlotIndex(const SubtreeTable& table, const TreeSide& stream) : table_(table) {
    order_by_last_tree(stream);
    assign_slots();
    fill_child_slots();
  }

  int32_t n_slots() const { return static_cast<int32_t>(last_of_slot_.size()); }
  int32_t slot(int32_t sub) const {
    return static_cast<size_t>(sub) < slot_of_.size() ? slot_of_[static_cast<size_t>(sub)] : -1;
  }
  SlotRange group(int32_t symbol) const { return group_[static_cast<size_t>(symbol)]; }
  SlotRange members(int32_t shape) const { return members_[static_cast<size_t>(shape)]; }
  int32_t leaf_slot(int32_t symbol) const { return leaf_slot_[static_cast<size_t>(symbol)]; }
  const std::vector<int32_t>& subs_by_last() const { return subs_by_last_; }
  const std::vector<int32_t>& shapes_by_last() const { return shapes_by_last_; }
  int64_t last_of_slot(int32_t slot) const { return last_of_slot_[static_cast<size_t>(slot)]; }

  // How many members of the shape occur in stream trees from `stream_begin` on.
  int32_t live(int32_t shape, int64_t stream_begin) const {
    const SlotRange range = members(shape);
    int32_t n = range.size();
    while (n > 0 && last_of_slot(range.begin + n - 1) < stream_begin) --n;
    return n;
  }
  // Slots of the j-th children of the shape's members, in member order.
  const int32_t* child_slots(int32_t shape, int64_t j) const {
    return child_slots_.data() + child_slots_begin_[static_cast<size_t>(shape)] +
           j * members(shape).size();
  }

 private:
  void order_by_last_tree(const TreeSide& stream) {
    last_.assign(static_cast<size_t>(table_.n_subtrees()), -1);
    for (int64_t t = stream.size() - 1; t >= 0; --t)
      for (int64_t e = stream.begin[static_cast<size_t>(t)];
           e < stream.begin[static_cast<size_t>(t) + 1]; ++e) {
        const int32_t sub = stream.sub[static_cast<size_t>(e)];
        if (last_[static_cast<size_t>(sub)] < 0) {
          last_[static_cast<size_t>(sub)] = t;
          subs_by_last_.push_back(sub);
        }
      }
  }

  void assign_slots() {
    const auto n_shapes = static_cast<size_t>(table_.n_shapes());
    const auto n_symbols = static_cast<size_t>(table_.n_symbols());
    std::vector<int32_t> n_members(n_shapes, 0), n_in_group(n_symbols, 0);
    leaf_slot_.assign(n_symbols, -1);
    for (const int32_t sub : subs_by_last_) {
      ++n_in_group[static_cast<size_t>(table_.symbol(sub))];
      const int32_t shape = table_.shape(sub);
      if (shape < 0)
        leaf_slot_[static_cast<size_t>(table_.symbol(sub))] = 0;  // placed below
      else if (n_members[static_cast<size_t>(shape)]++ == 0)
        shapes_by_last_.push_back(shape);
    }
    group_.resize(n_symbols);
    std::vector<int32_t> next(n_symbols);
    int32_t at = 0;
    for (size_t s = 0; s < n_symbols; ++s) {
      group_[s] = {at, at + n_in_group[s]};
      next[s] = at;
      if (leaf_slot_[s] == 0) leaf_slot_[s] = next[s]++;
      at = group_[s].end;
    }
    members_.assign(n_shapes, {});
    for (const int32_t shape : shapes_by_last_) {
      int32_t& begin = next[static_cast<size_t>(table_.shape_symbol(shape))];
      members_[static_cast<size_t>(shape)] = {begin, begin};  // end grows below
      begin += n_members[static_cast<size_t>(shape)];
    }
    slot_of_.assign(static_cast<size_t>(table_.n_subtrees()), -1);
    last_of_slot_.resize(subs_by_last_.size());
    for (const int32_t sub : subs_by_last_) {
      const int32_t shape = table_.shape(sub);
      const int32_t slot = shape < 0 ? leaf_slot(table_.symbol(sub))
                                     : members_[static_cast<size_t>(shape)].end++;
      slot_of_[static_cast<size_t>(sub)] = slot;
      last_of_slot_[static_cast<size_t>(slot)] = last_[static_cast<size_t>(sub)];
    }
  }

  void fill_child_slots() {
    child_slots_begin_.assign(static_cast<size_t>(table_.n_shapes()), 0);
    int64_t total = 0;
    for (const int32_t shape : shapes_by_last_) {
      child_slots_begin_[static_cast<size_t>(shape)] = total;
      total += table_.arity(shape) * members(shape).size();
    }
    child_slots_.resize(static_cast<size_t>(total));
    for (const int32_t sub : subs_by_last_) {
      const int32_t shape = table_.shape(sub);
      if (shape < 0) continue;
      const SlotRange range = members(shape);
      int64_t at = child_slots_begin_[static_cast<size_t>(shape)] + (slot(sub) - range.begin);
      for (int64_t j = 0; j < table_.arity(shape); ++j, at += range.size())
        child_slots_[static_cast<size_t>(at)] = slot(table_.children(sub)[j]);
    }
  }

  const SubtreeTable& table_;
  std::vector<int64_t> last_, last_of_slot_;
  std::vector<int32_t> subs_by_last_, shapes_by_last_, slot_of_, leaf_slot_, child_slots_;
  std::vector<int64_t> child_slots_begin_;
  std::vector<SlotRange> group_, members_;
};

// For a root symbol and a child symbol: the stream shapes that have both, latest first, and
// whether two different panel trees (or, across sides, any) can reach them.
class ShapePostings {
 public:
  ShapePostings(const SubtreeTable& table, const SlotIndex& slots) : table_(table) {
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (const int32_t shape : slots.shapes_by_last())
      for_each_child_symbol(shape, [&](int32_t child) {
        pairs.emplace_back(keys_.intern(key(table.shape_symbol(shape), child)), shape);
      });
    begin_.assign(keys_.size() + 1, 0);
    for (const auto& pair : pairs) ++begin_[static_cast<size_t>(pair.first) + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    shapes_.resize(pairs.size());
    std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& pair : pairs)
      shapes_[static_cast<size_t>(next[static_cast<size_t>(pair.first)]++)] = pair.second;
  }

  int32_t find(int32_t symbol, int32_t child) const { return keys_.find(key(symbol, child)); }
  const int32_t* begin(int32_t id) const { return shapes_.data() + begin_[static_cast<size_t>(id)]; }
  const int32_t* end(int32_t id) const {
    return shapes_.data() + begin_[static_cast<size_t>(id) + 1];
  }
  size_t size() const { return keys_.size(); }

  // Calls f once for each distinct child symbol of the shape.
  template <class F>
  void for_each_child_symbol(int32_t shape, F&& f) const {
    const int32_t* symbols = table_.child_symbols(shape);
    const int64_t n = table_.arity(shape);
    if (n == 1) return f(symbols[0]);
    std::vector<int32_t> sorted(symbols, symbols + n);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const int32_t symbol : sorted) f(symbol);
  }

 private:
  static uint64_t key(int32_t symbol, int32_t child) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(symbol)) << 32) |
           static_cast<uint32_t>(child);
  }

  const SubtreeTable& table_;
  KeyInterner keys_;
  std::vector<int64_t> begin_;
  std::vector<int32_t> shapes_;
};

}  // namespace kernelwood
