// Python bindings for fragments that pairs of structures share.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/sequence_fragments.hpp"
#include "kernelwood/tree_fragments.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

// One side of some pairs of structures: element i of the arrays belongs to the structure whose
// offsets surround it. Gates are those of the elements, places those of their labels in tables.
struct PairSide {
  PairSide(Vector<const int64_t> offsets, Vector<const int32_t> labels, Vector<const int32_t> edges,
           std::optional<Vector<const double>> gates, std::optional<Vector<const int32_t>> places,
           std::optional<Vector<const int32_t>> n_children)
      : offsets(offsets), labels(labels), edges(edges), gates(gates), places(places),
        n_children(n_children) {
    require(offsets.size() > 0, "offsets must not be empty");
    for (size_t i = 1; i < offsets.size(); ++i)
      require(offsets.data()[i - 1] <= offsets.data()[i], "offsets must not fall");
    require(offsets.data()[0] >= 0 &&
                offsets.data()[offsets.size() - 1] <= static_cast<int64_t>(labels.size()),
            "offsets reach beyond the arrays");
    require(labels.size() == edges.size() && labels.size() < INT32_MAX &&
                (!gates || gates->size() == labels.size()) &&
                (!places || places->size() == labels.size()) &&
                (!n_children || n_children->size() == labels.size()),
            "arrays of elements differ in length");
    for (size_t i = 0; n_children && i < size(); ++i) check_tree(i);
  }
  // Nodes in post-order must find their children before them, and the root comes last.
  void check_tree(size_t i) const {
    int64_t ready = 0;
    for (int64_t at = begin(i); at < offsets.data()[i + 1]; ++at) {
      const int64_t n = n_children->data()[at];
      require(0 <= n && n <= ready, "numbers of children do not describe a tree in post-order");
      ready += 1 - n;
    }
    require(ready == 1, "numbers of children do not describe a tree in post-order");
  }
  size_t size() const { return offsets.size() - 1; }
  int64_t begin(size_t i) const { return offsets.data()[i]; }
  ElementView view(size_t i) const {
    const int64_t at = begin(i);
    return {labels.data() + at, edges.data() + at, gates ? gates->data() + at : nullptr,
            places ? places->data() + at : nullptr, offsets.data()[i + 1] - at};
  }
  int64_t largest_place(size_t i) const {
    int64_t largest = -1;
    for (int64_t at = begin(i); at < offsets.data()[i + 1]; ++at) {
      require(places->data()[at] >= 0, "a place must not be negative");
      largest = std::max<int64_t>(largest, places->data()[at]);
    }
    return largest;
  }
  Vector<const int64_t> offsets;
  Vector<const int32_t> labels, edges;
  std::optional<Vector<const double>> gates;
  std::optional<Vector<const int32_t>> places, n_children;
};

// Tables of label similarities; several pairs may share one.
struct PairTables {
  PairTables(Vector<const double> values, Vector<const int64_t> begins,
             Vector<const int64_t> n_columns)
      : values(values), begins(begins), n_columns(n_columns) {
    require(begins.size() == n_columns.size(), "every pair needs a table");
  }
  void check(const PairSide& left, const PairSide& right) const {
    require(begins.size() == left.size() && left.places && right.places,
            "soft matching needs a table and places for every pair");
    const auto n_values = static_cast<int64_t>(values.size());
    for (size_t i = 0; i < begins.size(); ++i) {
      const int64_t begin = begins.data()[i], width = n_columns.data()[i];
      require(begin >= 0 && begin <= n_values && width >= 0, "no such table");
      const int64_t row = left.largest_place(i), column = right.largest_place(i);
      if (row < 0 || column < 0) continue;
      require(column < width && row < (n_values - begin) / width, "the table is too small");
    }
  }
  SimilarityView view(size_t i) const {
    return {values.data() + begins.data()[i], n_columns.data()[i]};
  }
  Vector<const double> values;
  Vector<const int64_t> begins, n_columns;
};

FoundSubsequences longest_subsequences(const PairSide& left, const PairSide& right,
                                       const PairTables* tables, double decay, int64_t max_length,
                                       int64_t top, int64_t max_steps, const Stop& stop) {
  require(left.size() == right.size(), "pairs need as many structures on both sides");
  require(max_length >= 0 && top >= 0 && max_steps >= 1, "a limit is out of range");
  if (tables) tables->check(left, right);
  LongestSubsequences search(decay, max_length, top, max_steps);
  FoundSubsequences found;
  const StopFlag raised = flag(stop);
  for (size_t i = 0; i < left.size(); ++i)
    search.search(left.view(i), right.view(i),
                  tables ? tables->view(i) : SimilarityView{nullptr, 0}, left.begin(i),
                  right.begin(i), found, raised);
  return found;
}

