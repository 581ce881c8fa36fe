// One stream sequence against a panel of sequences, one per vector lane.
//
// With S(i,j) = D(i,j) * decay^-(i+j) the all-lengths recurrence of the subsequence kernel
// becomes plain two-dimensional prefix sums,
//   S(i,j) = [s_i = t_j] * (decay^-(i+j) + sum_{i'<i, j'<j} S(i',j')),  K = sum decay^(i+j) S(i,j),
// in which elements that match nothing can be left out without changing a bit.
// With a bounded length, layer l is S_l(i,j) = [s_i = t_j] * sum_{i'<i, j'<j} S_{l-1}(i',j').
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernelwood/simd.hpp"

namespace kernelwood {

template <class Real>
inline constexpr int sequence_lanes = 16;

template <class Real>
struct SequencePanel {
  using Int = std::conditional_t<sizeof(Real) == 4, int32_t, int64_t>;
  // The panel, (positions, lanes): symbols, decay^-position, decay^position.
  int64_t length;
  const Int* symbols;
  const Real* up;
  const Real* down;
  const uint64_t* present;  // bit set of the panel's symbols
  // The stream: kept elements of sequence s are [begin[s], begin[s+1]).
  const int64_t* begin;
  const int32_t* stream_symbols;
  const Real* stream_up;
  const Real* stream_down;
  const int32_t* order;     // stream sequences to visit
  int64_t n_stream;
  int64_t max_length;       // 0: all lengths
  Real* sums;               // scratch: (layers, positions, lanes)
  Real* out;                // (n_stream, lanes)
};

template <int Bytes, class Real>
struct SequenceKernelLoop {
  using Vector = typename VectorOf<Real, Bytes>::type;
  using Int = typename SequencePanel<Real>::Int;
  using IntVector = typename VectorOf<Int, Bytes>::type;
  static constexpr int lanes = sequence_lanes<Real>;
  static constexpr int n = lanes / VectorOf<Real, Bytes>::lanes;

  static KW_INLINE Vector where(IntVector mask, Vector value) {
    return reinterpret_cast<Vector>(mask & reinterpret_cast<IntVector>(value));
  }

  // One element of the stream sequence against all positions of the panel.
  template <bool First>
  static KW_INLINE void all_lengths(const SequencePanel<Real>& job, int64_t e, Vector* total) {
    const auto* symbols = reinterpret_cast<const IntVector*>(job.symbols);
    const auto* up = reinterpret_cast<const Vector*>(job.up);
    const auto* down = reinterpret_cast<const Vector*>(job.down);
    auto* sums = reinterpret_cast<Vector*>(job.sums);
    const Int symbol = job.stream_symbols[e];
    const Real up_i = job.stream_up[e];
    Vector run[n] = {}, weighted[n] = {};
    for (int64_t j = 0; j < job.length; ++j, symbols += n, up += n, down += n, sums += n) {
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) {
        const IntVector match = reinterpret_cast<IntVector>(symbols[z] == symbol);
        Vector sum;
        if (First) {
          sum = where(match, up[z] * up_i);
          sums[z] = sum;
        } else {
          const Vector above = sums[z];
          sum = where(match, up[z] * up_i + run[z]);
          sums[z] = above + sum;
          run[z] += above;
        }
        weighted[z] += sum * down[z];
      }
    }
#pragma GCC unroll 8
    for (int z = 0; z < n; ++z) total[z] += weighted[z] * job.stream_down[e];
  }

  static KW_INLINE void bounded(const SequencePanel<Real>& job, int64_t e, bool first, Vector* total) {
    const int64_t layers = job.max_length, layer_size = job.length * n;
    const Int symbol = job.stream_symbols[e];
    for (int z = 0; z < n; ++z) {
      Vector weighted = {};
      const auto* down = reinterpret_cast<const Vector*>(job.down) + z;
      const auto* symbols = reinterpret_cast<const IntVector*>(job.symbols) + z;
      // Highest layer first: a layer reads the one below as it was before this element.
      for (int64_t l = layers - 1; l >= 0; --l) {
        auto* sums = reinterpret_cast<Vector*>(job.sums) + l * layer_size + z;
        const auto* below = l > 0 ? sums - layer_size : sums;
        const auto* up = reinterpret_cast<const Vector*>(job.up) + z;
        Vector run = {};
        for (int64_t j = 0; j < job.length; ++j) {
          const IntVector match = reinterpret_cast<IntVector>(symbols[j * n] == symbol);
          const Vector reach = l == 0 ? up[j * n] * job.stream_up[e] : run;
          if (l > 0 && !first) run += below[j * n];
          const Vector sum = where(match, reach);
          sums[j * n] = first ? sum : sums[j * n] + sum;
          weighted += sum * down[j * n];
        }
      }
      total[z] += weighted * job.stream_down[e];
    }
  }

  static KW_INLINE void run(const SequencePanel<Real>& job) {
    for (int64_t k = 0; k < job.n_stream; ++k) {
      const int64_t s = job.order[k];
      Vector total[n] = {};
      bool first = true;
      for (int64_t e = job.begin[s]; e < job.begin[s + 1]; ++e) {
        const auto symbol = static_cast<uint32_t>(job.stream_symbols[e]);
        if (!(job.present[symbol >> 6] >> (symbol & 63) & 1)) continue;
        if (job.max_length > 0)
          bounded(job, e, first, total);
        else if (first)
          all_lengths<true>(job, e, total);
        else
          all_lengths<false>(job, e, total);
        first = false;
      }
      for (int z = 0; z < n; ++z) reinterpret_cast<Vector*>(job.out + k * lanes)[z] = total[z];
    }
  }
};

template <int Bytes>
KW_INLINE void compare_f32_impl(const SequencePanel<float>& job) {
  SequenceKernelLoop<Bytes, float>::run(job);
}
template <int Bytes>
KW_INLINE void compare_f64_impl(const SequencePanel<double>& job) {
  SequenceKernelLoop<Bytes, double>::run(job);
}
KW_DISPATCH(compare_f32, (const SequencePanel<float>& job), (job))
KW_DISPATCH(compare_f64, (const SequencePanel<double>& job), (job))

inline void compare_panel(const SequencePanel<float>& job) { compare_f32(job); }
inline void compare_panel(const SequencePanel<double>& job) { compare_f64(job); }

}  // namespace kernelwood
