// A longest subsequence of two sequences through every matching pair of elements, longest first.
//
// Length is the sum of the similarities of the elements; ties go to the shortest span. Parts of
// another subsequence found are left out. The weight of a subsequence is the product of its values
// in the two sequences, each the sum over its occurrences of decay^(last index - first index),
// times the matches of its elements; `covers` is the kernel value along the alignment, with all
// parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/fragment_matching.hpp"

namespace kernelwood {

// Fragments of many pairs of sequences, flat: those of pair k are `n_fragments[k]` in number.
struct FoundSubsequences {
  std::vector<int64_t> n_fragments, n_elements;
  std::vector<uint8_t> exceeded;  // of each pair: whether the steps were used up
  std::vector<double> weight, covers;  // of each fragment
  std::vector<double> count_a, count_b;  // exact below 2^53
  std::vector<int64_t> left, right;  // of each element: its positions in the arrays
  std::vector<double> similarity;  // of its labels
  std::vector<uint8_t> after_gap;  // whether it does not follow the one before
};

class LongestSubsequences {
 public:
  // Without `max_length` (0), subsequences have any length; without `top` (0), all are returned.
  LongestSubsequences(double decay, int64_t max_length, int64_t top, int64_t max_steps)
      : decay_(decay), max_length_(max_length), top_(top), max_steps_(max_steps) {}

  // Appends the fragments of a pair, whose elements begin at these places of the arrays.
  void search(const ElementView& a, const ElementView& b, const SimilarityView& similarities,
              int64_t left_begin, int64_t right_begin, FoundSubsequences& out,
              const StopFlag& stop) {
    StepBudget steps(max_steps_);
    matching_.reset(a, b, similarities);
    if (matching_.softly()) matching_.limit(matching_.used(0), matching_.used(1), steps);
    align(a.n, b.n, steps, stop);
    const int64_t n = keep(left_begin, right_begin, out, stop);
    out.n_fragments.push_back(n);
    out.exceeded.push_back(steps.exceeded());
  }

 private:
  struct Cell {  // a matching pair of elements
    int64_t p, q;
    double score, match;
  };
  struct Chain {  // the best chain from a cell: its length, minus the sum of its last positions
    double length = 0;
    int64_t end = 0;
    int64_t next = -1;  // the following cell
    bool longer_than(const Chain& other) const {
      return length > other.length || (length == other.length && end > other.end);
    }
  };
  struct Fragment {
    int64_t begin, end;  // of its cells in `paths_`
    double covers;
    int64_t length() const { return end - begin; }
  };

  void align(int64_t n, int64_t m, StepBudget& steps, const StopFlag& stop) {
    // A product of two sizes cannot wrap: each structure has fewer than 2^31 elements.
    if (n > 0 && m > steps.left() / (4 * n)) {
      steps.exceed();
      const int64_t side = std::max<int64_t>(1, whole_root(steps.left() / 4));
      n = std::min(n, side);
      m = std::min(m, side);
    }
    steps.take(2 * n * m);
    compare(n, m, stop);
    follow(n, m, false, ahead_, stop);
    follow(n, m, true, back_, stop);
    through_.resize(cells_.size());
    by_length_.resize(cells_.size());
    std::iota(by_length_.begin(), by_length_.end(), size_t{0});
    for (size_t k = 0; k < cells_.size(); ++k)
      through_[k] = ahead_[k].length + back_[k].length - cells_[k].score;
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [&](size_t k, size_t l) { return through_[k] > through_[l]; });
    found_.clear();
    paths_.clear();
    known_.clear();
    covered_.assign(cells_.size(), 0);
    for (const size_t k : by_length_) {
      if (covered_[k]) continue;
      if (stop.raised()) throw Stopped();
      if (!add_path(k, steps)) break;
    }
  }

