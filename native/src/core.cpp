// Python bindings: flat read-only arrays in, caller-allocated results out, the GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/buffer.hpp"
#include "kernelwood/reduce.hpp"
#include "kernelwood/row_arena.hpp"
#include "kernelwood/simd.hpp"

using namespace kernelwood;

namespace {

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
        require(block.stride(1) == 1 || block.shape(1) == 1 || block.stride(0) == 1,
                "rows or columns must be contiguous");
        require(indices.shape(0) == block.shape(1) && values.shape(0) == block.shape(1) &&
                    indices.shape(1) == values.shape(1) && values.shape(1) > 0 &&
                    (!excluded || excluded->size() == block.shape(1)),
                "wrong shape of results");
        keep_best(block.data(), block.stride(0), block.stride(1),
                  static_cast<int64_t>(block.shape(0)), static_cast<int64_t>(block.shape(1)),
                  first_row, excluded ? excluded->data() : nullptr,
                  static_cast<int64_t>(values.shape(1)), indices.data(), values.data());
      },
      "block"_a, "first_row"_a, "excluded"_a.none(), "indices"_a, "values"_a, Released());
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native core of kernelwood: exact kernels over flat arrays.";
  nb::exception<BudgetExceeded>(m, "BudgetExceeded", PyExc_MemoryError);

  bind_similarity(m);
  bind_svm(m);
  bind_terms(m);
  bind_matching<float>(m, "MatchingFloat32");
  bind_matching<double>(m, "MatchingFloat64");
  bind_trees(m);
  bind_sequences(m);
  bind_chains(m);
  bind_forests(m);
  bind_fragments(m);
  bind_graphs(m);
  bind_reductions<float>(m);
  bind_reductions<double>(m);
  bind_vector_search(m);
  bind_vectors(m);
  bind_parsing(m);
  bind_transitions(m);
  bind_hashing(m);
  bind_hash_forest(m);
  bind_information(m);

  m.def("buffer_bytes", [] { return buffer_bytes(); });
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
