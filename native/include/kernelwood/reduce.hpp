// What happens to a block of raw values: scaling, mirroring, keeping the best.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/simd.hpp"

namespace kernelwood {

// Transposes a full square block held in vector registers.
template <class T>
KW_INLINE void transpose_block(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  using Vector = typename VectorOf<T, 16>::type;
  const auto load = [&](int i) { return *reinterpret_cast<const Vector*>(from + i * from_stride); };
  const auto store = [&](int i, Vector row) { *reinterpret_cast<Vector*>(to + i * to_stride) = row; };
  if constexpr (sizeof(T) == 8) {
    const Vector a = load(0), b = load(1);
    store(0, __builtin_shufflevector(a, b, 0, 2));
    store(1, __builtin_shufflevector(a, b, 1, 3));
  } else {
    const Vector a = load(0), b = load(1), c = load(2), d = load(3);
    const Vector ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), AC = __builtin_shufflevector(a, c, 2, 6, 3, 7);
    const Vector bd = __builtin_shufflevector(b, d, 0, 4, 1, 5), BD = __builtin_shufflevector(b, d, 2, 6, 3, 7);
    store(0, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
    store(1, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
    store(2, __builtin_shufflevector(AC, BD, 0, 4, 1, 5));
    store(3, __builtin_shufflevector(AC, BD, 2, 6, 3, 7));
  }
}

// Scales rows [row_begin, row_end) of the lower triangle by scale[i] * scale[j] (if given) and
// copies them to the upper triangle, tile by tile. The diagonal is left as it is.
template <class T>
void mirror(T* matrix, int64_t stride, int64_t row_begin, int64_t row_end, const T* scale) {
  constexpr int64_t tile = 32, step = 16 / static_cast<int64_t>(sizeof(T));
  for (int64_t i0 = row_begin; i0 < row_end; i0 += tile) {
    const int64_t i1 = std::min(i0 + tile, row_end);
    for (int64_t j0 = 0; j0 < i1; j0 += tile) {
      const bool full = i1 - i0 == tile && j0 + tile <= i0;  // wholly below the diagonal
      if (scale)
        for (int64_t i = i0; i < i1; ++i) {
          T* row = matrix + i * stride;
          for (int64_t j = j0, j1 = std::min(j0 + tile, i); j < j1; ++j) row[j] *= scale[i] * scale[j];
        }
      if (full) {
        for (int64_t j = j0; j < j0 + tile; j += step)
          for (int64_t i = i0; i < i1; i += step)
            transpose_block(matrix + i * stride + j, stride, matrix + j * stride + i, stride);
      } else {
        for (int64_t j = j0; j < std::min(j0 + tile, i1); ++j)
          for (int64_t i = std::max(i0, j + 1); i < i1; ++i)
            matrix[j * stride + i] = matrix[i * stride + j];
      }
    }
  }
}

template <class T>
void scale_block(T* block, int64_t stride, int64_t rows, int64_t columns, const T* row_scale,
                 const T* column_scale) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      block[i * stride + j] *= row_scale[i] * column_scale[j];
}

// Merges a block (stream in rows, queries in columns) into each query's k best so far, which are
// ordered by falling value and, where values are equal, by rising index. Rows come in rising order.
template <class T>
void keep_best(const T* block, int64_t stride, int64_t rows, int64_t columns, int64_t first_row,
               const int64_t* excluded, int64_t k, int64_t* indices, T* values) {
  for (int64_t s = 0; s < rows; ++s)
    for (int64_t q = 0; q < columns; ++q) {
      const T value = block[s * stride + q];
      T* best = values + q * k;
      int64_t* where = indices + q * k;
      if (!(value > best[k - 1] || where[k - 1] < 0)) continue;
      if (excluded && excluded[q] == first_row + s) continue;
      int64_t at = k - 1;
      for (; at > 0 && (where[at - 1] < 0 || value > best[at - 1]); --at) {
        best[at] = best[at - 1];
        where[at] = where[at - 1];
      }
      best[at] = value;
      where[at] = first_row + s;
    }
}

}  // namespace kernelwood
