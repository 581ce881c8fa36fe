// The packed forest of a parsed sentence: nodes by label and span, hyper-edges by children, each
// with its expected count.
//
// Items that show the same label over the same span become one node, and counts of equal
// hyper-edges are added. Where productions with one child form a cycle of labels over a span, the
// nodes of that span are told apart by layer, which has no cycles. Then the root, which may be of
// any layer, is a node of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/chart_expansion.hpp"
#include "kernelwood/interning.hpp"

namespace kernelwood {

class ForestBuilder {
 public:
  ForestBuilder(const GroupedGrammar& grammar, const Derivations& derivations, int32_t n_words,
                int32_t root_label, double cut)
      : grammar_(grammar), derivations_(derivations), expansion_(grammar, derivations, cut),
        n_words_(n_words), root_label_(root_label), node_of_(derivations.items.size(), -1) {
    for (int32_t word = 0; word < n_words; ++word) add_node(-1, word, word + 1);
  }

  // Short spans first: children before heads, the root last.
  void run(const StopFlag& stop) {
    for (size_t at = derivations_.spans.size(); at-- > 0;) {
      if (stop.raised()) throw Stopped();
      add_span(derivations_.spans[at]);
    }
  }

  std::vector<int32_t> labels, starts, ends;  // of nodes
  SpanInterner edges;                         // head and children
  std::vector<double> counts;
  int32_t root = -1;

 private:
  int32_t add_node(int32_t label, int32_t start, int32_t end) {
    labels.push_back(label);
    starts.push_back(start);
    ends.push_back(end);
    return static_cast<int32_t>(labels.size()) - 1;
  }
  const ChartItem& item_at(int32_t item) const {
    return derivations_.items[static_cast<size_t>(item)];
  }
  const ChartSlot& slot_of(int32_t item) const {
    return derivations_.slots[static_cast<size_t>(item_at(item).slot)];
  }
  int32_t label_of(int32_t item) const { return grammar_.label(slot_of(item).symbol); }
  int32_t& node_of(int32_t item) { return node_of_[static_cast<size_t>(item)]; }

  void add_span(const Derivations::Span& span) {
    const bool is_whole = span.end - span.start == n_words_;
    find_productions(span);
    if (heads_.empty()) return;
    const bool is_layered = !sort_labels();
    if (is_layered)
      number_by_layer(span);
    else
      number_by_label(span);
    if (is_whole) root = is_layered ? add_node(root_label_, 0, n_words_) : node_of_root();
    for (const Production& production : expansion_.productions) {
      const ChartItem& item = item_at(production.head);
      const bool is_split = is_whole && is_layered;
      add_edge(node_of(production.head), production, is_split ? item.inner : item.posterior);
      if (is_split) add_edge(root, production, slot_of(production.head).posterior * item.q);
    }
  }

  // The productions of all items of a span, from layer 0 upward.
  void find_productions(const Derivations::Span& span) {
    expansion_.clear();
    heads_.clear();
    for (int32_t layer = 0; layer < span.n_layers; ++layer)
      for (size_t at = span.first; at < span.last; ++at) {
        const auto s = static_cast<size_t>(derivations_.slot_order[at]);
        const ChartSlot& slot = derivations_.slots[s];
        if (slot.first_item < 0 || grammar_.label(slot.symbol) < 0) continue;
        const int32_t item = slot.first_item + layer;
        if (item_at(item).slot < 0 || !expand(item)) continue;
        heads_.push_back({item, layer});
        node_of(item) = exists;
      }
  }

  // Rounding at the cut may leave an item without productions: no node, and none with that child.
  bool expand(int32_t item) {
    std::vector<Production>& all = expansion_.productions;
    const size_t before = all.size();
    expansion_.expand(item);
    const auto is_broken = [&](const Production& production) {
      for (size_t at = production.first; at < production.last; ++at) {
        const int32_t child = expansion_.children[at];
        if (child >= 0 && node_of(child) < 0) return true;
      }
      return false;
    };
    all.erase(
        std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(), is_broken),
        all.end());
    return all.size() > before;
  }

