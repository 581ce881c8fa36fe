// What of the fine chart is worth keeping: items and the ways to derive them, from the root down.
//
// The *merit* of an item or derivation step is the probability of the best derivation of the
// sentence through it, relative to the best of all. Each step stores, given the item it derives,
// its probability among all steps (q), and its best derivation relative to the item's best (mq).
// So merits and posteriors are products along the way down, and steps below the cut are never
// visited further. A *slot* is a symbol over a span, as binary rules see it: all layers together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/chart_cells.hpp"

namespace kernelwood {

struct ChartSlot {
  size_t at;  // in the values of the chart
  int32_t symbol, start, end;
  double merit = 0, posterior = 0;  // handed down by binary rules, or as a root
  int32_t first_item = -1, last_item = -1;  // one item for each layer
};

struct ChartItem {
  int32_t slot = -1;  // -1: not kept
  double posterior = 0, merit = 0;
  double inner = 0;  // the part of the posterior that unary parents hand down
  double q = 0, mq = 0;  // of this layer given the slot
  size_t first = 0, last = 0;  // steps
};

// How an item came about: two slots, one item (by a unary rule) or a word.
struct ChartStep {
  enum class Kind : int32_t { binary, unary, word };
  Kind kind;
  int32_t left, right;
  double q, mq;
};

class Derivations {
 public:
  struct Span {
    int32_t start, end, n_layers;
    size_t first, last;  // in slot_order
  };

  Derivations(const GroupedGrammar& grammar, const ChartCells& cells, int32_t n_words, double cut,
              StopFlag stop)
      : grammar_(grammar), cells_(cells), n_words_(n_words), cut_(cut), stop_(stop),
        blocks_(grammar.n_groups), right_(grammar.n_groups),
        layers_(grammar.unary, grammar.n_symbols, grammar.max_unary), splits_(cells),
        slot_of_(cells.n_values(), -1), slots_at_(n_cells(n_words)),
        is_parent_(static_cast<size_t>(grammar.n_groups), 0),
        parents_(static_cast<size_t>(grammar.n_symbols)) {}

  // `roots` and their share of the sentence; merits relative to the best.
  void run(const std::vector<Weighed>& roots) {
    plant(roots);
    for (int32_t length = n_words_; length >= 1; --length)
      for (int32_t start = n_words_ - length; start >= 0; --start) {
        if (stop_.raised()) throw Stopped();
        visit(start, start + length);
      }
  }

  std::vector<ChartSlot> slots;
  std::vector<ChartItem> items;
  std::vector<ChartStep> steps;
  std::vector<Span> spans;  // from long to short, from right to left
  std::vector<int32_t> slot_order;

 private:
  // What unary parents hand down to an item.
  struct Share {
    double posterior = 0, merit = 0;
  };
  struct Parent {
    int32_t item = -1;
    Mass value{0, 0};
  };
  struct Found {
    int32_t item;
    ChartStep step;
  };

  bool is_kept(double merit) const { return merit > 0 && merit >= cut_; }

  void plant(const std::vector<Weighed>& roots) {
    blocks_.show(cells_.blocks(cell_of(0, n_words_)));
    Mass all{0, 0};
    for (const Weighed& root : roots)
      if (blocks_.has(grammar_.group(root.symbol)))
        accumulate(all, root.p, cells_.total(place(root.symbol)));
    for (const Weighed& root : roots) {
      if (!blocks_.has(grammar_.group(root.symbol))) continue;
      const Mass value = cells_.total(place(root.symbol));
      if (is_zero(value)) continue;
      ChartSlot& slot = slots[static_cast<size_t>(slot_at(root.symbol, 0, n_words_))];
      slot.posterior += root.p * value.sum / all.sum;
      slot.merit = std::max(slot.merit, root.p * value.best / all.best);
    }
  }

  size_t place(int32_t symbol) const {
    const int32_t group = grammar_.group(symbol);
    return blocks_[group] + static_cast<size_t>(symbol - grammar_.first_of(group));
  }
  int32_t slot_at(int32_t symbol, int32_t start, int32_t end) {
    return slot_at(place(symbol), symbol, start, end);
  }
  int32_t slot_at(size_t at, int32_t symbol, int32_t start, int32_t end) {
    int32_t& slot = slot_of_[at];
    if (slot < 0) {
      slot = static_cast<int32_t>(slots.size());
      slots.push_back({at, symbol, start, end});
      slots_at_[cell_of(start, end)].push_back(slot);
    }
    return slot;
  }

