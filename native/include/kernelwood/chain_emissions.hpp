// Emissions of linear chains: sums of feature weights.
//
// Features of a word have weights for each distance from it, so the sum of the features of a word
// is a row of blocks, one for each distance from -reach to reach. The emission of a place is the
// sum of the blocks of the words around it, and of the features of the place itself.
#pragma once

#include <cstdint>

namespace kernelwood {

// Sparse rows of weights.
struct SparseRows {
  const int64_t* offsets;  // first entry of each row
  const int32_t* columns;
  const double* values;
};

// Adds rows to a dense row.
inline void add_rows(const SparseRows& rows, const int32_t* chosen, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = rows.offsets[chosen[i]]; k < rows.offsets[chosen[i] + 1]; ++k)
      out[rows.columns[k]] += rows.values[k];
}

// Adds to the emission of a place the blocks of words around the word at its center. Words from
// begin to end are in the chain; others count as word 0.
inline void add_blocks(const double* rows, const int32_t* words, int64_t begin, int64_t end,
                       int64_t center, int64_t reach, int64_t n_labels, double* out) {
  const int64_t width = (2 * reach + 1) * n_labels;
  for (int64_t d = -reach; d <= reach; ++d) {
    const int64_t at = center + d;
    const int64_t word = begin <= at && at < end ? words[at] : 0;
    const double* block = rows + word * width + (d + reach) * n_labels;
    for (int64_t y = 0; y < n_labels; ++y) out[y] += block[y];
  }
}

}  // namespace kernelwood
