// Vectors of largest inner product: an exact scan over rows of 8-bit numbers.
//
// A row stands for `scale` times its numbers, and so does a query. The score of a row is
//   dot(query, row) * (query scale * row scale),
// the sum exact in 32 bits, the product of the scales exact in a double: one rounding, on every
// machine the same. Rows are taken in blocks that stay in the cache while several queries pass over
// them. Of each query the best rows so far are kept in twice the room they need; when it is full,
// the worse half goes, and nothing below what is left is looked at again. No heap, whatever k is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/simd.hpp"
#ifdef KW_X86
#include <immintrin.h>
#endif

namespace kernelwood {

// Rows are padded to such a number of dimensions, and have so many at most: no sum overflows.
constexpr int64_t kVectorStep = 32;
constexpr int64_t kMostDimensions = 65536;
constexpr int64_t kFetchAhead = 4096;  // bytes

// dots[i] = query . row i. The numbers of the query have 16 bits, so that products are of a kind.
inline void dot_rows_baseline(const int16_t* query, const int8_t* rows, int64_t n, int64_t width,
                              int32_t* dots) {
  for (int64_t i = 0; i < n; ++i, rows += width) {
    int32_t sum = 0;
    for (int64_t d = 0; d < width; ++d) sum += query[d] * static_cast<int16_t>(rows[d]);
    dots[i] = sum;
  }
}

#ifdef KW_X86
__attribute__((target("avx2"))) inline void dot_rows_avx2(const int16_t* query, const int8_t* rows,
                                                          int64_t n, int64_t width, int32_t* dots) {
  for (int64_t i = 0; i < n; ++i, rows += width) {
    __m256i even = _mm256_setzero_si256(), odd = even;
    for (int64_t d = 0; d < width; d += kVectorStep) {
      // Memory is the limit. Left alone, it is asked for rows too late; asking never fails.
      _mm_prefetch(reinterpret_cast<const char*>(rows + d) + kFetchAhead, _MM_HINT_T0);
      const auto* row = reinterpret_cast<const __m128i*>(rows + d);
      const auto* asked = reinterpret_cast<const __m256i*>(query + d);
      const __m256i first = _mm256_cvtepi8_epi16(_mm_loadu_si128(row));
      const __m256i second = _mm256_cvtepi8_epi16(_mm_loadu_si128(row + 1));
      even = _mm256_add_epi32(even, _mm256_madd_epi16(first, _mm256_loadu_si256(asked)));
      odd = _mm256_add_epi32(odd, _mm256_madd_epi16(second, _mm256_loadu_si256(asked + 1)));
    }
    const __m256i sums = _mm256_add_epi32(even, odd);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
    dots[i] = _mm_cvtsi128_si32(sum);
  }
}
#endif

inline void dot_rows(const int16_t* query, const int8_t* rows, int64_t n, int64_t width,
                     int32_t* dots) {
#ifdef KW_X86
  if (isa() != Isa::baseline) return dot_rows_avx2(query, rows, n, width, dots);
#endif
  dot_rows_baseline(query, rows, n, width, dots);
}

// The rows with the largest scores of one query.
class BestRows {
 public:
  struct Row {
    double score;
    int64_t index;
    // Ties go to the smaller index.
    bool operator<(const Row& other) const {
      return score > other.score || (score == other.score && index < other.index);
    }
  };

  // Of n rows, k <= n are kept.
  BestRows(const int8_t* query, double scale, int64_t width, int64_t k, int64_t n)
      : query_(query, query + width), scale_(scale), k_(static_cast<size_t>(k)) {
    rows_.reserve(static_cast<size_t>(std::min(2 * k, n)));
  }

  const int16_t* query() const { return query_.data(); }

  // Rows come by rising index: a later one must be better than the k-th to be kept.
  void add(const int32_t* dots, const float* scales, int64_t begin, int64_t n, double* scores) {
    for (int64_t i = 0; i < n; ++i)
      scores[i] = static_cast<double>(dots[i]) * (scale_ * static_cast<double>(scales[i]));
    for (int64_t i = 0; i < n; ++i) {
      if (!(scores[i] > least_)) continue;
      rows_.push_back({scores[i], begin + i});
      if (rows_.size() == 2 * k_) drop_half();
    }
  }

  void write(int64_t* indices, double* scores) {
    std::sort(rows_.begin(), rows_.end());
    for (size_t i = 0; i < k_; ++i) {
      indices[i] = rows_[i].index;
      scores[i] = rows_[i].score;
    }
  }

 private:
  void drop_half() {
    const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(rows_.begin(), last, rows_.end());
    least_ = last->score;
    rows_.resize(k_);
  }

  std::vector<int16_t> query_;
  double scale_;
  size_t k_;
  double least_ = -std::numeric_limits<double>::infinity();  // of the k-th, once there are so many
  std::vector<Row> rows_;
};

struct ScaledRows {
  const int8_t* numbers;  // (n, width)
  const float* scales;
  int64_t n, width;
};

// The k rows of largest score of queries [begin, end), k <= rows.n.
inline void nearest_vectors(const ScaledRows& queries, const ScaledRows& rows, int64_t begin,
                            int64_t end, int64_t k, int64_t* indices, double* scores,
                            const StopFlag& stop) {
  constexpr int64_t block_bytes = 1 << 17, most_queries = 16, most_kept = 1 << 20;
  const int64_t width = rows.width;
  const int64_t block = std::max<int64_t>(1, block_bytes / width);
  const int64_t together = std::clamp<int64_t>(most_kept / k, 1, most_queries);
  std::vector<int32_t> dots(static_cast<size_t>(block));
  std::vector<double> block_scores(dots.size());
  for (int64_t first = begin; first < end; first += together) {
    const int64_t past = std::min(end, first + together);
    std::vector<BestRows> best;
    for (int64_t q = first; q < past; ++q)
      best.emplace_back(queries.numbers + q * width, queries.scales[q], width, k, rows.n);
    for (int64_t i = 0; i < rows.n; i += block) {
      if (stop.raised()) return;
      const int64_t n = std::min(block, rows.n - i);
      for (BestRows& each : best) {
        dot_rows(each.query(), rows.numbers + i * width, n, width, dots.data());
        each.add(dots.data(), rows.scales + i, i, n, block_scores.data());
      }
    }
    for (int64_t q = first; q < past; ++q)
      best[static_cast<size_t>(q - first)].write(indices + q * k, scores + q * k);
  }
}

}  // namespace kernelwood
