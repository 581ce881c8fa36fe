// Bindings of the tree kernels.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/tree_engine.hpp"

namespace kernelwood {

namespace {

// Holds the arrays of a side while an engine reads them.
struct Trees {
  Trees(Vector<int64_t> offsets, Vector<int32_t> labels, Vector<int32_t> edges,
        Vector<int32_t> n_children)
      : offsets(offsets), labels(labels), edges(edges), n_children(n_children) {
    check_offsets(offsets, labels.size());
    require(labels.size() == edges.size() && labels.size() == n_children.size(),
            "tree arrays differ in length");
  }
  TreeArrays arrays(int64_t first, int64_t n) const {
    return {offsets.data() + first, n, labels.data(), edges.data(), n_children.data()};
  }
  TreeArrays arrays() const { return arrays(0, size()); }
  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t size_of(int64_t t) const { return offsets.data()[t + 1] - offsets.data()[t]; }
  Vector<int64_t> offsets;
  Vector<int32_t> labels, edges, n_children;
};

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<Trees>(m, "Trees")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int32_t>, Vector<int32_t>>(),
           "offsets"_a.noconvert(), "labels"_a.noconvert(), "edges"_a.noconvert(),
           "n_children"_a.noconvert());
  nb::class_<InternedTrees>(m, "InternedTrees")
      .def(
          "__init__",
          [](InternedTrees* self, const Trees& trees) { new (self) InternedTrees(trees.arrays()); },
          "trees"_a, Released());
  nb::enum_<TreeKernel>(m, "TreeKernel")
      .value("subtree", TreeKernel::subtree)
      .value("subset", TreeKernel::subset)
      .value("partial", TreeKernel::partial)
      .value("rooted", TreeKernel::rooted);
  nb::class_<TreeParameters>(m, "TreeParameters")
      .def(nb::init<>())
      .def_rw("kind", &TreeParameters::kind)
      .def_rw("decay", &TreeParameters::decay)
      .def_rw("depth_decay", &TreeParameters::depth_decay)
      .def_rw("leaf_power", &TreeParameters::leaf_power)
      .def_rw("terminal_factor", &TreeParameters::terminal_factor)
      .def_rw("span_decay", &TreeParameters::span_decay)
      .def_rw("contiguous", &TreeParameters::contiguous)
      .def_rw("count_leaves", &TreeParameters::count_leaves)
      .def_rw("max_bytes", &TreeParameters::max_bytes);
  bind_engines<TreeEngine, TreeParameters, Trees>(m, "TreeEngine");
}

}  // namespace kernelwood
