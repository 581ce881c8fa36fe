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
constexpr int64_t kSvmBlock = 64;  // samples; a multiple of the lanes of every instruction set

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

// The samples that passes go over, n of them, and then up to kSvmBlock that are never chosen.
// `up` is 0 where y_p a_p may grow, `low` where it may fall, and else minus infinity. Rows of
// similarities that come with them are in the same order.
template <class T>
struct SvmPass {
  double* gradient;
  const double* diagonal;
  const double* up;
  const double* low;
  int64_t n;
};

// Passes go over blocks. Only in blocks that reach the best value so far they look for its place.
template <int Bytes>
struct SvmLanes {
  using Doubles = typename VectorOf<double, Bytes>::type;
  static constexpr int lanes = VectorOf<double, Bytes>::lanes;

  static KW_INLINE Doubles load(const double* from) {
    return *reinterpret_cast<const Doubles*>(from);
  }
  static KW_INLINE Doubles load(const float* from) {
    using Narrow = typename VectorOf<float, lanes * 4>::type;
    return __builtin_convertvector(*reinterpret_cast<const Narrow*>(from), Doubles);
  }
  static KW_INLINE void raise(Doubles* to, Doubles other) { *to = other > *to ? other : *to; }
  static KW_INLINE double largest(Doubles values) {
    double most = values[0];
    for (int l = 1; l < lanes; ++l) most = values[l] > most ? values[l] : most;
    return most;
  }
};

// Adds weight_i * row_i + weight_j * row_j to the gradient, and finds the sample in `up` with the
// largest negative gradient.
template <int Bytes, class T>
KW_INLINE void svm_step_impl(const SvmPass<T>& pass, const T* row_i, const T* row_j,
                             double weight_i, double weight_j, SvmChoice* first) {
  using Lanes = SvmLanes<Bytes>;
  using Doubles = typename Lanes::Doubles;
  for (int64_t begin = 0; begin < pass.n; begin += kSvmBlock) {
    Doubles most = kNever - Doubles{};
    for (int64_t k = begin; k < begin + kSvmBlock; k += Lanes::lanes) {
      auto& gradient = *reinterpret_cast<Doubles*>(pass.gradient + k);
      const Doubles changed =
          gradient + (Lanes::load(row_i + k) * weight_i + Lanes::load(row_j + k) * weight_j);
      gradient = changed;
      Lanes::raise(&most, Lanes::load(pass.up + k) - changed);
    }
    if (!(Lanes::largest(most) >= first->value)) continue;
    for (int64_t k = begin; k < begin + kSvmBlock; ++k)
      first->offer(pass.up[k] - pass.gradient[k], k);
  }
}

// By how much a step of sample i, of negative gradient `top`, with sample k decreases the
// objective, as a fraction: twice its numerator, or 0, and denominator.
template <class T>
struct SvmGain {
  double diagonal_i, top;
  const T* row_i;

  template <int Bytes>
  KW_INLINE void of(const SvmPass<T>& pass, int64_t k, typename SvmLanes<Bytes>::Doubles gradient,
                    typename SvmLanes<Bytes>::Doubles* numerator,
                    typename SvmLanes<Bytes>::Doubles* denominator) const {
    using Lanes = SvmLanes<Bytes>;
    using Doubles = typename Lanes::Doubles;
    const Doubles difference = top + gradient, none = {};
    const Doubles gain = difference > 0.0 ? difference : none;
    const Doubles curvature =
        (diagonal_i + Lanes::load(pass.diagonal + k)) - 2.0 * Lanes::load(row_i + k);
    *numerator = gain * gain;
    *denominator = curvature > 0.0 ? curvature : kSmallestCurvature - none;
  }
};

