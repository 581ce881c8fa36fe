// Hamming distances of a query to many codes at once, one code in each lane of a vector.
//
// Codes are turned: word w of as many codes as a vector has lanes stand together. The differences
// of 16 words are added as bits, by full adders on whole vectors, to five numbers of a bit each
// (ones, twos, fours, eights, sixteens); only these are counted, so a count is made for five
// vectors instead of 16 (the Harley-Seal method; Mula, Kurz and Lemire, 2018, "Faster population
// counts using AVX2 instructions"). Turning costs more than comparing with one query, and is done
// once for many.
#pragma once

#include <cstdint>

#include "kernelwood/simd.hpp"

namespace kernelwood {

// Number of codes that stand together.
inline int64_t code_lanes() {
#ifdef KW_X86
  if (isa() == Isa::avx512) return 8;
  if (isa() == Isa::avx2) return 4;
#endif
  return 2;
}

// Memory is the limit of a scan, and left alone it is asked for codes too late; asking never fails.
constexpr int64_t kWordsAhead = 2048;

// turned[(group * n_words + w) * lanes + lane] = word w of code group * lanes + lane.
inline void turn_words(const uint64_t* codes, int64_t n_groups, int64_t n_words, int64_t lanes,
                       uint64_t* turned) {
  for (int64_t group = 0; group < n_groups; ++group, codes += lanes * n_words)
    for (int64_t w = 0; w < n_words; ++w) {
      __builtin_prefetch(codes + w * lanes + kWordsAhead);
      for (int64_t lane = 0; lane < lanes; ++lane) *turned++ = codes[lane * n_words + w];
    }
}

template <class V>
struct BitSum {
  V sum, carry;
};

template <class V>
KW_INLINE BitSum<V> add_bits(V a, V b) {
  return {a ^ b, a & b};
}

template <class V>
KW_INLINE BitSum<V> add_bits(V a, V b, V c) {
  const V differ = a ^ b;
  return {differ ^ c, (differ & c) | (a & ~differ)};
}

// Counts of fields of four bits, one for each field.
template <class V>
KW_INLINE V count_nibbles(V x) {
  constexpr uint64_t pairs = 0x5555555555555555, nibbles = 0x3333333333333333;
  x -= (x >> 1) & pairs;
  return (x & nibbles) + ((x >> 2) & nibbles);
}

template <class V>
KW_INLINE V add_nibbles(V x) {
  constexpr uint64_t low = 0x0f0f0f0f0f0f0f0f;
  return (x & low) + ((x >> 4) & low);
}

// The sum of the eight bytes of a lane.
template <class V>
KW_INLINE V add_bytes(V x) {
  constexpr uint64_t low = 0x00ff00ff00ff00ff;
  x = (x & low) + ((x >> 8) & low);
  x += x >> 16;
  x += x >> 32;
  return x & uint64_t{0xffff};
}

// The number of differing bits in 16 words, in every lane.
template <class V>
KW_INLINE V count_sixteen(const uint64_t* query, const V* words) {
  const auto bits = [&](int w) { return words[w] ^ query[w]; };
  V twos[8], fours[4], eights[2], ones{};
  BitSum<V> made;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    made = i == 0 ? add_bits(bits(0), bits(1)) : add_bits(ones, bits(2 * i), bits(2 * i + 1));
    ones = made.sum;
    twos[i] = made.carry;
  }
  V two{}, four{};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    made = i == 0 ? add_bits(twos[0], twos[1]) : add_bits(two, twos[2 * i], twos[2 * i + 1]);
    two = made.sum;
    fours[i] = made.carry;
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    made = i == 0 ? add_bits(fours[0], fours[1]) : add_bits(four, fours[2], fours[3]);
    four = made.sum;
    eights[i] = made.carry;
  }
  made = add_bits(eights[0], eights[1]);
  // At most 12 in a nibble, and 248 in a byte.
  const V low = count_nibbles(ones) + (count_nibbles(two) << 1);
  const V high = count_nibbles(four) + (count_nibbles(made.sum) << 1);
  const V most = add_nibbles(count_nibbles(made.carry)) << 4;
  return add_bytes(add_nibbles(low) + (add_nibbles(high) << 2) + most);
}

template <int Bytes>
KW_INLINE void turned_distances_impl(const uint64_t* query, const uint64_t* turned,
                                     int64_t n_groups, int64_t n_words, int32_t* distances) {
  using V = typename VectorOf<uint64_t, Bytes>::type;
  constexpr int lanes = VectorOf<uint64_t, Bytes>::lanes;
  const auto* words = reinterpret_cast<const V*>(turned);
  for (int64_t group = 0; group < n_groups; ++group, words += n_words, distances += lanes) {
    V sum{};
    int64_t w = 0;
    for (; w + 16 <= n_words; w += 16) sum += count_sixteen(query + w, words + w);
    if (w < n_words) {
      V bytes{};  // at most 15 words of 8 bits
      for (; w < n_words; ++w) bytes += add_nibbles(count_nibbles(words[w] ^ query[w]));
      sum += add_bytes(bytes);
    }
    for (int lane = 0; lane < lanes; ++lane) distances[lane] = static_cast<int32_t>(sum[lane]);
  }
}

KW_DISPATCH_WIDE(turned_distances,
                 (const uint64_t* query, const uint64_t* turned, int64_t n_groups, int64_t n_words,
                  int32_t* distances),
                 (query, turned, n_groups, n_words, distances))

}  // namespace kernelwood
