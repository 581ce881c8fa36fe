// Binary latent variables that explain the total correlation of codes (CorEx: Ver Steeg and
// Galstyan, 2014).
//
// With the bits divided among the latent variables, the groups G_j explain
//
//   TC(c; z) = sum_j [ sum_{l in G_j} I(c_l : z_j) - I(c : z_j) ],
//   I(c : z_j) = H(z_j) - mean_n H(z_j | c_n),
//
// which is no more than the total correlation TC(c), whatever the responsibilities q. Three steps
// take turns, and none lets it fall: the tables p(c_l | z_j) by q; every bit to the z_j that
// knows most of it; q by the tables and groups, log q_nj / (1 - q_nj) = log p(z_j = 1) / p(z_j = 0)
// + sum_{l in G_j} log p(c_nl | z_j = 1) / p(c_nl | z_j = 0). When all have settled, a variable
// that the others can replace at less cost is given up, and they take turns again. A search from
// afar begins with tables that exclude little, which leads to better ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/code_bits.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/latent_columns.hpp"
#include "kernelwood/latent_responses.hpp"
#include "kernelwood/subset_sums.hpp"

namespace kernelwood {

struct LatentFit {
  double total_correlation = -1.0;
  int64_t n_iterations = 0;
};

class LatentFactors {
 public:
  static constexpr int64_t lanes = SubsetSums::lanes;

  LatentFactors(int64_t n, int64_t n_bits, int64_t n_latent)
      : n_(n), n_bits_(n_bits), n_latent_(n_latent), width_((n_latent + lanes - 1) / lanes * lanes),
        shares_(n * width_, 0.0), counts_(n_bits * width_), sizes_(4 * width_), cost_(width_),
        needed_(width_, 1), information_(n_bits * width_), owners_(n_bits), leads_(n_bits),
        weights_(n_bits * width_), zeros_(n_bits), odds_(n * width_),
        scratch_(SubsetSums::table_rows * width_) {}

  // Starts with responsibilities (n, n_latent), from afar or close to the end.
  void start(const double* shares, bool from_afar) {
    log_least_ = from_afar ? log_quarter : log_little;
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < n_latent_; ++j)
        shares_[i * width_ + j] = round_to(shares[i * n_latent_ + j], share_places);
  }

  // Lets the steps take turns; the best responsibilities are handed to `keep` as they appear.
  // With `first`, that makes the first evaluation and the first response in place of *this.
  template <class Keep, class First>
  LatentFit settle(const CodeBits& codes, int64_t max_iterations, double tolerance,
                   const StopFlag& stop, const Keep& keep, const First& first) {
    LatentFit best;
    double before = lowest;
    for (int64_t iteration = 0;; ++iteration) {
      best.n_iterations = iteration;
      if (iteration > 0 || !first.evaluate(*this)) evaluate(codes);
      const double explained = total_correlation();
      if (explained > best.total_correlation) {
        best.total_correlation = explained;
        keep(*this);
      }
      if (iteration == max_iterations || stop.raised()) return best;
      if (rising_ - before <= tolerance) {
        if (!begin_again()) return best;
        before = lowest;
        continue;
      }
      before = rising_;
      if (iteration > 0 || !first.respond(*this)) respond(codes);
    }
  }

  // The tables by the responsibilities, for all bits.
  void evaluate(const CodeBits& codes) {
    measure_latents();
    subset_sums({codes.by_bit.data(), n_bits_, n_, shares_.data(), width_, counts_.data(),
                 scratch_.data()});
    relate_columns(columns_of(codes, nullptr, n_bits_));
  }

  // The responsibilities by the tables.
  void respond(const CodeBits& codes) {
    subset_sums({codes.by_example.data(), n_, n_bits_, weights_.data(), width_, odds_.data(),
                 scratch_.data()});
    respond_with(sum_of_zeros());
  }

  // TC(c; z): every bit belongs to the latent variable that knows most of it, of those that are
  // needed. What never falls is the sum over all of them.
  double total_correlation() {
    std::fill(needed_.begin(), needed_.end(), 1);
    rising_ = sum_of_terms(owners_);
    int64_t idle = least_needed(owners_, leads_);
    if (idle < 0) return rising_;
    std::vector<int32_t> owners(owners_);
    Numbers leads(leads_);
    for (; idle >= 0; idle = least_needed(owners, leads)) {
      needed_[idle] = 0;
      divide_bits(owners.data(), leads.data());
    }
    return sum_of_terms(owners);
  }

  // The owner of every bit after that; -1 for bits that no latent variable explains.
  void final_owners(int32_t* owners) const {
    Numbers leads(n_bits_);
    divide_bits(owners, leads.data());
    for (int64_t l = 0; l < n_bits_; ++l)
      if (owners[l] >= 0 && information(l)[owners[l]] <= 0.0) owners[l] = -1;
  }

  const double* shares() const { return shares_.data(); }
  int64_t width() const { return width_; }

 private:
  friend class LatentSwaps;

  const double* information(int64_t l) const { return &information_[l * width_]; }