// Finds the sample in `low` whose step with sample i decreases the objective most, and the largest
// gradient in `low`.
template <int Bytes, class T>
KW_INLINE void svm_partner_impl(const SvmPass<T>& pass, const SvmGain<T>& gain, SvmChoice* second,
                                double* largest) {
  using Lanes = SvmLanes<Bytes>;
  using Doubles = typename Lanes::Doubles;
  Doubles most = kNever - Doubles{};
  double best = 0;  // a little less than the best so far: a product decides like the quotient
  for (int64_t begin = 0; begin < pass.n; begin += kSvmBlock) {
    Doubles above = kNever - Doubles{}, numerator, denominator;
    for (int64_t k = begin; k < begin + kSvmBlock; k += Lanes::lanes) {
      const Doubles gradient = Lanes::load(pass.gradient + k) + Lanes::load(pass.low + k);
      Lanes::raise(&most, gradient);
      gain.template of<Bytes>(pass, k, gradient, &numerator, &denominator);
      Lanes::raise(&above, numerator - best * denominator);
    }
    const double reached = Lanes::largest(above);
    if (!(best > 0 ? reached >= 0 : reached > 0)) continue;
    for (int64_t k = begin; k < begin + kSvmBlock; k += Lanes::lanes) {
      const Doubles gradient = Lanes::load(pass.gradient + k) + Lanes::load(pass.low + k);
      gain.template of<Bytes>(pass, k, gradient, &numerator, &denominator);
      const Doubles decrease = numerator / denominator;
      for (int l = 0; l < Lanes::lanes; ++l)
        if (numerator[l] > 0) second->offer(decrease[l], k + l);
    }
    best = second->value * (1 - 1e-12);
  }
  *largest = std::max(*largest, Lanes::largest(most));
}

#define KW_SVM_PASSES(T)                                                                    \
  KW_DISPATCH(svm_step,                                                                     \
              (const SvmPass<T>& pass, const T* row_i, const T* row_j, double weight_i,     \
               double weight_j, SvmChoice* first),                                          \
              (pass, row_i, row_j, weight_i, weight_j, first))                              \
  KW_DISPATCH(                                                                              \
      svm_partner,                                                                          \
      (const SvmPass<T>& pass, const SvmGain<T>& gain, SvmChoice* second, double* largest), \
      (pass, gain, second, largest))
KW_SVM_PASSES(float)
KW_SVM_PASSES(double)
#undef KW_SVM_PASSES

// Space for copies of rows; what it holds changes the time only.
template <class T>
struct SvmSpace {
  T* data = nullptr;
  int64_t size = 0;
};

// n samples: rows of a Gram matrix, classes +1 and -1, upper bounds of the variables.
template <class T>
struct SvmProblem {
  const T* gram;
  int64_t stride;
  const int64_t* rows;
  const int8_t* targets;
  const double* bounds;
  int64_t n;
  SvmSpace<T> space;
};

struct SvmResult {
  double intercept, objective;
  int64_t n_iterations;
  bool converged;
};

// Similarities of some samples to each other. Rows are read in place if these samples are neighbors
// in the matrix. Otherwise they are copied when they are first asked for, and kept while there is
// space.
template <class T>
class SvmRows {
 public:
  SvmRows(const T* gram, int64_t stride) : gram_(gram), stride_(stride) {}

  // Which samples, as numbers of the problem.
  void arrange(std::vector<int32_t> samples, const int64_t* rows) {
    samples_ = std::move(samples);
    columns_.clear();
    for (const int32_t p : samples_) columns_.push_back(static_cast<int32_t>(rows[p]));
    contiguous_ = true;
    for (size_t k = 1; k < columns_.size() && contiguous_; ++k)
      contiguous_ = columns_[k] == columns_[k - 1] + 1;
  }

  // Where copies are kept; those before are dropped.
  void keep_in(SvmSpace<T> space) {
    space_ = space;
    copies_.assign(samples_.size(), nullptr);
    spare_of_[0] = spare_of_[1] = -1;
  }

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  int32_t sample(int64_t k) const { return samples_[static_cast<size_t>(k)]; }

  // The row of a sample, followed by kSvmBlock numbers without meaning. Of rows that are not kept,
  // the last two that were asked for stay valid.
  const T* row(int64_t k) {
    const auto at = static_cast<size_t>(k);
    const int64_t place = columns_[at] * stride_ + columns_[0];
    if (contiguous_ && place + width() <= stride_ * stride_) return gram_ + place;
    if (copies_[at] != nullptr) return copies_[at];
    if (space_.size >= width()) {
      T* const copy = space_.data;
      space_ = {copy + width(), space_.size - width()};
      return copies_[at] = copied(at, copy);
    }
    for (const int other : {last_spare_, 1 - last_spare_}) {
      last_spare_ = other;
      if (spare_of_[other] == k) return spare_[other].data();
    }
    spare_of_[last_spare_] = k;
    spare_[last_spare_].resize(static_cast<size_t>(width()));
    return copied(at, spare_[last_spare_].data());
  }

