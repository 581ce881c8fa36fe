// Memory for rows of values that all go at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelwood/buffer.hpp"

namespace kernelwood {

struct BudgetExceeded : std::runtime_error {
  explicit BudgetExceeded(int64_t bytes) : std::runtime_error(std::to_string(bytes)) {}
};

template <class Real>
class RowArena {
 public:
  explicit RowArena(int64_t max_bytes = std::numeric_limits<int64_t>::max())
      : max_bytes_(max_bytes) {}

  int64_t used() const { return used_; }  // values, not bytes

  Real* allocate(int64_t size) {
    while (chunk_ < chunks_.size() &&
           chunk_used_ + size > static_cast<int64_t>(chunks_[chunk_].size())) {
      ++chunk_;
      chunk_used_ = 0;
    }
    used_ += size;
    if (chunk_ == chunks_.size()) {
      const int64_t bytes = used_ * static_cast<int64_t>(sizeof(Real));
      if (bytes > max_bytes_) throw BudgetExceeded(bytes);
      chunks_.emplace_back(static_cast<size_t>(std::max(size, chunk_values)));
    }
    Real* values = chunks_[chunk_].data() + chunk_used_;
    chunk_used_ += size;
    return values;
  }

  // The chunks stay for what comes next.
  void clear() {
    chunk_ = 0;
    used_ = chunk_used_ = 0;
  }

 private:
  static constexpr int64_t chunk_values = int64_t{1} << 16;

  std::vector<Buffer<Real>> chunks_;
  size_t chunk_ = 0;
  int64_t used_ = 0, chunk_used_ = 0, max_bytes_;
};

}  // namespace kernelwood
