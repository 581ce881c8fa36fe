// A non-negative number m * 2^(512 e) with its own 64-bit exponent.
//
// Kernel values grow exponentially with the size of the structures; where a double would
// overflow, the same algorithms run on this type and report log2 of the result. Exponents are so
// coarse that two sides of a sum almost always have the same one, and a product seldom changes it:
// an operation costs little more than that of a double, and rounds the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kernelwood {

class Scaled {
 public:
  Scaled() = default;
  explicit Scaled(double value) : m_(value), e_(0) {
    renormalize();
    renormalize();  // the range of double is two steps wide on either side
  }

  // value * 2^(512 steps).
  Scaled(double value, int64_t steps) : Scaled(value) {
    if (m_ != 0) e_ += steps;
  }

  // Limits of m, and 2^(512 n) as a plain number: for n of at most 1, 0 below -1.
  static constexpr double largest = 0x1p256, smallest = 0x1p-256;
  static double steps(int64_t n) {
    return n == 0 ? 1.0 : n == -1 ? 1.0 / step : n < 0 ? 0.0 : step;
  }

  // Whether it is 0 or m itself, and then m.
  bool is_plain() const { return e_ == 0 || m_ == 0; }
  double plain() const { return m_; }

  // The nearest double, infinite or 0 where there is none.
  double rounded() const {
    const int64_t by = e_ < -4 ? -4 : e_ > 4 ? 4 : e_;
    return m_ == 0 ? 0.0 : std::ldexp(m_, static_cast<int>(by) * step_bits);
  }

  static Scaled power(double base, double exponent) {
    const double bits = std::log2(base) * exponent;
    const double whole = std::floor(bits), by = std::floor(whole / step_bits);
    Scaled result(std::ldexp(std::exp2(bits - whole), static_cast<int>(whole - by * step_bits)));
    result.e_ += static_cast<int64_t>(by);
    return result;
  }

  double log2() const {
    if (m_ == 0) return -std::numeric_limits<double>::infinity();
    int shift = 0;
    const double mantissa = std::frexp(m_, &shift);
    return std::log2(mantissa) + static_cast<double>(e_ * step_bits + shift);
  }

  friend Scaled operator*(Scaled a, Scaled b) {
    a.m_ *= b.m_;
    a.e_ += b.e_;
    a.renormalize();
    return a;
  }
  friend Scaled operator+(Scaled a, Scaled b) { return combine(a, b); }
  // Only ever used where the result cannot be negative.
  friend Scaled operator-(Scaled a, Scaled b) {
    b.m_ = -b.m_;
    return combine(a, b);
  }
  Scaled& operator*=(Scaled other) { return *this = *this * other; }
  Scaled& operator+=(Scaled other) { return *this = *this + other; }
  // a / b as a plain number, 0 where it is too small for one.
  friend double ratio(Scaled a, Scaled b) {
    const int64_t by = a.e_ - b.e_;
    if (by < -3) return 0.0;
    return std::ldexp(a.m_ / b.m_, static_cast<int>(by < 4 ? by : 4) * step_bits);
  }
  friend bool operator==(Scaled a, Scaled b) { return a.m_ == b.m_ && a.e_ == b.e_; }
  friend bool operator!=(Scaled a, Scaled b) { return !(a == b); }

 private:
  static constexpr int step_bits = 512;
  static constexpr double step = 0x1p512;
  static constexpr int64_t e_of_zero = -(int64_t{1} << 60);  // zero never is the greater side

  static Scaled combine(Scaled a, Scaled b) {
    if (a.e_ != b.e_) {
      if (a.e_ < b.e_) {
        const Scaled smaller = a;
        a = b;
        b = smaller;
      }
      if (a.e_ - b.e_ > 1) return a;
      b.m_ *= 1.0 / step;
    }
    a.m_ += b.m_;
    a.renormalize();
    return a;
  }

  // Brings m back into [smallest, largest) after one operation.
  void renormalize() {
    const double size = std::fabs(m_);
    if (size >= largest) {
      m_ *= 1.0 / step;
      ++e_;
    } else if (size < smallest) {
      m_ *= step;
      e_ = m_ == 0 ? e_of_zero : e_ - 1;
    }
  }

  double m_ = 0.0;
  int64_t e_ = e_of_zero;
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
