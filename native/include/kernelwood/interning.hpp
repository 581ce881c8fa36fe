// Small hash tables: integer keys, and heads with spans of integers, to dense ids.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernelwood/buffer.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

inline uint64_t mix(uint64_t h, uint64_t value) {
  h ^= value + 0x9e3779b97f4a7c15ull;
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

// 64-bit key -> dense id in order of first appearance.
class KeyInterner {
 public:
  explicit KeyInterner(size_t expected = 16) { resize_table(expected); }

  int32_t intern(uint64_t key) {
    if (keys_.size() * 2 >= table_.size()) grow();
    size_t slot = mix(0, key) & mask_;
    while (table_[slot] >= 0) {
      if (keys_[static_cast<size_t>(table_[slot])] == key) return table_[slot];
      slot = (slot + 1) & mask_;
    }
    keys_.push_back(key);
    return table_[slot] = static_cast<int32_t>(keys_.size() - 1);
  }

  int32_t find(uint64_t key) const {
    size_t slot = mix(0, key) & mask_;
    while (table_[slot] >= 0) {
      if (keys_[static_cast<size_t>(table_[slot])] == key) return table_[slot];
      slot = (slot + 1) & mask_;
    }
    return -1;
  }

  size_t size() const { return keys_.size(); }

 private:
  void resize_table(size_t expected) {
    size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    table_.assign(capacity, -1);
    mask_ = capacity - 1;
  }
  void grow() {
    resize_table(table_.size());
    for (size_t id = 0; id < keys_.size(); ++id) {
      size_t slot = mix(0, keys_[id]) & mask_;
      while (table_[slot] >= 0) slot = (slot + 1) & mask_;
      table_[slot] = static_cast<int32_t>(id);
    }
  }

  Buffer<int32_t> table_;
  Buffer<uint64_t> keys_;
  size_t mask_ = 0;
};

// (edge, label) -> symbol, in order of first appearance. Without an edge, an array answers.
class SymbolInterner {
 public:
  int32_t intern(int32_t edge, int32_t label) {
    if (edge != 0 || label < 0 || label > largest_direct) return intern_key(edge, label);
    const auto at = static_cast<size_t>(label);
    if (at >= direct_.size()) direct_.resize(at + at / 2 + 16, -1);
    if (direct_[at] < 0) direct_[at] = n_symbols_++;
    return direct_[at];
  }
  // -1 if there is none.
  int32_t find(int32_t edge, int32_t label) const {
    if (edge == 0 && label >= 0 && label <= largest_direct) {
      const auto at = static_cast<size_t>(label);
      return at < direct_.size() ? direct_[at] : -1;
    }
    const int32_t id = keys_.find(key_of(edge, label));
    return id < 0 ? -1 : symbols_[static_cast<size_t>(id)];
  }
  size_t size() const { return static_cast<size_t>(n_symbols_); }

 private:
  static constexpr int32_t largest_direct = 1 << 22;

  static uint64_t key_of(int32_t edge, int32_t label) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(edge)) << 32) |
           static_cast<uint32_t>(label);
  }
  int32_t intern_key(int32_t edge, int32_t label) {
    const auto id = static_cast<size_t>(keys_.intern(key_of(edge, label)));
    if (id == symbols_.size()) symbols_.push_back(n_symbols_++);
    return symbols_[id];
  }

  KeyInterner keys_;
  Buffer<int32_t> direct_, symbols_;
  int32_t n_symbols_ = 0;
};

// (head, item, item, ...) -> dense id; the spans stay readable by id.
class SpanInterner {
 public:
  explicit SpanInterner(size_t expected = 16) {
    size_t capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    table_.assign(capacity, -1);
    mask_ = capacity - 1;
    heads_.reserve(expected);
    hashes_.reserve(expected);
    begin_.reserve(expected + 1);
    items_.reserve(expected);
  }

  KW_INLINE int32_t intern(int32_t head, const int32_t* items, int64_t n) {
    if (heads_.size() * 2 >= table_.size()) grow();
    const uint64_t hash = hash_of(head, items, n);
    size_t slot = hash & mask_;
    for (; table_[slot] >= 0; slot = (slot + 1) & mask_)
      if (equal(table_[slot], hash, head, items, n)) return table_[slot];
    heads_.push_back(head);
    hashes_.push_back(hash);
    items_.insert(items_.end(), items, items + n);
    begin_.push_back(static_cast<int64_t>(items_.size()));
    return table_[slot] = static_cast<int32_t>(heads_.size() - 1);
  }

  // -1 if there is none.
  int32_t find(int32_t head, const int32_t* items, int64_t n) const {
    const uint64_t hash = hash_of(head, items, n);
    size_t slot = hash & mask_;
    while (table_[slot] >= 0 && !equal(table_[slot], hash, head, items, n))
      slot = (slot + 1) & mask_;
    return table_[slot];
  }

  size_t size() const { return heads_.size(); }
  int32_t head(int32_t id) const { return heads_[static_cast<size_t>(id)]; }
  const int32_t* items(int32_t id) const { return items_.data() + begin_[static_cast<size_t>(id)]; }
  int64_t n_items(int32_t id) const {
    return begin_[static_cast<size_t>(id) + 1] - begin_[static_cast<size_t>(id)];
  }

 private:
  static KW_INLINE uint64_t hash_of(int32_t head, const int32_t* items, int64_t n) {
    uint64_t hash = mix(static_cast<uint64_t>(n), static_cast<uint32_t>(head));
    for (int64_t i = 0; i < n; ++i) hash = mix(hash, static_cast<uint32_t>(items[i]));
    return hash;
  }
  bool equal(int32_t id, uint64_t hash, int32_t head, const int32_t* items, int64_t n) const {
    const auto at = static_cast<size_t>(id);
    return hashes_[at] == hash && heads_[at] == head && n_items(id) == n &&
           (n == 0 || std::memcmp(items_.data() + begin_[at], items,
                                  static_cast<size_t>(n) * sizeof(int32_t)) == 0);
  }
  void grow() {
    table_.assign(table_.size() * 2, -1);
    mask_ = table_.size() - 1;
    for (size_t id = 0; id < heads_.size(); ++id) {
      size_t slot = hashes_[id] & mask_;
      while (table_[slot] >= 0) slot = (slot + 1) & mask_;
      table_[slot] = static_cast<int32_t>(id);
    }
  }

  Buffer<int32_t> table_, heads_, items_;
  Buffer<uint64_t> hashes_;
  Buffer<int64_t> begin_{0};
  size_t mask_ = 0;
};

}  // namespace kernelwood
