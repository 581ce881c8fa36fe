// Stream sequences against a panel of sequences, one per vector lane.
//
// With S(i,j) = D(i,j) * decay^-(i+j) the all-lengths recurrence of the subsequence kernel
// becomes plain two-dimensional prefix sums,
//   S(i,j) = [s_i = t_j] * (decay^-(i+j) + Q(i,j)),  Q(i,j) = sum_{i'<i, j'<j} S(i',j'),
//   K = sum decay^(i+j) S(i,j).
// Elements that match nothing can be left out without changing a bit, and an element of the
// stream sequence needs work only in the columns where some lane has its symbol; in the others
// its running sum is added to Q. With a bounded length there is a table Q for each length l, and
// S_l(i,j) = [s_i = t_j] * Q_{l-1}(i,j).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernelwood/simd.hpp"

namespace kernelwood {

template <class Real>
inline constexpr int sequence_lanes = sizeof(Real) == 4 ? 32 : 16;

// The columns of a panel in which some lane has a symbol: columns[begin] .. columns[end].
struct ColumnRange {
  int32_t begin = 0, end = 0;
};

template <class Real>
struct SequencePanel {
  using Int = std::conditional_t<sizeof(Real) == 4, int32_t, int64_t>;
  // The panel, (columns, lanes): symbols, decay^-position, decay^position.
  int64_t length;
  const Int* symbols;
  const Real* up;
  const Real* down;
  const ColumnRange* columns_of;  // by symbol
  const int32_t* columns;
  // The stream: kept elements of sequence s are [begin[s], begin[s+1]).
  const int64_t* begin;
  const int32_t* stream_symbols;
  const Real* stream_up;
  const Real* stream_down;
  const int32_t* visited;  // stream sequences to compare
  int64_t n_stream;
  int64_t max_length;      // 0: all lengths
  int32_t* present;        // scratch: elements of a stream sequence that match
  Real* tables;            // scratch: (lengths, columns, lanes)
  Real* out;               // (n_stream, lanes), rows `out_stride` apart
  int64_t out_stride;
};

template <int Bytes, class Real>
struct SequenceLoop {
  using Vector = typename VectorOf<Real, Bytes>::type;
  using Int = typename SequencePanel<Real>::Int;
  using IntVector = typename VectorOf<Int, Bytes>::type;
  static constexpr int lanes = sequence_lanes<Real>;
  static constexpr int n = lanes / VectorOf<Real, Bytes>::lanes;

  static KW_INLINE Vector where(IntVector mask, Vector value) {
    return reinterpret_cast<Vector>(mask & reinterpret_cast<IntVector>(value));
  }

  static KW_INLINE void add_between(Vector* table, int64_t from, int64_t to, const Vector* run) {
    for (int64_t j = from; j < to; ++j) {
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) table[j * n + z] += run[z];
    }
  }

  // One element of the stream sequence, all subsequence lengths.
  static KW_INLINE void all_lengths(const SequencePanel<Real>& job, int64_t e, bool last,
                                    Vector* total) {
    const auto* symbols = reinterpret_cast<const IntVector*>(job.symbols);
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* table = reinterpret_cast<Vector*>(job.tables);
    const Int symbol = job.stream_symbols[e];
    const Real up_i = job.stream_up[e];
    const ColumnRange range = job.columns_of[symbol];
    Vector run[n] = {}, weighted[n] = {};
    int64_t done = job.columns[range.begin];
    for (int32_t c = range.begin; c < range.end; ++c) {
      const int64_t j = job.columns[c];
      if (!last) add_between(table, done, j, run);
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) {
        const int64_t at = j * n + z;
        const Vector before = table[at];
        const Vector sum =
            where(reinterpret_cast<IntVector>(symbols[at] == symbol), up[at] * up_i + before);
        table[at] = before + run[z];
        run[z] += sum;
        weighted[z] += sum * down[at];
      }
      done = j + 1;
    }
    if (!last) add_between(table, done, job.length, run);
#pragma GCC unroll 8
    for (int z = 0; z < n; ++z) total[z] += weighted[z] * job.stream_down[e];
  }

  // The same for subsequences of one length; lengths go from long to short, since each reads the
  // table of the next shorter one as it was before this element.
  static KW_INLINE void one_length(const SequencePanel<Real>& job, int64_t e, int64_t length,
                                   Vector* total) {
    const auto* symbols = reinterpret_cast<const IntVector*>(job.symbols);
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* table = reinterpret_cast<Vector*>(job.tables) + (length - 1) * job.length * n;
    const auto* shorter = length > 1 ? table - job.length * n : table;
    const Int symbol = job.stream_symbols[e];
    const ColumnRange range = job.columns_of[symbol];
    Vector run[n] = {}, weighted[n] = {};
    int64_t done = job.columns[range.begin];
    for (int32_t c = range.begin; c < range.end; ++c) {
      const int64_t j = job.columns[c];
      add_between(table, done, j + 1, run);
      for (int z = 0; z < n; ++z) {
        const int64_t at = j * n + z;
        const Vector reach = length == 1 ? up[at] * job.stream_up[e] : shorter[at];
        const Vector sum = where(reinterpret_cast<IntVector>(symbols[at] == symbol), reach);
        run[z] += sum;
        weighted[z] += sum * down[at];
      }
      done = j + 1;
    }
    add_between(table, done, job.length, run);
    for (int z = 0; z < n; ++z) total[z] += weighted[z] * job.stream_down[e];
  }

  static KW_INLINE void run(const SequencePanel<Real>& job) {
    auto* tables = reinterpret_cast<Vector*>(job.tables);
    const int64_t n_tables = job.max_length > 0 ? job.max_length : 1;
    for (int64_t k = 0; k < job.n_stream; ++k) {
      const int64_t s = job.visited[k];
      int64_t n_present = 0;
      for (int64_t e = job.begin[s]; e < job.begin[s + 1]; ++e) {
        const ColumnRange range = job.columns_of[job.stream_symbols[e]];
        job.present[n_present] = static_cast<int32_t>(e - job.begin[s]);
        n_present += range.begin < range.end;
      }
      if (n_present > 0)
        for (int64_t i = 0; i < n_tables * job.length * n; ++i) tables[i] = Vector{};
      Vector total[n] = {};
      for (int64_t i = 0; i < n_present; ++i) {
        const int64_t e = job.begin[s] + job.present[i];
        if (job.max_length == 0) {
          all_lengths(job, e, i + 1 == n_present, total);
        } else {
          for (int64_t length = job.max_length; length > 0; --length)
            one_length(job, e, length, total);
        }
      }
      for (int z = 0; z < n; ++z)
        reinterpret_cast<Vector*>(job.out + k * job.out_stride)[z] = total[z];
    }
  }
};

template <int Bytes>
KW_INLINE void compare_f32_impl(const SequencePanel<float>& job) {
  SequenceLoop<Bytes, float>::run(job);
}
template <int Bytes>
KW_INLINE void compare_f64_impl(const SequencePanel<double>& job) {
  SequenceLoop<Bytes, double>::run(job);
}
KW_DISPATCH(compare_f32, (const SequencePanel<float>& job), (job))
KW_DISPATCH(compare_f64, (const SequencePanel<double>& job), (job))

inline void compare_panel(const SequencePanel<float>& job) { compare_f32(job); }
inline void compare_panel(const SequencePanel<double>& job) { compare_f64(job); }

}  // namespace kernelwood
