// Memory for rows: one row per distinct subtree, its values against a range of slots.
//
// Rows are kept from tree to tree while they fit (a subtree seen again costs nothing). A tree
// whose rows alone exceed that is handled frugally: each row is freed after its last parent.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernelwood/tree_index.hpp"

namespace kernelwood {

struct BudgetExceeded : std::runtime_error {
  explicit BudgetExceeded(int64_t bytes)
      : std::runtime_error(std::to_string(bytes)), needed(bytes) {}
  int64_t needed;
};

template <class Real>
class RowStore {
 public:
  RowStore(int32_t n_subtrees, int64_t max_bytes)
      : row_(static_cast<size_t>(n_subtrees), nullptr),
        touched_(static_cast<size_t>(n_subtrees)),
        max_bytes_(max_bytes) {}

  const Real* row(int32_t sub) const { return row_[static_cast<size_t>(sub)]; }
  bool has(int32_t sub) const { return row_[static_cast<size_t>(sub)] != nullptr; }

  // Announces a tree with the total size of the rows it still lacks.
  void begin_tree(const TreeSide& side, int64_t tree, const SubtreeTable& table, int64_t lacking) {
    if (frugal_ || used_ + lacking > kept_values) clear();
    frugal_ = lacking > kept_values;
    if (!frugal_) return;
    uses_.assign(row_.size(), 0);
    for (int64_t e = side.begin[static_cast<size_t>(tree)];
         e < side.begin[static_cast<size_t>(tree) + 1]; ++e) {
      const int32_t sub = side.sub[static_cast<size_t>(e)];
      for (int64_t i = 0; i < table.n_children(sub); ++i)
        ++uses_[static_cast<size_t>(table.children(sub)[i])];
    }
  }

  Real* allocate(int32_t sub, int64_t size) {
    Real* values = frugal_ ? allocate_alone(sub, size) : allocate_kept(size);
    row_[static_cast<size_t>(sub)] = values;
    stored_.push_back(sub);
    return values;
  }

  // The parent's row is done: in a frugal tree, children nobody else waits for are freed.
  void release_children(int32_t sub, const SubtreeTable& table) {
    if (!frugal_) return;
    for (int64_t i = 0; i < table.n_children(sub); ++i) {
      const int32_t child = table.children(sub)[i];
      if (--uses_[static_cast<size_t>(child)] == 0 && has(child)) {
        live_bytes_ -= alone_[static_cast<size_t>(child)].bytes;
        alone_[static_cast<size_t>(child)] = {};
        row_[static_cast<size_t>(child)] = nullptr;
      }
    }
  }

  // Shapes in which the row differs from its base value.
  std::vector<int32_t>& touched_shapes() { return touched_shapes_; }
  void set_touched(int32_t sub, size_t begin) {
    touched_[static_cast<size_t>(sub)] = {static_cast<int64_t>(begin),
                                          static_cast<int64_t>(touched_shapes_.size())};
  }
  std::pair<int64_t, int64_t> touched(int32_t sub) const {
    return touched_[static_cast<size_t>(sub)];
  }

 private:
  static constexpr int64_t kept_values = int64_t{1} << 22;
  static constexpr int64_t chunk_values = int64_t{1} << 16;

  struct Alone {
    std::unique_ptr<Real[]> values;
    int64_t bytes = 0;
  };

  Real* allocate_kept(int64_t size) {
    if (chunk_ < chunks_.size() && chunk_used_ + size > chunk_size_[chunk_]) {
      ++chunk_;
      chunk_used_ = 0;
    }
    while (chunk_ < chunks_.size() && chunk_size_[chunk_] < size) ++chunk_;
    if (chunk_ == chunks_.size()) {
      chunk_size_.push_back(size > chunk_values ? size : chunk_values);
      chunks_.emplace_back(new Real[static_cast<size_t>(chunk_size_.back())]);
      chunk_used_ = 0;
    }
    Real* values = chunks_[chunk_].get() + chunk_used_;
    chunk_used_ += size;
    used_ += size;
    return values;
  }

  Real* allocate_alone(int32_t sub, int64_t size) {
    if (alone_.empty()) alone_.resize(row_.size());
    Alone& row = alone_[static_cast<size_t>(sub)];
    row.bytes = size * static_cast<int64_t>(sizeof(Real));
    live_bytes_ += row.bytes;
    if (live_bytes_ > max_bytes_) throw BudgetExceeded(live_bytes_);
    row.values.reset(new Real[static_cast<size_t>(size)]);
    return row.values.get();
  }

  void clear() {
    for (const int32_t sub : stored_) {
      row_[static_cast<size_t>(sub)] = nullptr;
      if (frugal_) alone_[static_cast<size_t>(sub)] = {};
    }
    stored_.clear();
    touched_shapes_.clear();
    used_ = chunk_used_ = live_bytes_ = 0;
    chunk_ = 0;
  }

  std::vector<Real*> row_;
  std::vector<std::pair<int64_t, int64_t>> touched_;
  std::vector<int32_t> stored_, uses_, touched_shapes_;
  std::vector<std::unique_ptr<Real[]>> chunks_;
  std::vector<int64_t> chunk_size_;
  std::vector<Alone> alone_;
  size_t chunk_ = 0;
  int64_t chunk_used_ = 0, used_ = 0, live_bytes_ = 0, max_bytes_;
  bool frugal_ = false;
};

}  // namespace kernelwood
