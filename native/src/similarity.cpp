// Python bindings for tables of label similarities.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/vector_similarity.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

void check_rows(const Matrix<const int64_t>& rows, const Vector<const int64_t>& columns,
                int64_t n_vectors, int64_t n_values, bool symmetric) {
  require(rows.shape(1) == 4, "a row has four numbers");
  require(!symmetric || rows.shape(0) == columns.size(), "a symmetric table is square");
  const auto n_columns = static_cast<int64_t>(columns.size());
  std::vector<int64_t> without(columns.size() + 1, 0);  // columns before i that have no vector
  for (size_t i = 0; i < columns.size(); ++i) {
    require(columns.data()[i] < n_vectors, "no such vector");
    without[i + 1] = without[i] + (columns.data()[i] < 0);
  }
  const auto* row = reinterpret_cast<const SimilarityRow*>(rows.data());
  for (size_t i = 0; i < rows.shape(0); ++i) {
    require(row[i].vector < n_vectors, "no such vector");
    require(0 <= row[i].column_begin && row[i].column_begin <= row[i].column_end &&
                row[i].column_end <= n_columns,
            "no such columns");
    require(row[i].vector < 0 || without[static_cast<size_t>(row[i].column_begin)] ==
                                     without[static_cast<size_t>(row[i].column_end)],
            "a column has no vector");
    require(
        0 <= row[i].offset && row[i].offset + (row[i].column_end - row[i].column_begin) <= n_values,
        "the table is too small");
    const auto at = static_cast<int64_t>(i);
    require(!symmetric || (row[i].column_begin <= at && at < row[i].column_end),
            "the rows of a symmetric table are its columns");
  }
}

template <class Number, class Stored>
void bind_table(nb::module_& m) {
  m.def(
      "fill_similarities",
      [](const SimilarityParameters& parameters, Matrix<const Stored> vectors,
         Matrix<const int64_t> rows, Vector<const int64_t> columns, bool symmetric, int64_t first,
         int64_t last, Vector<Number> out, std::optional<Vector<const int32_t>> stop) {
        require(0 <= first && first <= last && last <= static_cast<int64_t>(rows.shape(0)),
                "no such rows");
        check_rows(rows, columns, static_cast<int64_t>(vectors.shape(0)),
                   static_cast<int64_t>(out.size()), symmetric);
        fill_similarities(parameters, vectors.data(), static_cast<int64_t>(vectors.shape(1)),
                          reinterpret_cast<const SimilarityRow*>(rows.data()), columns.data(),
                          symmetric, first, last, out.data(),
                          StopFlag(stop ? stop->data() : nullptr));
      },
      "parameters"_a, "vectors"_a.noconvert(), "rows"_a.noconvert(), "columns"_a.noconvert(),
      "symmetric"_a, "first"_a, "last"_a, "out"_a.noconvert(), "stop"_a = nb::none(), Released());
}

}  // namespace

void bind_similarity(nb::module_& m) {
  nb::enum_<SimilarityFunction>(m, "SimilarityFunction")
      .value("cosine", SimilarityFunction::cosine)
      .value("gaussian", SimilarityFunction::gaussian)
      .value("sigmoid", SimilarityFunction::sigmoid)
      .value("exponential", SimilarityFunction::exponential)
      .value("threshold", SimilarityFunction::threshold);
  nb::class_<SimilarityParameters>(m, "SimilarityParameters")
      .def(nb::init<>())
      .def_rw("function", &SimilarityParameters::function)
      .def_rw("weight", &SimilarityParameters::weight)
      .def_rw("floor", &SimilarityParameters::floor)
      .def_rw("has_floor", &SimilarityParameters::has_floor);
  bind_table<float, float>(m);
  bind_table<float, double>(m);
  bind_table<double, float>(m);
  bind_table<double, double>(m);
}

}  // namespace kernelwood
