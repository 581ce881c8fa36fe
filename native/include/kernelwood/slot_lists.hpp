// Stream trees as lists of the slots they hold, with counts.
#pragma once

#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/slot_index.hpp"

namespace kernelwood {

class SlotLists {
 public:
  template <class Counts>
  SlotLists(const SlotIndex& slots, const TreeSide& stream, Counts&& counts)
      : n_slots_(slots.n_slots()) {
    for (int64_t t = 0; t < stream.size(); ++t) {
      for (int64_t e = stream.begin[static_cast<size_t>(t)];
           e < stream.begin[static_cast<size_t>(t) + 1]; ++e) {
        const int32_t sub = stream.sub[static_cast<size_t>(e)];
        if (!counts(sub)) continue;
        slots_.push_back(slots.slot(sub));
        counts_.push_back(stream.count[static_cast<size_t>(e)]);
      }
      begin_.push_back(static_cast<int64_t>(slots_.size()));
    }
  }

  int32_t size() const { return n_slots_; }
  const int32_t* ids() const { return slots_.data(); }
  const int32_t* counts() const { return counts_.data(); }
  const int64_t* begins() const { return begin_.data(); }
  int64_t begin(int64_t tree) const { return begin_[static_cast<size_t>(tree)]; }

 private:
  int32_t n_slots_;
  Buffer<int32_t> slots_, counts_;
  Buffer<int64_t> begin_{0};
};

}  // namespace kernelwood
