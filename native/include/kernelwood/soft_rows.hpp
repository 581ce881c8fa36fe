// Similarities of stream elements to all cells of a panel, laid out as the vector loop reads them.
//
// A row costs as much as the sums it feeds, so those of the most frequent names are kept while a
// panel lasts; the others are made when they are needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/sequence_panel.hpp"
#include "kernelwood/sequence_side.hpp"
#include "kernelwood/sequence_window.hpp"
#include "kernelwood/similarity_block.hpp"

namespace kernelwood {

// Which names of the stream are frequent: places 0, 1, ... in the order of their counts, else -1.
class FrequentNames {
 public:
  static constexpr int32_t most = 256;

  FrequentNames() = default;
  template <class Side>
  FrequentNames(const NameTable& names, const Side& stream)
      : place_(static_cast<size_t>(names.size()), -1) {
    Buffer<int32_t> counts(place_.size(), 0), order;
    for (const int32_t name : stream.kept) ++counts[static_cast<size_t>(name)];
    for (int32_t name = 0; name < names.size(); ++name)
      if (counts[static_cast<size_t>(name)] > 1) order.push_back(name);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return counts[static_cast<size_t>(a)] > counts[static_cast<size_t>(b)];
    });
    size_ = std::min<int32_t>(most, static_cast<int32_t>(order.size()));
    for (int32_t i = 0; i < size_; ++i)
      place_[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
  }

  int32_t size() const { return size_; }
  int32_t place(int32_t name) const { return place_[static_cast<size_t>(name)]; }

 private:
  Buffer<int32_t> place_;
  int32_t size_ = 0;
};

template <class Real>
class SoftRows {
 public:
  using Elements = SoftElements<Output<Real>>;
  using Number = Output<Real>;
  using Panel = typename SequenceWindow<Real, Elements>::Panel;
  static constexpr int lanes = sequence_lanes<Number>;

  SoftRows(const NameTable& names, const FrequentNames& frequent)
      : names_(names), frequent_(frequent) {}

  // The block must have the panel's names in its columns, and a row for every name asked for.
  void begin_panel(const Panel& panel, const SimilarityBlock<Number>& block) {
    panel_ = &panel;
    block_ = &block;
    const size_t row_size = panel.names.size();
    cells_.resize(row_size);
    for (size_t i = 0; i < row_size; ++i)
      cells_[i] = panel.names[i] < 0 ? block.no_column() : block.column(panel.names[i]);
    list_occupied();
    n_kept_ = row_size == 0 ? 0
                            : std::min<int64_t>(frequent_.size(),
                                                kept_values / static_cast<int64_t>(row_size));
    const auto n_rows = static_cast<size_t>(n_kept_) + 1;
    kept_.assign(n_rows, {nullptr, -1, nullptr});
    similarities_.resize(n_rows * row_size);
    columns_.resize(n_rows * static_cast<size_t>(panel.length));
  }

  // Valid until the next one is asked for.
  SoftRow<Number> row(int32_t name) {
    const int32_t place = frequent_.place(name);
    if (place < 0 || place >= n_kept_) return make_row(name, static_cast<size_t>(n_kept_));
    SoftRow<Number>& kept = kept_[static_cast<size_t>(place)];
    if (kept.n_columns < 0) kept = make_row(name, static_cast<size_t>(place));
    return kept;
  }

 private:
  // A cell of the panel by its place in the list of columns, and its column of the block.
  struct Occupied {
    int32_t place, column;
  };
  static constexpr int64_t kept_values = int64_t{1} << 15;  // so that those of a window fit a cache

  SoftRow<Number> make_row(int32_t name, size_t place) {
    int32_t* columns = columns_.data() + place * static_cast<size_t>(panel_->length);
    Number* out = similarities_.data() + place * cells_.size();
    const Number* row = block_->row(name);
    const ColumnRange range = panel_->columns_of[static_cast<size_t>(names_.symbol(name))];
    int32_t n = range.end - range.begin;
    const int32_t* possible = panel_->columns.data() + range.begin;
    const Occupied* first = occupied_.data() + occupied_begin_[static_cast<size_t>(range.begin)];
    const Occupied* last = occupied_.data() + occupied_begin_[static_cast<size_t>(range.end)];
    if (n == panel_->length && 2 * (last - first) > int64_t{n} * lanes) {
      copy_cells(row, cells_.data(), n, out);  // most lanes match in columns 0, 1, 2, ...
    } else {
      std::fill_n(out, int64_t{n} * lanes, Number(0));
      Number* begin = out - int64_t{range.begin} * lanes;
      for (; first < last; ++first) begin[first->place] = row[first->column];
    }
    std::copy_n(possible, n, columns);
    return {columns, block_->never_zero() ? n : drop_empty_columns(columns, n, out), out};
  }

