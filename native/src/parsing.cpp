// Python bindings of the chart parser.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/chart_parser.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

std::vector<int32_t> copied(const Vector<const int32_t>& from) {
  return {from.data(), from.data() + from.size()};
}

ChartRules rules_of(const Matrix<const int32_t>& binary, const Vector<const double>& binary_p,
                    const Matrix<const int32_t>& unary, const Vector<const double>& unary_p,
                    const Vector<const int32_t>& output, int32_t max_unary) {
  require(binary.shape(0) == binary_p.size() && binary.shape(1) == 3,
          "binary rules need a parent, two children and a probability each");
  require(unary.shape(0) == unary_p.size() && unary.shape(1) == 2,
          "unary rules need a parent, a child and a probability each");
  require(output.size() < INT32_MAX && binary.shape(0) < INT32_MAX && unary.shape(0) < INT32_MAX,
          "the grammar is too large");
  std::vector<BinaryRule> two;
  for (size_t r = 0; r < binary.shape(0); ++r) {
    const int32_t* rule = binary.data() + 3 * r;
    two.push_back({rule[0], rule[1], rule[2], binary_p.data()[r]});
  }
  std::vector<UnaryRule> one;
  for (size_t r = 0; r < unary.shape(0); ++r) {
    const int32_t* rule = unary.data() + 2 * r;
    one.push_back({rule[0], rule[1], unary_p.data()[r]});
  }
  return ChartRules(std::move(two), std::move(one), copied(output), max_unary);
}

// Symbols with a probability, each once; what is impossible is left out.
void add_weighed(const ChartRules& rules, int32_t symbol, double p, const char* unknown,
                 const char* improbable, std::vector<Weighed>& list) {
  require(rules.knows(symbol), unknown);
  require(p == 0 || ChartRules::is_probability(p), improbable);
  if (p > 0) list.push_back({symbol, p});
}

Sentence sentence_of(const ChartRules& rules, int32_t n_words,
                     const Vector<const int32_t>& position, const Vector<const int32_t>& symbol,
                     const Vector<const double>& p, const Vector<const int32_t>& root_symbol,
                     const Vector<const double>& root_p) {
  require(n_words > 0, "a sentence needs a word");
  require(position.size() == symbol.size() && position.size() == p.size(),
          "tags need a position, a symbol and a probability each");
  require(root_symbol.size() == root_p.size(), "roots need a symbol and a probability each");
  check_chart_size(static_cast<size_t>(n_words), static_cast<size_t>(n_words) * 32);
  Sentence sentence;
  sentence.n_words = n_words;
  sentence.tags.resize(static_cast<size_t>(n_words));
  for (size_t t = 0; t < position.size(); ++t) {
    const int32_t at = position.data()[t];
    require(at >= 0 && at < n_words, "a tag is outside the sentence");
    add_weighed(rules, symbol.data()[t], p.data()[t], "a tag is outside the grammar",
                "the probability of a tag is not in [0, 1]",
                sentence.tags[static_cast<size_t>(at)]);
  }
  for (size_t r = 0; r < root_symbol.size(); ++r) {
    const int32_t root = root_symbol.data()[r];
    add_weighed(rules, root, root_p.data()[r], "a root is outside the grammar",
                "the probability of a root is not in [0, 1]", sentence.roots);
    require(rules.output[static_cast<size_t>(root)] >= 0, "a root must have an output label");
  }
  const auto sum = [](double a, double b) { return a + b; };
  for (auto& tags : sentence.tags) merge_symbols(tags, sum);
  merge_symbols(sentence.roots, sum);
  return sentence;
}

ChartForest parse(const ChartGrammar& grammar, int32_t n_words, Vector<const int32_t> tag_position,
                  Vector<const int32_t> tag_symbol, Vector<const double> tag_p,
                  Vector<const int32_t> root_symbol, Vector<const double> root_p,
                  double coarse_threshold, double threshold,
                  std::optional<Vector<const int32_t>> stop, int64_t most_rules,
                  double boundary_threshold) {
  require(boundary_threshold >= 0 && coarse_threshold >= 0 && threshold >= 0,
          "thresholds must not be negative");
  require(!stop || stop->size() > 0, "stop needs an element");
  const Sentence sentence =
      sentence_of(grammar.rules(), n_words, tag_position, tag_symbol, tag_p, root_symbol, root_p);
  return grammar.parse(sentence, boundary_threshold, coarse_threshold, threshold, most_rules,
                       StopFlag(stop ? stop->data() : nullptr));
}

