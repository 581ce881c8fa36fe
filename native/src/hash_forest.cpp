// Python bindings of forests on packed bits.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/bit_forest.hpp"
#include "kernelwood/bit_tree_grower.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

void check_examples(const Matrix<const uint64_t>& columns, const Vector<const int64_t>& class_sizes,
                    const std::optional<Vector<const int32_t>>& times) {
  int64_t n = 0, n_drawn = 0;
  for (size_t c = 0; c < class_sizes.size(); ++c) {
    require(0 <= class_sizes.data()[c] && class_sizes.data()[c] <= INT32_MAX, "no size of a class");
    n += class_sizes.data()[c];
  }
  require(groups_of(n) == size_of(columns, 1), "classes and columns differ in examples");
  require(!times || static_cast<int64_t>(times->size()) == n, "not one number of times for each");
  for (int64_t e = 0; times && e < n; ++e) {
    require(times->data()[e] >= 0, "a number of times is negative");
    n_drawn += times->data()[e];
  }
  if (!times) n_drawn = n;
  require(n_drawn > 0, "no example was drawn");
  require(n_drawn <= INT32_MAX / 4, "too many examples for one tree");
}

BitTree grow(Matrix<const uint64_t> columns, Vector<const int64_t> class_sizes,
             Vector<const double> class_weights, Vector<const int32_t> bits,
             std::optional<Vector<const int32_t>> times, int32_t max_depth, int32_t min_leaf,
             Stop stop) {
  require(class_sizes.size() == class_weights.size() && class_sizes.size() < INT32_MAX / 2,
          "classes need a size and a weight each");
  require(min_leaf > 0, "a leaf needs an example");
  for (size_t i = 0; i < bits.size(); ++i)
    require(bits.data()[i] >= 0 && bits.data()[i] < size_of(columns, 0), "no such bit");
  check_examples(columns, class_sizes, times);
  const auto n_classes = static_cast<int32_t>(class_sizes.size());
  BitTreeGrower grower({class_weights.data(), n_classes, max_depth, min_leaf},
                       {columns.data(), size_of(columns, 1)}, class_sizes.data());
  return grower.grow(bits.data(), static_cast<int64_t>(bits.size()),
                     times ? times->data() : nullptr, flag(stop));
}

// A view of a vector of the tree, which stays alive as long as the view.
template <class T>
auto view(std::vector<T> BitTree::* member) {
  return [member](const BitTree& tree) {
    const std::vector<T>& values = tree.*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()});
  };
}

// Arrays of a forest, which Python has checked node by node.
struct BitForest {
  BitForest(Vector<const int64_t> offsets, Matrix<const int32_t> nodes,
            Vector<const int64_t> leaf_offsets, Vector<const int32_t> leaf_class,
            Vector<const double> leaf_share)
      : offsets(offsets), leaf_offsets(leaf_offsets), nodes(nodes), leaf_class(leaf_class),
        leaf_share(leaf_share) {
    require(nodes.shape(1) == 2, "a node has a split and a child");
    require(offsets.size() > 0 && leaf_offsets.size() > 0, "offsets must not be empty");
    require(leaf_class.size() == leaf_share.size(), "entries need a class and a share");
  }
  BitForestArrays arrays(size_t n_classes) const {
    return {
        offsets.data(),      n_trees(),         nodes.data(),     static_cast<int32_t>(n_classes),
        leaf_offsets.data(), leaf_class.data(), leaf_share.data()};
  }
  int64_t n_trees() const { return static_cast<int64_t>(offsets.size()) - 1; }
  Vector<const int64_t> offsets, leaf_offsets;
  Matrix<const int32_t> nodes;
  Vector<const int32_t> leaf_class;
  Vector<const double> leaf_share;
};

template <class T>
CodeRange range_of(const Matrix<const uint64_t>& codes, int64_t first, int64_t last,
                   const Matrix<T>& out) {
  require(0 <= first && first <= last && last <= size_of(codes, 0), "no such examples");
  require(first % group_size == 0, "a block begins with a group of examples");
  require(out.shape(0) == codes.shape(0), "wrong shape of results");
  return {codes.data(), size_of(codes, 1), first, last};
}

}  // namespace

void bind_hash_forest(nb::module_& m) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<BitTree>(m, "BitTree")
      .def_prop_ro("nodes", view(&BitTree::nodes), inside)
      .def_prop_ro("leaf_ends", view(&BitTree::leaf_ends), inside)
      .def_prop_ro("leaf_class", view(&BitTree::leaf_class), inside)
      .def_prop_ro("leaf_share", view(&BitTree::leaf_share), inside)
      .def_prop_ro("gains", view(&BitTree::gains), inside);
  m.def(
      "turn_codes",
      [](Matrix<const uint64_t> codes, Matrix<uint64_t> out) {
        require(out.shape(0) == 64 * codes.shape(1) &&
                    static_cast<int64_t>(out.shape(1)) == groups_of(size_of(codes, 0)),
                "wrong shape of results");
        turn_codes(codes.data(), size_of(codes, 0), size_of(codes, 1), out.data());
      },
      "codes"_a.noconvert(), "out"_a.noconvert(), Released());
  m.def("grow_bit_tree", &grow, "columns"_a.noconvert(), "class_sizes"_a.noconvert(),
        "class_weights"_a.noconvert(), "bits"_a.noconvert(), "times"_a.noconvert().none(),
        "max_depth"_a, "min_leaf"_a, "stop"_a = nb::none(), Released());

  nb::class_<BitForest>(m, "BitForest")
      .def(nb::init<Vector<const int64_t>, Matrix<const int32_t>, Vector<const int64_t>,
                    Vector<const int32_t>, Vector<const double>>(),
           "offsets"_a.noconvert(), "nodes"_a.noconvert(), "leaf_offsets"_a.noconvert(),
           "leaf_class"_a.noconvert(), "leaf_share"_a.noconvert())
      .def(
          "add_shares",
          [](const BitForest& forest, Matrix<const uint64_t> codes, int64_t first, int64_t last,
             std::optional<Matrix<const uint64_t>> skipped, Matrix<double> out, Stop stop) {
            const CodeRange range = range_of(codes, first, last, out);
            require(!skipped || (size_of(*skipped, 0) == forest.n_trees() &&
                                 size_of(*skipped, 1) == groups_of(size_of(codes, 0))),
                    "wrong shape of what is skipped");
            BitForestWalk(forest.arrays(out.shape(1)), range)
                .add_shares(skipped ? skipped->data() : nullptr, groups_of(size_of(codes, 0)),
                            out.data(), flag(stop));
          },
          "codes"_a.noconvert(), "first"_a, "last"_a, "skipped"_a.noconvert().none(),
          "out"_a.noconvert(), "stop"_a = nb::none(), Released())
      .def(
          "find_leaves",
          [](const BitForest& forest, Matrix<const uint64_t> codes, int64_t first, int64_t last,
             Matrix<int32_t> out, Stop stop) {
            const CodeRange range = range_of(codes, first, last, out);
            require(static_cast<int64_t>(out.shape(1)) == forest.n_trees(),
                    "wrong shape of results");
            BitForestWalk(forest.arrays(0), range).find_leaves(out.data(), flag(stop));
          },
          "codes"_a.noconvert(), "first"_a, "last"_a, "out"_a.noconvert(), "stop"_a = nb::none(),
          Released());
}

}  // namespace kernelwood
