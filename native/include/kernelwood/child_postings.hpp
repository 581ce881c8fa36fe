#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/slot_index.hpp"

namespace kernelwood {

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
      for (int64_t j = 0; j < table.arity(shape); ++j)
        pairs_.push_back(keys_.intern(key_of(table, shape, j)));
      pairs_begin_.push_back(static_cast<int64_t>(pairs_.size()));
    }
    list_entries(table, slots);
    list_ranks(slots);
  }

  template <class FeatureOfSlot>
  void set_features(FeatureOfSlot&& feature) {
    for (Entry& entry : entries_) entry.feature = feature(entry.slot);
  }

  int32_t n_shapes() const { return static_cast<int32_t>(pairs_begin_.size()) - 1; }
  size_t n_pairs() const { return keys_.size(); }
  // The pairs of a shape, one for each of its children.
  Span<int32_t> pairs(int32_t shape) const { return span(pairs_, pairs_begin_, shape); }
  // The pair of a shape of another table and its j-th child; n_pairs() if there is none.
  int32_t find_pair(const SubtreeTable& table, int32_t shape, int64_t j) const {
    const int32_t pair = keys_.find(key_of(table, shape, j));
    return pair < 0 ? static_cast<int32_t>(n_pairs()) : pair;
  }
  // Stream subtrees with a pair, by falling last tree.
  Span<Entry> entries(int32_t pair) const { return span(entries_, entries_begin_, pair); }
  // Ranks of the stream shapes with a pair and at least two children, latest first.
  Span<int32_t> ranks(int32_t pair) const { return span(ranks_, ranks_begin_, pair); }
  // Smallest range of slots that holds all entries of a pair.
  int32_t first_slot(int32_t pair) const { return first_slot_[static_cast<size_t>(pair)]; }
  int32_t last_slot(int32_t pair) const { return last_slot_[static_cast<size_t>(pair)]; }

 private:
  friend class PostingsWalk;

  template <class T>
  static Span<T> span(const Buffer<T>& items, const Buffer<int64_t>& begin, int32_t i) {
    return {items.data() + begin[static_cast<size_t>(i)],
            items.data() + begin[static_cast<size_t>(i) + 1]};
  }
  static uint64_t key_of(const SubtreeTable& table, int32_t shape, int64_t j) {
    return static_cast<uint64_t>(static_cast<uint32_t>(table.shape_symbol(shape))) << 32 |
           static_cast<uint32_t>(table.child_symbols(shape)[j]);
  }

  void list_entries(const SubtreeTable& table, const SlotIndex& slots) {
    const auto visit = [&](auto&& f) {
      for (const int32_t sub : slots.subs_by_last()) {
        if (table.shape(sub) < 0) continue;
        const int32_t* child = table.children(sub);
        for (const int32_t pair : pairs(table.shape(sub))) f(pair, sub, *child++);
      }
    };
    entries_begin_.assign(n_pairs() + 2, 0);  // the last stands for all pairs that no tree has
    first_slot_.assign(n_pairs() + 1, std::numeric_limits<int32_t>::max());
    last_slot_.assign(n_pairs() + 1, -1);
    visit([&](int32_t pair, int32_t, int32_t) { ++entries_begin_[static_cast<size_t>(pair) + 1]; });
    for (size_t i = 1; i < entries_begin_.size(); ++i) entries_begin_[i] += entries_begin_[i - 1];
    entries_.resize(static_cast<size_t>(entries_begin_.back()));
    Buffer<int64_t> next(entries_begin_);
    visit([&](int32_t pair, int32_t sub, int32_t child) {
      const auto at = static_cast<size_t>(pair);
      const int32_t slot = slots.slot(sub);
      entries_[static_cast<size_t>(next[at]++)] = {slot, slots.slot(child), -1};
      first_slot_[at] = std::min(first_slot_[at], slot);
      last_slot_[at] = std::max(last_slot_[at], slot);
    });
  }

  void list_ranks(const SlotIndex& slots) {
    Buffer<int32_t> last_rank(n_pairs(), -1);  // a shape counts once for a repeated pair
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
    ranks_begin_.assign(n_pairs() + 2, 0);
    visit([&](int32_t pair, int32_t) { ++ranks_begin_[static_cast<size_t>(pair) + 1]; });
    for (size_t i = 1; i < ranks_begin_.size(); ++i) ranks_begin_[i] += ranks_begin_[i - 1];
    ranks_.resize(static_cast<size_t>(ranks_begin_.back()));
    Buffer<int64_t> next(ranks_begin_);
    visit([&](int32_t pair, int32_t rank) {
      ranks_[static_cast<size_t>(next[static_cast<size_t>(pair)]++)] = rank;
    });
  }

  KeyInterner keys_;
  Buffer<int64_t> pairs_begin_{0}, entries_begin_, ranks_begin_;
  Buffer<int32_t> pairs_, ranks_, first_slot_, last_slot_;
  Buffer<Entry> entries_;
};

// Walks through postings for one panel tree after the other, in stream trees from some index on.
// Blocks go forward: that index never falls.
class PostingsWalk {
 public:
  // `table` has the panel trees.
  PostingsWalk(const ChildPostings* postings, const SlotIndex& slots, const SubtreeTable& table)
      : postings_(postings), slots_(slots), stamps_(static_cast<size_t>(slots.n_ranks()), 0),
        live_(postings ? postings->n_pairs() + 1 : 0, -1) {
    if (!postings) return;
    for (int32_t shape = postings->n_shapes(); shape < table.n_shapes(); ++shape) {
      for (int64_t j = 0; j < table.arity(shape); ++j)
        new_pairs_.push_back(postings->find_pair(table, shape, j));
      new_begin_.push_back(static_cast<int64_t>(new_pairs_.size()));
    }
  }

  // The pairs of a panel shape, one for each of its children.
  ChildPostings::Span<int32_t> pairs(int32_t shape) const {
    const int32_t n = postings_->n_shapes();
    return shape < n ? postings_->pairs(shape)
                     : ChildPostings::span(new_pairs_, new_begin_, shape - n);
  }

  // Number of entries of a pair that are left.
  int64_t live(int32_t pair, int64_t stream_begin) {
    const auto entries = postings_->entries(pair);
    int64_t& n = live_[static_cast<size_t>(pair)];
    if (n < 0) n = entries.size();
    while (n > 0 && slots_.last_of_slot(entries.first[n - 1].slot) < stream_begin) --n;
    return n;
  }

  // Calls visit(shape) for every stream shape with which a shape shares two pairs or more.
  template <class Visit>
  void for_each_met_twice(int32_t shape, int64_t stream_begin, StopFlag stop, Visit&& visit) {
    stamp_ += 2;
    for (const int32_t pair : pairs(shape)) {
      if (stop.raised()) return;
      for (const int32_t rank : postings_->ranks(pair)) {
        const Shape& met = slots_.shape(rank);
        if (met.last < stream_begin) break;
        int64_t& seen = stamps_[static_cast<size_t>(rank)];
        if (seen < stamp_) {
          seen = stamp_;  // met once
        } else if (seen == stamp_) {
          seen = stamp_ + 1;  // met twice: now it counts
          visit(met);
        }
      }
    }
  }

 private:
  const ChildPostings* postings_;
  const SlotIndex& slots_;
  Buffer<int64_t> stamps_, live_;  // by rank; by pair, -1 until asked for
  Buffer<int32_t> new_pairs_;      // of shapes that only panel trees have
  Buffer<int64_t> new_begin_{0};
  int64_t stamp_ = 0;
};

}  // namespace kernelwood
