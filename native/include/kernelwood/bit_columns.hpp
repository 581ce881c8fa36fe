// Packed codes turned on their side: the bits of one hash function stand together.
//
// A code is a row of words, bit l of it bit l % 64 of word l / 64. Turned, bit l of 64 examples is
// one word, so that a few bits of all examples are read without touching the others.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kernelwood {

inline constexpr int group_size = 64;  // examples whose bits share a word

inline int64_t groups_of(int64_t n) { return (n + group_size - 1) / group_size; }

// One word per bit and group of examples: (n_bits, n_groups). Examples beyond the last are 0.
struct BitColumns {
  const uint64_t* words;
  int64_t n_groups;
  const uint64_t* column(int64_t bit) const { return words + bit * n_groups; }
};

template <int step>
inline void swap_quarters(uint64_t* square) {
  constexpr uint64_t low = ~uint64_t{0} / ((uint64_t{1} << step) + 1);  // step ones, step zeros...
  for (int top = 0; top < 64; top += 2 * step)
    for (int r = top; r < top + step; ++r) {
      const uint64_t changed = ((square[r] >> step) ^ square[r + step]) & low;
      square[r] ^= changed << step;
      square[r + step] ^= changed;
    }
}

// Bit c of row r becomes bit r of row c: quarters are swapped, then quarters of quarters.
inline void transpose_square(uint64_t* square) {
  swap_quarters<32>(square);
  swap_quarters<16>(square);
  swap_quarters<8>(square);
  swap_quarters<4>(square);
  swap_quarters<2>(square);
  swap_quarters<1>(square);
}

// Turns n codes of `width` words into (64 * width, groups_of(n)) words.
inline void turn_codes(const uint64_t* codes, int64_t n, int64_t width, uint64_t* out) {
  const int64_t n_groups = groups_of(n);
  uint64_t square[64];
  for (int64_t g = 0; g < n_groups; ++g) {
    const int64_t first = g * group_size;
    const int64_t rows = std::min<int64_t>(group_size, n - first);
    for (int64_t w = 0; w < width; ++w) {
      for (int64_t r = 0; r < rows; ++r) square[r] = codes[(first + r) * width + w];
      std::fill(square + rows, square + 64, uint64_t{0});
      transpose_square(square);
      for (int64_t b = 0; b < 64; ++b) out[(w * 64 + b) * n_groups + g] = square[b];
    }
  }
}

// Up to 32 bits of an example in one word, in the order in which `count_bits` unpacks them: byte
// 4j + k of its counters is bit 8k + j of the word.
using BitWord = uint32_t;
inline constexpr int word_bits = 32;
inline int place_in_word(int i) { return 8 * (i % 4) + i / 4; }

// The given bits of n examples; out must have room for whole groups.
inline void gather_words(const BitColumns& columns, const int32_t* bits, int n_bits, int64_t n,
                         BitWord* out) {
  uint64_t square[64];
  for (int64_t g = 0; g < groups_of(n); ++g) {
    std::fill(square, square + 64, uint64_t{0});
    for (int i = 0; i < n_bits; ++i) square[place_in_word(i)] = columns.column(bits[i])[g];
    transpose_square(square);
    for (int r = 0; r < group_size; ++r) out[g * group_size + r] = static_cast<BitWord>(square[r]);
  }
}

}  // namespace kernelwood
