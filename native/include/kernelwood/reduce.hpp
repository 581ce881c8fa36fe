// What happens to a block of raw values: scaling, turning, mirroring, keeping the best.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/simd.hpp"

namespace kernelwood {

// Transposes a square block of 16-byte vectors held in registers.
template <class T>
struct Square {
  using Vector = typename VectorOf<T, 16>::type;
  static constexpr int size = 16 / static_cast<int>(sizeof(T));
  Vector rows[size];

  KW_INLINE void load(const T* from, int64_t stride) {
    for (int i = 0; i < size; ++i) rows[i] = *reinterpret_cast<const Vector*>(from + i * stride);
  }
  KW_INLINE void store(T* to, int64_t stride) const {
    for (int i = 0; i < size; ++i) *reinterpret_cast<Vector*>(to + i * stride) = rows[i];
  }
  KW_INLINE void transpose() {
    if constexpr (size == 2) {
      const Vector a = rows[0], b = rows[1];
      rows[0] = __builtin_shufflevector(a, b, 0, 2);
      rows[1] = __builtin_shufflevector(a, b, 1, 3);
    } else {
      const Vector low02 = __builtin_shufflevector(rows[0], rows[2], 0, 4, 1, 5);
      const Vector high02 = __builtin_shufflevector(rows[0], rows[2], 2, 6, 3, 7);
      const Vector low13 = __builtin_shufflevector(rows[1], rows[3], 0, 4, 1, 5);
      const Vector high13 = __builtin_shufflevector(rows[1], rows[3], 2, 6, 3, 7);
      rows[0] = __builtin_shufflevector(low02, low13, 0, 4, 1, 5);
      rows[1] = __builtin_shufflevector(low02, low13, 2, 6, 3, 7);
      rows[2] = __builtin_shufflevector(high02, high13, 0, 4, 1, 5);
      rows[3] = __builtin_shufflevector(high02, high13, 2, 6, 3, 7);
    }
  }
};

inline constexpr int64_t mirror_tile = 32;

// Rows far apart are not foreseen by the machine. The next tile always lies inside the matrix.
template <class T>
KW_INLINE void prefetch_tile(const T* tile, int64_t stride) {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < mirror_tile; ++i)
    for (int64_t j = 0; j < mirror_tile; j += line) __builtin_prefetch(tile + i * stride + j, 1);
}

// Scales rows [row_begin, row_end) of the lower triangle by scale[i] * scale[j] (if given), to
// `largest` at most, and copies them to the upper triangle, tile by tile. The diagonal is left as
// it is, and so is what is not a number.
template <class T>
void mirror(T* matrix, int64_t stride, int64_t row_begin, int64_t row_end, const T* scale,
            T largest) {
  constexpr int64_t tile = mirror_tile;
  using Block = Square<T>;
  const typename Block::Vector bound = typename Block::Vector{} + largest;
  for (int64_t i0 = row_begin; i0 < row_end; i0 += tile) {
    const int64_t i1 = std::min(i0 + tile, row_end);
    for (int64_t j0 = 0; j0 < i1; j0 += tile) {
      if (i1 - i0 == tile && j0 + tile <= i0) {  // a full tile below the diagonal
        prefetch_tile(matrix + i0 * stride + j0 + tile, stride);
        prefetch_tile(matrix + (j0 + tile) * stride + i0, stride);
        for (int64_t j = j0; j < j0 + tile; j += Block::size)
          for (int64_t i = i0; i < i1; i += Block::size) {
            Block block;
            block.load(matrix + i * stride + j, stride);
            if (scale) {
              const auto columns = *reinterpret_cast<const typename Block::Vector*>(scale + j);
              for (int k = 0; k < Block::size; ++k) {
                const auto scaled = block.rows[k] * (columns * scale[i + k]);
                block.rows[k] = scaled > bound ? bound : scaled;
              }
              block.store(matrix + i * stride + j, stride);
            }
            block.transpose();
            block.store(matrix + j * stride + i, stride);
          }
      } else {
        for (int64_t i = i0; i < i1; ++i)
          for (int64_t j = j0; j < std::min(j0 + tile, i); ++j) {
            if (scale) {
              const T scaled = matrix[i * stride + j] * (scale[j] * scale[i]);
              matrix[i * stride + j] = scaled > largest ? largest : scaled;
            }
            matrix[j * stride + i] = matrix[i * stride + j];
          }
      }
    }
  }
}

// to[j][i] = from[i][j].
template <class T>
void transpose(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to,
               int64_t to_stride) {
  constexpr int64_t size = Square<T>::size;
  const int64_t whole_rows = rows - rows % size, whole_columns = columns - columns % size;
  for (int64_t j = 0; j < whole_columns; j += size)
    for (int64_t i = 0; i < whole_rows; i += size) {
      Square<T> square;
      square.load(from + i * from_stride + j, from_stride);
      square.transpose();
      square.store(to + j * to_stride + i, to_stride);
    }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      to[j * to_stride + i] = from[i * from_stride + j];
}

template <class T>
void scale_block(T* block, int64_t stride, int64_t rows, int64_t columns, const T* row_scale,
                 const T* column_scale, T largest) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const T scaled = block[i * stride + j] * (column_scale[j] * row_scale[i]);
      block[i * stride + j] = scaled > largest ? largest : scaled;
    }
}

// Merges a block (stream in rows, queries in columns, either side by side) into each query's k best
// so far, which are ordered by falling value and, where values are equal, by rising index. Rows
// come in rising order.
template <class T>
void keep_best(const T* block, int64_t stride, int64_t step, int64_t rows, int64_t columns,
               int64_t first_row, const int64_t* excluded, int64_t k, int64_t* indices, T* values) {
  const auto keep = [&](int64_t s, int64_t q) {
    const T value = block[s * stride + q * step];
    T* best = values + q * k;
    int64_t* where = indices + q * k;
    if (!(value > best[k - 1] || where[k - 1] < 0)) return;
    if (excluded && excluded[q] == first_row + s) return;
    int64_t at = k - 1;
    for (; at > 0 && (where[at - 1] < 0 || value > best[at - 1]); --at) {
      best[at] = best[at - 1];
      where[at] = where[at - 1];
    }
    best[at] = value;
    where[at] = first_row + s;
  };
  if (step == 1) {
    for (int64_t s = 0; s < rows; ++s)
      for (int64_t q = 0; q < columns; ++q) keep(s, q);
  } else {
    for (int64_t q = 0; q < columns; ++q)
      for (int64_t s = 0; s < rows; ++s) keep(s, q);
  }
}

}  // namespace kernelwood