  // For each listed column of a symbol, the lanes that have the symbol there.
  void list_occupied() {
    occupied_.clear();
    occupied_begin_.assign(panel_->columns.size() + 1, 0);
    for (size_t symbol = 0; symbol < panel_->columns_of.size(); ++symbol) {
      const ColumnRange range = panel_->columns_of[symbol];
      for (int32_t c = range.begin; c < range.end; ++c) {
        const int64_t at = int64_t{panel_->columns[static_cast<size_t>(c)]} * lanes;
        for (int lane = 0; lane < lanes; ++lane)
          if (panel_->symbols[static_cast<size_t>(at + lane)] == static_cast<int32_t>(symbol))
            occupied_.push_back({c * lanes + lane, cells_[static_cast<size_t>(at + lane)]});
        occupied_begin_[static_cast<size_t>(c) + 1] = static_cast<int32_t>(occupied_.size());
      }
    }
  }

  // Not inlined, or the compiler would add up the address of each number anew.
  __attribute__((noinline)) static void copy_cells(const Number* row, const int32_t* cells,
                                                   int64_t n_columns, Number* out) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < n_columns * lanes; ++i) out[i] = row[cells[i]];
  }

  // Returns how many columns are left.
  static int32_t drop_empty_columns(int32_t* columns, int32_t n, Number* values) {
    using Bits = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;
    int32_t left = 0;
    for (int32_t c = 0; c < n; ++c) {
      Bits all[lanes], any = 0;  // as integers, which a compiler may gather in any order
      std::memcpy(all, values + int64_t{c} * lanes, sizeof all);
      for (int lane = 0; lane < lanes; ++lane) any |= all[lane];
      if (any == 0) continue;
      if (left < c) std::memcpy(values + int64_t{left} * lanes, all, sizeof all);
      columns[left++] = columns[c];
    }
    return left;
  }

  const NameTable& names_;
  const FrequentNames& frequent_;
  const Panel* panel_ = nullptr;
  const SimilarityBlock<Number>* block_ = nullptr;
  int64_t n_kept_ = 0;
  Buffer<SoftRow<Number>> kept_;
  Buffer<Number> similarities_;
  Buffer<int32_t> columns_, cells_;
  Buffer<Occupied> occupied_;
  Buffer<int32_t> occupied_begin_;  // by listed column
};

// Matches of two sequences where labels match softly, for sequences of any length: rows of the
// block are made for as many elements at a time as fit.
template <class Number>
class SimilarNames {
 public:
  // The block must have the names of b in its columns.
  SimilarNames(SimilarityBlock<Number>& block, NameSpan a, NameSpan b, StopFlag stop)
      : block_(block), a_(a), stop_(stop) {
    for (int64_t j = 0; j < b.size; ++j) columns_.push_back(block.column(b.data[j]));
  }
  void begin_row(int64_t i) {
    if (!block_.has_row(a_.data[i])) make_rows(i);
    row_ = block_.row(a_.data[i]);
  }
  Number operator()(int64_t j) const { return row_[columns_[static_cast<size_t>(j)]]; }

 private:
  static constexpr int64_t most_values = int64_t{1} << 21;

  void make_rows(int64_t first) {
    const int64_t most = std::max<int64_t>(1, most_values / static_cast<int64_t>(block_.width()));
    const int64_t last = std::min(a_.size, first + most);
    block_.set_rows(
        [&](auto&& visit) {
          for (int64_t i = first; i < last; ++i) visit(a_.data[i]);
        },
        stop_);
  }

  SimilarityBlock<Number>& block_;
  NameSpan a_;
  StopFlag stop_;
  Buffer<int32_t> columns_;
  const Number* row_ = nullptr;
};

}  // namespace kernelwood
