// What every block engine shares: where results go, and how work is interrupted.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "kernelwood/scaled.hpp"

namespace kernelwood {

// Extended-range engines report log2 of the value, as a double.
template <class Real>
using Output = std::conditional_t<std::is_same_v<Real, Scaled>, double, Real>;

template <class Real>
Output<Real> output(Real value) {
  if constexpr (std::is_same_v<Real, Scaled>) {
    return value.log2();
  } else {
    return value;
  }
}

// A matrix of results: row s is a stream structure, column p a panel structure. Columns are side by
// side (`row`) unless an engine takes them anywhere (`at`).
template <class Real>
struct Results {
  Output<Real>* data;
  int64_t stride;
  int64_t step = 1;
  Output<Real>* row(int64_t s) const { return data + s * stride; }
  Output<Real>& at(int64_t s, int64_t p) const { return data[s * stride + p * step]; }
};

// Thrown where a computation that was told to stop has nothing it could return.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

// Set from another thread to make a running block return early, its results unfinished.
class StopFlag {
 public:
  explicit StopFlag(const int32_t* flag) : flag_(flag) {}
  bool raised() const { return flag_ != nullptr && *static_cast<const volatile int32_t*>(flag_); }

 private:
  const int32_t* flag_;
};

}  // namespace kernelwood
