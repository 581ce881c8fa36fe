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

// Offsets of the groups of a list that is sorted by group.
template <class Items, class Key>
std::vector<int32_t> offsets_of(const Items& items, int32_t n_groups, Key key) {
  std::vector<int32_t> begin(static_cast<size_t>(n_groups) + 1, 0);
  for (const auto& item : items) ++begin[static_cast<size_t>(key(item)) + 1];
  for (size_t g = 1; g < begin.size(); ++g) begin[g] += begin[g - 1];
  return begin;
}

// A part of an array.
template <class T>
struct ListOf {
  const T *first, *last;
  const T* begin() const { return first; }
  const T* end() const { return last; }
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
    int32_t right, parent;  // groups; the left one is the index
    int32_t first, last;  // rules
  };

  GroupedGrammar(const ChartRules& given, const std::vector<int32_t>& groups, int32_t group_count)
      : n_symbols(given.n_symbols()), n_groups(group_count), max_unary(given.max_unary),
        number(groups.size()), unary(number_symbols(given, groups), n_symbols) {
    std::vector<BinaryRule> binary = given.binary;
    for (BinaryRule& rule : binary) rule = {of(rule.parent), of(rule.left), of(rule.right), rule.p};
    bundle_rules(binary);
  }

  ListOf<Bundle> bundles_of(int32_t left_group) const {
    const auto group = static_cast<size_t>(left_group);
    return {bundles.data() + bundle_begin[group], bundles.data() + bundle_begin[group + 1]};
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
  std::vector<int32_t> bundle_begin;  // by left group

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

  // The symbols of a group are neighbors, so sorting by symbol within a bundle needs no more keys.
  void bundle_rules(std::vector<BinaryRule>& binary) {
    const auto key = [&](const BinaryRule& r) {
      return std::array<int32_t, 6>{group(r.left), group(r.right), group(r.parent),
                                    r.left,        r.right,        r.parent};
    };
    std::stable_sort(binary.begin(), binary.end(),
                     [&](const BinaryRule& a, const BinaryRule& b) { return key(a) < key(b); });
    std::vector<int32_t> left_groups;
    for (const BinaryRule& rule : binary) {
      const int32_t left = group(rule.left), right = group(rule.right), parent = group(rule.parent);
      if (left_groups.empty() || left_groups.back() != left || bundles.back().right != right ||
          bundles.back().parent != parent) {
        const auto at = static_cast<int32_t>(rules.size());
        bundles.push_back({right, parent, at, at});
        left_groups.push_back(left);
      }
      rules.push_back({rule.left - first_of(left), rule.right - first_of(right),
                       rule.parent - first_of(parent), rule.p});
      ++bundles.back().last;
    }
    bundle_begin = offsets_of(left_groups, n_groups, [](int32_t group) { return group; });
  }
};

// The grammar of the coarse chart: rules by their pair of children, so that a pair is summed over
// all split points once and then handed to all parents.
class PairedGrammar {
 public:
  struct Pair {
    int32_t right;  // row of the right child
    int32_t first, last;  // parents
  };
  struct Parent {
    int32_t symbol;
    double p;
  };

  explicit PairedGrammar(const ChartRules& rules)
      : n_symbols(rules.n_symbols()), max_unary(rules.max_unary), unary(rules.unary, n_symbols),
        left_row(rules.output.size(), -1), right_row(rules.output.size(), -1) {
    std::vector<BinaryRule> binary = rules.binary;
    std::stable_sort(binary.begin(), binary.end(), [](const BinaryRule& a, const BinaryRule& b) {
      if (a.left != b.left) return a.left < b.left;
      return a.right != b.right ? a.right < b.right : a.parent < b.parent;
    });
    for (size_t r = 0; r < binary.size(); ++r) {
      const BinaryRule& rule = binary[r];
      const bool same_left = r > 0 && binary[r - 1].left == rule.left;
      if (!same_left) {
        left_row[static_cast<size_t>(rule.left)] = n_lefts++;
        pair_begin.push_back(static_cast<int32_t>(pairs.size()));
      }
      int32_t& row = right_row[static_cast<size_t>(rule.right)];
      if (row < 0) row = n_rights++;
      const auto at = static_cast<int32_t>(r);
      if (!same_left || binary[r - 1].right != rule.right) pairs.push_back({row, at, at});
      ++pairs.back().last;
      parents.push_back({rule.parent, rule.p});
    }
    pair_begin.push_back(static_cast<int32_t>(pairs.size()));
  }

  ListOf<Pair> pairs_of(int32_t left_row_number) const {
    const auto row = static_cast<size_t>(left_row_number);
    return {pairs.data() + pair_begin[row], pairs.data() + pair_begin[row + 1]};
  }
  ListOf<Parent> parents_of(const Pair& pair) const {
    return {parents.data() + pair.first, parents.data() + pair.last};
  }

  int32_t n_symbols, max_unary, n_lefts = 0, n_rights = 0;
  UnaryRules unary;
  std::vector<int32_t> left_row, right_row;  // of symbols that are left or right children, or -1
  std::vector<int32_t> pair_begin;  // by left row
  std::vector<Pair> pairs;
  std::vector<Parent> parents;
};

}  // namespace kernelwood