  void visit(int32_t start, int32_t end) {
    const size_t cell = cell_of(start, end);
    if (slots_at_[cell].empty()) return;
    load(cell);
    const int32_t n_layers = layers_.n_layers();
    while (static_cast<int32_t>(shares_.size()) < n_layers)
      shares_.emplace_back(static_cast<size_t>(grammar_.n_symbols));
    for (int32_t l = n_layers - 1; l >= 0; --l)
      for (const int32_t symbol : layers_.layer(l).symbols()) keep_item(symbol, l, start, end);
    if (end - start > 1) find_splits(start, end);
    for (const int32_t symbol : parent_symbols_) {
      parents_[static_cast<size_t>(symbol)] = Parent();
      is_parent_[static_cast<size_t>(grammar_.group(symbol))] = 0;
    }
    parent_symbols_.clear();
    list_span(start, end);
  }

  // Makes the layers of a finished cell again. Scaled values may reach what was too small before
  // and is not in the chart; that is left out.
  void load(size_t cell) {
    layers_.clear();
    blocks_.show(cells_.blocks(cell));
    for (const ChartCells::Base& base : cells_.bases(cell))
      if (!is_zero(base.value)) layers_.start(base.symbol, base.value);
    layers_.close([&](int32_t symbol) {
      return blocks_.has(grammar_.group(symbol)) && !is_zero(cells_.total(place(symbol)));
    });
  }

  // Keeps one item if it is good enough, with its steps unless they are binary.
  void keep_item(int32_t symbol, int32_t layer, int32_t start, int32_t end) {
    Share& share = shares_[static_cast<size_t>(layer)][static_cast<size_t>(symbol)];
    const Share inner = share;
    share = Share();
    const Mass value = layers_.layer(layer)[symbol], total = layers_.total()[symbol];
    const int32_t known = slot_of_[place(symbol)];
    ChartItem item;
    item.q = value.sum / total.sum;
    item.mq = total.best > 0 ? value.best / total.best : 0.0;
    item.posterior = item.inner = inner.posterior;
    item.merit = inner.merit;
    if (known >= 0) {
      const ChartSlot& slot = slots[static_cast<size_t>(known)];
      item.posterior += slot.posterior * item.q;
      item.merit = std::max(item.merit, slot.merit * item.mq);
    }
    if (!is_kept(item.merit)) return;
    item.slot = slot_at(symbol, start, end);
    const int32_t number = item_at(item.slot, layer);
    item.first = steps.size();
    if (layer > 0)
      step_down(symbol, layer, item, start, end);
    else if (end - start == 1)
      steps.push_back({ChartStep::Kind::word, start, -1, 1.0, 1.0});
    else
      note_parent(symbol, number, value);
    item.last = steps.size();
    items[static_cast<size_t>(number)] = item;
  }

  int32_t item_at(int32_t slot, int32_t layer) {
    ChartSlot& of = slots[static_cast<size_t>(slot)];
    if (of.first_item < 0) {
      of.first_item = static_cast<int32_t>(items.size());
      items.resize(items.size() + static_cast<size_t>(layers_.n_layers()));
      of.last_item = static_cast<int32_t>(items.size());
    }
    return of.first_item + layer;
  }

  void step_down(int32_t symbol, int32_t layer, const ChartItem& item, int32_t start, int32_t end) {
    const Mass value = layers_.layer(layer)[symbol];
    for (const UnaryRules::Step& rule : grammar_.unary.below(symbol)) {
      const Mass below = layers_.layer(layer - 1)[rule.symbol];
      if (is_zero(below)) continue;
      const double q = rule.p * below.sum / value.sum, mq = rule.p * below.best / value.best;
      if (!is_kept(item.merit * mq)) continue;
      Share& share = shares_[static_cast<size_t>(layer) - 1][static_cast<size_t>(rule.symbol)];
      share.posterior += item.posterior * q;
      share.merit = std::max(share.merit, item.merit * mq);
      const int32_t child = item_at(slot_at(rule.symbol, start, end), layer - 1);
      steps.push_back({ChartStep::Kind::unary, child, -1, q, mq});
    }
  }

