// From log odds to responsibilities, and from responsibilities to their sums.
#pragma once

#include <cstdint>

#include "kernelwood/code_bits.hpp"
#include "kernelwood/vector_math.hpp"

namespace kernelwood {

inline constexpr double smallest_share = 0x1p-40;

struct ShareSums {
  const double* shares;  // (n, width)
  int64_t n, width;
  double* sums;       // (width): of the responsibilities
  double* entropies;  // (width): the sum of H(z_j | c_n)
};

template <int Bytes>
KW_INLINE void sum_shares_impl(const ShareSums& to) {
  using Math = VectorMath<Bytes>;
  using Vector = typename Math::Vector;
  for (int64_t j = 0; j < to.width; j += VectorOf<double, Bytes>::lanes) {
    Vector sum{}, entropy{};
    for (int64_t i = 0; i < to.n; ++i) {
      const Vector q = *reinterpret_cast<const Vector*>(to.shares + i * to.width + j);
      const Vector rest = 1.0 - q;
      const Vector each = q * Math::log(Math::at_least(q, smallest_share)) +
                          rest * Math::log(Math::at_least(rest, smallest_share));
      sum += q;
      entropy -= round_to(each, information_places);
    }
    *reinterpret_cast<Vector*>(to.sums + j) = sum;
    *reinterpret_cast<Vector*>(to.entropies + j) = entropy;
  }
}

KW_DISPATCH_WIDE(sum_shares, (const ShareSums& to), (to))

struct OddsResponse {
  const double* odds;       // (n, width)
  const double* constants;  // (width): to be added to the odds
  const double* fixed;      // (width): not 0 where the responsibilities stay as they are
  int64_t n, width;
  double* shares;  // (n, width)
};

template <int Bytes>
KW_INLINE void respond_to_odds_impl(const OddsResponse& to) {
  using Math = VectorMath<Bytes>;
  using Vector = typename Math::Vector;
  constexpr double most = 40.0;  // where rounding has long made it certain
  for (int64_t j = 0; j < to.width; j += VectorOf<double, Bytes>::lanes) {
    const Vector constant = *reinterpret_cast<const Vector*>(to.constants + j);
    const Vector fixed = *reinterpret_cast<const Vector*>(to.fixed + j);
    for (int64_t i = 0; i < to.n; ++i) {
      auto& share = *reinterpret_cast<Vector*>(to.shares + i * to.width + j);
      Vector odds = constant + *reinterpret_cast<const Vector*>(to.odds + i * to.width + j);
      odds = -Math::at_least(-Math::at_least(odds, -most), -most);
      const Vector q = round_to(1.0 / (1.0 + Math::exp(-odds)), share_places);
      share = fixed > 0.0 ? share : q;
    }
  }
}

KW_DISPATCH_WIDE(respond_to_odds, (const OddsResponse& to), (to))

}  // namespace kernelwood
