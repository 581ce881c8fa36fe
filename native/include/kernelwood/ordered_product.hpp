// A matrix product whose sums run in order, so that a row depends on that row alone.
//
// Libraries of linear algebra add in an order that depends on the shape of the matrices: a row
// multiplied alone and the same row among others can differ in the last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernelwood/simd.hpp"

namespace kernelwood {

template <class Number>
struct ProductBlock {
  static constexpr int rows = 4;
  static constexpr int columns = 16;
  const Number* left;  // (rows, inner), `left_stride` apart
  int64_t left_stride, inner;
  const double* right;  // (inner, columns), `right_stride` apart
  int64_t right_stride;
  double* out;  // `out_stride` apart
  int64_t out_stride;
  bool goes_on;  // with the sums that are in `out`
};

template <int Bytes, int n_rows, class Number>
KW_INLINE void product_rows(const ProductBlock<Number>& block) {
  using Vector = typename VectorOf<double, Bytes>::type;
  constexpr int lanes = VectorOf<double, Bytes>::lanes;
  constexpr int n = ProductBlock<Number>::columns / lanes;
  Vector sums[n_rows][n] = {};
  if (block.goes_on)
    for (int r = 0; r < n_rows; ++r)
      for (int z = 0; z < n; ++z)
        sums[r][z] = reinterpret_cast<const Vector*>(block.out + r * block.out_stride)[z];
  for (int64_t k = 0; k < block.inner; ++k) {
    const auto* right = reinterpret_cast<const Vector*>(block.right + k * block.right_stride);
#pragma GCC unroll 4
    for (int r = 0; r < n_rows; ++r) {
      const Vector value =
          static_cast<double>(block.left[r * block.left_stride + k]) - Vector{};  // in every lane
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) sums[r][z] += value * right[z];
    }
  }
  for (int r = 0; r < n_rows; ++r)
    for (int z = 0; z < n; ++z)
      reinterpret_cast<Vector*>(block.out + r * block.out_stride)[z] = sums[r][z];
}

template <int Bytes, class Number>
KW_INLINE void product_block_impl(const ProductBlock<Number>& block, int64_t n_rows) {
  if (n_rows == 4) return product_rows<Bytes, 4>(block);
  ProductBlock<Number> row = block;
  for (int64_t i = 0; i < n_rows; ++i) {
    product_rows<Bytes, 1>(row);
    row.left += row.left_stride;
    row.out += row.out_stride;
  }
}

KW_DISPATCH(product_block, (const ProductBlock<float>& block, int64_t n_rows), (block, n_rows))
KW_DISPATCH(product_block, (const ProductBlock<double>& block, int64_t n_rows), (block, n_rows))

// The columns of `right` in panels of ProductBlock::columns, each of them in one piece: rows that
// lie a power of two apart would share a few places of the cache.
inline std::vector<double> packed_panels(const double* right, int64_t inner, int64_t width) {
  constexpr int64_t columns = ProductBlock<double>::columns;
  std::vector<double> panels(static_cast<size_t>(inner * width));
  for (int64_t j = 0; j < width; j += columns)
    for (int64_t k = 0; k < inner; ++k)
      std::copy_n(right + k * width + j, columns, panels.data() + j * inner + k * columns);
  return panels;
}

// out[i] = left[i] . right for rows [begin, end). The columns of `right` and `out` are padded to
// `width`, a multiple of ProductBlock::columns; `left` has `left_stride` numbers in a row.
//
// Parts of rows, `depth` numbers of `together` rows, stay in the cache while all panels pass. Sums
// are put down and taken up again in between, which changes no bit.
template <class Number>
void ordered_product(const Number* left, int64_t left_stride, int64_t inner, const double* right,
                     int64_t width, int64_t begin, int64_t end, double* out) {
  using Block = ProductBlock<Number>;
  constexpr int64_t together = 64, depth = 256, columns = Block::columns;
  const bool packs = end - begin >= together / 2;  // or it would cost more than it saves
  const auto panels = packs ? packed_panels(right, inner, width) : std::vector<double>{};
  if (inner == 0) std::fill(out + begin * width, out + end * width, 0.0);
  for (int64_t first = begin; first < end; first += together)
    for (int64_t k = 0; k < inner; k += depth)
      for (int64_t j = 0; j < width; j += columns) {
        const double* panel =
            packs ? panels.data() + j * inner + k * columns : right + k * width + j;
        for (int64_t i = first; i < std::min(first + together, end); i += Block::rows)
          product_block(Block{left + i * left_stride + k, left_stride, std::min(depth, inner - k),
                              panel, packs ? columns : width, out + i * width + j, width, k > 0},
                        std::min<int64_t>(Block::rows, end - i));
      }
}

// The same for a single column: some rows at a time, so that none waits for its own sum.
template <class Number>
void ordered_sums(const Number* left, int64_t left_stride, int64_t inner, const double* right,
                  int64_t begin, int64_t end, double* out) {
  constexpr int64_t rows = 8;
  const auto add = [&](int64_t first, auto n_rows) {
    double sums[n_rows.value] = {};
    const Number* row = left + first * left_stride;
    for (int64_t k = 0; k < inner; ++k)
#pragma GCC unroll 8
      for (int64_t r = 0; r < n_rows.value; ++r)
        sums[r] += static_cast<double>(row[r * left_stride + k]) * right[k];
    std::copy_n(sums, n_rows.value, out + first);
  };
  int64_t i = begin;
  for (; i + rows <= end; i += rows) add(i, std::integral_constant<int64_t, rows>());
  for (; i < end; ++i) add(i, std::integral_constant<int64_t, 1>());
}

}  // namespace kernelwood
