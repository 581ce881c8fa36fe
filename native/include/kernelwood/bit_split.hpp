// The bit that divides a node of a tree best.
//
// Gini's impurity of the two sides, weighed by their size, is smallest where
//
//     sum_c (w_c r_c)^2 / R  +  sum_c (w_c l_c)^2 / L,   R = sum_c w_c r_c,  L = sum_c w_c l_c
//
// is greatest: r_c examples of class c have the bit, l_c have not, w_c is the weight of the class.
// It is computed over one denominator. Without weights numerator and denominator are exact up to
// 200,000 examples, so that equally good bits tie and the first of them wins.
#pragma once

#include <cstdint>

#include "kernelwood/bit_columns.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

// Examples of one class, which stand together.
struct ClassRun {
  int32_t label, n;
};

// One word of every example of a node, in the order of the runs.
struct SplitTask {
  const BitWord* words;
  const ClassRun* runs;
  int32_t n_runs, n;
  const double* weights;  // by label
  int32_t min_leaf;
  int32_t* counts;  // room for word_bits per run
};

struct BitChoice {
  double score = 0;  // that of any division is greater
  int bit = -1;
};

template <int Bytes>
struct SplitLoop {
  using Word = typename VectorOf<uint32_t, Bytes>::type;
  using Byte = typename VectorOf<uint8_t, Bytes>::type;
  using Real = typename VectorOf<double, Bytes>::type;
  using Mask = typename VectorOf<int64_t, Bytes>::type;
  using Count = typename VectorOf<int32_t, Bytes / 2>::type;
  static constexpr int n_parts = word_bits / Bytes;
  static constexpr int lanes = VectorOf<double, Bytes>::lanes;

  // How many of the words have each bit, in counters of a byte that are emptied in time.
  static KW_INLINE void count_bits(const BitWord* words, int32_t n, int32_t* counts) {
    Word masks[n_parts];
    for (int p = 0; p < n_parts; ++p)
      for (int j = 0; j < Bytes / 4; ++j) masks[p][j] = 0x01010101u << (p * Bytes / 4 + j);
    for (int i = 0; i < word_bits; ++i) counts[i] = 0;
    for (int32_t begin = 0; begin < n; begin += 255) {
      const int32_t end = n - begin < 255 ? n : begin + 255;
      Byte sums[n_parts] = {};
      for (int32_t e = begin; e < end; ++e) {
        const Word word = words[e] - Word{};
#pragma GCC unroll 2
        for (int p = 0; p < n_parts; ++p)  // a comparison that holds is -1
          sums[p] -= reinterpret_cast<Byte>(reinterpret_cast<Byte>(word & masks[p]) ==
                                            reinterpret_cast<Byte>(masks[p]));
      }
      for (int p = 0; p < n_parts; ++p)
        for (int i = 0; i < Bytes; ++i) counts[p * Bytes + i] += sums[p][i];
    }
  }

  // The score of the bits [first, first + lanes), -1 where a side is too small.
  static KW_INLINE Real score(const SplitTask& task, int first) {
    Real right{}, left{}, right_squares{}, left_squares{}, n_right{};
    for (int32_t s = 0; s < task.n_runs; ++s) {
      const Count counted = *reinterpret_cast<const Count*>(task.counts + s * word_bits + first);
      const double weight = task.weights[task.runs[s].label];
      const Real number = __builtin_convertvector(counted, Real);
      const Real with = number * weight;
      const Real without = (static_cast<double>(task.runs[s].n) - number) * weight;
      n_right += number;
      right += with;
      left += without;
      right_squares += with * with;
      left_squares += without * without;
    }
    const Mask enough = (n_right >= static_cast<double>(task.min_leaf)) &
                        (n_right <= static_cast<double>(task.n - task.min_leaf));
    const Real value = (right_squares * left + left_squares * right) / (left * right);
    return enough ? value : Real{} - 1.0;
  }

  static KW_INLINE BitChoice choose(const SplitTask& task) {
    const BitWord* words = task.words;
    for (int32_t s = 0; s < task.n_runs; words += task.runs[s++].n)
      count_bits(words, task.runs[s].n, task.counts + s * word_bits);
    Real best{};
    Mask where = Mask{} - 1;
    for (int first = 0; first < word_bits; first += lanes) {
      const Real value = score(task, first);
      const Mask better = value > best;
      best = better ? value : best;
      where = better ? Mask{} + first : where;
    }
    BitChoice choice;
    for (int lane = 0; lane < lanes; ++lane) {
      const int bit = static_cast<int>(where[lane]) + lane;
      if (where[lane] >= 0 &&
          (best[lane] > choice.score || (best[lane] == choice.score && bit < choice.bit)))
        choice = {best[lane], bit};
    }
    return choice;
  }
};

template <int Bytes>
KW_INLINE void weigh_bits_impl(const SplitTask& task, BitChoice& choice) {
  choice = SplitLoop<Bytes>::choose(task);
}
KW_DISPATCH(weigh_bits, (const SplitTask& task, BitChoice& choice), (task, choice))

// The first of some bits of a word, in the order in which they were drawn; -1 if there is none.
inline int first_bit(BitWord word) {
  if (word == 0) return -1;
  BitWord bytes = word | word >> 16;
  bytes |= bytes >> 8;
  const int within = __builtin_ctz(bytes);  // its byte is the lowest that has this bit
  const BitWord there = word >> within & 0x01010101u;
  return 4 * within + __builtin_ctz(there) / 8;
}

// A bit that divides the examples of two classes from each other. Nothing can be better, and most
// nodes are so small that there is one.
inline BitChoice dividing_bit(const SplitTask& task) {
  const BitWord* words = task.words;
  BitWord all[2] = {~BitWord{0}, ~BitWord{0}}, any[2] = {};
  for (int s = 0; s < 2; ++s)
    for (const BitWord* end = words + task.runs[s].n; words < end; ++words) {
      all[s] &= *words;
      any[s] |= *words;
    }
  const double right = task.runs[0].n * task.weights[task.runs[0].label];
  const double left = task.runs[1].n * task.weights[task.runs[1].label];
  const double score = (right * right * left + left * left * right) / (left * right);
  return {score, first_bit((all[0] & ~any[1]) | (all[1] & ~any[0]))};
}

inline BitChoice choose_bit(const SplitTask& task) {
  constexpr int32_t few = 16;
  if (task.n <= few && task.n_runs == 2 && task.runs[0].n >= task.min_leaf &&
      task.runs[1].n >= task.min_leaf) {
    const BitChoice choice = dividing_bit(task);
    if (choice.bit >= 0) return choice;
  }
  BitChoice choice;
  weigh_bits(task, choice);
  return choice;
}

}  // namespace kernelwood
