// How much each bit of codes has to do with each of a few binary latent variables.
//
// With responsibilities q_nj = p(z_j = 1 | c_n) of n examples, N_1 = sum_n q_nj, N_0 = n - N_1 and
// C_v the expected number of examples with z_j = v that have bit l:
//
//   n I(c_l : z_j) = sum_v [C_v log C_v + (N_v - C_v) log(N_v - C_v)]
//                    - sum_v N_v log N_v + n H(c_l),
//
// and a bit of 1 tells log p(1 | z_j = 1) / p(1 | z_j = 0) for z_j, a bit of 0 likewise. Where a
// value never goes with a bit, it is taken to do so in a fraction of an example, shared as the bit
// is, so that no single bit excludes a value.
#pragma once

#include <cstdint>

#include "kernelwood/code_bits.hpp"
#include "kernelwood/vector_math.hpp"

namespace kernelwood {

struct LatentColumns {
  const CodeBits* codes;
  int64_t width;           // latent variables, padded to whole vectors
  const double* counts;    // (n_bits, width): C_1
  const double* sizes;     // (4, width): N_1, N_0, log N_1 - log N_0, sum_v N_v log N_v
  const int32_t* columns;  // the bits to be related, or null for all
  int64_t n_columns;
  double log_least;     // the fraction of an example that a value has at least
  double* information;  // (n_bits, width): I(c_l : z_j)
  int32_t* owners;      // (n_bits): the z_j that knows most of the bit
  double* leads;        // (n_bits): how much more that is than the next best knows
  double* weights;      // (n_bits, width): what a 1 rather than a 0 tells its owner, else 0
  double* zeros;        // (n_bits): what a 0 tells its owner
  double* scratch;      // (2, width): what a 1 and a 0 tell each z_j
};

inline constexpr double smallest_count = 0x1p-40;

template <int Bytes>
KW_INLINE void relate_column(const LatentColumns& to, int64_t l, int64_t j, double inverse_n) {
  using Math = VectorMath<Bytes>;
  using Vector = typename Math::Vector;
  const auto at = [j](double* row) -> Vector& { return *reinterpret_cast<Vector*>(row + j); };
  const auto of = [j](const double* row) { return *reinterpret_cast<const Vector*>(row + j); };
  const CodeBits& codes = *to.codes;
  const Vector high = of(to.sizes), low = of(to.sizes + to.width);
  const Vector ratio = of(to.sizes + 2 * to.width), own = of(to.sizes + 3 * to.width);
  const Vector high_one = of(to.counts + l * to.width), low_one = codes.ones[l] - high_one;
  const Vector high_zero = high - high_one, low_zero = low - low_one;
  Vector logs[4] = {
      Math::at_least(high_one, smallest_count), Math::at_least(high_zero, smallest_count),
      Math::at_least(low_one, smallest_count), Math::at_least(low_zero, smallest_count)};
  Math::log_four(logs);
  const Vector sum =
      (high_one * logs[0] + high_zero * logs[1]) + (low_one * logs[2] + low_zero * logs[3]);
  const Vector information = ((sum - own) + codes.entropy[l]) * inverse_n;
  at(to.information + l * to.width) =
      Math::at_least(round_to(information, information_places), 0.0);
  const double one = codes.log_ones[l] + to.log_least;
  const double zero = codes.log_zeros[l] + to.log_least;
  at(to.weights + l * to.width) = Vector{};
  at(to.scratch) =
      round_to(Math::at_least(logs[0], one) - Math::at_least(logs[2], one) - ratio, weight_places);
  at(to.scratch + to.width) = round_to(
      Math::at_least(logs[1], zero) - Math::at_least(logs[3], zero) - ratio, weight_places);
}

template <int Bytes>
KW_INLINE void relate_columns_impl(const LatentColumns& to) {
  const double inverse_n = 1.0 / static_cast<double>(to.codes->n);
  for (int64_t i = 0; i < to.n_columns; ++i) {
    const int64_t l = to.columns ? to.columns[i] : i;
    for (int64_t j = 0; j < to.width; j += VectorOf<double, Bytes>::lanes)
      relate_column<Bytes>(to, l, j, inverse_n);
    const double* information = to.information + l * to.width;
    int64_t owner = 0;
    double most = information[0], next = 0.0;
    for (int64_t j = 1; j < to.width; ++j) {
      const double lower = information[j] > most ? most : information[j];
      next = lower > next ? lower : next;
      owner = information[j] > most ? j : owner;
      most = information[j] > most ? information[j] : most;
    }
    to.owners[l] = static_cast<int32_t>(owner);
    to.leads[l] = most - next;
    to.zeros[l] = to.scratch[to.width + owner];
    to.weights[l * to.width + owner] = to.scratch[owner] - to.zeros[l];
  }
}

KW_DISPATCH_WIDE(relate_columns, (const LatentColumns& to), (to))

}  // namespace kernelwood
