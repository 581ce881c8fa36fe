// The arc-hybrid transition system with its dynamic oracle.
//
// A configuration is a stack of words, the next word, and the heads that are settled. Word n, which
// comes last and is never shifted, is the root. SHIFT puts the next word on the stack; LEFT gives
// the top of the stack the next word as head and removes it; RIGHT does so with the word below it.
// Every word is shifted and removed once, so there are 2 n transitions, and every projective tree
// is reached.
//
// M. Kuhlmann, C. Gomez-Rodriguez, G. Satta. Dynamic programming algorithms for transition-based
// dependency parsers. ACL 2011.
// Y. Goldberg, J. Nivre. Training deterministic parsers with non-deterministic oracles. TACL 2013.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelwood {

enum Action : int32_t { kShift = 0, kLeft = 1, kRight = 2 };
constexpr int32_t kActions = 3;

// Children of a word that are attached already: the outermost two on each side, and their number.
struct Children {
  int32_t left = -1, left2 = -1, right = -1, right2 = -1;
  int32_t n_left = 0, n_right = 0;
};

class Configuration {
 public:
  void start(int32_t n) {
    n_ = n;
    next_ = 0;
    stack_.clear();
    heads_.assign(static_cast<size_t>(n), -1);
    children_.assign(static_cast<size_t>(n) + 1, Children());
  }

  int32_t size() const { return n_; }
  int32_t next() const { return next_; }
  int32_t depth() const { return static_cast<int32_t>(stack_.size()); }
  bool done() const { return next_ == n_ && stack_.empty(); }
  const std::vector<int32_t>& heads() const { return heads_; }
  const Children& children(int32_t word) const { return children_[static_cast<size_t>(word)]; }

  // The word at a depth of the stack, -1 if there is none.
  int32_t top(int32_t depth) const {
    const size_t at = stack_.size() - 1 - static_cast<size_t>(depth);
    return at < stack_.size() ? stack_[at] : -1;
  }
  // A word ahead, -1 beyond the root.
  int32_t ahead(int32_t distance) const { return next_ + distance <= n_ ? next_ + distance : -1; }

  bool can(int32_t action) const {
    if (action == kShift) return next_ < n_;
    return static_cast<size_t>(action == kRight) < stack_.size();
  }
  // Only one word may have the root as head, the last one on the stack.
  bool may(int32_t action) const {
    return can(action) && !(action == kLeft && next_ == n_ && stack_.size() > 1);
  }

  void apply(int32_t action) {
    if (action == kShift) {
      stack_.push_back(next_++);
      return;
    }
    const int32_t word = stack_.back();
    stack_.pop_back();
    const int32_t head = action == kLeft ? next_ : stack_.back();
    heads_[static_cast<size_t>(word)] = head;
    Children& family = children_[static_cast<size_t>(head)];
    if (action == kLeft) {
      family.left2 = family.left, family.left = word, ++family.n_left;
    } else {
      family.right2 = family.right, family.right = word, ++family.n_right;
    }
  }

  // The number of words that have the right head in the best tree that can still be reached, less
  // that number after the action. Heads of gold are those of a projective tree; that of its root
  // is the word n.
  int32_t cost(int32_t action, const std::vector<int32_t>& gold) const {
    int32_t lost = 0;
    if (action == kShift) {
      const int32_t head = gold[static_cast<size_t>(next_)];
      for (const int32_t word : stack_) {
        lost += gold[static_cast<size_t>(word)] == next_;
        lost += word == head && word != stack_.back();
      }
      return lost;
    }
    const int32_t word = stack_.back(), head = gold[static_cast<size_t>(word)];
    if (action == kLeft) {
      lost += head > next_ || head == top(1);
    } else {
      lost += head >= next_;
    }
    for (int32_t b = next_; b < n_; ++b) lost += gold[static_cast<size_t>(b)] == word;
    return lost;
  }

 private:
  int32_t n_ = 0, next_ = 0;
  std::vector<int32_t> stack_, heads_;
  std::vector<Children> children_;
};

}  // namespace kernelwood
