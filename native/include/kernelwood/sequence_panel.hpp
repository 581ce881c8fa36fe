// Stream sequences against a panel of sequences, one per vector lane.
//
// With S(i,j) = D(i,j) * decay^-(i+j) the all-lengths recurrence of the subsequence kernel
// becomes plain two-dimensional prefix sums,
//   S(i,j) = [s_i = t_j] * (decay^-(i+j) + Q(i,j)),  Q(i,j) = sum_{i'<i, j'<j} S(i',j'),
//   K = sum decay^(i+j) S(i,j).
// Elements that match nothing can be left out without changing a bit, and an element of the
// stream sequence needs work only in the columns where some lane has its symbol; in the others
// its running sum is added to Q. With a bounded length l there is a table for each shorter one,
// S_l(i,j) = [s_i = t_j] * Q_{l-1}(i,j).
//
// Gates multiply [s_i = t_j]. Where labels match softly it is a number between 0 and 1: the caller
// lays out the row of similarities of one stream element to all cells of the panel (soft_rows.hpp)
// and asks for one element at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernelwood/buffer.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

template <class Real>
inline constexpr int sequence_lanes = sizeof(Real) == 4 ? 32 : 16;

// The columns of a panel in which some lane has a symbol: columns[begin] .. columns[end].
struct ColumnRange {
  int32_t begin = 0, end = 0;
};

// The columns of all symbols of a panel, by (symbol, column) of its cells.
inline void list_columns(Buffer<std::pair<int32_t, int32_t>>& cells, size_t n_symbols,
                         Buffer<ColumnRange>& columns_of, Buffer<int32_t>& columns) {
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  columns.clear();
  columns_of.assign(n_symbols, {});
  for (const auto& cell : cells) {
    ColumnRange& range = columns_of[static_cast<size_t>(cell.first)];
    const auto at = static_cast<int32_t>(columns.size());
    if (range.begin == range.end) range.begin = at;
    range.end = at + 1;
    columns.push_back(cell.second);
  }
}

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
  const Real* weights;     // by symbol, squared gates; null: all 1
  const Real* stream_up;
  const Real* stream_down;
  const int32_t* visited;  // stream sequences to compare
  int64_t n_stream;
  int64_t max_length;      // 0: all lengths
  int32_t* present;        // scratch: elements of a stream sequence that match
  Real* tables;            // scratch: (shorter lengths, or 1; columns, lanes)
  Real* out;               // (n_stream, lanes), rows `out_stride` apart
  int64_t out_stride;
};

// One stream element and its similarities to the cells of some columns of a panel.
template <class Real>
struct SoftRow {
  const int32_t* columns;
  int32_t n_columns;
  const Real* similarities;  // (n_columns, lanes)
};

// How a stream element meets the cells of a panel: `where(c, at, z, value)` is value times k.
template <class Loop>
struct ExactMeeting {
  using Panel = typename Loop::Panel;
  KW_INLINE ExactMeeting(const Panel& job, int64_t e)
      : ExactMeeting(job, e, job.columns_of[job.stream_symbols[e]]) {}
  KW_INLINE ExactMeeting(const Panel& job, int64_t e, ColumnRange range)
      : symbols(reinterpret_cast<const typename Loop::IntVector*>(job.symbols)),
        symbol(job.stream_symbols[e]), range(range), columns(job.columns) {}
  KW_INLINE int32_t begin() const { return range.begin; }
  KW_INLINE int32_t end() const { return range.end; }
  KW_INLINE typename Loop::Vector where(int32_t, int64_t at, int,
                                        typename Loop::Vector value) const {
    using IntVector = typename Loop::IntVector;
    const auto mask = reinterpret_cast<IntVector>(symbols[at] == symbol);
    return reinterpret_cast<typename Loop::Vector>(mask & reinterpret_cast<IntVector>(value));
  }
  const typename Loop::IntVector* symbols;
  typename Loop::Int symbol;
  ColumnRange range;
  const int32_t* columns;
};

