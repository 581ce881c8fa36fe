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

#include "kernelwood/bit_columns.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

// Bits of a word of a code, and structures of a square. Bit l of a code is bit l % 64 of its word
// l / 64.
inline constexpr int64_t code_word = 64;
inline int64_t words_for(int64_t n_bits) { return (n_bits + code_word - 1) / code_word; }

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

// The sign bits of lanes, as the low bits of a number.
template <int Bytes>
struct LaneMask {
  using Flags = typename VectorOf<int64_t, Bytes>::type;
  static constexpr int lanes = Bytes / 8;

  static KW_INLINE uint64_t of(Flags flags) {
#ifdef KW_X86
    uint64_t mask;
    if constexpr (Bytes == 32)
      asm("vmovmskpd %1, %0" : "=r"(mask) : "x"(flags));
    else
      asm("movmskpd %1, %0" : "=r"(mask) : "x"(flags));
    return mask;
#else
    uint64_t mask = 0;
    for (int i = 0; i < lanes; ++i) mask |= static_cast<uint64_t>(flags[i] != 0) << i;
    return mask;
#endif
  }
};

// One bit of as many structures as a few registers hold, as a mask. Column j of the references
// begins at columns + 64 * j.
template <int Bytes>
struct BitLoop {
  using Vector = typename VectorOf<double, Bytes>::type;
  static constexpr int lanes = VectorOf<double, Bytes>::lanes;
  static constexpr int n = 4;  // registers
  static constexpr int width = n * lanes;

  static KW_INLINE const Vector* column(const double* columns, int32_t j) {
    return reinterpret_cast<const Vector*>(columns + 64 * static_cast<int64_t>(j));
  }

  static KW_INLINE void nearest(const double* columns, const int32_t* subset, int64_t size,
                                Vector* best) {
    for (int z = 0; z < n; ++z) best[z] = column(columns, subset[0])[z];
    for (int64_t j = 1; j < size; ++j) {
      const Vector* other = column(columns, subset[j]);
      for (int z = 0; z < n; ++z) best[z] = best[z] < other[z] ? other[z] : best[z];
    }
  }

  static KW_INLINE uint64_t mask(const NearestBits& bits, int64_t bit, const double* columns) {
    const int32_t* subset = bits.subsets + bit * 2 * bits.subset_size;
    Vector first[n], second[n];
    nearest(columns, subset, bits.subset_size, first);
    nearest(columns, subset + bits.subset_size, bits.subset_size, second);
    uint64_t mask = 0;
    for (int z = 0; z < n; ++z) mask |= LaneMask<Bytes>::of(first[z] < second[z]) << (z * lanes);
    return mask;
  }

  static KW_INLINE uint64_t mask(const LinearBits& bits, int64_t bit, const double* columns) {
    Vector sums[n] = {};
    for (int64_t j = bit * bits.terms; j < (bit + 1) * bits.terms; ++j) {
      const Vector* values = column(columns, bits.columns[j]);
      const Vector weight = bits.weights[j] - Vector{};  // in every lane
      for (int z = 0; z < n; ++z) sums[z] += weight * values[z];
    }
    const Vector threshold = bits.thresholds[bit] - Vector{};
    uint64_t mask = 0;
    for (int z = 0; z < n; ++z) mask |= LaneMask<Bytes>::of(sums[z] > threshold) << (z * lanes);
    return mask;
  }
};

template <int Bytes, class Bits>
KW_INLINE void hash_square_impl(const Bits& bits, int64_t begin, int64_t end, const double* columns,
                                uint64_t* square) {
  using Loop = BitLoop<Bytes>;
  for (int64_t bit = begin; bit < end; ++bit) {
    uint64_t mask = 0;
    for (int at = 0; at < 64; at += Loop::width) mask |= Loop::mask(bits, bit, columns + at) << at;
    square[bit - begin] = mask;
  }
  transpose_square(square);
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
      const int64_t at = first_bit + bit, shift = at % code_word;
      const int64_t stop = std::min(n_bits, bit + code_word - shift);
      std::fill(square, square + 64, 0);
      hash_square(bits, bit, stop, columns.data(), square);
      for (int64_t e = 0; e < n; ++e)
        codes[(top + e) * n_words + at / code_word] |= square[e] << shift;
      bit = stop;
    }
  }
}

}  // namespace kernelwood