 private:
  int64_t width() const { return size() + kSvmBlock; }

  const T* copied(size_t at, T* to) const {
    const T* from = gram_ + columns_[at] * stride_;
    T* out = to;
    for (const int32_t column : columns_) *out++ = from[column];
    std::fill(out, to + width(), T{0});
    return to;
  }

  const T* gram_;
  int64_t stride_;
  std::vector<int32_t> samples_, columns_;
  bool contiguous_ = false;
  SvmSpace<T> space_;
  std::vector<const T*> copies_;
  std::vector<T> spare_[2];
  int64_t spare_of_[2] = {-1, -1};
  int last_spare_ = 0;
};

template <class T>
class SvmSolver {
 public:
  explicit SvmSolver(const SvmProblem<T>& problem)
      : problem_(problem), n_(problem.n), alpha_(size(n_)), bounded_(size(n_)), gradient_(size(n_)),
        selves_(size(n_)), active_(size(n_)), all_(problem.gram, problem.stride),
        some_(problem.gram, problem.stride), pass_gradient_(padded()), diagonal_(padded()),
        up_(padded()), low_(padded()) {
    std::vector<int32_t> samples(size(n_));
    for (int64_t p = 0; p < n_; ++p) {
      samples[p] = static_cast<int32_t>(p);
      gradient_[p] = -target(p);
      selves_[p] = row(p)[problem.rows[p]];
    }
    all_.arrange(std::move(samples), problem.rows);
    all_.keep_in(problem.space);
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
  size_t padded() const { return size(n_ + kSvmBlock); }
  double target(int64_t p) const { return problem_.targets[p]; }
  const T* row(int64_t p) const { return problem_.gram + problem_.rows[p] * problem_.stride; }
  bool is_lower(int64_t p) const { return alpha_[p] <= 0; }
  bool is_upper(int64_t p) const { return alpha_[p] >= problem_.bounds[p]; }
  bool is_free(int64_t p) const { return !is_lower(p) && !is_upper(p); }
  bool may_rise(int64_t p) const { return target(p) > 0 ? !is_upper(p) : !is_lower(p); }
  bool may_fall(int64_t p) const { return target(p) > 0 ? !is_lower(p) : !is_upper(p); }

  SvmPass<T> pass() {
    return {pass_gradient_.data(), diagonal_.data(), up_.data(), low_.data(), rows_->size()};
  }

  void mark(int64_t k) {
    const int32_t p = rows_->sample(k);
    const bool active = active_[p] != 0;
    up_[k] = active && may_rise(p) ? 0.0 : kNever;
    low_[k] = active && may_fall(p) ? 0.0 : kNever;
  }

  // Passes now go over these samples, with the gradients that are known.
  void pass_over(SvmRows<T>* rows) {
    rows_ = rows;
    const int64_t n = rows->size();
    for (int64_t k = 0; k < n; ++k) {
      pass_gradient_[k] = gradient_[rows->sample(k)];
      diagonal_[k] = selves_[rows->sample(k)];
      mark(k);
    }
    for (int64_t k = n; k < n + kSvmBlock; ++k) {
      pass_gradient_[k] = 0;
      diagonal_[k] = 0;
      up_[k] = low_[k] = kNever;
    }
  }

  void put_down_gradients() {
    for (int64_t k = 0; k < rows_->size(); ++k) gradient_[rows_->sample(k)] = pass_gradient_[k];
  }

  void activate_all() {
    active_.assign(size(n_), 1);
    n_active_ = n_;
    pass_over(&all_);
  }

  SvmChoice find_first() const {
    SvmChoice first;
    for (int64_t k = 0; k < rows_->size(); ++k) first.offer(up_[k] - pass_gradient_[k], k);
    return first;
  }

  // The partner of a first sample, or -1 if the active samples are optimal.
  int64_t find_second(const SvmChoice& first, double tolerance) {
    if (first.at < 0) return -1;
    SvmChoice second;
    double largest = kNever;
    svm_partner(pass(), {diagonal_[first.at], first.value, rows_->row(first.at)}, &second,
                &largest);
    return first.value + largest < tolerance ? -1 : second.at;
  }

  // Minimizes the objective over two variables and returns the first sample of the next step.
  SvmChoice step(int64_t i, int64_t j) {
    const int64_t p = rows_->sample(i), q = rows_->sample(j);
    const T *row_i = rows_->row(i), *row_j = rows_->row(j);
    const double before_p = alpha_[p], before_q = alpha_[q];
    const bool upper_p = is_upper(p), upper_q = is_upper(q);
    move(i, j, static_cast<double>(row_i[j]));
    mark(i);
    mark(j);
    SvmChoice next;
    svm_step(pass(), row_i, row_j, target(p) * (alpha_[p] - before_p),
             target(q) * (alpha_[q] - before_q), &next);
    if (upper_p != is_upper(p)) add_bounded(p);
    if (upper_q != is_upper(q)) add_bounded(q);
    return next;
  }

  void move(int64_t i, int64_t j, double similarity) {
    const int64_t p = rows_->sample(i), q = rows_->sample(j);
    double &a = alpha_[p], &b = alpha_[q];
    const double bound_a = problem_.bounds[p], bound_b = problem_.bounds[q];
    double curvature = diagonal_[i] + diagonal_[j] - 2.0 * similarity;
    if (!(curvature > 0)) curvature = kSmallestCurvature;
    // By how much y_p a_p grows and y_q a_q falls, without bounds.
    const double delta = (pass_gradient_[j] - pass_gradient_[i]) / curvature;
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
    for (int64_t k = 0; k < rows_->size(); ++k) {
      top = std::max(top, up_[k] - pass_gradient_[k]);
      bottom = std::max(bottom, low_[k] + pass_gradient_[k]);
    }
    if (!restored_ &&
        top + bottom <= 10 * tolerance) {  // nearly done: what was left out too early?
      restored_ = true;
      reconstruct();
    }
    for (int64_t k = 0; k < rows_->size(); ++k) {
      const int32_t p = rows_->sample(k);
      if (!active_[p]) continue;
      const double gradient = pass_gradient_[k];
      if ((may_rise(p) || -gradient <= top) && (may_fall(p) || gradient <= bottom)) continue;
      active_[p] = 0;
      --n_active_;
      mark(k);
    }
    if (is_worth(n_active_, rows_->size())) narrow();
  }

  // Whether passes over the active samples only save more than copies of their rows cost.
  static bool is_worth(int64_t n_active, int64_t n_passed) { return 4 * n_active <= 3 * n_passed; }

  // Lets passes go over the active samples; copies of their rows may still be there.
  void narrow() {
    put_down_gradients();
    int64_t n_there = 0;
    for (int64_t k = 0; k < some_.size(); ++k) n_there += active_[some_.sample(k)];
    if (n_there < n_active_ || is_worth(n_active_, some_.size())) {
      std::vector<int32_t> samples;
      for (int64_t p = 0; p < n_; ++p)
        if (active_[p]) samples.push_back(static_cast<int32_t>(p));
      some_.arrange(std::move(samples), problem_.rows);
      some_.keep_in(problem_.space);
      all_.keep_in({});
    }
    pass_over(&some_);
  }

  // Computes the gradients of the samples left out, and makes all samples active.
  void reconstruct() {
    put_down_gradients();
    if (n_active_ == n_) return;
    std::vector<int32_t> free, out;
    for (int64_t p = 0; p < n_; ++p) {
      if (active_[p]) {
        if (is_free(p)) free.push_back(static_cast<int32_t>(p));
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
  // Of all samples: variables, gradients from variables at upper bounds only, and gradients, which
  // are up to date where passes do not go on with them.
  std::vector<double> alpha_, bounded_, gradient_;
  std::vector<T> selves_;  // the diagonal of the matrix
  std::vector<int8_t> active_;
  SvmRows<T> all_, some_;  // of all samples, and of those that were active some time ago
  SvmRows<T>* rows_ = nullptr;
  // Of the samples that passes go over: gradients, and where they may go.
  std::vector<double> pass_gradient_, diagonal_, up_, low_;
  bool restored_ = false;
};

}  // namespace kernelwood
