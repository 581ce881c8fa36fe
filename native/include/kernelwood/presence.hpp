// Which features are worth having: who can reach them, and how often they are used.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"

namespace kernelwood {

// Which panel structures hold a part: none, one, or more; anything where they are not known.
class Presence {
 public:
  Presence(size_t n, bool symmetric, bool known = true)
      : first_(n, known ? -1 : 0), last_(n, known ? -1 : 0), symmetric_(symmetric) {}
  void see(int32_t id, int32_t structure) { widen(id, structure, structure); }
  void widen(int32_t id, const Presence& other, int32_t other_id) {
    const auto at = static_cast<size_t>(other_id);
    if (other.first_[at] >= 0) widen(id, other.first_[at], other.last_[at]);
  }
  Presence like(size_t n) const { return Presence(n, symmetric_); }
  // Against itself a set of structures needs a second one; against another set one is enough.
  bool reachable(int32_t id) const {
    const auto at = static_cast<size_t>(id);
    return first_[at] >= 0 && (!symmetric_ || first_[at] != last_[at]);
  }

 private:
  void widen(int32_t id, int32_t first, int32_t last) {
    const auto at = static_cast<size_t>(id);
    if (first_[at] < 0 || first < first_[at]) first_[at] = first;
    if (last > last_[at]) last_[at] = last;
  }
  Buffer<int32_t> first_, last_;
  bool symmetric_;
};

// Replaces how often each feature is used by a dense number, -1 if never, and returns how many
// there are. Frequent features get neighbouring numbers, so that their values share cache lines.
inline int32_t number_by_frequency(Buffer<int32_t>& uses) {
  Buffer<int32_t> used;
  for (size_t f = 0; f < uses.size(); ++f) {
    if (uses[f] > 0) used.push_back(static_cast<int32_t>(f));
    if (uses[f] == 0) uses[f] = -1;
  }
  std::stable_sort(used.begin(), used.end(), [&](int32_t a, int32_t b) {
    return uses[static_cast<size_t>(a)] > uses[static_cast<size_t>(b)];
  });
  for (size_t i = 0; i < used.size(); ++i)
    uses[static_cast<size_t>(used[i])] = static_cast<int32_t>(i);
  return static_cast<int32_t>(used.size());
}

}  // namespace kernelwood
