// Python bindings for the search among vectors of 8-bit numbers.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/vector_scan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

// Scores are then numbers, all of which have a place in an order.
ScaledRows checked_rows(const Matrix<const int8_t>& numbers, const Vector<const float>& scales) {
  require(numbers.shape(0) == scales.shape(0), "a scale for each row");
  const int64_t width = size_of(numbers, 1);
  require(0 < width && width <= kMostDimensions && width % kVectorStep == 0,
          "dimensions come in groups of 32, up to 65536");
  bool finite = true;
  for (size_t i = 0; i < scales.size(); ++i) {
    const float scale = scales.data()[i];
    finite &= (scale >= 0) & (scale <= std::numeric_limits<float>::max());
  }
  require(finite, "scales must be finite, and not negative");
  return {numbers.data(), scales.data(), size_of(numbers, 0), width};
}

}  // namespace

void bind_vector_search(nb::module_& m) {
  m.def(
      "nearest_vectors",
      [](Matrix<const int8_t> queries, Vector<const float> query_scales, Matrix<const int8_t> rows,
         Vector<const float> row_scales, int64_t begin, int64_t end, Matrix<int64_t> indices,
         Matrix<double> scores, Stop stop) {
        const ScaledRows asked = checked_rows(queries, query_scales);
        const ScaledRows given = checked_rows(rows, row_scales);
        require(asked.width == given.width, "vectors of different lengths");
        require(0 <= begin && begin <= end && end <= asked.n, "no such queries");
        require(indices.shape(0) == queries.shape(0) && scores.shape(0) == queries.shape(0) &&
                    indices.shape(1) == scores.shape(1) && indices.shape(1) <= rows.shape(0),
                "the results do not fit");
        const int64_t k = size_of(indices, 1);
        if (k == 0) return;
        nearest_vectors(asked, given, begin, end, k, indices.data(), scores.data(), flag(stop));
      },
      "queries"_a.noconvert(), "query_scales"_a.noconvert(), "rows"_a.noconvert(),
      "row_scales"_a.noconvert(), "begin"_a, "end"_a, "indices"_a.noconvert(),
      "scores"_a.noconvert(), "stop"_a = nb::none(), Released());
}

}  // namespace kernelwood
