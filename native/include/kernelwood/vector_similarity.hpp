// Tables of label similarities from word vectors.
//
// The rows are labels of one side, the columns labels of the other, both in order of their groups;
// a row has entries only for the columns of its own group. All products of a call are one blocked
// matrix product: columns in vector lanes, a few rows at a time. Every sum runs over the dimensions
// in order with fused products (which every instruction set can do to the same bits), so an entry
// depends on its two labels alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/label_matching.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

// One row of the table: its vector (-1: the label matches only itself), the columns of its group,
// and where its entries begin.
struct SimilarityRow {
  int64_t vector, column_begin, column_end, offset;
};

template <class Number>
struct PackedColumns {
  static constexpr int lanes = sizeof(Number) == 4 ? 32 : 16;
  const Number* values;  // (dimensions, lanes)
  const Number* inverse;  // 1 / norm, by lane
};

// A few rows, and where their results go.
template <class Number>
struct RowBlock {
  static constexpr int most = 6;
  const Number* values[most];
  Number inverse[most];
  Number* out[most];
  int n;
};

template <int Bytes, class Number>
struct SimilarityLoop {
  using Vector = typename VectorOf<Number, Bytes>::type;
  static constexpr int lanes = PackedColumns<Number>::lanes;
  static constexpr int n = lanes / VectorOf<Number, Bytes>::lanes;

  // a * b + c with a single rounding.
  static KW_INLINE Vector fused(Vector a, Vector b, Vector c) {
#ifdef KW_X86
    if constexpr (Bytes > 16) {
      if constexpr (sizeof(Number) == 4)
        asm("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
      else
        asm("vfmadd231pd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
      return c;
    }
#endif
    for (int i = 0; i < VectorOf<Number, Bytes>::lanes; ++i) c[i] = std::fma(a[i], b[i], c[i]);
    return c;
  }

  // exp(x) for |x| <= 4: a power series at x / 16, squared four times.
  static KW_INLINE Vector exponential(Vector x) {
    constexpr int degree = sizeof(Number) == 4 ? 6 : 11;
    constexpr double factorials[] = {1.0,   1.0,    2.0,     6.0,      24.0,      120.0,
                                     720.0, 5040.0, 40320.0, 362880.0, 3628800.0, 39916800.0};
    const Vector small = x * Number(1.0 / 16);
    Vector sum = Number(1.0 / factorials[degree]) - Vector{};
#pragma GCC unroll 12
    for (int k = degree - 1; k >= 0; --k)
      sum = fused(sum, small, Number(1.0 / factorials[k]) - Vector{});
    for (int k = 0; k < 4; ++k) sum *= sum;
    return sum;
  }

  template <SimilarityFunction function>
  static KW_INLINE Vector apply(const SimilarityParameters& parameters, Vector c) {
    const Vector one = Number(1) - Vector{}, zero{};
    c = c > one ? one : c < -one ? -one : c;
    if constexpr (function == SimilarityFunction::gaussian) {
      return exponential((c - one) * Number(2));
    } else if constexpr (function == SimilarityFunction::sigmoid) {  // (1 + tanh c) / 2
      return one / (one + exponential(c * Number(-2)));
    } else if constexpr (function == SimilarityFunction::exponential) {
      const Vector value = exponential(c - one);
      if (!parameters.has_floor) return value;
      const auto floor = static_cast<Number>(parameters.floor);
      const Vector share = (c - floor) / static_cast<Number>(1 - parameters.floor);
      return share > zero ? value * share : zero;
    } else if constexpr (function == SimilarityFunction::threshold) {
      return c >= static_cast<Number>(parameters.floor) ? one : zero;
    } else {
      const Vector value = c * static_cast<Number>(parameters.weight);
      return value < static_cast<Number>(std::max(parameters.floor, 0.0)) ? zero : value;
    }
  }

  template <SimilarityFunction function, int rows>
  static KW_INLINE void run(const SimilarityParameters& parameters, const RowBlock<Number>& left,
                            int first, const PackedColumns<Number>& right, int64_t dim) {
    const auto* columns = reinterpret_cast<const Vector*>(right.values);
    Vector sums[rows][n];
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int z = 0; z < n; ++z) sums[r][z] = Vector{};
    for (int64_t d = 0; d < dim; ++d)
#pragma GCC unroll 6
      for (int r = 0; r < rows; ++r) {
        const Vector value = left.values[first + r][d] - Vector{};  // in every lane
#pragma GCC unroll 4
        for (int z = 0; z < n; ++z) sums[r][z] = fused(value, columns[d * n + z], sums[r][z]);
      }
    const auto* inverse = reinterpret_cast<const Vector*>(right.inverse);
    for (int r = 0; r < rows; ++r)
      for (int z = 0; z < n; ++z)
        reinterpret_cast<Vector*>(left.out[first + r])[z] =
            apply<function>(parameters, sums[r][z] * (inverse[z] * left.inverse[first + r]));
  }

  template <SimilarityFunction function>
  static KW_INLINE void run_rows(const SimilarityParameters& parameters,
                                 const RowBlock<Number>& left, const PackedColumns<Number>& right,
                                 int64_t dim) {
    constexpr int at_once = Bytes == 64 ? 6 : 3;  // rows whose sums fit the vector registers
    int r = 0;
    for (; r + at_once <= left.n; r += at_once)
      run<function, at_once>(parameters, left, r, right, dim);
    for (; r < left.n; ++r) run<function, 1>(parameters, left, r, right, dim);
  }

  static KW_INLINE void run_any(const SimilarityParameters& parameters,
                                const RowBlock<Number>& left, const PackedColumns<Number>& right,
                                int64_t dim) {
    using Function = SimilarityFunction;
    switch (parameters.function) {
      case Function::cosine: return run_rows<Function::cosine>(parameters, left, right, dim);
      case Function::gaussian: return run_rows<Function::gaussian>(parameters, left, right, dim);
      case Function::sigmoid: return run_rows<Function::sigmoid>(parameters, left, right, dim);
      case Function::exponential:
        return run_rows<Function::exponential>(parameters, left, right, dim);
      case Function::threshold:  // always in double, see fill_similarities
        if constexpr (sizeof(Number) == 8)
          return run_rows<Function::threshold>(parameters, left, right, dim);
    }
  }
};

template <int Bytes>
KW_INLINE void similarities_f32_impl(const SimilarityParameters& parameters,
                                     const RowBlock<float>& left, const PackedColumns<float>& right,
                                     int64_t dim) {
  SimilarityLoop<Bytes, float>::run_any(parameters, left, right, dim);
}
template <int Bytes>
KW_INLINE void similarities_f64_impl(const SimilarityParameters& parameters,
                                     const RowBlock<double>& left,
                                     const PackedColumns<double>& right, int64_t dim) {
  SimilarityLoop<Bytes, double>::run_any(parameters, left, right, dim);
}
KW_DISPATCH_WIDE(similarities_f32,
                 (const SimilarityParameters& parameters, const RowBlock<float>& left,
                  const PackedColumns<float>& right, int64_t dim),
                 (parameters, left, right, dim))
KW_DISPATCH_WIDE(similarities_f64,
                 (const SimilarityParameters& parameters, const RowBlock<double>& left,
                  const PackedColumns<double>& right, int64_t dim),
                 (parameters, left, right, dim))

// Fills rows of a table of Result, computed in Number, from vectors stored as Stored.
template <class Number, class Stored, class Result = Number>
class SimilarityTable {
 public:
  SimilarityTable(const SimilarityParameters& parameters, const Stored* vectors, int64_t dim,
                  const SimilarityRow* rows, const int64_t* columns, bool symmetric, Result* out)
      : parameters_(parameters), vectors_(vectors), dim_(dim), rows_(rows), columns_(columns),
        symmetric_(symmetric), out_(out), packed_(static_cast<size_t>(dim * chunk)),
        left_(same_type ? 0 : static_cast<size_t>(dim * block_rows)),
        values_(static_cast<size_t>(block_rows * chunk)) {}

