// Nearest codes by Hamming distance: an exact scan.
//
// Codes are taken in blocks that stay in the cache while several queries pass over them. Of each
// query the nearest codes so far are kept, and some more; when the room is full, they are sorted by
// counting, and nothing as far as the k-th is looked at again. No heap, whatever k is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernelwood/bit_counts.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

template <int fixed>  // number of words if it is known when compiling, else 0
KW_INLINE void scan_codes(const uint64_t* query, const uint64_t* codes, int64_t n, int64_t n_words,
                          int32_t* distances) {
  const int64_t words = fixed ? fixed : n_words;
  for (int64_t i = 0; i < n; ++i, codes += words) {
    for (int64_t w = 0; w < words; w += 8) __builtin_prefetch(codes + w + kWordsAhead);
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

// The codes nearest to one query.
class NearestCodes {
 public:
  // Of n codes with so many bits, k <= n are kept.
  NearestCodes(int64_t k, int64_t n, int64_t n_bits)
      : k_(static_cast<size_t>(k)),
        room_(static_cast<size_t>(std::min(n, k + std::max(k, n_bits)))),
        counts_(static_cast<size_t>(n_bits + 2)) {
    found_.reserve(room_);
  }

  // Codes come by rising index: a later one must be nearer than the k-th to be kept.
  void add(const int32_t* distances, int64_t begin, int64_t n) {
    constexpr int64_t step = 32;
    for (int64_t i = 0; i < n; i += step) {
      const int64_t past = std::min(n, i + step);
      int32_t least = std::numeric_limits<int32_t>::max();
      for (int64_t j = i; j < past; ++j) least = std::min(least, distances[j]);
      if (least >= limit_) continue;
      for (int64_t j = i; j < past; ++j) {
        if (distances[j] >= limit_) continue;
        if (found_.size() == room_) sort();
        if (distances[j] < limit_) found_.push_back({begin + j, distances[j]});
      }
    }
  }

  void write(int64_t* indices, int32_t* distances) {
    sort();
    for (size_t i = 0; i < k_; ++i) {
      indices[i] = found_[i].index;
      distances[i] = found_[i].distance;
    }
  }

 private:
  struct Found {
    int64_t index;
    int32_t distance;
  };

  // Keeps the k nearest, by distance and index. They stand by rising index where distances are
  // equal, and counting keeps it so.
  void sort() {
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const Found& each : found_) ++counts_[static_cast<size_t>(each.distance) + 1];
    for (size_t d = 1; d < counts_.size(); ++d) counts_[d] += counts_[d - 1];
    sorted_.resize(found_.size());
    for (const Found& each : found_) sorted_[counts_[static_cast<size_t>(each.distance)]++] = each;
    sorted_.resize(k_);
    found_.swap(sorted_);
    found_.reserve(room_);
    limit_ = found_.back().distance;
  }

  size_t k_, room_;
  int32_t limit_ = std::numeric_limits<int32_t>::max();
  std::vector<Found> found_, sorted_;
  std::vector<size_t> counts_;  // how many are nearer, then where the next one goes
};

// Some codes as they are read: turned if several queries are compared with them.
class CodeBlock {
 public:
  CodeBlock(int64_t n_words, int64_t n_codes, bool is_turned)
      : n_words_(n_words), lanes_(code_lanes()), is_turned_(is_turned) {
    // Vectors are read fastest where lines of the cache begin.
    if (is_turned_) words_.resize(static_cast<size_t>(n_codes * n_words) + line);
    const auto place = reinterpret_cast<uintptr_t>(words_.data()) / sizeof(uint64_t);
    turned_ = words_.data() + (line - place % line) % line;
  }

  void read(const uint64_t* codes, int64_t n) {
    codes_ = codes;
    n_ = n;
    if (is_turned_) turn_words(codes, n / lanes_, n_words_, lanes_, turned_);
  }

  void distances(const uint64_t* query, int32_t* made) const {
    const int64_t n_turned = is_turned_ ? n_ / lanes_ * lanes_ : 0;
    if (n_turned > 0) turned_distances(query, turned_, n_turned / lanes_, n_words_, made);
    hamming_distances(query, codes_ + n_turned * n_words_, n_ - n_turned, n_words_,
                      made + n_turned);
  }

 private:
  static constexpr size_t line = 8;  // words
  int64_t n_words_, lanes_, n_ = 0;
  bool is_turned_;
  std::vector<uint64_t> words_;
  uint64_t* turned_;
  const uint64_t* codes_ = nullptr;
};

// The k nearest codes of queries [begin, end), k <= n.
inline void nearest_codes(const uint64_t* queries, int64_t begin, int64_t end,
                          const uint64_t* codes, int64_t n, int64_t n_words, int64_t k,
                          int64_t* indices, int32_t* distances, const StopFlag& stop) {
  constexpr int64_t block_words = 1 << 13, most_queries = 64, most_kept = 1 << 20;
  constexpr int64_t pays = 4;  // queries for which codes are turned
  const int64_t block = std::clamp<int64_t>(block_words / std::max<int64_t>(1, n_words), 16, 4096);
  const int64_t together = std::clamp<int64_t>(most_kept / k, 1, most_queries);
  std::vector<int32_t> found(static_cast<size_t>(block));
  for (int64_t first = begin; first < end; first += together) {
    const int64_t past = std::min(end, first + together);
    std::vector<NearestCodes> nearest(static_cast<size_t>(past - first),
                                      NearestCodes(k, n, n_words * 64));
    CodeBlock read(n_words, block, past - first >= pays);
    for (int64_t i = 0; i < n; i += block) {
      if (stop.raised()) return;
      const int64_t size = std::min(block, n - i);
      read.read(codes + i * n_words, size);
      for (int64_t q = first; q < past; ++q) {
        read.distances(queries + q * n_words, found.data());
        nearest[static_cast<size_t>(q - first)].add(found.data(), i, size);
      }
    }
    for (int64_t q = first; q < past; ++q)
      nearest[static_cast<size_t>(q - first)].write(indices + q * k, distances + q * k);
  }
}

}  // namespace kernelwood
