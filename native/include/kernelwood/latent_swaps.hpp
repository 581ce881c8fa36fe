// What latent variables explain after some of the bits were replaced, many times over.
//
// Every replacement starts from the same responsibilities. What these say of the bits that stay is
// the same for all: their tables and owners, and the log odds that they add up to, so that the
// first iteration only looks at the bits that change. Sums are exact, so that it makes no
// difference.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelwood/latent_factors.hpp"

namespace kernelwood {

class LatentSwaps {
 public:
  LatentSwaps(const CodeBits& codes, int64_t n_latent, const double* shares, const int32_t* columns,
              int64_t n_columns)
      : codes_(codes), columns_(columns, columns + n_columns),
        stays_(codes.n, codes.n_bits, n_latent) {
    stays_.start(shares, false);
    stays_.evaluate(codes_);
    for (int32_t l : columns_) {
      std::fill_n(&stays_.weights_[l * stays_.width_], stays_.width_, 0.0);
      entropy_ -= column_entropy(codes_, l);
    }
    subset_sums({codes_.by_example.data(), codes_.n, codes_.n_bits, stays_.weights_.data(),
                 stays_.width_, stays_.odds_.data(), stays_.scratch_.data()});
    entropy_ += codes_.sum_of_entropies();
  }

  struct Scratch {
    explicit Scratch(const LatentSwaps& swaps)
        : codes(swaps.codes_), factors(swaps.stays_),
          chosen(swaps.columns_.size() * words_of(codes.n)),
          counts(swaps.columns_.size() * factors.width()) {}
    CodeBits codes;
    LatentFactors factors;
    std::vector<uint16_t> chosen;  // the columns, by bit
    Numbers counts;                // of them
  };

  const std::vector<int32_t>& columns() const { return columns_; }

  // The entropy of the codes, an upper bound, with the columns replaced by those in the scratch.
  double entropy_after(int64_t n_iterations, const StopFlag& stop, Scratch& scratch) const {
    double entropies = entropy_;
    for (int32_t l : columns_) entropies += column_entropy(scratch.codes, l);
    scratch.factors = stays_;
    const LatentFit fit = scratch.factors.settle(
        scratch.codes, n_iterations, 0.0, stop, [](const LatentFactors&) {}, First{*this, scratch});
    return entropies - fit.total_correlation;
  }

 private:
  // The first iteration, of the columns that change alone.
  struct First {
    const LatentSwaps& swaps;
    Scratch& scratch;

    bool evaluate(LatentFactors& to) const {
      const CodeBits& codes = scratch.codes;
      const auto n_columns = static_cast<int64_t>(swaps.columns_.size());
      for (int64_t word = 0; word < words_of(codes.n); ++word)
        for (int64_t c = 0; c < n_columns; ++c)
          scratch.chosen[word * n_columns + c] =
              codes.by_bit[word * codes.n_bits + swaps.columns_[c]];
      subset_sums({scratch.chosen.data(), n_columns, codes.n, to.shares_.data(), to.width_,
                   scratch.counts.data(), to.scratch_.data()});
      for (int64_t c = 0; c < n_columns; ++c)
        std::copy_n(&scratch.counts[c * to.width_], to.width_,
                    &to.counts_[swaps.columns_[c] * to.width_]);
      relate_columns(to.columns_of(codes, swaps.columns_.data(), n_columns));
      return true;
    }

    bool respond(LatentFactors& to) const {
      for (int32_t l : swaps.columns_) {
        const double weight = to.weights_[l * to.width_ + to.owners_[l]];
        double* odds = &to.odds_[to.owners_[l]];
        for (int64_t i = 0; i < scratch.codes.n; ++i)
          odds[i * to.width_] += weight * scratch.codes.bit(i, l);
      }
      to.respond_with(to.sum_of_zeros());
      return true;
    }
  };

  static double column_entropy(const CodeBits& codes, int64_t l) {
    return round_to(codes.entropy[l] / static_cast<double>(codes.n), information_places);
  }

  CodeBits codes_;
  std::vector<int32_t> columns_;
  LatentFactors stays_;   // evaluated; the log odds of the columns that stay
  double entropy_ = 0.0;  // the sum of the entropies of the columns that stay
};

}  // namespace kernelwood