  // Rows [first, last). If the columns are the rows, each pair is computed once, by the row that
  // comes first, which also writes its mirror image.
  void fill(int64_t first, int64_t last, StopFlag stop) {
    for (int64_t begin = first; begin < last && !stop.raised();) {
      int64_t end = begin + 1;
      while (end < last && rows_[end].column_begin == rows_[begin].column_begin &&
             rows_[end].column_end == rows_[begin].column_end)
        ++end;
      if (rows_[begin].column_begin == rows_[begin].column_end) {
        // Nothing on the other side belongs to these groups.
      } else if (rows_[begin].vector < 0)
        fill_themselves(begin, end);
      else
        fill_group(begin, end, stop);
      begin = end;
    }
  }

 private:
  static constexpr int lanes = PackedColumns<Number>::lanes;
  static constexpr int chunk = 4 * lanes;  // columns packed at a time
  static constexpr int64_t block_rows = 20 * RowBlock<Number>::most;
  static constexpr bool same_type = std::is_same_v<Number, Stored>;
  static constexpr bool converted = !std::is_same_v<Number, Result>;

  void fill_themselves(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::fill_n(out_ + rows_[i].offset, rows_[i].column_end - rows_[i].column_begin, Result(1));
  }

  Number inverse_norm(int64_t vector) const {
    const Stored* from = vectors_ + vector * dim_;
    double squares[4] = {};  // several sums, since each addition waits for the one before
    const auto square = [&](int64_t d) {
      return static_cast<double>(from[d]) * static_cast<double>(from[d]);
    };
    int64_t d = 0;
    for (; d + 4 <= dim_; d += 4)
      for (int k = 0; k < 4; ++k) squares[k] += square(d + k);
    for (int k = 0; d < dim_; ++d, ++k) squares[k] += square(d);
    return static_cast<Number>(1.0 /
                               std::sqrt((squares[0] + squares[1]) + (squares[2] + squares[3])));
  }

