// Support vector machine of two classes, trained on a Gram matrix by sequential minimal
// optimization.
//
// Minimizes the dual objective
//   1/2 sum_pq y_p y_q a_p a_q k(p, q) - sum_p a_p   with 0 <= a_p <= C_p and sum_p y_p a_p = 0,
// two variables at a time, chosen by second-order information. Samples at a bound that will not be
// chosen again are left out (shrunk); their gradient is reconstructed before the end. Algorithm and
// stopping criterion are those of LIBSVM (C.-C. Chang, C.-J. Lin, ACM TIST 2, 2011; R.-E. Fan,
// P.-H. Chen, C.-J. Lin, JMLR 6, 2005).
//
// Samples are rows of the matrix given by their numbers, so that no part of the matrix is copied.
// All passes go over the samples in the given order: if rows ascend, a row of the matrix is read
// from begin to end, which suits memory maps. Gradients are doubles. They are stored times y_p, so
// that passes need no classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kSmallestCurvature = 1e-12;
constexpr int64_t kSvmPadding = 8;  // samples; a multiple of the lanes of every instruction set

// The sample with the largest value of a criterion, the last of equal ones; none if `at` is -1.
struct SvmChoice {
  double value = kNever;
  int64_t at = -1;

  KW_INLINE void offer(double other, int64_t where) {
    if (other > value || (other == value && where > at && at >= 0)) {
      value = other;
      at = where;
    }
  }
};

// The samples that passes go over, n of them, and then up to kSvmPadding that are never chosen.
// `up` is 0 where y_p a_p may grow, `low` where it may fall, and else minus infinity.
template <class T>
struct SvmActive {
  const int32_t* columns;
  bool contiguous;  // the columns are consecutive numbers
  double* gradient;
  const T* diagonal;
  const float* up;
  const float* low;
  int64_t n;
};

template <class T, int Bytes>
struct SvmLanes {
  using Doubles = typename VectorOf<double, Bytes>::type;
  using Numbers = typename VectorOf<int64_t, Bytes>::type;
  static constexpr int lanes = VectorOf<double, Bytes>::lanes;

  template <class S>
  static KW_INLINE Doubles load(const S* from) {
    using Narrow = typename VectorOf<S, lanes* static_cast<int>(sizeof(S))>::type;
    return __builtin_convertvector(*reinterpret_cast<const Narrow*>(from), Doubles);
  }
  // Values of a row for the samples from k on. Those that pad are not consecutive.
  static KW_INLINE Doubles similarities(const SvmActive<T>& active, const T* row, int64_t k) {
    if (active.contiguous && k + lanes <= active.n) return load(row + active.columns[0] + k);
    Doubles values;
    for (int l = 0; l < lanes; ++l) values[l] = row[active.columns[k + l]];
    return values;
  }

  // The best sample of each lane. Samples come by rising number.
  struct Best {
    Doubles value = kNever - Doubles{};
    Numbers at = {};

    KW_INLINE void offer(Doubles other, int64_t first) {
      const Numbers better = other >= value;
      Numbers here;
      for (int l = 0; l < lanes; ++l) here[l] = first + l;
      value = better ? other : value;
      at = better ? here : at;
    }
    KW_INLINE void reduce(SvmChoice* best) const {
      for (int l = 0; l < lanes; ++l) best->offer(value[l], at[l]);
    }
  };
};

// Adds weight_i * row_i + weight_j * row_j to the gradient, and finds the sample in `up` with the
// largest negative gradient.
template <int Bytes, class T>
KW_INLINE void svm_step_impl(const SvmActive<T>& active, const T* row_i, const T* row_j,
                             double weight_i, double weight_j, SvmChoice* first) {
  using Lanes = SvmLanes<T, Bytes>;
  using Doubles = typename Lanes::Doubles;
  typename Lanes::Best best;
  for (int64_t k = 0; k < active.n; k += Lanes::lanes) {
    auto& gradient = *reinterpret_cast<Doubles*>(active.gradient + k);
    const Doubles changed = gradient + (Lanes::similarities(active, row_i, k) * weight_i +
                                        Lanes::similarities(active, row_j, k) * weight_j);
    gradient = changed;
    best.offer(Lanes::load(active.up + k) - changed, k);
  }
  best.reduce(first);
}

