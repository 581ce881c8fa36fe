// Codes as bits packed both ways, by example and by bit, and what each bit is worth by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernelwood/subset_sums.hpp"
#include "kernelwood/vector_math.hpp"

namespace kernelwood {

// Numbers are rounded to multiples of a small power of two where they are summed: sums are then
// exact, and depend neither on the order of bits and examples nor on what was summed before.
template <class Number>
KW_INLINE Number round_to(Number x, int places) {
  const double shift = std::ldexp(1.5, 52 - places);
  return (x + shift) - shift;
}

inline constexpr int share_places = 30;        // of responsibilities
inline constexpr int weight_places = 24;       // of log odds
inline constexpr int information_places = 36;  // of entropy and information, in nats

inline double exact_log(double x) {  // the same bits as in vectors
  return VectorMath<16>::log(VectorMath<16>::all(x))[0];
}
inline double x_log_x(double x) { return x > 0 ? x * exact_log(x) : 0.0; }

// H(c) of a bit that is set in `ones` of n examples, times n.
inline double entropy_of(double ones, double n) {
  return std::max(0.0, x_log_x(n) - (x_log_x(ones) + x_log_x(n - ones)));
}

class CodeBits {
 public:
  // Bits as bytes of 0 and 1, (n, n_bits).
  CodeBits(const uint8_t* bytes, int64_t n, int64_t n_bits)
      : n(n), n_bits(n_bits), by_example(n * words_of(n_bits), 0), by_bit(n_bits * words_of(n), 0),
        ones(n_bits), log_ones(n_bits), log_zeros(n_bits), entropy(n_bits) {
    for (int64_t l = 0; l < n_bits; ++l) set_column(l, bytes + l, n_bits);
  }

  // Bit l of every example by bytes of 0 and 1 that lie `stride` apart.
  void set_column(int64_t l, const uint8_t* bytes, int64_t stride) {
    const auto place = static_cast<int>(l % word_bits);
    const auto others = static_cast<uint16_t>(~(1u << place));
    uint16_t* rows = &by_example[l / word_bits * n];
    int64_t count = 0;
    for (int64_t first = 0; first < n; first += word_bits) {
      unsigned word = 0;
      for (int64_t i = first; i < std::min(n, first + word_bits); ++i) {
        const unsigned bit = bytes[i * stride] & 1u;
        rows[i] = static_cast<uint16_t>((rows[i] & others) | bit << place);
        word |= bit << (i - first);
        count += bit;
      }
      by_bit[first / word_bits * n_bits + l] = static_cast<uint16_t>(word);
    }
    const auto all = static_cast<double>(n);
    ones[l] = static_cast<double>(count);
    log_ones[l] = constant(l) ? 0.0 : exact_log(ones[l] / all);
    log_zeros[l] = constant(l) ? 0.0 : exact_log((all - ones[l]) / all);
    entropy[l] = entropy_of(ones[l], all);
  }

  double bit(int64_t example, int64_t l) const {
    return by_example[l / word_bits * n + example] >> (l % word_bits) & 1;
  }
  bool constant(int64_t l) const { return ones[l] == 0 || ones[l] == static_cast<double>(n); }

  // The sum of the entropies of the bits, in nats.
  double sum_of_entropies() const {
    double sum = 0;
    for (double each : entropy) sum += round_to(each / static_cast<double>(n), information_places);
    return sum;
  }

  int64_t n, n_bits;
  std::vector<uint16_t> by_example;         // (words_of(n_bits), n)
  std::vector<uint16_t> by_bit;             // (words_of(n), n_bits)
  std::vector<double> ones;                 // examples that have the bit
  std::vector<double> log_ones, log_zeros;  // of their share
  std::vector<double> entropy;              // of the bit, times n
};

}  // namespace kernelwood
