// Python bindings: flat read-only arrays in, caller-allocated results out, the GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/reduce.hpp"
#include "kernelwood/sequence_engine.hpp"
#include "kernelwood/simd.hpp"
#include "kernelwood/tree_engine.hpp"

using namespace kernelwood;

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
  Vector<int64_t> offsets;
  Vector<int32_t> labels, edges, n_children;
};

struct Sequences {
  Sequences(Vector<int64_t> offsets, Vector<int32_t> labels, Vector<int32_t> edges)
      : offsets(offsets), labels(labels), edges(edges) {
    check_offsets(offsets, labels.size());
    require(labels.size() == edges.size(), "sequence arrays differ in length");
  }
  SequenceArrays arrays(int64_t first, int64_t n) const {
    return {offsets.data() + first, n, labels.data(), edges.data()};
  }
  SequenceArrays arrays() const { return arrays(0, size()); }
  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  Vector<int64_t> offsets;
  Vector<int32_t> labels, edges;
};

// Engines that match labels exactly and softly, for every number type.
template <template <class, bool> class Engine, class Parameters, class Side>
void bind_engines(nb::module_& m, const std::string& name) {
  bind_engine<Engine<float, false>, float, Parameters, Side>(m, (name + "Float32").c_str());
  bind_engine<Engine<double, false>, double, Parameters, Side>(m, (name + "Float64").c_str());
  bind_engine<Engine<Scaled, false>, Scaled, Parameters, Side>(m, (name + "Log2").c_str());
  const std::string soft = "Soft" + name;
  bind_engine<Engine<float, true>, float, Parameters, Side>(m, (soft + "Float32").c_str());
  bind_engine<Engine<double, true>, double, Parameters, Side>(m, (soft + "Float64").c_str());
  bind_engine<Engine<Scaled, true>, Scaled, Parameters, Side>(m, (soft + "Log2").c_str());
}

template <class T>
void bind_reductions(nb::module_& m) {
  m.def(
      "mirror",
      [](Matrix<T> matrix, int64_t row_begin, int64_t row_end, std::optional<Vector<T>> scale,
         T largest) {
        require_rows(matrix);
        require(0 <= row_begin && row_end <= static_cast<int64_t>(matrix.shape(0)) &&
                    matrix.shape(0) == matrix.shape(1),
                "wrong shape of results");
        require(!scale || scale->size() == matrix.shape(0), "wrong number of scales");
        mirror(matrix.data(), matrix.stride(0), row_begin, row_end, scale ? scale->data() : nullptr,
               largest);
      },
      "matrix"_a, "row_begin"_a, "row_end"_a, "scale"_a.none(), "largest"_a, Released());
  m.def(
      "scale_block",
      [](Matrix<T> block, Vector<T> row_scale, Vector<T> column_scale, T largest) {
        require_rows(block);
        require(row_scale.size() == block.shape(0) && column_scale.size() == block.shape(1),
                "wrong number of scales");
        scale_block(block.data(), block.stride(0), static_cast<int64_t>(block.shape(0)),
                    static_cast<int64_t>(block.shape(1)), row_scale.data(), column_scale.data(),
                    largest);
      },
      "block"_a, "row_scale"_a, "column_scale"_a, "largest"_a, Released());
  m.def(
      "keep_best",
      [](Matrix<T> block, int64_t first_row, std::optional<Vector<int64_t>> excluded,
         nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> indices,
         nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> values) {
        require_rows(block);
        require(indices.shape(0) == block.shape(1) && values.shape(0) == block.shape(1) &&
                    indices.shape(1) == values.shape(1) && values.shape(1) > 0 &&
                    (!excluded || excluded->size() == block.shape(1)),
                "wrong shape of results");
        keep_best(block.data(), block.stride(0), static_cast<int64_t>(block.shape(0)),
                  static_cast<int64_t>(block.shape(1)), first_row,
                  excluded ? excluded->data() : nullptr, static_cast<int64_t>(values.shape(1)),
                  indices.data(), values.data());
      },
      "block"_a, "first_row"_a, "excluded"_a.none(), "indices"_a, "values"_a, Released());
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native core of kernelwood: exact kernels over flat arrays.";
  nb::exception<BudgetExceeded>(m, "BudgetExceeded", PyExc_MemoryError);

  nb::class_<Trees>(m, "Trees")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int32_t>, Vector<int32_t>>(),
           "offsets"_a.noconvert(), "labels"_a.noconvert(), "edges"_a.noconvert(),
           "n_children"_a.noconvert());
  nb::class_<Sequences>(m, "Sequences")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int32_t>>(), "offsets"_a.noconvert(),
           "labels"_a.noconvert(), "edges"_a.noconvert());

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
  nb::class_<SequenceParameters>(m, "SequenceParameters")
      .def(nb::init<>())
      .def_rw("decay", &SequenceParameters::decay)
      .def_rw("max_length", &SequenceParameters::max_length);

  bind_similarity(m);
  bind_svm(m);
  bind_terms(m);
  bind_matching<float>(m, "MatchingFloat32");
  bind_matching<double>(m, "MatchingFloat64");
  bind_engines<TreeEngine, TreeParameters, Trees>(m, "TreeEngine");
  bind_engines<SequenceEngine, SequenceParameters, Sequences>(m, "SequenceEngine");
  bind_chains(m);
  bind_forests(m);
  bind_reductions<float>(m);
  bind_reductions<double>(m);
  bind_vector_search(m);
  bind_vectors(m);
  bind_parsing(m);
  bind_hashing(m);
  bind_hash_forest(m);
  bind_information(m);

  m.def("instruction_set", [] { return std::string(isa_name(isa())); });
  m.def("build_info", [] {
    return std::string(KW_COMPILER) + ", C++" + std::to_string(__cplusplus / 100 % 100) +
#ifdef NDEBUG
           ", release"
#else
           ", debug"
#endif
#ifdef __SSP_STRONG__
           ", stack protector"
#endif
#ifdef _FORTIFY_SOURCE
           ", fortified"
#endif
        ;
  });
}
