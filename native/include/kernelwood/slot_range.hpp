// A run of slots, or of anything else that is numbered.
#pragma once

#include <cstdint>

namespace kernelwood {

struct SlotRange {
  int32_t begin = 0, end = 0;
  int32_t size() const { return end - begin; }
  bool contains(int32_t slot) const { return begin <= slot && slot < end; }
};

}  // namespace kernelwood
