// What a chart is asked to parse, and which items a first, coarse parse left possible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernelwood/chart_grammar.hpp"
#include "kernelwood/row_arena.hpp"

namespace kernelwood {

// A symbol with the probability of the word below it, or of being the root.
struct Weighed {
  int32_t symbol;
  double p;
};

struct Sentence {
  int32_t n_words = 0;
  std::vector<std::vector<Weighed>> tags;  // by position
  std::vector<Weighed> roots;
};

// Cells are numbered by end, then start.
inline size_t cell_of(int32_t start, int32_t end) {
  return static_cast<size_t>(end) * static_cast<size_t>(end - 1) / 2 + static_cast<size_t>(start);
}
inline size_t n_cells(int32_t n_words) { return cell_of(0, n_words + 1); }

// A chart takes at least the square of the length; refuses what cannot fit before anything is made.
constexpr size_t max_chart_bytes = size_t{3} << 30;
inline void check_chart_size(size_t cells, size_t bytes_each) {
  if (bytes_each > 0 && cells > max_chart_bytes / bytes_each)
    throw BudgetExceeded(static_cast<int64_t>(max_chart_bytes));
}

// Sorts a list by symbol and joins the probabilities of equal ones.
template <class Join>
void merge_symbols(std::vector<Weighed>& list, const Join& join) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Weighed& a, const Weighed& b) { return a.symbol < b.symbol; });
  size_t n = 0;
  for (const Weighed& each : list) {
    if (n > 0 && list[n - 1].symbol == each.symbol)
      list[n - 1].p = join(list[n - 1].p, each.p);
    else
      list[n++] = each;
  }
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(n), list.end());
}

// The sentence in the symbols of another grammar. Where several symbols become one, the largest
// probability stands for all: their word probabilities are alike, and a sum would count it twice.
inline Sentence renamed(Sentence sentence, const std::vector<int32_t>& names) {
  const auto rename = [&](std::vector<Weighed>& list) {
    for (Weighed& each : list) each.symbol = names[static_cast<size_t>(each.symbol)];
    merge_symbols(list, [](double a, double b) { return std::max(a, b); });
  };
  for (auto& tags : sentence.tags) rename(tags);
  rename(sentence.roots);
  return sentence;
}

// Which groups of symbols each span may hold.
class SpanMask {
  struct Range {
    size_t first = 0, last = 0;
  };

 public:
  explicit SpanMask(int32_t n_groups) : n_groups_(n_groups), is_full_(true) {}
  SpanMask(int32_t n_groups, int32_t n_words)
      : n_groups_(n_groups), is_full_(false), ranges_(n_cells(n_words)) {}

  // The groups of a cell are allowed one after the other.
  void open(size_t cell) { ranges_[cell].first = ranges_[cell].last = groups_.size(); }
  void allow(size_t cell, int32_t group) {
    groups_.push_back(group);
    ranges_[cell].last = groups_.size();
  }

  const std::vector<int32_t>& groups() const { return groups_; }  // of all cells
  bool is_empty(size_t cell) const {
    return !is_full_ && ranges_[cell].first == ranges_[cell].last;
  }

  // A table of allowed groups, kept by the caller from cell to cell.
  class Table {
   public:
    explicit Table(const SpanMask& mask)
        : mask_(mask), allowed_(static_cast<size_t>(mask.n_groups_), mask.is_full_ ? 1 : 0) {}
    void show(size_t cell) {
      if (mask_.is_full_) return;
      set(0);
      range_ = mask_.ranges_[cell];
      set(1);
    }
    bool operator[](int32_t group) const { return allowed_[static_cast<size_t>(group)] != 0; }

   private:
    void set(uint8_t value) {
      for (size_t at = range_.first; at < range_.last; ++at)
        allowed_[static_cast<size_t>(mask_.groups_[at])] = value;
    }
    const SpanMask& mask_;
    std::vector<uint8_t> allowed_;
    Range range_;
  };

 private:
  int32_t n_groups_;
  bool is_full_;
  std::vector<Range> ranges_;
  std::vector<int32_t> groups_;
};

}  // namespace kernelwood
