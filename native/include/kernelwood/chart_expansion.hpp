// Productions of any length, from derivation steps of two: intermediate symbols are replaced by
// what they derive until none is left.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelwood/chart_derivations.hpp"

namespace kernelwood {

// A child of a production: an item, or a word (below zero: -1 - its position).
struct Production {
  int32_t head;  // item
  size_t first, last;  // children
  double q;  // given the head
};

class Expansion {
 public:
  // A head with very many productions keeps the first ones found, the best one among them.
  static constexpr int64_t most_steps = int64_t{1} << 18;

  Expansion(const GroupedGrammar& grammar, const Derivations& derivations, double cut)
      : grammar_(grammar), derivations_(derivations), cut_(cut) {}

  void clear() {
    productions.clear();
    children.clear();
  }

  // Adds the productions of an item whose best derivation is above the cut. What is left of an
  // unfinished production is a list of slots and items still to look at; lists share their tails.
  void expand(int32_t head) {
    links_.clear();
    open_.clear();
    const ChartItem& item = derivations_.items[static_cast<size_t>(head)];
    push_steps(item, {-1, -1, 1.0, item.merit});
    for (int64_t n = 0; !open_.empty() && n < most_steps; ++n) {
      Open state = open_.back();
      open_.pop_back();
      if (advance(state)) finish(head, state);
    }
  }

  std::vector<Production> productions;
  std::vector<int32_t> children;

 private:
  enum class Kind : int32_t { slot, item, word };
  struct Link {
    Kind kind;
    int32_t number, next;
  };
  struct Open {
    int32_t done, pending;  // links; the last child found comes first in `done`
    double q, merit;
  };

  // Looks at pending parts until none is left (true) or there is a choice, which is put on the
  // stack (false).
  bool advance(Open& state) {
    while (state.pending >= 0) {
      const Link part = links_[static_cast<size_t>(state.pending)];
      state.pending = part.next;
      if (part.kind == Kind::word) {
        state.done = link(Kind::word, part.number, state.done);
      } else if (part.kind == Kind::slot) {
        push_layers(derivations_.slots[static_cast<size_t>(part.number)], state);
        return false;
      } else {
        const ChartItem& item = derivations_.items[static_cast<size_t>(part.number)];
        const ChartSlot& slot = derivations_.slots[static_cast<size_t>(item.slot)];
        if (grammar_.label(slot.symbol) < 0) {
          push_steps(item, state);
          return false;
        }
        state.done = link(Kind::item, part.number, state.done);
      }
    }
    return true;
  }

  int32_t link(Kind kind, int32_t number, int32_t next) {
    links_.push_back({kind, number, next});
    return static_cast<int32_t>(links_.size()) - 1;
  }
  bool is_kept(double merit) const { return merit > 0 && merit >= cut_; }

  void push_layers(const ChartSlot& slot, const Open& state) {
    if (slot.first_item < 0) return;
    for (int32_t number = slot.first_item; number < slot.last_item; ++number) {
      const ChartItem& item = derivations_.items[static_cast<size_t>(number)];
      if (item.slot < 0 || !is_kept(state.merit * item.mq)) continue;
      open_.push_back({state.done, link(Kind::item, number, state.pending), state.q * item.q,
                       state.merit * item.mq});
    }
  }

  // Steps are sorted from best to worst; the last one pushed is looked at first.
  void push_steps(const ChartItem& item, const Open& state) {
    for (size_t at = item.last; at-- > item.first;) {
      const ChartStep& step = derivations_.steps[at];
      if (!is_kept(state.merit * step.mq)) continue;
      int32_t pending = state.pending;
      if (step.kind == ChartStep::Kind::binary) {
        pending = link(Kind::slot, step.right, pending);
        pending = link(Kind::slot, step.left, pending);
      } else if (step.kind == ChartStep::Kind::word) {
        pending = link(Kind::word, step.left, pending);
      } else if (derivations_.items[static_cast<size_t>(step.left)].slot >= 0) {
        pending = link(Kind::item, step.left, pending);
      } else {
        continue;
      }
      open_.push_back({state.done, pending, state.q * step.q, state.merit * step.mq});
    }
  }

  void finish(int32_t head, const Open& state) {
    const size_t first = children.size();
    for (int32_t at = state.done; at >= 0; at = links_[static_cast<size_t>(at)].next) {
      const Link& child = links_[static_cast<size_t>(at)];
      children.push_back(child.kind == Kind::word ? -1 - child.number : child.number);
    }
    std::reverse(children.begin() + static_cast<std::ptrdiff_t>(first), children.end());
    productions.push_back({head, first, children.size(), state.q});
  }

  const GroupedGrammar& grammar_;
  const Derivations& derivations_;
  double cut_;
  std::vector<Link> links_;
  std::vector<Open> open_;
};

}  // namespace kernelwood