// Finds the sample in `low` whose step with sample i, of negative gradient `top`, decreases the
// objective most, and the largest gradient in `low`.
template <int Bytes, class T>
KW_INLINE void svm_partner_impl(const SvmActive<T>& active, const T* row_i, double diagonal_i,
                                double top, SvmChoice* second, double* largest) {
  using Lanes = SvmLanes<T, Bytes>;
  using Doubles = typename Lanes::Doubles;
  const Doubles never = kNever - Doubles{}, smallest = kSmallestCurvature - Doubles{};
  typename Lanes::Best best;
  Doubles most = never;
  for (int64_t k = 0; k < active.n; k += Lanes::lanes) {
    const Doubles gradient = Lanes::load(active.gradient + k) + Lanes::load(active.low + k);
    most = gradient > most ? gradient : most;
    const Doubles difference = top + gradient;
    Doubles curvature = (diagonal_i + Lanes::load(active.diagonal + k)) -
                        2.0 * Lanes::similarities(active, row_i, k);
    curvature = curvature > 0.0 ? curvature : smallest;
    const Doubles decrease = (difference * difference) / curvature;
    best.offer(difference > 0.0 ? decrease : never, k);
  }
  best.reduce(second);
  for (int l = 0; l < Lanes::lanes; ++l) *largest = std::max(*largest, most[l]);
}

#define KW_SVM_PASSES(T)                                                                    \
  KW_DISPATCH(svm_step,                                                                     \
              (const SvmActive<T>& active, const T* row_i, const T* row_j, double weight_i, \
               double weight_j, SvmChoice* first),                                          \
              (active, row_i, row_j, weight_i, weight_j, first))                            \
  KW_DISPATCH(svm_partner,                                                                  \
              (const SvmActive<T>& active, const T* row_i, double diagonal_i, double top,   \
               SvmChoice* second, double* largest),                                         \
              (active, row_i, diagonal_i, top, second, largest))
KW_SVM_PASSES(float)
KW_SVM_PASSES(double)
#undef KW_SVM_PASSES

// n samples: rows of a Gram matrix, classes +1 and -1, upper bounds of the variables.
template <class T>
struct SvmProblem {
  const T* gram;
  int64_t stride;
  const int64_t* rows;
  const int8_t* targets;
  const double* bounds;
  int64_t n;
};

struct SvmResult {
  double intercept, objective;
  int64_t n_iterations;
  bool converged;
};

template <class T>
class SvmSolver {
 public:
  explicit SvmSolver(const SvmProblem<T>& problem)
      : problem_(problem), n_(problem.n), alpha_(size(n_)), bounded_(size(n_)), gradient_(size(n_)),
        selves_(size(n_)), at_(size(n_)), columns_(padded()), active_gradient_(padded()),
        diagonal_(padded()), up_(padded()), low_(padded()) {
    for (int64_t p = 0; p < n_; ++p) {
      gradient_[p] = -target(p);
      selves_[p] = row(p)[problem.rows[p]];
    }
    activate_all();
  }

  // Iterates until no pair violates the optimality conditions by `tolerance`, at most
  // `max_iterations` times; writes y_p a_p to `coefficients`.
  SvmResult solve(double tolerance, int64_t max_iterations, const StopFlag& stop,
                  double* coefficients) {
    const int64_t interval = std::min<int64_t>(n_, 1000);
    int64_t n_iterations = 0, until_shrinking = interval;
    bool converged = false;
    SvmChoice first = find_first();
    for (; n_iterations < max_iterations && !stop.raised(); ++n_iterations) {
      if (until_shrinking-- == 0) {
        until_shrinking = interval - 1;
        shrink(tolerance);
        first = find_first();
      }
      int64_t second = find_second(first, tolerance);
      if (second < 0) {
        reconstruct();
        first = find_first();
        second = find_second(first, tolerance);
        converged = second < 0;
        if (converged) break;
        until_shrinking = 0;
      }
      first = step(first.at, second);
    }
    reconstruct();
    for (int64_t p = 0; p < n_; ++p) coefficients[p] = target(p) * alpha_[p];
    return {intercept(), objective(), n_iterations, converged};
  }

