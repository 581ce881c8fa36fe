// Logarithms and exponentials of vectors, the same bits on every machine.
//
// What a C library computes differs between libraries in the last bit. Both functions here are a
// reduction of the range and a power series, accurate to a few units in the last place.
#pragma once

#include <cstdint>

#include "kernelwood/simd.hpp"

namespace kernelwood {

template <int Bytes>
struct VectorMath {
  using Vector = typename VectorOf<double, Bytes>::type;
  using Words = typename VectorOf<uint64_t, Bytes>::type;

  static KW_INLINE Vector all(double value) { return value - Vector{}; }
  static KW_INLINE Vector at_least(Vector x, double low) { return x > low ? x : low - Vector{}; }

  // log x for normal x > 0: x = 2^k m with m near 1, log m = 2 artanh((m - 1) / (m + 1)).
  static KW_INLINE Vector log(Vector x) {
    const Scaled s = scaled(x);
    return finish(s.exponent, (s.m - 1.0) / (s.m + 1.0));
  }

  // Four logarithms in place; the four divisions are one.
  static KW_INLINE void log_four(Vector (&x)[4]) {
    Scaled s[4];
    for (int i = 0; i < 4; ++i) s[i] = scaled(x[i]);
    const Vector a = s[0].m + 1.0, b = s[1].m + 1.0, c = s[2].m + 1.0, d = s[3].m + 1.0;
    const Vector ab = a * b, cd = c * d, inverse = 1.0 / (ab * cd);
    const Vector inverse_ab = inverse * cd, inverse_cd = inverse * ab;
    x[0] = finish(s[0].exponent, (s[0].m - 1.0) * (inverse_ab * b));
    x[1] = finish(s[1].exponent, (s[1].m - 1.0) * (inverse_ab * a));
    x[2] = finish(s[2].exponent, (s[2].m - 1.0) * (inverse_cd * d));
    x[3] = finish(s[3].exponent, (s[3].m - 1.0) * (inverse_cd * c));
  }

  // exp x for |x| <= 700: x = k log 2 + r with |r| <= log(2) / 2.
  static KW_INLINE Vector exp(Vector x) {
    constexpr double round = 0x1.8p52;
    const Vector shifted = x * 1.4426950408889634 + round;
    const Vector k = shifted - round;
    const Vector r = (x - k * ln2_high) - k * ln2_low;
    Vector sum = all(1.0);
#pragma GCC unroll 13
    for (int power = 13; power >= 1; --power) sum = sum * r * (1.0 / power) + 1.0;
    return reinterpret_cast<Vector>(reinterpret_cast<Words>(sum) +
                                    (reinterpret_cast<Words>(shifted) << 52));
  }

 private:
  struct Scaled {
    Vector exponent, m;
  };

  static KW_INLINE Scaled scaled(Vector x) {
    constexpr uint64_t root_half = 0x3fe6a09e667f3bcd, bias = uint64_t{1023} << 52;
    const Words bits = reinterpret_cast<Words>(x);
    const Words shift = (bits - root_half + bias) >> 52;
    return {reinterpret_cast<Vector>(shift | magic_bits) - (magic + 1023.0),
            reinterpret_cast<Vector>(bits + bias - (shift << 52))};
  }

  // k log 2 + 2 artanh t.
  static KW_INLINE Vector finish(Vector k, Vector t) {
    const Vector square = t * t;
    Vector sum = all(2.0 / 17);
#pragma GCC unroll 7
    for (int power = 15; power >= 3; power -= 2) sum = sum * square + 2.0 / power;
    return k * ln2_high + (t * 2.0 + (t * square * sum + k * ln2_low));
  }

  static constexpr double magic = 0x1p52;
  static constexpr uint64_t magic_bits = 0x4330000000000000;
  static constexpr double ln2_high = 0x1.62e42fefap-1;  // few enough digits that k * it is exact
  static constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
};

}  // namespace kernelwood
