// The distinct complete subtrees (classes) of two trees, children before parents.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelwood/fragment_matching.hpp"

namespace kernelwood {

// A number for each distinct sequence of numbers, from 0 in the order of first occurrence.
class KeyNumbers {
 public:
  void clear() {
    known_.clear();
    ends_.assign(1, 0);
    values_.clear();
  }
  size_t size() const { return ends_.size() - 1; }
  const int64_t* begin(size_t number) const { return values_.data() + ends_[number]; }
  const int64_t* end(size_t number) const { return values_.data() + ends_[number + 1]; }
  // Returns the number of a key, and whether it is new.
  std::pair<size_t, bool> add(const std::vector<int64_t>& key) {
    uint64_t hash = key.size();
    for (const int64_t value : key) {
      hash = (hash ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    const auto [first, last] = known_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry)
      if (static_cast<size_t>(end(entry->second) - begin(entry->second)) == key.size() &&
          std::equal(key.begin(), key.end(), begin(entry->second)))
        return {entry->second, false};
    const size_t number = size();
    known_.emplace(hash, number);
    values_.insert(values_.end(), key.begin(), key.end());
    ends_.push_back(values_.size());
    return {number, true};
  }

 private:
  std::unordered_multimap<uint64_t, size_t> known_;
  std::vector<size_t> ends_{0};
  std::vector<int64_t> values_;
};

struct TreeClasses {
  std::vector<int32_t> heads, productions;  // production: heads of root and children; -1 for a leaf
  std::vector<int64_t> n_nodes, n_inner;
  std::vector<int64_t> counts[2];  // occurrences in the first and in the second tree
  KeyNumbers subtrees;  // head and classes of the children
  KeyNumbers by_heads;  // heads of productions

  size_t size() const { return heads.size(); }
  size_t width(size_t c) const {
    return static_cast<size_t>(subtrees.end(c) - subtrees.begin(c)) - 1;
  }
  size_t child(size_t c, size_t k) const { return static_cast<size_t>(subtrees.begin(c)[1 + k]); }
  // Nodes of both trees in post-order: their heads and numbers of children.
  void reset(const HeadMatching& matching, const int32_t* const n_children[2]) {
    subtrees.clear();
    by_heads.clear();
    heads.clear();
    productions.clear();
    n_nodes.clear();
    n_inner.clear();
    for (int side = 0; side < 2; ++side) counts[side].clear();
    std::vector<int64_t> ready, key;
    for (int side = 0; side < 2; ++side) {
      ready.clear();
      const std::vector<int32_t>& own = matching.heads(side);
      for (size_t at = 0; at < own.size(); ++at) {
        const auto n = static_cast<std::ptrdiff_t>(n_children[side][at]);
        key.assign(1, own[at]);
        key.insert(key.end(), ready.end() - n, ready.end());
        ready.resize(ready.size() - static_cast<size_t>(n));
        const auto [number, is_new] = subtrees.add(key);
        if (is_new) add(number, own[at]);
        ++counts[side][number];
        ready.push_back(static_cast<int64_t>(number));
      }
    }
  }
  // The heads of each tree, heads of small subtrees first.
  std::vector<int32_t> used_heads(int side, int32_t n_heads) const {
    std::vector<int32_t> found;
    std::vector<uint8_t> seen(static_cast<size_t>(n_heads), 0);
    for (size_t c = 0; c < size(); ++c) {
      uint8_t& known = seen[static_cast<size_t>(heads[c])];
      if (counts[side][c] > 0 && !known) {
        known = 1;
        found.push_back(heads[c]);
      }
    }
    return found;
  }

 private:
  void add(size_t number, int32_t head) {
    heads.push_back(head);
    int64_t nodes = 1, inner = width(number) > 0;
    key_.assign(1, head);
    for (size_t k = 0; k < width(number); ++k) {
      const size_t below = child(number, k);
      nodes += n_nodes[below];
      inner += n_inner[below];
      key_.push_back(heads[below]);
    }
    productions.push_back(width(number) ? static_cast<int32_t>(by_heads.add(key_).first)
                                        : int32_t{-1});
    n_nodes.push_back(nodes);
    n_inner.push_back(inner);
    counts[0].push_back(0);
    counts[1].push_back(0);
  }
  std::vector<int64_t> key_;
};

}  // namespace kernelwood
