// Which left parts can be put together with which right ones: pairs of numbers, found by the
// intersection of sets of bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelwood {

// Offsets of the groups of a list that is sorted by group.
template <class Items, class Key>
std::vector<int32_t> offsets_of(const Items& items, int32_t n_groups, Key key) {
  std::vector<int32_t> begin(static_cast<size_t>(n_groups) + 1, 0);
  for (const auto& item : items) ++begin[static_cast<size_t>(key(item)) + 1];
  for (size_t g = 1; g < begin.size(); ++g) begin[g] += begin[g - 1];
  return begin;
}

// A part of an array.
template <class T>
struct ListOf {
  const T *first, *last;
  const T* begin() const { return first; }
  const T* end() const { return last; }
};

// Sets of numbers, one for each place.
class PlacedSets {
 public:
  PlacedSets(int32_t n_places, int32_t n_numbers)
      : n_words_((static_cast<size_t>(n_numbers) + 63) / 64),
        words_(static_cast<size_t>(n_places) * n_words_, 0) {}

  void add(int32_t place, int32_t number) { word(place, number) |= bit(number); }
  void remove(int32_t place, int32_t number) { word(place, number) &= ~bit(number); }
  const uint64_t* at(int32_t place) const {
    return words_.data() + static_cast<size_t>(place) * n_words_;
  }

 private:
  static uint64_t bit(int32_t number) { return uint64_t{1} << (number & 63); }
  uint64_t& word(int32_t place, int32_t number) {
    return words_[static_cast<size_t>(place) * n_words_ + static_cast<size_t>(number >> 6)];
  }

  size_t n_words_;
  std::vector<uint64_t> words_;
};

// Different pairs of a left and a right number, numbered in their order.
class PairIndex {
 public:
  struct Pair {
    int32_t left, right;
  };

  // `pairs` are sorted.
  PairIndex(const std::vector<Pair>& pairs, int32_t n_left) {
    std::vector<int32_t> lefts;
    for (size_t at = 0; at < pairs.size(); ++at) {
      const Pair pair = pairs[at];
      const int32_t word = pair.right >> 6;
      if (at == 0 || pairs[at - 1].left != pair.left || chunks_.back().word != word) {
        chunks_.push_back({0, word, static_cast<int32_t>(at)});
        lefts.push_back(pair.left);
      }
      chunks_.back().bits |= uint64_t{1} << (pair.right & 63);
    }
    ranks_.assign(chunks_.size() * 64, 0);
    for (size_t c = 0; c < chunks_.size(); ++c) {
      uint8_t rank = 0;
      for (size_t b = 0; b < 64; ++b) {
        ranks_[64 * c + b] = rank;
        if ((chunks_[c].bits >> b) & 1) ++rank;
      }
    }
    begin_ = offsets_of(lefts, n_left, [](int32_t left) { return left; });
  }

  bool has_left(int32_t left) const {
    return begin_[static_cast<size_t>(left)] < begin_[static_cast<size_t>(left) + 1];
  }

  // Calls use(right, number of the pair) for all pairs of a left number with one of a set.
  template <class Use>
  void each(int32_t left, const uint64_t* rights, const Use& use) const {
    const auto l = static_cast<size_t>(left);
    const Chunk* last = chunks_.data() + begin_[l + 1];
    for (const Chunk* chunk = chunks_.data() + begin_[l]; chunk != last; ++chunk)
      for (uint64_t bits = chunk->bits & rights[chunk->word]; bits != 0; bits &= bits - 1) {
        const int32_t lowest = __builtin_ctzll(bits);
        const auto at = static_cast<size_t>(chunk - chunks_.data()) * 64;
        use(64 * chunk->word + lowest, chunk->first + ranks_[at + static_cast<size_t>(lowest)]);
      }
  }

 private:
  struct Chunk {  // pairs of one left number whose right ones are in one word of a set
    uint64_t bits;
    int32_t word, first;  // first: number of the first pair
  };
  std::vector<int32_t> begin_;  // of chunks, by left number
  std::vector<Chunk> chunks_;
  std::vector<uint8_t> ranks_;  // by chunk and bit: how many bits of the chunk are below
};

}  // namespace kernelwood
