// A non-negative number m * 2^e with its own 64-bit exponent.
//
// Kernel values grow exponentially with the size of the structures; where a double would
// overflow, the same algorithms run on this type and report log2 of the result.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kernelwood {

class Scaled {
 public:
  Scaled() = default;
  explicit Scaled(double value) : m_(value) { renormalize(); }

  static Scaled power(double base, double exponent) {
    const double bits = std::log2(base) * exponent;
    const double whole = std::floor(bits);
    Scaled result(std::exp2(bits - whole));
    result.e_ += static_cast<int64_t>(whole);
    return result;
  }

  double log2() const {
    return m_ == 0 ? -std::numeric_limits<double>::infinity()
                   : std::log2(m_) + static_cast<double>(e_);
  }

  friend Scaled operator*(Scaled a, Scaled b) {
    a.m_ *= b.m_;
    a.e_ += b.e_;
    a.renormalize();
    return a;
  }
  friend Scaled operator+(Scaled a, Scaled b) { return combine(a, b, 1.0); }
  // Only ever used where the result cannot be negative.
  friend Scaled operator-(Scaled a, Scaled b) { return combine(a, b, -1.0); }
  Scaled& operator*=(Scaled other) { return *this = *this * other; }
  Scaled& operator+=(Scaled other) { return *this = *this + other; }
  // a / b as a plain number, 0 where it is too small for one.
  friend double ratio(Scaled a, Scaled b) { return shifted(a.m_ / b.m_, a.e_ - b.e_); }
  friend bool operator==(Scaled a, Scaled b) { return a.m_ == b.m_ && a.e_ == b.e_; }
  friend bool operator!=(Scaled a, Scaled b) { return !(a == b); }

 private:
  static Scaled combine(Scaled a, Scaled b, double sign) {
    if (b.m_ == 0) return a;
    if (a.m_ == 0) {
      b.m_ *= sign;
      return b;
    }
    const int64_t top = a.e_ > b.e_ ? a.e_ : b.e_;
    Scaled result;
    result.m_ = shifted(a.m_, a.e_ - top) + sign * shifted(b.m_, b.e_ - top);
    result.e_ = top;
    result.renormalize();
    return result;
  }
  static double shifted(double mantissa, int64_t by) {
    return by < -1100 ? 0.0 : std::ldexp(mantissa, static_cast<int>(by));
  }
  void renormalize() {
    if (m_ == 0) {
      e_ = 0;
      return;
    }
    int shift = 0;
    m_ = std::frexp(m_, &shift);
    e_ += shift;
  }

  double m_ = 0.0;
  int64_t e_ = 0;
};

// base^exponent in any of the number types the engines run on.
template <class Real>
Real power(double base, double exponent) {
  if constexpr (std::is_same_v<Real, Scaled>) {
    return Scaled::power(base, exponent);
  } else {
    return static_cast<Real>(std::pow(base, exponent));
  }
}

}  // namespace kernelwood