template <class Loop>
struct GatedMeeting : ExactMeeting<Loop> {
  KW_INLINE GatedMeeting(const typename Loop::Panel& job, int64_t e)
      : GatedMeeting(job, e, job.columns_of[job.stream_symbols[e]]) {}
  KW_INLINE GatedMeeting(const typename Loop::Panel& job, int64_t e, ColumnRange range)
      : ExactMeeting<Loop>(job, e, range), weight(job.weights[job.stream_symbols[e]]) {}
  KW_INLINE typename Loop::Vector where(int32_t c, int64_t at, int z,
                                        typename Loop::Vector value) const {
    return ExactMeeting<Loop>::where(c, at, z, value * weight);
  }
  typename Loop::Number weight;
};

template <class Loop>
struct SoftMeeting {
  KW_INLINE explicit SoftMeeting(const SoftRow<typename Loop::Number>& row)
      : similarities(reinterpret_cast<const typename Loop::Vector*>(row.similarities)),
        columns(row.columns), n_columns(row.n_columns) {}
  KW_INLINE int32_t begin() const { return 0; }
  KW_INLINE int32_t end() const { return n_columns; }
  KW_INLINE typename Loop::Vector where(int32_t c, int64_t, int z,
                                        typename Loop::Vector value) const {
    return similarities[int64_t{c} * Loop::n + z] * value;
  }
  const typename Loop::Vector* similarities;
  const int32_t* columns;
  int32_t n_columns;
};

template <int Bytes, class Real>
struct SequenceLoop {
  using Number = Real;
  using Panel = SequencePanel<Real>;
  using Vector = typename VectorOf<Real, Bytes>::type;
  using Int = typename Panel::Int;
  using IntVector = typename VectorOf<Int, Bytes>::type;
  static constexpr int lanes = sequence_lanes<Real>;
  static constexpr int n = lanes / VectorOf<Real, Bytes>::lanes;

  // Where the columns of a panel are one tile, nothing is carried to or from its neighbors.
  struct WholePanel {
    static constexpr bool carries = false;
    Real unit;
    int64_t first = 0;
  };
  template <class Edge>
  static KW_INLINE auto unit(const Edge& edge, int z) {
    if constexpr (Edge::carries)
      return edge.unit[z];
    else
      return edge.unit;
  }