 private:
  static size_t size(int64_t n) { return static_cast<size_t>(n); }
  size_t padded() const { return size(n_ + kSvmPadding); }
  double target(int64_t p) const { return problem_.targets[p]; }
  const T* row(int64_t p) const { return problem_.gram + problem_.rows[p] * problem_.stride; }
  bool is_lower(int64_t p) const { return alpha_[p] <= 0; }
  bool is_upper(int64_t p) const { return alpha_[p] >= problem_.bounds[p]; }
  bool is_free(int64_t p) const { return !is_lower(p) && !is_upper(p); }
  bool may_rise(int64_t p) const { return target(p) > 0 ? !is_upper(p) : !is_lower(p); }
  bool may_fall(int64_t p) const { return target(p) > 0 ? !is_lower(p) : !is_upper(p); }

  SvmActive<T> active() {
    return {columns_.data(), contiguous_, active_gradient_.data(), diagonal_.data(), up_.data(),
            low_.data(),     n_active_};
  }

  // Puts sample p, of a gradient, at place k of the active samples.
  void place(int64_t k, int64_t p, double gradient) {
    at_[k] = static_cast<int32_t>(p);
    columns_[k] = static_cast<int32_t>(problem_.rows[p]);
    active_gradient_[k] = gradient;
    diagonal_[k] = selves_[p];
    mark(k);
  }

  void mark(int64_t k) {
    up_[k] = may_rise(at_[k]) ? 0.0f : static_cast<float>(kNever);
    low_[k] = may_fall(at_[k]) ? 0.0f : static_cast<float>(kNever);
  }

  void set_active(int64_t n) {
    n_active_ = n;
    for (int64_t k = n; k < n + kSvmPadding; ++k) {
      columns_[k] = static_cast<int32_t>(problem_.rows[0]);
      active_gradient_[k] = 0;
      diagonal_[k] = 0;
      up_[k] = low_[k] = static_cast<float>(kNever);
    }
    contiguous_ = true;
    for (int64_t k = 1; k < n && contiguous_; ++k) contiguous_ = columns_[k] == columns_[k - 1] + 1;
  }

  void activate_all() {
    for (int64_t p = 0; p < n_; ++p) place(p, p, gradient_[p]);
    set_active(n_);
  }

  SvmChoice find_first() const {
    SvmChoice first;
    for (int64_t k = 0; k < n_active_; ++k) first.offer(up_[k] - active_gradient_[k], k);
    return first;
  }

  // The partner of a first sample, or -1 if the active samples are optimal.
  int64_t find_second(const SvmChoice& first, double tolerance) {
    if (first.at < 0) return -1;
    SvmChoice second;
    double largest = kNever;
    svm_partner(active(), row(at_[first.at]), diagonal_[first.at], first.value, &second, &largest);
    return first.value + largest < tolerance ? -1 : second.at;
  }

  // Minimizes the objective over two variables and returns the first sample of the next step.
  SvmChoice step(int64_t i, int64_t j) {
    const int64_t p = at_[i], q = at_[j];
    const double before_p = alpha_[p], before_q = alpha_[q];
    const bool upper_p = is_upper(p), upper_q = is_upper(q);
    move(i, j);
    mark(i);
    mark(j);
    SvmChoice next;
    svm_step(active(), row(p), row(q), target(p) * (alpha_[p] - before_p),
             target(q) * (alpha_[q] - before_q), &next);
    if (upper_p != is_upper(p)) add_bounded(p);
    if (upper_q != is_upper(q)) add_bounded(q);
    return next;
  }

  void move(int64_t i, int64_t j) {
    const int64_t p = at_[i], q = at_[j];
    double &a = alpha_[p], &b = alpha_[q];
    const double bound_a = problem_.bounds[p], bound_b = problem_.bounds[q];
    double curvature = static_cast<double>(diagonal_[i]) + static_cast<double>(diagonal_[j]) -
                       2.0 * static_cast<double>(row(p)[problem_.rows[q]]);
    if (!(curvature > 0)) curvature = kSmallestCurvature;
    // By how much y_p a_p grows and y_q a_q falls, without bounds.
    const double delta = (active_gradient_[j] - active_gradient_[i]) / curvature;
    if (target(p) != target(q)) {
      const double difference = a - b;
      a += target(p) * delta;
      b += target(p) * delta;
      if (difference > 0 && b < 0) {
        b = 0;
        a = difference;
      } else if (difference <= 0 && a < 0) {
        a = 0;
        b = -difference;
      }
      if (difference > bound_a - bound_b && a > bound_a) {
        a = bound_a;
        b = bound_a - difference;
      } else if (difference <= bound_a - bound_b && b > bound_b) {
        b = bound_b;
        a = bound_b + difference;
      }
    } else {
      const double sum = a + b;
      a += target(p) * delta;
      b -= target(p) * delta;
      if (sum > bound_a && a > bound_a) {
        a = bound_a;
        b = sum - bound_a;
      } else if (sum <= bound_a && b < 0) {
        b = 0;
        a = sum;
      }
      if (sum > bound_b && b > bound_b) {
        b = bound_b;
        a = sum - bound_b;
      } else if (sum <= bound_b && a < 0) {
        a = 0;
        b = sum;
      }
    }
  }