  // The matching pairs, row by row.
  void compare(int64_t n, int64_t m, const StopFlag& stop) {
    cells_.clear();
    row_begin_.assign(1, 0);
    for (int64_t p = 0; p < n; ++p) {
      if (stop.raised()) throw Stopped();
      const int32_t one = matching_.heads(0)[static_cast<size_t>(p)];
      for (int64_t q = 0; q < m; ++q) {
        const int32_t other = matching_.heads(1)[static_cast<size_t>(q)];
        const double match = matching_.match(one, other);
        if (match != 0) cells_.push_back({p, q, matching_.similarity(one, other), match});
      }
      row_begin_.push_back(cells_.size());
    }
  }

  // The best chain from each cell to the end; if turned, to the beginning.
  void follow(int64_t n, int64_t m, bool turned, std::vector<Chain>& chains, const StopFlag& stop) {
    chains.resize(cells_.size());
    best_.assign(static_cast<size_t>(m) + 1, {});
    for (int64_t row = n - 1; row >= 0; --row) {
      if (stop.raised()) throw Stopped();
      const auto p = static_cast<size_t>(turned ? n - 1 - row : row);
      const size_t begin = row_begin_[p], end = row_begin_[p + 1];
      if (begin == end) continue;  // nothing is longer than below
      now_ = best_;
      size_t left = end - begin;
      for (int64_t q = m - 1; q >= 0; --q) {
        const auto at = static_cast<size_t>(q);
        if (now_[at + 1].longer_than(now_[at])) now_[at] = now_[at + 1];
        if (left == 0) continue;
        const size_t k = turned ? end - left : begin + left - 1;
        const Cell& cell = cells_[k];
        if ((turned ? m - 1 - cell.q : cell.q) != q) continue;
        --left;
        const Chain& below = best_[at + 1];
        chains[k] = {below.length + cell.score, below.next < 0 ? -(row + q) : below.end,
                     below.next};
        const Chain grown{chains[k].length, chains[k].end, static_cast<int64_t>(k)};
        if (grown.longer_than(now_[at])) now_[at] = grown;
      }
      best_.swap(now_);
    }
  }

  // Adds the fragment of the longest path through a cell, if steps are left.
  bool add_path(size_t through, StepBudget& steps) {
    const size_t start = paths_.size();
    for (int64_t k = back_[through].next; k >= 0; k = back_[static_cast<size_t>(k)].next)
      paths_.push_back(static_cast<size_t>(k));
    std::reverse(paths_.begin() + static_cast<int64_t>(start), paths_.end());
    const auto before = static_cast<int64_t>(paths_.size() - start);
    paths_.push_back(through);
    for (int64_t k = ahead_[through].next; k >= 0; k = ahead_[static_cast<size_t>(k)].next)
      paths_.push_back(static_cast<size_t>(k));
    const auto length = static_cast<int64_t>(paths_.size() - start);
    if (!steps.take(length)) {
      paths_.resize(start);
      return false;
    }
    if (max_length_ > 0 && length > max_length_) cut(start, before);
    for (size_t at = start; at < paths_.size(); ++at) covered_[paths_[at]] = 1;
    const double covers = value_along(start);
    Fragment& known = fragment_of(start);
    if (known.begin != static_cast<int64_t>(start)) paths_.resize(start);
    known.covers = std::max(covers, known.covers);
    return true;
  }

  // Keeps the `max_length` consecutive cells around one that have the shortest span.
  void cut(size_t start, int64_t through) {
    const auto length = static_cast<int64_t>(paths_.size() - start);
    const auto span = [&](int64_t first) {
      const Cell& one = cells_[paths_[start + static_cast<size_t>(first)]];
      const Cell& last = cells_[paths_[start + static_cast<size_t>(first + max_length_ - 1)]];
      return last.p - one.p + last.q - one.q;
    };
    int64_t best = std::max<int64_t>(0, through - max_length_ + 1);
    for (int64_t first = best + 1; first <= std::min(through, length - max_length_); ++first)
      if (span(first) < span(best)) best = first;
    const auto from = paths_.begin() + static_cast<int64_t>(start) + best;
    std::copy(from, from + max_length_, paths_.begin() + static_cast<int64_t>(start));
    paths_.resize(start + static_cast<size_t>(max_length_));
  }