  // Puts the labels of the span into an order, children first; false where they form a cycle.
  bool sort_labels() {
    order_.clear();
    for (const Head& head : heads_) order_.push_back(label_of(head.item));
    std::sort(order_.begin(), order_.end());
    order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
    const auto index = [&](int32_t item) {
      return static_cast<size_t>(std::lower_bound(order_.begin(), order_.end(), label_of(item)) -
                                 order_.begin());
    };
    std::vector<std::pair<size_t, size_t>> links;  // child, head
    for (const Production& production : expansion_.productions) {
      const int32_t child = expansion_.children[production.first];
      if (production.last - production.first == 1 && child >= 0)
        links.push_back({index(child), index(production.head)});
    }
    if (links.empty()) return true;
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return sort_by(links);
  }

  bool sort_by(const std::vector<std::pair<size_t, size_t>>& links) {
    const size_t n = order_.size();
    std::vector<int32_t> waiting(n, 0);
    for (const auto& link : links) ++waiting[link.second];
    std::vector<size_t> ready;
    for (size_t label = 0; label < n; ++label)
      if (waiting[label] == 0) ready.push_back(label);
    for (size_t at = 0; at < ready.size(); ++at) {
      auto link =
          std::lower_bound(links.begin(), links.end(), std::make_pair(ready[at], size_t{0}));
      for (; link != links.end() && link->first == ready[at]; ++link)
        if (--waiting[link->second] == 0) ready.push_back(link->second);
    }
    if (ready.size() < n) return false;
    std::vector<int32_t> sorted;
    for (const size_t label : ready) sorted.push_back(order_[label]);
    order_ = std::move(sorted);
    return true;
  }

  void number_by_label(const Derivations::Span& span) {
    names_.clear();
    for (const int32_t label : order_)
      names_.push_back({label, add_node(label, span.start, span.end)});
    std::sort(names_.begin(), names_.end());
    for (const Head& head : heads_) node_of(head.item) = named(label_of(head.item));
  }

  void number_by_layer(const Derivations::Span& span) {
    for (size_t first = 0, last = 0; first < heads_.size(); first = last) {
      names_.clear();
      for (; last < heads_.size() && heads_[last].layer == heads_[first].layer; ++last)
        names_.push_back({label_of(heads_[last].item), -1});
      std::sort(names_.begin(), names_.end());
      names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
      for (auto& name : names_) name.second = add_node(name.first, span.start, span.end);
      for (size_t at = first; at < last; ++at)
        node_of(heads_[at].item) = named(label_of(heads_[at].item));
    }
  }

  int32_t named(int32_t label) const {
    return std::lower_bound(names_.begin(), names_.end(), std::make_pair(label, INT32_MIN))->second;
  }
  int32_t node_of_root() const {
    const auto at =
        std::lower_bound(names_.begin(), names_.end(), std::make_pair(root_label_, INT32_MIN));
    return at != names_.end() && at->first == root_label_ ? at->second : -1;
  }

  void add_edge(int32_t head, const Production& production, double count) {
    count *= production.q;
    if (!(count >= smallest_count)) return;
    nodes_.clear();
    for (size_t at = production.first; at < production.last; ++at) {
      const int32_t child = expansion_.children[at];
      nodes_.push_back(child < 0 ? -1 - child : node_of(child));
    }
    const auto edge =
        static_cast<size_t>(edges.intern(head, nodes_.data(), static_cast<int64_t>(nodes_.size())));
    if (edge == counts.size()) counts.push_back(0);
    counts[edge] += count;
  }

  static constexpr int32_t exists = 0;  // until its node is numbered
  static constexpr double smallest_count = 1e-300;  // below, quotients of counts would be wrong
  struct Head {
    int32_t item, layer;
  };
  const GroupedGrammar& grammar_;
  const Derivations& derivations_;
  Expansion expansion_;
  int32_t n_words_, root_label_;
  std::vector<int32_t> node_of_;  // by item; -1: none
  std::vector<Head> heads_;
  std::vector<int32_t> order_;
  std::vector<std::pair<int32_t, int32_t>> names_;  // label, node
  std::vector<int32_t> nodes_;
};

}  // namespace kernelwood
