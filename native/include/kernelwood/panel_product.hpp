// Sparse stream vectors times a panel of dense columns, one panel lane per vector lane:
// out[s][lane] = sum over features f of tree s of count(f) * values[f][lane].
#pragma once

#include <cstdint>

#include "kernelwood/scaled.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

template <class Real>
inline constexpr int panel_lanes = 1;
template <>
inline constexpr int panel_lanes<float> = 32;
template <>
inline constexpr int panel_lanes<double> = 16;

template <class Real>
struct PanelProduct {
  const Real* values;   // (features, lanes)
  const int32_t* ids;   // features of each stream tree
  const Real* counts;   // and how often
  const int64_t* begin; // where each stream tree's features begin
  int64_t stream_begin, stream_end;
  int width;            // lanes in use
  Real* out;            // row of stream_begin, column of lane 0
  int64_t stride;
};

template <int Bytes, class Real>
struct PanelLoop {
  using Vector = typename VectorOf<Real, Bytes>::type;
  static constexpr int lanes = panel_lanes<Real>, n = lanes / VectorOf<Real, Bytes>::lanes;

  static KW_INLINE void add(const PanelProduct<Real>& job, int64_t q, Vector* sums) {
    const auto* values =
        reinterpret_cast<const Vector*>(job.values + static_cast<int64_t>(job.ids[q]) * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) sums[i] += values[i] * job.counts[q];
  }

  static KW_INLINE void store(const PanelProduct<Real>& job, int64_t s, const Vector* sums) {
    Real* out = job.out + (s - job.stream_begin) * job.stride;
    if (job.width == lanes) {
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) reinterpret_cast<Vector*>(out)[i] = sums[i];
    } else {
      const Real* all = reinterpret_cast<const Real*>(sums);
      for (int i = 0; i < job.width; ++i) out[i] = all[i];
    }
  }

  // Two trees at a time, so that one's additions need not wait for the other's; each adds its
  // features in their own order.
  static KW_INLINE void run(const PanelProduct<Real>& job) {
    int64_t s = job.stream_begin;
    for (; s + 1 < job.stream_end; s += 2) {
      Vector first[n] = {}, second[n] = {};
      int64_t q = job.begin[s], r = job.begin[s + 1];
      const int64_t q_end = r, r_end = job.begin[s + 2];
      for (; q < q_end && r < r_end; ++q, ++r) {
        add(job, q, first);
        add(job, r, second);
      }
      for (; q < q_end; ++q) add(job, q, first);
      for (; r < r_end; ++r) add(job, r, second);
      store(job, s, first);
      store(job, s + 1, second);
    }
    if (s < job.stream_end) {
      Vector last[n] = {};
      for (int64_t q = job.begin[s]; q < job.begin[s + 1]; ++q) add(job, q, last);
      store(job, s, last);
    }
  }
};

template <int Bytes>
KW_INLINE void multiply_f32_impl(const PanelProduct<float>& job) {
  PanelLoop<Bytes, float>::run(job);
}
template <int Bytes>
KW_INLINE void multiply_f64_impl(const PanelProduct<double>& job) {
  PanelLoop<Bytes, double>::run(job);
}
KW_DISPATCH(multiply_f32, (const PanelProduct<float>& job), (job))
KW_DISPATCH(multiply_f64, (const PanelProduct<double>& job), (job))

inline void multiply_panel(const PanelProduct<float>& job) { multiply_f32(job); }
inline void multiply_panel(const PanelProduct<double>& job) { multiply_f64(job); }
inline void multiply_panel(const PanelProduct<Scaled>& job) {
  for (int64_t s = job.stream_begin; s < job.stream_end; ++s) {
    Scaled sum(0.0);
    for (int64_t q = job.begin[s]; q < job.begin[s + 1]; ++q)
      sum += job.values[job.ids[q]] * job.counts[q];
    job.out[(s - job.stream_begin) * job.stride] = sum;
  }
}

}  // namespace kernelwood