  // Updates the part of all gradients that comes from variables at their upper bounds.
  void add_bounded(int64_t p) {
    const double weight = (is_upper(p) ? 1 : -1) * target(p) * problem_.bounds[p];
    const T* values = row(p);
    for (int64_t q = 0; q < n_; ++q) bounded_[q] += weight * values[problem_.rows[q]];
  }

  // Leaves out samples at a bound that violate no optimality condition with any other sample.
  void shrink(double tolerance) {
    double top = kNever, bottom = kNever;
    for (int64_t k = 0; k < n_active_; ++k) {
      top = std::max(top, up_[k] - active_gradient_[k]);
      bottom = std::max(bottom, low_[k] + active_gradient_[k]);
    }
    if (!restored_ &&
        top + bottom <= 10 * tolerance) {  // nearly done: what was left out too early?
      restored_ = true;
      reconstruct();
    }
    int64_t kept = 0;
    for (int64_t k = 0; k < n_active_; ++k) {
      const double gradient = active_gradient_[k];
      const bool rises = up_[k] == 0, falls = low_[k] == 0;
      if ((rises || -gradient <= top) && (falls || gradient <= bottom))
        place(kept++, at_[k], gradient);
    }
    set_active(kept);
  }

  // Computes the gradients of the samples left out, and makes all samples active.
  void reconstruct() {
    if (n_active_ == n_) {
      for (int64_t p = 0; p < n_; ++p) gradient_[p] = active_gradient_[p];
      return;
    }
    std::vector<int32_t> free, out;
    for (int64_t p = 0, k = 0; p < n_; ++p) {
      if (k < n_active_ && at_[k] == p) {
        if (is_free(p)) free.push_back(static_cast<int32_t>(p));
        gradient_[p] = active_gradient_[k++];
      } else {
        out.push_back(static_cast<int32_t>(p));
        gradient_[p] = bounded_[p] - target(p);
      }
    }
    const auto n_free = static_cast<int64_t>(free.size());
    if (n_free * n_ > 2 * n_active_ * (n_ - n_active_)) {
      for (const int32_t q : out)
        for (const int32_t p : free)
          gradient_[q] += target(p) * alpha_[p] * row(q)[problem_.rows[p]];
    } else {
      for (const int32_t p : free) {
        const double weight = target(p) * alpha_[p];
        for (const int32_t q : out) gradient_[q] += weight * row(p)[problem_.rows[q]];
      }
    }
    activate_all();
  }

  // The mean of what free samples demand, or the middle of what bounded ones allow.
  double intercept() const {
    double sum = 0, above = -kNever, below = kNever;
    int64_t n_free = 0;
    for (int64_t p = 0; p < n_; ++p) {
      if (is_free(p)) {
        ++n_free;
        sum += gradient_[p];
      } else if (may_rise(p)) {
        above = std::min(above, gradient_[p]);
      } else {
        below = std::max(below, gradient_[p]);
      }
    }
    return n_free > 0 ? -(sum / static_cast<double>(n_free)) : -(above + below) / 2;
  }

  double objective() const {
    double sum = 0;
    for (int64_t p = 0; p < n_; ++p) sum += alpha_[p] * (target(p) * gradient_[p] - 1);
    return sum / 2;
  }

  SvmProblem<T> problem_;
  int64_t n_, n_active_ = 0;
  // Of all samples: variables, gradients from variables at upper bounds only, and gradients; the
  // latter of samples that are left out are not up to date.
  std::vector<double> alpha_, bounded_, gradient_;
  std::vector<T> selves_;  // the diagonal of the matrix
  // Of active samples: numbers, columns of the matrix, gradients, and where they may go.
  std::vector<int32_t> at_, columns_;
  std::vector<double> active_gradient_;
  std::vector<T> diagonal_;
  std::vector<float> up_, low_;
  bool contiguous_ = false, restored_ = false;
};

}  // namespace kernelwood
