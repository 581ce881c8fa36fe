// The rules of a probabilistic context-free grammar, in the orders in which a chart asks for them.
//
// Every rule has two children or one. Symbols with output -1 are the intermediate symbols of longer
// productions that were cut into rules of two; they never show in a forest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernelwood/chart_pairs.hpp"

namespace kernelwood {

struct BinaryRule {
  int32_t parent, left, right;
  double p;
};

struct UnaryRule {
  int32_t parent, child;
  double p;
};

// A grammar as it was given, checked: it may come from a file.
class ChartRules {
 public:
  ChartRules(std::vector<BinaryRule> binary_rules, std::vector<UnaryRule> unary_rules,
             std::vector<int32_t> output_labels, int32_t longest_chain)
      : binary(std::move(binary_rules)), unary(std::move(unary_rules)),
        output(std::move(output_labels)), max_unary(longest_chain) {
    require(max_unary >= 0 && max_unary <= 1000, "max_unary is not in 0 .. 1000");
    for (const int32_t label : output) require(label >= -1, "an output label is below -1");
    for (const BinaryRule& rule : binary) {
      require(knows(rule.parent) && knows(rule.left) && knows(rule.right),
              "a binary rule has a symbol outside the grammar");
      require(is_probability(rule.p), "the probability of a binary rule is not in (0, 1]");
    }
    for (const UnaryRule& rule : unary) {
      require(knows(rule.parent) && knows(rule.child),
              "a unary rule has a symbol outside the grammar");
      require(is_probability(rule.p), "the probability of a unary rule is not in (0, 1]");
    }
  }

  int32_t n_symbols() const { return static_cast<int32_t>(output.size()); }
  bool knows(int32_t symbol) const { return symbol >= 0 && symbol < n_symbols(); }

  // A relative frequency may exceed 1 by rounding.
  static bool is_probability(double p) { return p > 0 && p <= 1 + 1e-9; }
  static void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
  }

  std::vector<BinaryRule> binary;
  std::vector<UnaryRule> unary;
  std::vector<int32_t> output;
  int32_t max_unary;
};

// Unary rules by child, for building upward, and by parent, for reading downward.
class UnaryRules {
 public:
  struct Step {
    int32_t symbol;  // at the other end
    double p;
  };
  using Steps = ListOf<Step>;

  UnaryRules(std::vector<UnaryRule> rules, int32_t n_symbols) {
    // A symbol over itself adds nothing that could be told apart.
    rules.erase(std::remove_if(rules.begin(), rules.end(),
                               [](const UnaryRule& rule) { return rule.parent == rule.child; }),
                rules.end());
    const auto by = [&](int32_t UnaryRule::* from, int32_t UnaryRule::* to, Side& side) {
      std::stable_sort(rules.begin(), rules.end(), [&](const UnaryRule& a, const UnaryRule& b) {
        return a.*from != b.*from ? a.*from < b.*from : a.*to < b.*to;
      });
      side.begin = offsets_of(rules, n_symbols, [&](const UnaryRule& rule) { return rule.*from; });
      for (const UnaryRule& rule : rules) side.steps.push_back({rule.*to, rule.p});
    };
    by(&UnaryRule::child, &UnaryRule::parent, above_);
    by(&UnaryRule::parent, &UnaryRule::child, below_);
  }

  Steps above(int32_t symbol) const { return above_.of(symbol); }
  Steps below(int32_t symbol) const { return below_.of(symbol); }

 private:
  struct Side {
    Steps of(int32_t symbol) const {
      const auto at = static_cast<size_t>(symbol);
      return {steps.data() + begin[at], steps.data() + begin[at + 1]};
    }
    std::vector<int32_t> begin;
    std::vector<Step> steps;
  };
  Side above_, below_;
};

// The grammar of the fine chart. Symbols are renumbered so that those of one group (one coarse
// symbol) are neighbors: a cell then holds a block of values for each of its groups, and all rules
// that combine two blocks into a third are one range.
class GroupedGrammar {
 public:
  struct Rule {
    int32_t left, right, parent;  // places within their blocks
    double p;
  };
  struct Bundle {
    int32_t parent;  // group
    int32_t first, last;  // rules
  };

  GroupedGrammar(const ChartRules& given, const std::vector<int32_t>& groups, int32_t group_count)
      : n_symbols(given.n_symbols()), n_groups(group_count), max_unary(given.max_unary),
        number(groups.size()), unary(number_symbols(given, groups), n_symbols),
        pairs(bundle_rules(given.binary), n_groups) {}

  // The bundles of a pair of groups.
  ListOf<Bundle> bundles_of(int32_t pair) const {
    const auto at = static_cast<size_t>(pair);
    return {bundles.data() + bundle_begin[at], bundles.data() + bundle_begin[at + 1]};
  }
  ListOf<Rule> rules_of(const Bundle& bundle) const {
    return {rules.data() + bundle.first, rules.data() + bundle.last};
  }
  int32_t of(int32_t symbol) const { return number[static_cast<size_t>(symbol)]; }
  int32_t group(int32_t symbol) const { return group_of[static_cast<size_t>(symbol)]; }
  int32_t label(int32_t symbol) const { return output[static_cast<size_t>(symbol)]; }
  int32_t first_of(int32_t group) const { return group_begin[static_cast<size_t>(group)]; }
  int32_t size_of(int32_t group) const { return first_of(group + 1) - first_of(group); }

