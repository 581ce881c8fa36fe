// Fills the fine chart bottom up, within what the mask allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/chart_cells.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

class InsidePass {
 public:
  InsidePass(const GroupedGrammar& grammar, const Sentence& sentence, const SpanMask& mask,
             StopFlag stop, ChartCells& cells)
      : grammar_(grammar), sentence_(sentence), mask_(mask), stop_(stop), cells_(cells),
        allowed_(mask), right_(grammar.n_groups, sentence.n_words),
        layers_(grammar.unary, grammar.n_symbols, grammar.max_unary), splits_(cells),
        sums_(static_cast<size_t>(grammar.n_symbols)),
        is_touched_(static_cast<size_t>(grammar.n_groups), 0) {}

  // Spans with the same end follow each other: their right parts are the ones made just before.
  // Returns false, with an unfinished chart, after more than `most_rules` applications of rules.
  bool run(int64_t most_rules) {
    for (int32_t end = 1; end <= sentence_.n_words; ++end)
      for (int32_t start = end - 1; start >= 0; --start) {
        if (stop_.raised()) throw Stopped();
        fill(start, end);
        right_.show(cells_.blocks(cell_of(start, end)), start);
        if (n_rules_ > most_rules) return false;
      }
    return true;
  }

 private:
  void fill(int32_t start, int32_t end) {
    const size_t cell = cell_of(start, end);
    if (mask_.is_empty(cell)) return;
    const bool is_word = end - start == 1;
    if (!is_word && !splits_.find(start, end)) return;
    layers_.clear();
    allowed_.show(cell);
    if (is_word)
      add_tags(start);
    else
      combine(start);
    layers_.close([&](int32_t symbol) { return allowed_[grammar_.group(symbol)]; });
    cells_.store(start, end, layers_, is_word ? 0 : splits_.sum_base(),
                 is_word ? 0 : splits_.best_base());
  }

  void add_tags(int32_t position) {
    for (const Weighed& tag : sentence_.tags[static_cast<size_t>(position)])
      if (allowed_[grammar_.group(tag.symbol)]) layers_.start(tag.symbol, {tag.p, tag.p});
  }

  void combine(int32_t start) {
    for (const Split& split : splits_.splits()) {
      const size_t* right = right_.at(split.at);
      for (const ChartCells::Block& left : cells_.blocks(cell_of(start, split.at)))
        grammar_.pairs.each(left.group, right_.groups(split.at), [&](int32_t group, int32_t pair) {
          for (const GroupedGrammar::Bundle& bundle : grammar_.bundles_of(pair)) {
            if (!allowed_[bundle.parent]) continue;
            n_rules_ += static_cast<int64_t>(bundle.last - bundle.first);
            apply(bundle, cells_.totals(left.at), cells_.totals(right[group]), split);
          }
        });
    }
    std::sort(touched_.begin(), touched_.end());  // sums must not depend on what came first
    for (const int32_t group : touched_) {
      is_touched_[static_cast<size_t>(group)] = 0;
      for (int32_t s = grammar_.first_of(group); s < grammar_.first_of(group + 1); ++s) {
        Mass& sum = sums_[static_cast<size_t>(s)];
        if (!is_zero(sum)) layers_.start(s, sum);
        sum = Mass();
      }
    }
    touched_.clear();
  }

  void apply(const GroupedGrammar::Bundle& bundle, const Mass* left, const Mass* right,
             const Split& split) {
    Mass* parent = sums_.data() + grammar_.first_of(bundle.parent);
    uint8_t& is_touched = is_touched_[static_cast<size_t>(bundle.parent)];
    if (!is_touched) touched_.push_back(bundle.parent);
    is_touched = 1;
    // Sum and best are two lanes of one vector: this loop takes most of the time of a parse.
    using Lanes = VectorOf<double, 16>::type;
    const auto lanes = [](const Mass& value) { return *reinterpret_cast<const Lanes*>(&value); };
    const Lanes scale = {split.sum_scale, split.best_scale};
    for (const GroupedGrammar::Rule& rule : grammar_.rules_of(bundle)) {
      const Lanes p = {rule.p, rule.p};
      const Lanes value = p * lanes(left[rule.left]) * lanes(right[rule.right]) * scale;
      Mass& to = parent[rule.parent];
      to.sum += value[0];
      to.best = std::max(to.best, value[1]);
    }
  }

  const GroupedGrammar& grammar_;
  const Sentence& sentence_;
  const SpanMask& mask_;
  StopFlag stop_;
  ChartCells& cells_;
  SpanMask::Table allowed_;
  BlockTable right_;  // the cells with one end, by start
  UnaryLayers<Mass> layers_;
  SplitList splits_;
  std::vector<Mass> sums_;  // by symbol
  std::vector<uint8_t> is_touched_;
  std::vector<int32_t> touched_;  // groups
  int64_t n_rules_ = 0;           // applied so far
};

}  // namespace kernelwood
