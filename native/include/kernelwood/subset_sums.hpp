// Sums of the rows of a table that the set bits of packed columns select.
//
//   out[r] = sum over c with bit c of row r set of values[c]
//
// The "four Russians": all sums of four or eight neighboring rows of the table are made once, and
// looked up for each row of bits. Values whose sums are exact in double give the same result
// whatever the grouping and the order of the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "kernelwood/simd.hpp"

namespace kernelwood {

// Memory that begins with a cache line, so that no vector of eight numbers lies across two.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* block, size_t) { ::operator delete(block, std::align_val_t(64)); }
  bool operator==(const LineAllocator&) const { return true; }
  bool operator!=(const LineAllocator&) const { return false; }
};
using Numbers = std::vector<double, LineAllocator<double>>;

inline constexpr int64_t word_bits = 16;
inline int64_t words_of(int64_t n) { return (n + word_bits - 1) / word_bits; }

struct SubsetSums {
  static constexpr int lanes = 8;         // a row of values is so many numbers, or a multiple
  static constexpr int table_rows = 512;  // of two groups of eight columns

  const uint16_t* bits;  // (words_of(n_columns), n_rows): column c is bit c % 16 of word c / 16
  int64_t n_rows, n_columns;
  const double* values;  // (n_columns, width)
  int64_t width;
  double* out;    // (n_rows, width), overwritten
  double* table;  // scratch: (table_rows, width)
};

// The sums of all subsets of up to `group` rows of values. `vectors` is how many make up a row,
// or 0 if that is not known here.
template <int Bytes, int group, int vectors>
KW_INLINE void fill_subset_table(const SubsetSums& sums, int64_t first, double* to) {
  using Vector = typename VectorOf<double, Bytes>::type;
  const int64_t n = vectors > 0 ? vectors : sums.width / VectorOf<double, Bytes>::lanes;
  const auto* values = reinterpret_cast<const Vector*>(sums.values);
  auto* table = reinterpret_cast<Vector*>(to);
  for (int64_t z = 0; z < n; ++z) table[z] = Vector{};
  for (int b = 0; b < group; ++b) {
    const int64_t known = int64_t{1} << b, column = first + b;
    if (column >= sums.n_columns) return;  // no row has a bit there
    for (int64_t z = 0; z < n; ++z) {
      const Vector value = values[column * n + z];
      for (int64_t i = 0; i < known; ++i) table[(known + i) * n + z] = table[i * n + z] + value;
    }
  }
}

template <int Bytes, int group, int vectors>
KW_INLINE void subset_sums_by(const SubsetSums& sums) {
  using Vector = typename VectorOf<double, Bytes>::type;
  const int64_t n = vectors > 0 ? vectors : sums.width / VectorOf<double, Bytes>::lanes;
  constexpr int groups = word_bits / group, entries = 1 << group;
  const auto* table = reinterpret_cast<const Vector*>(sums.table);
  auto* out = reinterpret_cast<Vector*>(sums.out);
  for (int64_t i = 0; i < sums.n_rows * n; ++i) out[i] = Vector{};
  for (int64_t word = 0; word < words_of(sums.n_columns); ++word) {
    for (int g = 0; g < groups; ++g)
      fill_subset_table<Bytes, group, vectors>(sums, word * word_bits + g * group,
                                               sums.table + g * entries * sums.width);
    const uint16_t* bits = sums.bits + word * sums.n_rows;
    for (int64_t r = 0; r < sums.n_rows; ++r)
      for (int64_t z = 0; z < n; ++z) {
        Vector sum = out[r * n + z];
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g)
          sum += table[(g * entries + (bits[r] >> (g * group) & (entries - 1))) * n + z];
        out[r * n + z] = sum;
      }
  }
}

template <int Bytes, int vectors>
KW_INLINE void subset_sums_of_width(const SubsetSums& sums) {
  constexpr int64_t many_rows = 400;  // from here on, larger tables are the smaller part
  if (sums.n_rows < many_rows) return subset_sums_by<Bytes, 4, vectors>(sums);
  return subset_sums_by<Bytes, 8, vectors>(sums);
}

template <int Bytes>
KW_INLINE void subset_sums_impl(const SubsetSums& sums) {
  constexpr int least = SubsetSums::lanes / VectorOf<double, Bytes>::lanes;
  if (sums.width == SubsetSums::lanes) return subset_sums_of_width<Bytes, least>(sums);
  return subset_sums_of_width<Bytes, 0>(sums);
}

KW_DISPATCH_WIDE(subset_sums, (const SubsetSums& sums), (sums))

}  // namespace kernelwood
