// Nearest codes by Hamming distance: an exact scan.
//
// All distances of a query are computed first, with a count of how many codes lie at each; the
// distance of the k-th nearest is then known, and a second pass over the distances collects the
// codes in order of distance and, where that is equal, of index. No heap, whatever k is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/simd.hpp"

namespace kernelwood {

template <int fixed>  // number of words if it is known when compiling, else 0
KW_INLINE void scan_codes(const uint64_t* query, const uint64_t* codes, int64_t n, int64_t n_words,
                          int32_t* distances) {
  const int64_t words = fixed ? fixed : n_words;
  for (int64_t i = 0; i < n; ++i, codes += words) {
    int64_t sum = 0;
#pragma GCC unroll 16
    for (int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(query[w] ^ codes[w]);
    distances[i] = static_cast<int32_t>(sum);
  }
}

KW_INLINE void scan_any(const uint64_t* query, const uint64_t* codes, int64_t n, int64_t n_words,
                        int32_t* distances) {
  if (n_words == 1) return scan_codes<1>(query, codes, n, n_words, distances);
  if (n_words == 2) return scan_codes<2>(query, codes, n, n_words, distances);
  if (n_words == 4) return scan_codes<4>(query, codes, n, n_words, distances);
  if (n_words == 8) return scan_codes<8>(query, codes, n, n_words, distances);
  if (n_words == 16) return scan_codes<16>(query, codes, n, n_words, distances);
  return scan_codes<0>(query, codes, n, n_words, distances);
}

#ifdef KW_X86
__attribute__((target("popcnt"))) inline void scan_popcnt(const uint64_t* query,
                                                          const uint64_t* codes, int64_t n,
                                                          int64_t n_words, int32_t* distances) {
  scan_any(query, codes, n, n_words, distances);
}
__attribute__((target("avx512f,avx512vpopcntdq,popcnt"))) inline void scan_wide(
    const uint64_t* query, const uint64_t* codes, int64_t n, int64_t n_words, int32_t* distances) {
  scan_any(query, codes, n, n_words, distances);
}
#endif

inline void hamming_distances(const uint64_t* query, const uint64_t* codes, int64_t n,
                              int64_t n_words, int32_t* distances) {
#ifdef KW_X86
  if (isa() == Isa::avx512 && __builtin_cpu_supports("avx512vpopcntdq"))
    return scan_wide(query, codes, n, n_words, distances);
  if (isa() != Isa::baseline && __builtin_cpu_supports("popcnt"))
    return scan_popcnt(query, codes, n, n_words, distances);
#endif
  scan_any(query, codes, n, n_words, distances);
}

class NearestCodes {
 public:
  NearestCodes(const uint64_t* codes, int64_t n, int64_t n_words)
      : codes_(codes), n_(n), n_words_(n_words), distances_(static_cast<size_t>(n)),
        ends_(static_cast<size_t>(n_words * 64 + 2)) {}

  // The k nearest codes of a query, k <= n.
  void find(const uint64_t* query, int64_t k, int64_t* indices, int32_t* distances) {
    hamming_distances(query, codes_, n_, n_words_, distances_.data());
    std::fill(ends_.begin(), ends_.end(), 0);
    for (const int32_t d : distances_) ++ends_[static_cast<size_t>(d) + 1];
    size_t last = 0;  // the distance of the k-th nearest
    for (; ends_[last] + ends_[last + 1] < k; ++last) ends_[last + 1] += ends_[last];
    // Now ends_[d] is where the codes at distance d begin, for every d up to the last.
    for (int64_t i = 0; i < n_; ++i) {
      const auto d = static_cast<size_t>(distances_[static_cast<size_t>(i)]);
      if (d > last || ends_[d] == k) continue;
      const int64_t at = ends_[d]++;
      indices[at] = i;
      distances[at] = static_cast<int32_t>(d);
    }
  }

 private:
  const uint64_t* codes_;
  int64_t n_, n_words_;
  std::vector<int32_t> distances_;
  std::vector<int64_t> ends_;  // first how many are nearer, then where the next one goes
};

}  // namespace kernelwood