  // Rows of one group: a few columns at a time against all of them.
  void fill_group(int64_t begin, int64_t end, StopFlag stop) {
    row_inverse_.resize(static_cast<size_t>(end - begin));
    for (int64_t i = begin; i < end; ++i)
      row_inverse_[static_cast<size_t>(i - begin)] = inverse_norm(rows_[i].vector);
    const int64_t column_end = rows_[begin].column_end;
    int64_t column = symmetric_ ? begin : rows_[begin].column_begin;
    for (; column < column_end && !stop.raised(); column += chunk) {
      const int width = static_cast<int>(std::min<int64_t>(chunk, column_end - column));
      pack_columns(column, width);
      // In a symmetric table the rows after these columns belong to later columns.
      const int64_t last = symmetric_ ? std::min(end, column + width) : end;
      for (int64_t first = begin; first < last; first += block_rows)
        fill_block(begin, first, std::min(first + block_rows, last), column, width);
    }
  }

  // (columns / lanes, dimensions, lanes)
  void pack_columns(int64_t column, int width) {
    for (int c = 0; c < width; ++c) {
      const Stored* from = vectors_ + columns_[column + c] * dim_;
      Number* to = packed_.data() + (c / lanes) * lanes * dim_ + c % lanes;
      for (int64_t d = 0; d < dim_; ++d) to[d * lanes] = static_cast<Number>(from[d]);
      inverse_[c] = inverse_norm(columns_[column + c]);
    }
  }

  const Number* row_values(int64_t i, int64_t place, bool convert) {
    const Stored* from = vectors_ + rows_[i].vector * dim_;
    if constexpr (same_type) {
      return from;
    } else {
      Number* to = left_.data() + place * dim_;
      for (int64_t d = 0; convert && d < dim_; ++d) to[d] = static_cast<Number>(from[d]);
      return to;
    }
  }

  // Rows [first, last) of the group that begins at `begin`, through a buffer where the results are
  // converted, mirrored or reach beyond the last column.
  void fill_block(int64_t begin, int64_t first, int64_t last, int64_t column, int width) {
    const bool buffered = converted || symmetric_ || width < chunk;
    // A few columns stay in the nearest cache while all rows pass by.
    for (int at = 0; at < width; at += lanes)
      for (int64_t i = first; i < last; i += RowBlock<Number>::most) {
        RowBlock<Number> left;
        left.n = static_cast<int>(std::min<int64_t>(RowBlock<Number>::most, last - i));
        for (int r = 0; r < left.n; ++r) {
          left.values[r] = row_values(i + r, i + r - first, at == 0);
          left.inverse[r] = row_inverse_[static_cast<size_t>(i + r - begin)];
          left.out[r] = values_.data() + (i + r - first) * chunk + at;
          if constexpr (!converted)
            if (!buffered) left.out[r] = entry(i + r, column) + at;
        }
        run(left, {packed_.data() + at * dim_, inverse_ + at});
      }
    if (buffered) write(first, last, column, width);
  }

  Result* entry(int64_t row, int64_t column) const {
    return out_ + rows_[row].offset + (column - rows_[row].column_begin);
  }

  void write(int64_t first, int64_t last, int64_t column, int width) {
    for (int64_t i = first; i < last; ++i)
      std::copy_n(values_.data() + (i - first) * chunk, width, entry(i, column));
    for (int c = 0; symmetric_ && c < width; ++c) {
      Result* mirrored = entry(column + c, first);
      const Number* from = values_.data() + c;
      for (int64_t i = 0; i < last - first; ++i) mirrored[i] = static_cast<Result>(from[i * chunk]);
    }
  }

  void run(const RowBlock<float>& left, const PackedColumns<float>& right) const {
    similarities_f32(parameters_, left, right, dim_);
  }
  void run(const RowBlock<double>& left, const PackedColumns<double>& right) const {
    similarities_f64(parameters_, left, right, dim_);
  }

  SimilarityParameters parameters_;
  const Stored* vectors_;
  int64_t dim_;
  const SimilarityRow* rows_;
  const int64_t* columns_;
  bool symmetric_;
  Result* out_;
  Number inverse_[chunk] = {};
  Buffer<Number> packed_, left_, row_inverse_, values_;
};

// Fills rows [first, last) of a table. The cosines of a threshold are always of double precision:
// its values jump, and must not depend on the number type.
template <class Number, class Stored>
void fill_similarities(const SimilarityParameters& parameters, const Stored* vectors, int64_t dim,
                       const SimilarityRow* rows, const int64_t* columns, bool symmetric,
                       int64_t first, int64_t last, Number* out, StopFlag stop) {
  const auto fill = [&](auto&& table) { table.fill(first, last, stop); };
  if (parameters.function == SimilarityFunction::threshold)
    fill(SimilarityTable<double, Stored, Number>(parameters, vectors, dim, rows, columns, symmetric,
                                                 out));
  else
    fill(SimilarityTable<Number, Stored>(parameters, vectors, dim, rows, columns, symmetric, out));
}

}  // namespace kernelwood
