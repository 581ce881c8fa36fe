// Bindings of the forest kernel.
#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/forest_engine.hpp"

namespace kernelwood {

namespace {

// Holds the arrays of a side while an engine reads them.
struct Forests {
  Forests(Vector<int64_t> node_offsets, Vector<int32_t> labels, Vector<int64_t> edge_offsets,
          Vector<int32_t> heads, Vector<int32_t> n_children, Vector<double> probabilities,
          Vector<int64_t> child_offsets, Vector<int32_t> children, Vector<int64_t> root_offsets,
          Vector<int32_t> roots)
      : node_offsets(node_offsets), edge_offsets(edge_offsets), child_offsets(child_offsets),
        root_offsets(root_offsets), labels(labels), heads(heads), n_children(n_children),
        children(children), roots(roots), probabilities(probabilities) {
    check_offsets(node_offsets, labels.size());
    check_offsets(edge_offsets, heads.size());
    check_offsets(child_offsets, children.size());
    check_offsets(root_offsets, roots.size());
    require(heads.size() == n_children.size() && heads.size() == probabilities.size(),
            "arrays of hyper-edges differ in length");
    const size_t n = node_offsets.size();
    require(edge_offsets.size() == n && child_offsets.size() == n && root_offsets.size() == n,
            "offsets differ in length");
    for (size_t f = 0; f + 1 < n; ++f) {
      require(root_offsets.data()[f + 1] - root_offsets.data()[f] == 1, "a forest has one root");
      const int64_t n_nodes = node_offsets.data()[f + 1] - node_offsets.data()[f];
      const int64_t n_edges = edge_offsets.data()[f + 1] - edge_offsets.data()[f];
      require(n_nodes <= most && n_edges <= most, "a forest is too large");
    }
  }
  ForestArrays arrays(int64_t first, int64_t n) const {
    return {n,
            node_offsets.data() + first,
            labels.data(),
            edge_offsets.data() + first,
            heads.data(),
            n_children.data(),
            probabilities.data(),
            child_offsets.data() + first,
            children.data(),
            root_offsets.data() + first,
            roots.data()};
  }
  ForestArrays arrays() const { return arrays(0, size()); }
  int64_t size() const { return static_cast<int64_t>(node_offsets.size()) - 1; }

  static constexpr int64_t most = int64_t{1} << 30;
  Vector<int64_t> node_offsets, edge_offsets, child_offsets, root_offsets;
  Vector<int32_t> labels, heads, n_children, children, roots;
  Vector<double> probabilities;
};

}  // namespace

void bind_forests(nb::module_& m) {
  nb::class_<Forests>(m, "Forests")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int64_t>, Vector<int32_t>,
                    Vector<int32_t>, Vector<double>, Vector<int64_t>, Vector<int32_t>,
                    Vector<int64_t>, Vector<int32_t>>(),
           "node_offsets"_a.noconvert(), "labels"_a.noconvert(), "edge_offsets"_a.noconvert(),
           "heads"_a.noconvert(), "n_children"_a.noconvert(), "probabilities"_a.noconvert(),
           "child_offsets"_a.noconvert(), "children"_a.noconvert(), "root_offsets"_a.noconvert(),
           "roots"_a.noconvert());
  nb::class_<ForestParameters>(m, "ForestParameters")
      .def(nb::init<>())
      .def_rw("decay", &ForestParameters::decay)
      .def_rw("sharpness", &ForestParameters::sharpness)
      .def_rw("max_bytes", &ForestParameters::max_bytes);
  bind_engine<ForestEngine<float>, float, ForestParameters, Forests>(m, "ForestEngineFloat32");
  bind_engine<ForestEngine<double>, double, ForestParameters, Forests>(m, "ForestEngineFloat64");
  bind_engine<ForestEngine<Scaled>, Scaled, ForestParameters, Forests>(m, "ForestEngineLog2");
}

}  // namespace kernelwood
