// Structures as sparse vectors of features, and the products or intersections of two sides:
// K(a, b) = sum over features f of value_a(f) * value_b(f), or of the smaller of both values.
//
// The terms of a value are added in the order in which the stream structure has its features;
// features that the panel structure lacks would add zeros and are left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/flat_tables.hpp"
#include "kernelwood/panel_product.hpp"
#include "kernelwood/row_arena.hpp"

namespace kernelwood {

class FeatureRows {
 public:
  explicit FeatureRows(int64_t max_bytes) : max_bytes_(max_bytes) {}

  int64_t size() const { return static_cast<int64_t>(begin_.size()) - 1; }
  int64_t begin(int64_t row) const { return begin_[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return begin_[static_cast<size_t>(row) + 1]; }
  int64_t row_begin() const { return begin_.back(); }
  int32_t id(int64_t at) const { return ids_[static_cast<size_t>(at)]; }
  double value(int64_t at) const { return values_[static_cast<size_t>(at)]; }
  int64_t n_values() const { return static_cast<int64_t>(ids_.size()); }

  // A feature of the row that is being made, which has it not yet; returns where it is.
  int64_t add(int32_t id, double value) {
    if ((n_values() + 1) * bytes_a_value > max_bytes_)
      throw BudgetExceeded((n_values() + 1) * bytes_a_value);
    ids_.push_back(id);
    values_.push_back(value);
    return n_values() - 1;
  }
  void increase(int64_t at, double by) { values_[static_cast<size_t>(at)] += by; }

  // Ends the row. With `to_unit_range`, its values are divided by a power of 2, which rounds
  // nothing, so that the largest is near 1: squares then stay in the range of double.
  void end_row(bool to_unit_range) {
    if (to_unit_range) {
      double largest = 0;
      for (int64_t at = row_begin(); at < n_values(); ++at) largest = std::max(largest, value(at));
      int exponent = 0;
      std::frexp(largest, &exponent);
      for (int64_t at = row_begin(); at < n_values(); ++at)
        values_[static_cast<size_t>(at)] = std::ldexp(value(at), -exponent);
    }
    begin_.push_back(n_values());
  }

  // Self-similarities, with the same sums as products of two sides.
  void selves(bool intersect, double* out) const {
    for (int64_t row = 0; row < size(); ++row) {
      double sum = 0;
      for (int64_t at = begin(row); at < end(row); ++at)
        sum += intersect ? value(at) : value(at) * value(at);
      out[row] = sum;
    }
  }

  int64_t nbytes() const { return n_values() * bytes_a_value + size() * 8; }

 private:
  static constexpr int64_t bytes_a_value = 12;
  int64_t max_bytes_;
  Buffer<int64_t> begin_{0};
  Buffer<int32_t> ids_;
  Buffer<double> values_;
};

// Numbers of features by key; those of another table first, which does not change.
class FeatureNumbers {
 public:
  explicit FeatureNumbers(const FeatureNumbers* base) : base_(base), n_(base ? base->n_ : 0) {}
  int32_t size() const { return n_; }
  int32_t number(uint64_t key) {
    int32_t found = base_ ? base_->own_.find(key) : -1;
    if (found < 0) found = own_.find(key);
    if (found >= 0) return found;
    own_.add(key, n_);
    keys_.push_back(key);
    return n_++;
  }
  uint64_t key(int32_t number) const {
    const int32_t n_base = base_ ? base_->n_ : 0;
    return number < n_base ? base_->key(number) : keys_[static_cast<size_t>(number - n_base)];
  }

 private:
  const FeatureNumbers* base_;
  NumberTable own_;
  Buffer<uint64_t> keys_;
  int32_t n_;
};

// Values of some panels of rows with the rows of a stream.
class RowComparison {
 public:
  static constexpr int64_t lanes = panel_lanes<double>;

  RowComparison(const FeatureRows& panel, const FeatureRows& stream, int64_t n_stream_features,
                bool intersect)
      : panel_(panel), stream_(stream), intersect_(intersect),
        slots_(static_cast<size_t>(n_stream_features), -1) {}

  // Calls emit(stream row, panel row, value) for at most `lanes` panel rows and the stream rows
  // from `stream_begin` on.
  template <class Emit>
  void run(int64_t first, int64_t end, int64_t stream_begin, StopFlag stop, Emit&& emit) {
    const int64_t width = end - first;
    for (int64_t lane = 0; lane < width; ++lane) scatter(first + lane, lane);
    double block[at_once * lanes];
    for (int64_t s = stream_begin; s < stream_.size() && !stop.raised(); s += at_once) {
      const int64_t n = std::min(at_once, stream_.size() - s);
      gather(s, n);
      const PanelProduct<double> job{table_.data(),           ids_.data(), counts_.data(),
                                     begin_.data(),           0,           n,
                                     static_cast<int>(lanes), block,       lanes};
      if (intersect_)
        intersect_f64(job);
      else
        multiply_f64(job);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t lane = 0; lane < width; ++lane)
          emit(s + i, first + lane, block[i * lanes + lane]);
    }
    clear();
  }

  // The value of one row of each side.
  double pair(int64_t row, int64_t stream_row) {
    scatter(row, 0);
    double sum = 0;
    for (int64_t at = stream_.begin(stream_row); at < stream_.end(stream_row); ++at) {
      const int32_t slot = slots_[static_cast<size_t>(stream_.id(at))];
      if (slot < 0) continue;
      const double own = table_[static_cast<size_t>(slot * lanes)], other = stream_.value(at);
      sum += intersect_ ? std::min(own, other) : own * other;
    }
    clear();
    return sum;
  }

 private:
  static constexpr int64_t at_once = 64;

  void scatter(int64_t row, int64_t lane) {
    for (int64_t at = panel_.begin(row); at < panel_.end(row); ++at) {
      const auto id = static_cast<size_t>(panel_.id(at));
      if (id >= slots_.size()) continue;  // the stream has no such feature
      if (slots_[id] < 0) {
        slots_[id] = static_cast<int32_t>(used_.size());
        used_.push_back(static_cast<int32_t>(id));
        table_.resize(used_.size() * lanes, 0.0);
      }
      table_[static_cast<size_t>(slots_[id] * lanes + lane)] = panel_.value(at);
    }
  }

  // The features of some stream rows that the panel has.
  void gather(int64_t first, int64_t n) {
    ids_.clear();
    counts_.clear();
    begin_.assign(1, 0);
    for (int64_t s = first; s < first + n; ++s) {
      for (int64_t at = stream_.begin(s); at < stream_.end(s); ++at) {
        const int32_t slot = slots_[static_cast<size_t>(stream_.id(at))];
        if (slot < 0) continue;
        ids_.push_back(slot);
        counts_.push_back(stream_.value(at));
      }
      begin_.push_back(static_cast<int64_t>(ids_.size()));
    }
  }

  void clear() {
    for (const int32_t id : used_) slots_[static_cast<size_t>(id)] = -1;
    used_.clear();
    table_.clear();
  }

  const FeatureRows &panel_, &stream_;
  bool intersect_;
  Buffer<int32_t> slots_, used_, ids_;
  Buffer<int64_t> begin_;
  Buffer<double> table_, counts_;
};

}  // namespace kernelwood