FoundTrees largest_trees(const PairSide& left, const PairSide& right, const PairTables* tables,
                         const TreeParameters& parameters, int64_t top, int64_t max_steps,
                         const Stop& stop) {
  require(left.size() == right.size(), "pairs need as many structures on both sides");
  require(left.n_children && right.n_children, "trees need numbers of children");
  require(top >= 0 && max_steps >= 1, "a limit is out of range");
  if (tables) tables->check(left, right);
  LargestTrees search(parameters, top, max_steps);
  FoundTrees found;
  const StopFlag raised = flag(stop);
  for (size_t i = 0; i < left.size(); ++i)
    search.search(left.view(i), right.view(i), left.n_children->data() + left.begin(i),
                  right.n_children->data() + right.begin(i),
                  tables ? tables->view(i) : SimilarityView{nullptr, 0}, left.begin(i),
                  right.begin(i), found, raised);
  return found;
}

// A view of a vector of what was found, which stays alive as long as the view.
template <class Found, class T>
auto view(std::vector<T> Found::* member) {
  return [member](const Found& found) {
    const std::vector<T>& values = found.*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()});
  };
}

}  // namespace

void bind_fragments(nb::module_& m) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<PairSide>(m, "PairSide")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Vector<const int32_t>,
                    std::optional<Vector<const double>>, std::optional<Vector<const int32_t>>,
                    std::optional<Vector<const int32_t>>>(),
           "offsets"_a.noconvert(), "labels"_a.noconvert(), "edges"_a.noconvert(),
           "gates"_a = nb::none(), "places"_a = nb::none(), "n_children"_a = nb::none());
  nb::class_<PairTables>(m, "PairTables")
      .def(nb::init<Vector<const double>, Vector<const int64_t>, Vector<const int64_t>>(),
           "values"_a.noconvert(), "begins"_a.noconvert(), "n_columns"_a.noconvert());
  using F = FoundSubsequences;
  nb::class_<F>(m, "FoundSubsequences")
      .def_prop_ro("n_fragments", view(&F::n_fragments), inside)
      .def_prop_ro("n_elements", view(&F::n_elements), inside)
      .def_prop_ro("exceeded", view(&F::exceeded), inside)
      .def_prop_ro("weight", view(&F::weight), inside)
      .def_prop_ro("covers", view(&F::covers), inside)
      .def_prop_ro("count_a", view(&F::count_a), inside)
      .def_prop_ro("count_b", view(&F::count_b), inside)
      .def_prop_ro("left", view(&F::left), inside)
      .def_prop_ro("right", view(&F::right), inside)
      .def_prop_ro("similarity", view(&F::similarity), inside)
      .def_prop_ro("after_gap", view(&F::after_gap), inside);
  m.def("longest_subsequences", &longest_subsequences, "left"_a, "right"_a, "tables"_a.none(),
        "decay"_a, "max_length"_a, "top"_a, "max_steps"_a, "stop"_a = nb::none(), Released());
  using T = FoundTrees;
  nb::class_<T>(m, "FoundTrees")
      .def_prop_ro("n_fragments", view(&T::n_fragments), inside)
      .def_prop_ro("exceeded", view(&T::exceeded), inside)
      .def_prop_ro("n_nodes", view(&T::n_nodes), inside)
      .def_prop_ro("weight", view(&T::weight), inside)
      .def_prop_ro("covers", view(&T::covers), inside)
      .def_prop_ro("similarity", view(&T::similarity), inside)
      .def_prop_ro("count_a", view(&T::count_a), inside)
      .def_prop_ro("count_b", view(&T::count_b), inside)
      .def_prop_ro("left", view(&T::left), inside)
      .def_prop_ro("right", view(&T::right), inside)
      .def_prop_ro("n_children", view(&T::n_children), inside)
      .def_prop_ro("node_similarity", view(&T::node_similarity), inside);
  m.def("largest_trees", &largest_trees, "left"_a, "right"_a, "tables"_a.none(), "parameters"_a,
        "top"_a, "max_steps"_a, "stop"_a = nb::none(), Released());
}

}  // namespace kernelwood