// Counts by row and side; there is one side more than there are labels.
void set_boundaries(ChartGrammar& grammar, const Matrix<const double>& neighbors,
                    const Matrix<const double>& before, const Matrix<const double>& after) {
  require(neighbors.shape(0) > 0 && neighbors.shape(0) < INT32_MAX,
          "the counts of boundaries do not fit the grammar");
  for (const auto* counts : {&neighbors, &before, &after})
    require(counts->shape(1) == neighbors.shape(0),
            "the counts of boundaries do not fit the grammar");
  const auto all = [](const Matrix<const double>& from) {
    return std::vector<double>(from.data(), from.data() + from.size());
  };
  grammar.set_boundaries(
      {static_cast<int32_t>(neighbors.shape(0)) - 1, all(neighbors), all(before), all(after)});
}

// A view of a vector of the forest, which stays alive as long as the view.
template <class T>
auto view(std::vector<T> ChartForest::* member) {
  return [member](const ChartForest& forest) {
    const std::vector<T>& values = forest.*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()});
  };
}

}  // namespace

void bind_parsing(nb::module_& m) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<ChartForest>(m, "ChartForest")
      .def_ro("found", &ChartForest::found)
      .def_ro("log_likelihood", &ChartForest::log_likelihood)
      .def_prop_ro("node_label", view(&ChartForest::node_label), inside)
      .def_prop_ro("node_start", view(&ChartForest::node_start), inside)
      .def_prop_ro("node_end", view(&ChartForest::node_end), inside)
      .def_prop_ro("edge_head", view(&ChartForest::edge_head), inside)
      .def_prop_ro("edge_p", view(&ChartForest::edge_p), inside)
      .def_prop_ro("edge_n_children", view(&ChartForest::edge_n_children), inside)
      .def_prop_ro("children", view(&ChartForest::children), inside)
      .def_ro("root", &ChartForest::root);

  nb::class_<ChartGrammar>(m, "ChartGrammar")
      .def(
          "__init__",
          [](ChartGrammar* self, Matrix<const int32_t> binary, Vector<const double> binary_p,
             Matrix<const int32_t> unary, Vector<const double> unary_p,
             Vector<const int32_t> output, int32_t max_unary, const ChartGrammar* coarse,
             std::optional<Vector<const int32_t>> coarse_of) {
            require((coarse != nullptr) == coarse_of.has_value(),
                    "coarse and coarse_of go together");
            require(!coarse || !coarse->has_coarse(), "a coarse grammar has no coarser one");
            ChartRules rules = rules_of(binary, binary_p, unary, unary_p, output, max_unary);
            if (coarse)
              new (self) ChartGrammar(std::move(rules), *coarse, copied(*coarse_of));
            else
              new (self) ChartGrammar(std::move(rules));
          },
          "binary"_a.noconvert(), "binary_p"_a.noconvert(), "unary"_a.noconvert(),
          "unary_p"_a.noconvert(), "output"_a.noconvert(), "max_unary"_a, "coarse"_a = nb::none(),
          "coarse_of"_a = nb::none())
      .def_prop_ro("n_symbols", &ChartGrammar::n_symbols)
      .def("set_boundaries", &set_boundaries, "neighbors"_a.noconvert(), "before"_a.noconvert(),
           "after"_a.noconvert())
      .def("parse", &parse, "n_words"_a, "tag_position"_a.noconvert(), "tag_symbol"_a.noconvert(),
           "tag_p"_a.noconvert(), "root_symbol"_a.noconvert(), "root_p"_a.noconvert(),
           "coarse_threshold"_a, "threshold"_a, "stop"_a = nb::none(),
           "most_rules"_a = std::numeric_limits<int64_t>::max(),
           "boundary_threshold"_a = std::numeric_limits<double>::infinity(), Released());
}

}  // namespace kernelwood