  void note_parent(int32_t symbol, int32_t item, Mass value) {
    parents_[static_cast<size_t>(symbol)] = {item, value};
    parent_symbols_.push_back(symbol);
    is_parent_[static_cast<size_t>(grammar_.group(symbol))] = 1;
  }

  // All binary steps of the items of a span, sorted by item.
  void find_splits(int32_t start, int32_t end) {
    found_.clear();
    splits_.find_within(start, end);
    for (const Split& split : splits_.splits()) {
      right_.show(cells_.blocks(cell_of(split.at, end)));
      for (const ChartCells::Block& left : cells_.blocks(cell_of(start, split.at)))
        grammar_.pairs.each(left.group, right_.groups(), [&](int32_t right, int32_t pair) {
          for (const GroupedGrammar::Bundle& bundle : grammar_.bundles_of(pair))
            if (is_parent_[static_cast<size_t>(bundle.parent)])
              try_rules(bundle, left, {right, right_[right]}, split, start, end);
        });
    }
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return a.item != b.item ? a.item < b.item : a.step.mq > b.step.mq;
    });
    for (const Found& found : found_) {
      ChartItem& item = items[static_cast<size_t>(found.item)];
      if (item.first == item.last) item.first = steps.size();
      steps.push_back(found.step);
      item.last = steps.size();
    }
  }

  void try_rules(const GroupedGrammar::Bundle& bundle, const ChartCells::Block& left,
                 const ChartCells::Block& right, const Split& split, int32_t start, int32_t end) {
    for (const GroupedGrammar::Rule& rule : grammar_.rules_of(bundle)) {
      const Parent& parent =
          parents_[static_cast<size_t>(grammar_.first_of(bundle.parent) + rule.parent)];
      if (parent.item < 0) continue;
      const size_t l = left.at + static_cast<size_t>(rule.left);
      const size_t h = right.at + static_cast<size_t>(rule.right);
      const Mass from = cells_.total(l), with = cells_.total(h);
      if (is_zero(from) || is_zero(with)) continue;
      const double mq = rule.p * from.best * with.best * split.best_scale / parent.value.best;
      const ChartItem& item = items[static_cast<size_t>(parent.item)];
      if (!is_kept(item.merit * mq)) continue;
      const double q = rule.p * from.sum * with.sum * split.sum_scale / parent.value.sum;
      const int32_t first = grammar_.first_of(left.group) + rule.left;
      const int32_t second = grammar_.first_of(right.group) + rule.right;
      const ChartStep step{ChartStep::Kind::binary, slot_at(l, first, start, split.at),
                           slot_at(h, second, split.at, end), q, mq};
      for (const int32_t child : {step.left, step.right}) {
        ChartSlot& slot = slots[static_cast<size_t>(child)];
        slot.posterior += item.posterior * q;
        slot.merit = std::max(slot.merit, item.merit * mq);
      }
      found_.push_back({parent.item, step});
    }
  }

  void list_span(int32_t start, int32_t end) {
    std::vector<int32_t>& here = slots_at_[cell_of(start, end)];
    std::sort(here.begin(), here.end(), [&](int32_t a, int32_t b) {
      return slots[static_cast<size_t>(a)].symbol < slots[static_cast<size_t>(b)].symbol;
    });
    const size_t first = slot_order.size();
    slot_order.insert(slot_order.end(), here.begin(), here.end());
    spans.push_back({start, end, layers_.n_layers(), first, slot_order.size()});
  }

  const GroupedGrammar& grammar_;
  const ChartCells& cells_;
  int32_t n_words_;
  double cut_;
  StopFlag stop_;
  BlockTable blocks_, right_;
  UnaryLayers<Mass> layers_;
  SplitList splits_;
  Buffer<int32_t> slot_of_;  // by place in the values of the chart
  std::vector<std::vector<int32_t>> slots_at_;
  std::vector<std::vector<Share>> shares_;  // by layer and symbol
  std::vector<uint8_t> is_parent_;          // groups of the parents of binary rules
  std::vector<Parent> parents_;             // by symbol
  std::vector<int32_t> parent_symbols_;
  std::vector<Found> found_;
};

}  // namespace kernelwood