  double value_along(size_t start) const {
    double total = 0, sums = 0;
    for (size_t at = start; at < paths_.size(); ++at) {
      const Cell& cell = cells_[paths_[at]];
      if (at > start) {
        const Cell& last = cells_[paths_[at - 1]];
        sums *= std::pow(decay_, static_cast<double>(cell.p - last.p + cell.q - last.q));
      }
      const double ending = cell.match * (1 + sums);
      total += ending;
      sums += ending;
    }
    return total;
  }

  // The fragment with the heads of the last path, which is added if it is new.
  Fragment& fragment_of(size_t start) {
    uint64_t hash = 0;
    for (size_t at = start; at < paths_.size(); ++at) {
      const auto [one, other] = head_pair(paths_[at]);
      hash = (hash ^ (uint64_t{static_cast<uint32_t>(one)} << 32 | static_cast<uint32_t>(other))) *
             0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    const auto [first, last] = known_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry)
      if (is_last_path(found_[entry->second], start)) return found_[entry->second];
    known_.emplace(hash, found_.size());
    found_.push_back({static_cast<int64_t>(start), static_cast<int64_t>(paths_.size()), 0.0});
    return found_.back();
  }
  bool is_last_path(const Fragment& fragment, size_t start) const {
    if (fragment.length() != static_cast<int64_t>(paths_.size() - start)) return false;
    for (int64_t k = 0; k < fragment.length(); ++k)
      if (head_pair(paths_[static_cast<size_t>(fragment.begin + k)]) !=
          head_pair(paths_[start + static_cast<size_t>(k)]))
        return false;
    return true;
  }
  std::pair<int32_t, int32_t> head_pair(size_t cell) const {
    return {matching_.heads(0)[static_cast<size_t>(cells_[cell].p)],
            matching_.heads(1)[static_cast<size_t>(cells_[cell].q)]};
  }

  // Appends the first fragments that are not part of a longer one; returns their number.
  int64_t keep(int64_t left_begin, int64_t right_begin, FoundSubsequences& out,
               const StopFlag& stop) {
    std::stable_sort(found_.begin(), found_.end(), [](const Fragment& x, const Fragment& y) {
      return x.length() > y.length() || (x.length() == y.length() && x.covers > y.covers);
    });
    kept_.clear();
    for (size_t k = 0; k < found_.size(); ++k) {
      if (stop.raised()) throw Stopped();
      const auto is_part = [&](size_t other) {
        return found_[other].length() > found_[k].length() && is_within(found_[k], found_[other]);
      };
      if (std::any_of(kept_.begin(), kept_.end(), is_part)) continue;
      kept_.push_back(k);
      append(found_[k], left_begin, right_begin, out);
      if (top_ > 0 && static_cast<int64_t>(kept_.size()) == top_) break;
    }
    return static_cast<int64_t>(kept_.size());
  }
  bool is_within(const Fragment& part, const Fragment& whole) const {
    int64_t at = part.begin;
    for (int64_t k = whole.begin; k < whole.end && at < part.end; ++k)
      at += head_pair(paths_[static_cast<size_t>(k)]) == head_pair(paths_[static_cast<size_t>(at)]);
    return at == part.end;
  }

  void append(const Fragment& fragment, int64_t left_begin, int64_t right_begin,
              FoundSubsequences& out) {
    double values[2], counts[2];
    gaps_.assign(static_cast<size_t>(fragment.length()), 0);
    for (int side = 0; side < 2; ++side) {
      chosen_.clear();
      for (int64_t k = fragment.begin; k < fragment.end; ++k) {
        const auto [one, other] = head_pair(paths_[static_cast<size_t>(k)]);
        chosen_.push_back(side == 0 ? one : other);
      }
      weigh(fragment, side, values[side], counts[side]);
      mark_gaps(side);
    }
    out.weight.push_back(values[0] * values[1]);
    out.covers.push_back(fragment.covers);
    out.count_a.push_back(counts[0]);
    out.count_b.push_back(counts[1]);
    out.n_elements.push_back(fragment.length());
    for (int64_t k = fragment.begin; k < fragment.end; ++k) {
      const Cell& cell = cells_[paths_[static_cast<size_t>(k)]];
      out.left.push_back(left_begin + cell.p);
      out.right.push_back(right_begin + cell.q);
      out.similarity.push_back(cell.score);
      out.after_gap.push_back(gaps_[static_cast<size_t>(k - fragment.begin)]);
    }
  }

