// Bits of hashcodes from similarities to a reference set.
//
// Two kinds of bits, for a structure with similarities k to the references:
//   nearest:  bit = [max over the first subset of k < max over the second]            (rknn)
//   linear:   bit = [sum over a few references of weight * k > threshold]            (rmm, kulis)
// Structures are taken 64 at a time: their similarities are transposed, each bit is computed for
// all 64 in vector lanes, and 64 such masks are transposed into one word of each code. A lane is a
// structure and a sum runs in the order of its terms, so a bit depends on its structure alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/simd.hpp"

namespace kernelwood {

// Bit l of a code is bit l % 64 of word l / 64.
inline constexpr int64_t word_bits = 64;
inline int64_t words_for(int64_t n_bits) { return (n_bits + word_bits - 1) / word_bits; }

struct NearestBits {
  const int32_t* subsets;  // (bits, 2, subset_size)
  int64_t subset_size;
};

struct LinearBits {
  const int32_t* columns;  // (bits, terms)
  const double* weights;  // (bits, terms)
  const double* thresholds;  // by bit
  int64_t terms;
};

// One flag a byte to one flag a bit.
KW_INLINE uint64_t pack_flags(const uint8_t* flags) {
  uint64_t mask = 0;
  for (int i = 0; i < 8; ++i) {
    uint64_t eight;
    std::memcpy(&eight, flags + 8 * i, 8);
    mask |= (eight * 0x0102040810204080ULL >> 56) << (8 * i);
  }
  return mask;
}

// Transposes a square of 64 x 64 bits: halves, quarters, ... change places.
KW_INLINE void transpose_bits(uint64_t* rows) {
  uint64_t mask = 0x00000000FFFFFFFFULL;
  for (int step = 32; step != 0; step >>= 1, mask ^= mask << step)
    for (int i = 0; i < 64; i = (i + step + 1) & ~step) {
      const uint64_t swapped = ((rows[i] >> step) ^ rows[i + step]) & mask;
      rows[i] ^= swapped << step;
      rows[i + step] ^= swapped;
    }
}

// Flags of one bit for 64 structures; column j of the references begins at columns + 64 * j.
KW_INLINE void fill_flags(const NearestBits& bits, int64_t bit, const double* columns,
                          uint8_t* flags) {
  double best[2][64];
  const int32_t* subset = bits.subsets + bit * 2 * bits.subset_size;
  for (int side = 0; side < 2; ++side, subset += bits.subset_size) {
    const double* first = columns + 64 * static_cast<int64_t>(subset[0]);
    for (int e = 0; e < 64; ++e) best[side][e] = first[e];
    for (int64_t j = 1; j < bits.subset_size; ++j) {
      const double* column = columns + 64 * static_cast<int64_t>(subset[j]);
      for (int e = 0; e < 64; ++e) best[side][e] = std::max(best[side][e], column[e]);
    }
  }
  for (int e = 0; e < 64; ++e) flags[e] = best[0][e] < best[1][e];
}

KW_INLINE void fill_flags(const LinearBits& bits, int64_t bit, const double* columns,
                          uint8_t* flags) {
  double sums[64] = {};
  for (int64_t j = bit * bits.terms; j < (bit + 1) * bits.terms; ++j) {
    const double* column = columns + 64 * static_cast<int64_t>(bits.columns[j]);
    const double weight = bits.weights[j];
    for (int e = 0; e < 64; ++e) sums[e] += weight * column[e];
  }
  const double threshold = bits.thresholds[bit];
  for (int e = 0; e < 64; ++e) flags[e] = sums[e] > threshold;
}

template <int Bytes, class Bits>
KW_INLINE void hash_square_impl(const Bits& bits, int64_t begin, int64_t end, const double* columns,
                                uint64_t* square) {
  alignas(64) uint8_t flags[64];
  for (int64_t bit = begin; bit < end; ++bit) {
    fill_flags(bits, bit, columns, flags);
    square[bit - begin] = pack_flags(flags);
  }
  transpose_bits(square);
}

KW_DISPATCH(hash_square,
            (const NearestBits& bits, int64_t begin, int64_t end, const double* columns,
             uint64_t* square),
            (bits, begin, end, columns, square))
KW_DISPATCH(hash_square,
            (const LinearBits& bits, int64_t begin, int64_t end, const double* columns,
             uint64_t* square),
            (bits, begin, end, columns, square))

// Fills the bits [first_bit, first_bit + n_bits) of the codes of structures [begin, end), which
// must be 0 before. `similarities` has `stride` numbers for each structure.
template <class Number, class Bits>
void fill_bits(const Bits& bits, int64_t n_bits, int64_t first_bit, const Number* similarities,
               int64_t n_references, int64_t stride, int64_t begin, int64_t end, uint64_t* codes,
               int64_t n_words) {
  std::vector<double> columns(static_cast<size_t>(64 * n_references), 0.0);
  uint64_t square[64];
  for (int64_t top = begin; top < end; top += 64) {
    const int64_t n = std::min<int64_t>(64, end - top);
    for (int64_t e = 0; e < n; ++e)
      for (int64_t j = 0; j < n_references; ++j)
        columns[static_cast<size_t>(64 * j + e)] =
            static_cast<double>(similarities[(top + e) * stride + j]);
    for (int64_t bit = 0; bit < n_bits;) {
      // Up to the end of a word of the codes.
      const int64_t at = first_bit + bit, shift = at % word_bits;
      const int64_t stop = std::min(n_bits, bit + word_bits - shift);
      std::fill(square, square + 64, 0);
      hash_square(bits, bit, stop, columns.data(), square);
      for (int64_t e = 0; e < n; ++e)
        codes[(top + e) * n_words + at / word_bits] |= square[e] << shift;
      bit = stop;
    }
  }
}

}  // namespace kernelwood