  // Changes something when all has settled; returns whether there was anything to change.
  bool begin_again() {
    if (log_least_ == log_quarter) {
      log_least_ = log_little;
      return true;
    }
    std::fill(needed_.begin(), needed_.end(), 1);
    const int64_t idle = least_needed(owners_, leads_);
    if (idle < 0) return false;
    for (int64_t i = 0; i < n_; ++i) shares_[i * width_ + idle] = 0.0;
    return true;
  }

  bool constant(int64_t j) const {
    return sizes_[j] <= 0.0 || sizes_[j] >= static_cast<double>(n_);
  }

  LatentColumns columns_of(const CodeBits& codes, const int32_t* columns, int64_t n_columns) {
    return {&codes,          width_,        counts_.data(),      sizes_.data(),  columns,
            n_columns,       log_least_,    information_.data(), owners_.data(), leads_.data(),
            weights_.data(), zeros_.data(), scratch_.data()};
  }

  // N_v and I(c : z_j) by the responsibilities.
  void measure_latents() {
    const auto n = static_cast<double>(n_);
    sum_shares({shares_.data(), n_, width_, sizes_.data(), cost_.data()});
    for (int64_t j = 0; j < width_; ++j) {
      const double high = sizes_[j], low = n - high, own = x_log_x(high) + x_log_x(low);
      sizes_[width_ + j] = low;
      sizes_[2 * width_ + j] = constant(j) ? 0.0 : exact_log(high) - exact_log(low);
      sizes_[3 * width_ + j] = own;
      const double entropy = round_to((x_log_x(n) - own) / n, information_places);
      cost_[j] = constant(j) ? 0.0 : std::max(0.0, entropy - cost_[j] / n);
    }
  }

  Numbers sum_of_zeros() const {
    Numbers sums(width_, 0.0);
    for (int64_t l = 0; l < n_bits_; ++l) sums[owners_[l]] += zeros_[l];
    return sums;
  }

  // Responsibilities by the log odds of the set bits, and those of bits that are not.
  void respond_with(Numbers constants) {
    Numbers fixed(width_);  // latent variables that are constant stay as they are
    for (int64_t j = 0; j < width_; ++j) {
      fixed[j] = constant(j) ? 1.0 : 0.0;
      constants[j] += round_to(sizes_[2 * width_ + j], weight_places);
    }
    respond_to_odds({odds_.data(), constants.data(), fixed.data(), n_, width_, shares_.data()});
  }

  double sum_of_terms(const std::vector<int32_t>& owners) const {
    double sum = 0.0;
    for (int64_t l = 0; l < n_bits_; ++l)
      if (owners[l] >= 0) sum += information(l)[owners[l]];
    for (int64_t j = 0; j < width_; ++j)
      if (needed_[j]) sum -= cost_[j];
    return sum;
  }

  // Gives every bit to one of the latent variables that are needed, if there are any.
  void divide_bits(int32_t* owners, double* leads) const {
    for (int64_t l = 0; l < n_bits_; ++l) {
      const double* row = information(l);
      double most = -1.0, next = 0.0;
      owners[l] = -1;
      for (int64_t j = 0; j < width_; ++j) {
        if (!needed_[j]) continue;
        next = std::max(next, std::min(most, row[j]));
        if (row[j] > most) owners[l] = static_cast<int32_t>(j);
        most = std::max(most, row[j]);
      }
      leads[l] = most - next;
    }
  }

  // The latent variable whose cost most exceeds what its bits lose without it, or -1.
  int64_t least_needed(const std::vector<int32_t>& owners, const Numbers& leads) const {
    Numbers gains(width_, 0.0);
    for (int64_t l = 0; l < n_bits_; ++l)
      if (owners[l] >= 0) gains[owners[l]] += leads[l];
    int64_t least = -1;
    for (int64_t j = 0; j < width_; ++j)
      if (needed_[j] && gains[j] < cost_[j] &&
          (least < 0 || gains[j] - cost_[j] < gains[least] - cost_[least]))
        least = j;
    return least;
  }

  // Fractions of an example: 1/4, and 2^-10.
  static constexpr double log_quarter = -1.3862943611198906, log_little = -6.931471805599453;

  static constexpr double lowest = -1e300;

  double log_least_ = log_little;
  double rising_ = 0.0;  // the sum over all latent variables, worth their cost or not
  int64_t n_, n_bits_, n_latent_, width_;
  Numbers shares_;  // (n, width): the responsibilities
  Numbers counts_;  // (n_bits, width): C_1
  Numbers sizes_;  // (4, width), as LatentColumns has them
  Numbers cost_;  // (width): I(c : z_j)
  std::vector<char> needed_;  // (width): whether z_j pays
  Numbers information_;  // (n_bits, width)
  std::vector<int32_t> owners_;  // (n_bits)
  Numbers leads_;  // (n_bits): as LatentColumns has them
  Numbers weights_;  // (n_bits, width)
  std::vector<double> zeros_;  // (n_bits)
  Numbers odds_;  // (n, width)
  Numbers scratch_;
};

}  // namespace kernelwood
