// The examples of a tree: the bits drawn for it in one word each, more if there are more than 32.
//
// Examples of a node stand together, and in it those of a class, so that a node is counted class by
// class in one sweep and divided in place.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/bit_columns.hpp"
#include "kernelwood/bit_tree.hpp"
#include "kernelwood/buffer.hpp"

namespace kernelwood {

class BitExamples {
 public:
  int64_t n_planes() const { return n_planes_; }
  const BitWord* words(int64_t plane, int32_t begin) const {
    return words_.data() + plane * stride_ + begin;
  }

  // Rows of the columns, in order of their classes, each as often as it was drawn (null: once).
  // Returns how many there are of each class.
  ClassRuns load(const BitColumns& columns, const int64_t* class_sizes, int32_t n_classes,
                 const int32_t* bits, int64_t n_bits, const int32_t* times) {
    const ClassRuns runs = count_classes(class_sizes, n_classes, times);
    int64_t n_rows = 0, n_drawn = 0;
    for (int32_t c = 0; c < n_classes; ++c) n_rows += class_sizes[c];
    for (const ClassRun& run : runs) n_drawn += run.n;
    n_planes_ = (n_bits + word_bits - 1) / word_bits;
    stride_ = std::max(groups_of(n_rows) * group_size, n_drawn);
    words_.resize(static_cast<size_t>(stride_ * n_planes_));
    moved_.resize(static_cast<size_t>(stride_));
    for (int64_t p = 0; p < n_planes_; ++p) {
      const int64_t first = p * word_bits;
      const int n_here = static_cast<int>(std::min<int64_t>(word_bits, n_bits - first));
      BitWord* plane = words_.data() + p * stride_;
      gather_words(columns, bits + first, n_here, n_rows, times ? moved_.data() : plane);
      if (times) repeat(moved_.data(), times, n_rows, plane);
    }
    return runs;
  }

  // Moves those of the examples [begin, begin + n) that have a bit behind the others, each side in
  // order of its classes. Returns how many have it not.
  int32_t part(int32_t begin, int32_t n, int bit, const ClassRuns& runs, ClassRuns& left,
               ClassRuns& right) {
    const int64_t chosen = bit / word_bits;
    const int shift = place_in_word(bit % word_bits);
    BitWord* sides = words_.data() + chosen * stride_ + begin;
    for (int64_t p = 0; p < n_planes_; ++p)  // the plane of the bit comes last
      if (p != chosen) part_plane(words_.data() + p * stride_ + begin, sides, n, shift);
    left.clear();
    right.clear();
    BitWord *keep = sides, *move = moved_.data();
    for (const ClassRun& run : runs) {
      const BitWord* before = move;
      for (const BitWord* end = sides + run.n; sides < end; ++sides)
        place(*sides, *sides >> shift, keep, move);
      const auto n_right = static_cast<int32_t>(move - before);
      if (n_right < run.n) left.push_back({run.label, run.n - n_right});
      if (n_right > 0) right.push_back({run.label, n_right});
    }
    std::copy(moved_.data(), move, keep);
    return static_cast<int32_t>(n - (move - moved_.data()));
  }

 private:
  static ClassRuns count_classes(const int64_t* class_sizes, int32_t n_classes,
                                 const int32_t* times) {
    ClassRuns runs;
    int64_t row = 0;
    for (int32_t c = 0; c < n_classes; ++c) {
      int64_t n = times ? 0 : class_sizes[c];
      for (int64_t e = 0; times && e < class_sizes[c]; ++e) n += times[row + e];
      row += class_sizes[c];
      if (n > 0) runs.push_back({c, static_cast<int32_t>(n)});
    }
    return runs;
  }

  static void repeat(const BitWord* from, const int32_t* times, int64_t n, BitWord* to) {
    for (int64_t e = 0; e < n; ++e)
      for (int32_t k = 0; k < times[e]; ++k) *to++ = from[e];
  }

  // To one of two places, by the lowest bit of `side`; what is written to the other is written
  // over.
  static void place(BitWord word, BitWord side, BitWord*& keep, BitWord*& move) {
    *keep = *move = word;
    keep += (side & 1) ^ 1;
    move += side & 1;
  }

  void part_plane(BitWord* words, const BitWord* sides, int32_t n, int shift) {
    BitWord *keep = words, *move = moved_.data();
    for (int32_t e = 0; e < n; ++e) place(words[e], sides[e] >> shift, keep, move);
    std::copy(moved_.data(), move, keep);
  }

  int64_t n_planes_ = 0, stride_ = 0;
  Buffer<BitWord> words_;  // (n_planes, stride)
  Buffer<BitWord> moved_;
};

}  // namespace kernelwood
