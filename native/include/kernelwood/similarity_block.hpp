// Similarities of some names to some others, made when a block of sequences needs them.
//
// Rows are names of stream sequences, columns names of panel sequences. From vectors a block is one
// matrix product; otherwise it is copied from a table. Gates are multiplied in. Every row is dense
// and ends with a 0, the column of what is not there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/label_matching.hpp"
#include "kernelwood/vector_similarity.hpp"

namespace kernelwood {

template <class Number>
class SimilarityBlock {
 public:
  SimilarityBlock(const LabelMatching<Number>& labels, const NameTable& names)
      : labels_(labels), names_(names), gates_(labels.template gates<Number>(names)),
        column_of_(static_cast<size_t>(names.size()), -1), row_of_(column_of_),
        begin_of_symbol_(static_cast<size_t>(names.n_symbols()), {0, 0}) {}

  // `for_each(visit)` calls visit(name) for names, repeated or not.
  template <class ForEach>
  void set_columns(ForEach&& for_each) {
    clear_rows();
    for (const int32_t name : columns_) {
      column_of_[static_cast<size_t>(name)] = -1;
      begin_of_symbol_[static_cast<size_t>(names_.symbol(name))] = {0, 0};
    }
    collect(for_each, column_of_, columns_);
    for (size_t c = 0; c < columns_.size(); ++c) {
      Range& range = begin_of_symbol_[static_cast<size_t>(names_.symbol(columns_[c]))];
      if (range.begin == range.end) range.begin = static_cast<int64_t>(c);
      range.end = static_cast<int64_t>(c) + 1;
    }
    if (!labels_.vectors) return;
    column_vectors_.resize(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c)
      column_vectors_[c] = labels_.vectors->rows[names_.label(columns_[c])];
  }

  template <class ForEach>
  void set_rows(ForEach&& for_each, StopFlag stop) {
    clear_rows();
    collect(for_each, row_of_, rows_);
    values_.resize(rows_.size() * width());
    for (size_t i = 0; i < rows_.size(); ++i) {
      Number* values = values_.data() + i * width();
      const Range& range = columns_of(rows_[i]);
      std::fill(values, values + range.begin, Number(0));
      std::fill(values + range.end, values + width(), Number(0));
    }
    if (labels_.vectors)
      fill_from_vectors(stop);
    else
      fill_from_table();
    if (!gates_.empty()) apply_gates();
  }

  // Whether labels that can match always do, at least a little.
  bool never_zero() const {
    if (!labels_.vectors || !gates_.empty()) return false;
    const SimilarityParameters& parameters = labels_.vectors->parameters;
    return parameters.function != SimilarityFunction::cosine &&
           parameters.function != SimilarityFunction::threshold && !parameters.has_floor;
  }
  size_t width() const { return columns_.size() + 1; }
  bool has_row(int32_t name) const { return row_of_[static_cast<size_t>(name)] >= 0; }
  const Number* row(int32_t name) const {
    return values_.data() + static_cast<size_t>(row_of_[static_cast<size_t>(name)]) * width();
  }
  int32_t column(int32_t name) const { return column_of_[static_cast<size_t>(name)]; }
  int32_t no_column() const { return static_cast<int32_t>(columns_.size()); }

 private:
  struct Range {
    int64_t begin, end;
  };

  void clear_rows() {
    for (const int32_t name : rows_) row_of_[static_cast<size_t>(name)] = -1;
    rows_.clear();
  }

  // Distinct names by symbol; `place` says where each of them stands.
  template <class ForEach>
  void collect(ForEach&& for_each, Buffer<int32_t>& place, Buffer<int32_t>& found) {
    found.clear();
    for_each([&](int32_t name) {
      if (place[static_cast<size_t>(name)] >= 0) return;
      place[static_cast<size_t>(name)] = 0;
      found.push_back(name);
    });
    std::stable_sort(found.begin(), found.end(),
                     [&](int32_t a, int32_t b) { return names_.symbol(a) < names_.symbol(b); });
    for (size_t i = 0; i < found.size(); ++i)
      place[static_cast<size_t>(found[i])] = static_cast<int32_t>(i);
  }

  const Range& columns_of(int32_t name) const {
    return begin_of_symbol_[static_cast<size_t>(names_.symbol(name))];
  }

  void fill_from_vectors(StopFlag stop) {
    const VectorSource& source = *labels_.vectors;
    table_rows_.clear();
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Range& range = columns_of(rows_[i]);
      table_rows_.push_back({source.rows[names_.label(rows_[i])], range.begin, range.end,
                             static_cast<int64_t>(i * width()) + range.begin});
    }
    if (source.single)
      fill_from(source, source.single, stop);
    else
      fill_from(source, source.twice, stop);
  }

  template <class Stored>
  void fill_from(const VectorSource& source, const Stored* vectors, StopFlag stop) {
    fill_similarities(source.parameters, vectors, source.dim, table_rows_.data(),
                      column_vectors_.data(), false, 0, static_cast<int64_t>(rows_.size()),
                      values_.data(), stop);
  }

  void fill_from_table() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Number* from = labels_.table + labels_.rows[names_.label(rows_[i])];
      const Range& range = columns_of(rows_[i]);
      for (int64_t c = range.begin; c < range.end; ++c)
        values_[i * width() + static_cast<size_t>(c)] =
            from[labels_.columns[names_.label(columns_[static_cast<size_t>(c)])]];
    }
  }

  void apply_gates() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Number own = gates_[static_cast<size_t>(rows_[i])];
      Number* values = values_.data() + i * width();
      for (size_t c = 0; c < columns_.size(); ++c)
        values[c] *= own * gates_[static_cast<size_t>(columns_[c])];
    }
  }

  LabelMatching<Number> labels_;
  const NameTable& names_;
  Buffer<Number> gates_;  // by name, empty without gates
  Buffer<int32_t> column_of_, row_of_, columns_, rows_;
  Buffer<Range> begin_of_symbol_;
  Buffer<int64_t> column_vectors_;
  Buffer<SimilarityRow> table_rows_;
  Buffer<Number> values_;
};

}  // namespace kernelwood
