// Parses sentences into packed forests, from coarse to fine.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernelwood/chart_coarse.hpp"
#include "kernelwood/chart_inside.hpp"
#include "kernelwood/chart_pruning.hpp"

namespace kernelwood {

class ChartGrammar {
 public:
  // A derivation this many nats (and the threshold) below the best one is not looked at. It is
  // room for what packing can add to an edge: one edge may stand for several derivations.
  static constexpr double margin = 4.0;
  // The most rule applications that a parse without any pruning may take as a last resort.
  static constexpr double most_work = 4e9;

  explicit ChartGrammar(ChartRules rules) : rules_(std::move(rules)), grammar_(ungrouped(rules_)) {}
  ChartGrammar(ChartRules rules, const ChartGrammar& coarse, std::vector<int32_t> coarse_of)
      : rules_(std::move(rules)), coarse_of_(checked(std::move(coarse_of), rules_, coarse.rules_)),
        grammar_(rules_, coarse_of_, coarse.rules_.n_symbols()), coarse_(coarse.rules_) {}

  // What coarse items are judged by before they are built into longer ones.
  void set_boundaries(const BoundaryCounts& counts) {
    ChartRules::require(has_coarse(), "the counts of boundaries need a coarse grammar");
    boundaries_.emplace(counts, coarse_->n_symbols);
  }

  bool has_coarse() const { return coarse_.has_value(); }
  int32_t n_symbols() const { return rules_.n_symbols(); }
  const ChartRules& rules() const { return rules_; }

  // Symbols of the sentence are as given to the constructor. If nothing is found within the
  // thresholds, tries twice the coarse threshold, then that without merits of boundaries, then no
  // pruning at all, unless that would take too long. A pruned chart in which more than `most_rules`
  // rules apply, as in that of one word again and again, is given up: nothing is found.
  ChartForest parse(const Sentence& sentence, double boundary_threshold, double coarse_threshold,
                    double threshold, int64_t most_rules, StopFlag stop) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const Sentence fine = renamed(sentence, grammar_.number);
    if (!coarse_ || coarse_threshold == infinite)
      return parse_within(fine, SpanMask(grammar_.n_groups), threshold, no_limit, stop).forest;
    const Sentence rough = renamed(sentence, coarse_of_);
    const auto try_chart = [&](const BoundaryMerits* merits,
                               std::initializer_list<double> factors) {
      CoarseChart chart(*coarse_, rough, merits, stop);
      if (!chart.inside()) return Attempt();
      for (const double factor : factors) {
        const SpanMask mask = chart.mask(coarse_threshold * factor);
        Attempt attempt = parse_within(fine, mask, threshold, most_rules, stop);
        if (attempt.is_final()) return attempt;
      }
      return Attempt();
    };
    Attempt attempt;
    bool is_judged = false;
    if (boundaries_ && boundary_threshold != infinite) {
      const BoundaryMerits merits(*boundaries_, rough, boundary_threshold);
      is_judged = merits.is_usable();
      if (is_judged) attempt = try_chart(&merits, {1.0, 2.0});
    }
    if (!attempt.is_final())
      attempt = is_judged ? try_chart(nullptr, {2.0}) : try_chart(nullptr, {1.0, 2.0});
    if (attempt.is_final()) return std::move(attempt.forest);
    const double n = sentence.n_words;
    if (n * n * n / 6 * static_cast<double>(rules_.binary.size()) > most_work) return {};
    return parse_within(fine, SpanMask(grammar_.n_groups), threshold, no_limit, stop).forest;
  }

 private:
  static constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();
  struct Attempt {
    ChartForest forest;
    bool given_up = false;
    bool is_final() const { return forest.found || given_up; }
  };

  static GroupedGrammar ungrouped(const ChartRules& rules) {
    std::vector<int32_t> groups(rules.output.size());
    for (size_t s = 0; s < groups.size(); ++s) groups[s] = static_cast<int32_t>(s);
    return GroupedGrammar(rules, groups, rules.n_symbols());
  }
  static std::vector<int32_t> checked(std::vector<int32_t> coarse_of, const ChartRules& rules,
                                      const ChartRules& coarse) {
    ChartRules::require(coarse_of.size() == rules.output.size(),
                        "coarse_of must name a coarse symbol for every symbol");
    for (const int32_t symbol : coarse_of)
      ChartRules::require(coarse.knows(symbol),
                          "coarse_of has a symbol outside the coarse grammar");
    return coarse_of;
  }

  Attempt parse_within(const Sentence& sentence, const SpanMask& mask, double threshold,
                       int64_t most_rules, StopFlag stop) const {
    const int32_t n = sentence.n_words;
    ChartCells cells(grammar_, mask, n);
    if (!InsidePass(grammar_, sentence, mask, stop, cells).run(most_rules)) return {{}, true};
    const RootChoice choice = choose_root(sentence, cells);
    if (choice.roots.empty()) return {};
    const double cut = std::exp(-threshold - margin);
    Derivations derivations(grammar_, cells, n, cut, stop);
    derivations.run(choice.roots);
    ForestBuilder builder(grammar_, derivations, n, choice.label, cut);
    builder.run(stop);
    ForestPruning pruning(builder, n);
    if (!pruning.has_tree()) return {};
    ChartForest forest = pruning.run(threshold);
    forest.log_likelihood = choice.log_likelihood;
    return {std::move(forest), false};
  }

  struct RootChoice {
    double log_likelihood = 0;
    int32_t label = -1;
    std::vector<Weighed> roots;
  };

  // A forest has one root: the likeliest label is chosen. The likelihood is that of all roots.
  RootChoice choose_root(const Sentence& sentence, const ChartCells& cells) const {
    RootChoice choice;
    const size_t cell = cell_of(0, sentence.n_words);
    BlockTable blocks(grammar_.n_groups);
    blocks.show(cells.blocks(cell));
    std::map<int32_t, double> by_label;
    double all = 0;
    for (const Weighed& root : sentence.roots) {
      const int32_t group = grammar_.group(root.symbol);
      if (!blocks.has(group)) continue;
      const auto offset = static_cast<size_t>(root.symbol - grammar_.first_of(group));
      const double p = root.p * cells.total(blocks[group] + offset).sum;
      all += p;
      if (p > 0) by_label[grammar_.label(root.symbol)] += p;
    }
    double most = 0;
    for (const auto& [label, p] : by_label)
      if (p > most) {
        most = p;
        choice.label = label;
      }
    if (by_label.empty()) return choice;
    choice.log_likelihood = std::log(all) + cells.sum_exponent(cell) * std::log(2.0);
    for (const Weighed& root : sentence.roots)
      if (grammar_.label(root.symbol) == choice.label) choice.roots.push_back(root);
    return choice;
  }

  ChartRules rules_;
  std::vector<int32_t> coarse_of_;
  GroupedGrammar grammar_;
  std::optional<PairedGrammar> coarse_;
  std::optional<BoundaryModel> boundaries_;
};

}  // namespace kernelwood