  static KW_INLINE void add_between(Vector* table, int64_t from, int64_t to, const Vector* run) {
    for (int64_t j = from; j < to; ++j) {
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) table[j * n + z] += run[z];
    }
  }

  // One element of the stream sequence, all subsequence lengths.
  template <class Meeting>
  static KW_INLINE void all_lengths(const Panel& job, const Meeting& meeting, int64_t e, bool last,
                                    Vector* total) {
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* table = reinterpret_cast<Vector*>(job.tables);
    const Real up_i = job.stream_up[e];
    Vector run[n] = {}, weighted[n] = {};
    int64_t done = meeting.columns[meeting.begin()];
    for (int32_t c = meeting.begin(); c < meeting.end(); ++c) {
      const int64_t j = meeting.columns[c];
      if (!last) add_between(table, done, j, run);
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) {
        const int64_t at = j * n + z;
        const Vector before = table[at];
        const Vector sum = meeting.where(c, at, z, up[at] * up_i + before);
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

  // The same for a tile of columns. Sums stay in the column of their last element, and are added up
  // from the left where they are wanted: less is written where few columns match.
  template <class Meeting, class Edge>
  static KW_INLINE void all_lengths_of_tile(const Panel& job, const Meeting& meeting,
                                            const Edge& edge, int64_t e, Vector* total) {
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* table = reinterpret_cast<Vector*>(job.tables);
    Vector before[n], added[n] = {}, weighted[n] = {};
#pragma GCC unroll 8
    for (int z = 0; z < n; ++z) before[z] = edge.start(0, z);
    int64_t done = edge.first;
    for (int32_t c = meeting.begin(); c < meeting.end(); ++c) {
      const int64_t j = meeting.columns[c];
      for (; done < j; ++done)
#pragma GCC unroll 8
        for (int z = 0; z < n; ++z) before[z] += table[done * n + z];
      done = j + 1;
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) {
        const int64_t at = j * n + z;
        const Vector column = table[at];
        const Vector sum = meeting.where(c, at, z, up[at] * edge.unit[z] + before[z]);
        table[at] = column + sum;
        before[z] += column;
        added[z] += sum;
        weighted[z] += sum * down[at];
      }
    }
#pragma GCC unroll 8
    for (int z = 0; z < n; ++z) {
      edge.finish(0, z, added[z]);
      total[z] += weighted[z] * job.stream_down[e];
    }
  }

  // The same for `count` lengths, of which `longest` is the greatest and 1 the smallest if they are
  // the `shortest`. Of the greatest length of all no sums are kept, since nothing reads them.
  template <int count, bool shortest, class Meeting, class Edge>
  static KW_INLINE void some_lengths(const Panel& job, const Meeting& meeting, const Edge& edge,
                                     int64_t e, int64_t longest, Vector* total) {
    constexpr int n_shorter = shortest ? count - 1 : count;
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* tables = reinterpret_cast<Vector*>(job.tables);
    const int64_t size = job.length * n;
    Vector* const top = longest < job.max_length ? tables + (longest - 1) * size : nullptr;
    Vector* shorter[count];  // the tables of the lengths below `longest`
    for (int k = 0; k < n_shorter; ++k) shorter[k] = tables + (longest - 2 - k) * size;
    Vector before[count][n] = {}, weighted[n] = {};
    Vector added[Edge::carries ? count : 1][n] = {};
    if constexpr (Edge::carries)
#pragma GCC unroll 8
      for (int k = 0; k < n_shorter; ++k)
#pragma GCC unroll 8
        for (int z = 0; z < n; ++z) before[k][z] = edge.start(longest - 2 - k, z);
    int64_t done = edge.first;
    for (int32_t c = meeting.begin(); c < meeting.end(); ++c) {
      const int64_t j = meeting.columns[c];
      for (; n_shorter > 0 && done < j; ++done) {
#pragma GCC unroll 8
        for (int k = 0; k < n_shorter; ++k)
#pragma GCC unroll 8
          for (int z = 0; z < n; ++z) before[k][z] += shorter[k][done * n + z];
      }
      done = j + 1;
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) {
        const int64_t at = j * n + z;
        Vector all{};
#pragma GCC unroll 8
        for (int k = 0; k < count; ++k) {
          const Vector sum =
              meeting.where(c, at, z, k < n_shorter ? before[k][z] : up[at] * unit(edge, z));
          all += sum;
          if constexpr (Edge::carries) added[k][z] += sum;
          if (k > 0)
            shorter[k - 1][at] += sum;
          else if (top)
            top[at] += sum;
          if (k < n_shorter) before[k][z] += shorter[k][at];
        }
        weighted[z] += all * down[at];
      }
    }
    if constexpr (Edge::carries)
#pragma GCC unroll 8
      for (int k = top ? 0 : 1; k < count; ++k)
#pragma GCC unroll 8
        for (int z = 0; z < n; ++z) edge.finish(longest - 1 - k, z, added[k][z]);
#pragma GCC unroll 8
    for (int z = 0; z < n; ++z) total[z] += weighted[z] * job.stream_down[e];
  }

  // Lengths go from long to short, since each reads the sums of the next shorter one as they were
  // before this element. They go three by three, counted from the shortest: which of them are added
  // first must not depend on the longest that the panel has room for.
  template <class Meeting, class Edge>
  static KW_INLINE void add_element(const Panel& job, const Meeting& meeting, const Edge& edge,
                                    int64_t e, bool last, Vector* total) {
    int64_t length = job.max_length;
    if (length == 0) {
      if constexpr (Edge::carries)
        return all_lengths_of_tile(job, meeting, edge, e, total);
      else
        return all_lengths(job, meeting, e, last, total);
    }
    for (; length > 3; length = (length - 1) / 3 * 3) {
      if (length % 3 == 1)
        some_lengths<1, false>(job, meeting, edge, e, length, total);
      else if (length % 3 == 2)
        some_lengths<2, false>(job, meeting, edge, e, length, total);
      else
        some_lengths<3, false>(job, meeting, edge, e, length, total);
    }
    if (length == 1) return some_lengths<1, true>(job, meeting, edge, e, length, total);
    if (length == 2) return some_lengths<2, true>(job, meeting, edge, e, length, total);
    some_lengths<3, true>(job, meeting, edge, e, length, total);
  }

  static KW_INLINE void clear_tables(const Panel& job) {
    auto* tables = reinterpret_cast<Vector*>(job.tables);
    const int64_t n_tables = job.max_length > 0 ? job.max_length - 1 : 1;
    for (int64_t i = 0; i < n_tables * job.length * n; ++i) tables[i] = Vector{};
  }

  template <class Meeting>
  static KW_INLINE void run_all(const Panel& job) {
    for (int64_t k = 0; k < job.n_stream; ++k) {
      const int64_t s = job.visited[k];
      int64_t n_present = 0;
      for (int64_t e = job.begin[s]; e < job.begin[s + 1]; ++e) {
        const ColumnRange range = job.columns_of[job.stream_symbols[e]];
        job.present[n_present] = static_cast<int32_t>(e - job.begin[s]);
        n_present += range.begin < range.end;
      }
      if (n_present > 0) clear_tables(job);
      Vector total[n] = {};
      for (int64_t i = 0; i < n_present; ++i) {
        const int64_t e = job.begin[s] + job.present[i];
        add_element(job, Meeting(job, e), WholePanel{job.stream_up[e]}, e, i + 1 == n_present,
                    total);
      }
      for (int z = 0; z < n; ++z)
        reinterpret_cast<Vector*>(job.out + k * job.out_stride)[z] = total[z];
    }
  }

  static KW_INLINE void run(const Panel& job) {
    if (job.weights)
      run_all<GatedMeeting<SequenceLoop>>(job);
    else
      run_all<ExactMeeting<SequenceLoop>>(job);
  }

  // One element where labels match softly; `out` is what earlier elements of the sequence gave.
  static KW_INLINE void run_soft(const Panel& job, const SoftRow<Real>& row, int64_t e, Real* out) {
    add_element(job, SoftMeeting<SequenceLoop>(row), WholePanel{job.stream_up[e]}, e, false,
                reinterpret_cast<Vector*>(out));
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
template <int Bytes>
KW_INLINE void add_soft_f32_impl(const SequencePanel<float>& job, const SoftRow<float>& row,
                                 int64_t e, float* out) {
  SequenceLoop<Bytes, float>::run_soft(job, row, e, out);
}
template <int Bytes>
KW_INLINE void add_soft_f64_impl(const SequencePanel<double>& job, const SoftRow<double>& row,
                                 int64_t e, double* out) {
  SequenceLoop<Bytes, double>::run_soft(job, row, e, out);
}
KW_DISPATCH(compare_f32, (const SequencePanel<float>& job), (job))
KW_DISPATCH(compare_f64, (const SequencePanel<double>& job), (job))
KW_DISPATCH(add_soft_f32,
            (const SequencePanel<float>& job, const SoftRow<float>& row, int64_t e, float* out),
            (job, row, e, out))
KW_DISPATCH(add_soft_f64,
            (const SequencePanel<double>& job, const SoftRow<double>& row, int64_t e, double* out),
            (job, row, e, out))

inline void compare_panel(const SequencePanel<float>& job) { compare_f32(job); }
inline void compare_panel(const SequencePanel<double>& job) { compare_f64(job); }
inline void add_soft_element(const SequencePanel<float>& job, const SoftRow<float>& row, int64_t e,
                             float* out) {
  add_soft_f32(job, row, e, out);
}
inline void add_soft_element(const SequencePanel<double>& job, const SoftRow<double>& row,
                             int64_t e, double* out) {
  add_soft_f64(job, row, e, out);
}

}  // namespace kernelwood