  // Sums over the occurrences of `chosen_` in a sequence; values of the first have the matches.
  void weigh(const Fragment& fragment, int side, double& value_sum, double& count_sum) {
    const std::vector<int32_t>& sequence = matching_.heads(side);
    const auto n = static_cast<int64_t>(sequence.size());
    ends_.clear();
    for (size_t k = 0; k < chosen_.size(); ++k) {
      const double factor =
          side == 0 ? cells_[paths_[static_cast<size_t>(fragment.begin) + k]].match : 1.0;
      grown_.clear();
      if (k == 0) {
        for (int64_t at = 0; at < n; ++at)
          if (sequence[static_cast<size_t>(at)] == chosen_[0]) grown_.push_back({at, factor, 1.0});
      } else if (!ends_.empty()) {
        double value = 0, count = 0;
        size_t done = 0;
        for (int64_t at = ends_[0].position + 1; at < n; ++at) {
          if (done < ends_.size() && ends_[done].position == at - 1) {
            value += ends_[done].value;
            count += ends_[done++].count;
          }
          value *= decay_;
          if (sequence[static_cast<size_t>(at)] == chosen_[k])
            grown_.push_back({at, value * factor, count});
        }
      }
      ends_.swap(grown_);
    }
    value_sum = count_sum = 0;
    for (const End& end : ends_) {
      value_sum += end.value;
      count_sum += end.count;
    }
  }

  // Marks the elements that do not follow the one before in the tightest occurrence: the one with
  // the shortest span, its elements as late as possible.
  void mark_gaps(int side) {
    const std::vector<int32_t>& sequence = matching_.heads(side);
    const auto n = static_cast<int64_t>(sequence.size());
    starts_.assign(chosen_.size(), -1);  // of the latest match of the first elements
    int64_t best_start = -1, best_end = -1;
    for (int64_t at = 0; at < n; ++at) {
      const int32_t head = sequence[static_cast<size_t>(at)];
      for (size_t k = chosen_.size(); k-- > 0;)
        if (head == chosen_[k]) starts_[k] = k == 0 ? at : starts_[k - 1];
      const int64_t start = starts_.back();
      if (head == chosen_.back() && start >= 0 &&
          (best_start < 0 || at - start < best_end - best_start)) {
        best_start = start;
        best_end = at;
      }
    }
    int64_t last = best_end;
    for (size_t k = chosen_.size() - 1; k-- > 0;) {
      int64_t at = last - 1;
      while (at > 0 && sequence[static_cast<size_t>(at)] != chosen_[k]) --at;
      if (last - at > 1) gaps_[k + 1] = 1;
      last = at;
    }
  }

  struct End {  // of the occurrences that end at a position: their value and number
    int64_t position;
    double value, count;
  };

  double decay_;
  int64_t max_length_, top_, max_steps_;
  HeadMatching matching_;
  std::vector<Cell> cells_;
  std::vector<size_t> row_begin_, by_length_, paths_, kept_;
  std::vector<Chain> ahead_, back_, best_, now_;
  std::vector<double> through_;
  std::vector<uint8_t> covered_, gaps_;
  std::vector<Fragment> found_;
  std::unordered_multimap<uint64_t, size_t> known_;
  std::vector<int32_t> chosen_;
  std::vector<int64_t> starts_;
  std::vector<End> ends_, grown_;
};

}  // namespace kernelwood