  int32_t n_symbols, n_groups, max_unary;
  std::vector<int32_t> number;  // of the symbols as given
  std::vector<int32_t> group_of, group_begin, output;
  UnaryRules unary;
  std::vector<Rule> rules;
  std::vector<Bundle> bundles;
  std::vector<int32_t> bundle_begin;  // by pair of groups
  PairIndex pairs;  // of groups

 private:
  // Fills the numbering and returns the unary rules in it.
  std::vector<UnaryRule> number_symbols(const ChartRules& given,
                                        const std::vector<int32_t>& groups) {
    std::vector<int32_t> order(groups.size());
    for (size_t s = 0; s < order.size(); ++s) order[s] = static_cast<int32_t>(s);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return groups[static_cast<size_t>(a)] < groups[static_cast<size_t>(b)];
    });
    for (size_t s = 0; s < order.size(); ++s) {
      const auto old = static_cast<size_t>(order[s]);
      number[old] = static_cast<int32_t>(s);
      group_of.push_back(groups[old]);
      output.push_back(given.output[old]);
    }
    group_begin = offsets_of(group_of, n_groups, [](int32_t group) { return group; });
    std::vector<UnaryRule> result = given.unary;
    for (UnaryRule& rule : result) rule = {of(rule.parent), of(rule.child), rule.p};
    return result;
  }

  // Fills rules and bundles and returns the pairs of left and right groups. The symbols of a group
  // are neighbors, so sorting by symbol within a bundle needs no more keys.
  std::vector<PairIndex::Pair> bundle_rules(std::vector<BinaryRule> binary) {
    for (BinaryRule& rule : binary) rule = {of(rule.parent), of(rule.left), of(rule.right), rule.p};
    const auto key = [&](const BinaryRule& r) {
      return std::array<int32_t, 6>{group(r.left), group(r.right), group(r.parent),
                                    r.left,        r.right,        r.parent};
    };
    std::stable_sort(binary.begin(), binary.end(),
                     [&](const BinaryRule& a, const BinaryRule& b) { return key(a) < key(b); });
    std::vector<PairIndex::Pair> found;
    for (const BinaryRule& rule : binary) {
      const int32_t left = group(rule.left), right = group(rule.right), parent = group(rule.parent);
      const bool is_new = found.empty() || found.back().left != left || found.back().right != right;
      if (is_new) {
        found.push_back({left, right});
        bundle_begin.push_back(static_cast<int32_t>(bundles.size()));
      }
      if (is_new || bundles.back().parent != parent) {
        const auto at = static_cast<int32_t>(rules.size());
        bundles.push_back({parent, at, at});
      }
      rules.push_back({rule.left - first_of(left), rule.right - first_of(right),
                       rule.parent - first_of(parent), rule.p});
      ++bundles.back().last;
    }
    bundle_begin.push_back(static_cast<int32_t>(bundles.size()));
    return found;
  }
};

// The grammar of the coarse chart: rules by their pair of children, so that a product of two items
// is handed to all its parents at once.
class PairedGrammar {
 public:
  struct Parent {
    int32_t symbol;
    double p;
  };

  explicit PairedGrammar(const ChartRules& rules)
      : n_symbols(rules.n_symbols()), max_unary(rules.max_unary), unary(rules.unary, n_symbols),
        pairs(pair_rules(rules.binary), n_symbols) {}

  ListOf<Parent> parents_of(int32_t pair) const {
    const auto at = static_cast<size_t>(pair);
    return {parents_.data() + parent_begin_[at], parents_.data() + parent_begin_[at + 1]};
  }

  size_t n_pairs() const { return parent_begin_.size() - 1; }

  int32_t n_symbols, max_unary;
  UnaryRules unary;

 private:
  std::vector<PairIndex::Pair> pair_rules(std::vector<BinaryRule> binary) {
    std::stable_sort(binary.begin(), binary.end(), [](const BinaryRule& a, const BinaryRule& b) {
      if (a.left != b.left) return a.left < b.left;
      return a.right != b.right ? a.right < b.right : a.parent < b.parent;
    });
    std::vector<PairIndex::Pair> found;
    for (const BinaryRule& rule : binary) {
      if (found.empty() || found.back().left != rule.left || found.back().right != rule.right) {
        found.push_back({rule.left, rule.right});
        parent_begin_.push_back(static_cast<int32_t>(parents_.size()));
      }
      parents_.push_back({rule.parent, rule.p});
    }
    parent_begin_.push_back(static_cast<int32_t>(parents_.size()));
    return found;
  }

  std::vector<int32_t> parent_begin_;  // by pair
  std::vector<Parent> parents_;

 public:
  PairIndex pairs;
};

}  // namespace kernelwood
