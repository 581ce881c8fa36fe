// Sparse stream vectors times a panel of dense columns, one panel lane per vector lane:
// out[s][lane] = sum over features f of tree s of count(f) * values[f][lane], or of the smaller of
// both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

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

// One structure in place of a panel: the same sums in the same order, those of several stream
// structures side by side, because each waits for its last addition.
template <class Real>
inline void multiply_one(const PanelProduct<Real>& job) {
  constexpr int64_t width = 4;
  for (int64_t s = job.stream_begin; s < job.stream_end; s += width) {
    const int64_t n = std::min(width, job.stream_end - s);
    int64_t at[width] = {}, common = n == width ? std::numeric_limits<int64_t>::max() : 0;
    Real sums[width] = {Real(0.0), Real(0.0), Real(0.0), Real(0.0)};
    for (int64_t i = 0; i < n; ++i) {
      at[i] = job.begin[s + i];
      common = std::min(common, job.begin[s + i + 1] - at[i]);
    }
    for (int64_t k = 0; k < common; ++k)
      for (int64_t i = 0; i < width; ++i)
        sums[i] += job.values[job.ids[at[i] + k]] * job.counts[at[i] + k];
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t q = at[i] + common; q < job.begin[s + i + 1]; ++q)
        sums[i] += job.values[job.ids[q]] * job.counts[q];
      job.out[(s + i - job.stream_begin) * job.stride] = sums[i];
    }
  }
}

// What a feature adds.
struct Times {
  template <class Vector, class Real>
  static KW_INLINE Vector of(Vector values, Real count) {
    return values * count;
  }
};
struct Least {
  template <class Vector, class Real>
  static KW_INLINE Vector of(Vector values, Real count) {
    const Vector counts = count - Vector{};  // in every lane
    return values < counts ? values : counts;
  }
};

template <int Bytes, class Real, class Term = Times>
class PanelLoop {
 public:
  using Vector = typename VectorOf<Real, Bytes>::type;
  static constexpr int lanes = panel_lanes<Real>, n = lanes / VectorOf<Real, Bytes>::lanes;

  // Every tree adds its features in their own order, so that no other tree shows in the result.
  static KW_INLINE void run(const PanelProduct<Real>& job) {
    for (int64_t s = job.stream_begin; s < job.stream_end; ++s) {
      Vector sums[n] = {};
      for (int64_t q = job.begin[s]; q < job.begin[s + 1]; ++q) {
        const auto* values =
            reinterpret_cast<const Vector*>(job.values + static_cast<int64_t>(job.ids[q]) * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < n; ++i) sums[i] += Term::of(values[i], job.counts[q]);
      }
      store(job.out + (s - job.stream_begin) * job.stride, job.width, sums);
    }
  }

 private:
  static KW_INLINE void store(Real* out, int width, const Vector* sums) {
    if (width == lanes) {
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) reinterpret_cast<Vector*>(out)[i] = sums[i];
    } else {
      const Real* all = reinterpret_cast<const Real*>(sums);
      for (int i = 0; i < width; ++i) out[i] = all[i];
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
template <int Bytes>
KW_INLINE void intersect_f64_impl(const PanelProduct<double>& job) {
  PanelLoop<Bytes, double, Least>::run(job);
}
KW_DISPATCH(multiply_f32, (const PanelProduct<float>& job), (job))
KW_DISPATCH(multiply_f64, (const PanelProduct<double>& job), (job))
KW_DISPATCH(intersect_f64, (const PanelProduct<double>& job), (job))

inline void multiply_panel(const PanelProduct<float>& job) { multiply_f32(job); }
inline void multiply_panel(const PanelProduct<double>& job) { multiply_f64(job); }
inline void multiply_panel(const PanelProduct<Scaled>& job) { multiply_one(job); }

}  // namespace kernelwood
