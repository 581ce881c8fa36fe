// Python bindings for hashcodes: bits, boundaries, nearest codes, and products in order.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/hamming.hpp"
#include "kernelwood/hash_bits.hpp"
#include "kernelwood/margin_boundary.hpp"
#include "kernelwood/ordered_product.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

void check_columns(const int32_t* columns, size_t n, int64_t n_references) {
  for (size_t i = 0; i < n; ++i)
    require(0 <= columns[i] && columns[i] < n_references, "no such reference");
}

void check_rows(int64_t begin, int64_t end, int64_t n) {
  require(0 <= begin && begin <= end && end <= n, "no such rows");
}

template <class Number, class Bits>
void fill_checked(const Bits& bits, int64_t n_bits, int64_t first_bit,
                  const Matrix<const Number>& similarities, int64_t begin, int64_t end,
                  const Matrix<uint64_t>& codes) {
  check_rows(begin, end, size_of(similarities, 0));
  require(codes.shape(0) == similarities.shape(0), "a code for each row");
  require(0 <= first_bit && words_for(first_bit + n_bits) <= size_of(codes, 1),
          "the codes are too short");
  fill_bits(bits, n_bits, first_bit, similarities.data(), size_of(similarities, 1),
            size_of(similarities, 1), begin, end, codes.data(), size_of(codes, 1));
}

template <class Number>
void bind_bits(nb::module_& m) {
  m.def(
      "fill_nearest_bits",
      [](Matrix<const Number> similarities, Cube<const int32_t> subsets, int64_t first_bit,
         int64_t begin, int64_t end, Matrix<uint64_t> codes) {
        require(subsets.shape(1) == 2 && subsets.shape(2) > 0, "two subsets for each bit");
        check_columns(subsets.data(), subsets.size(), size_of(similarities, 1));
        fill_checked(NearestBits{subsets.data(), size_of(subsets, 2)}, size_of(subsets, 0),
                     first_bit, similarities, begin, end, codes);
      },
      "similarities"_a.noconvert(), "subsets"_a.noconvert(), "first_bit"_a, "begin"_a, "end"_a,
      "codes"_a.noconvert(), Released());
  m.def(
      "fill_linear_bits",
      [](Matrix<const Number> similarities, Matrix<const int32_t> columns,
         Matrix<const double> weights, Vector<const double> thresholds, int64_t first_bit,
         int64_t begin, int64_t end, Matrix<uint64_t> codes) {
        require(columns.shape(0) == weights.shape(0) && columns.shape(1) == weights.shape(1) &&
                    columns.shape(0) == thresholds.shape(0),
                "a weight for each column and a threshold for each bit");
        check_columns(columns.data(), columns.size(), size_of(similarities, 1));
        const LinearBits bits{columns.data(), weights.data(), thresholds.data(),
                              size_of(columns, 1)};
        fill_checked(bits, size_of(columns, 0), first_bit, similarities, begin, end, codes);
      },
      "similarities"_a.noconvert(), "columns"_a.noconvert(), "weights"_a.noconvert(),
      "thresholds"_a.noconvert(), "first_bit"_a, "begin"_a, "end"_a, "codes"_a.noconvert(),
      Released());
  m.def(
      "ordered_product",
      [](Matrix<const Number> left, Matrix<const double> right, int64_t begin, int64_t end,
         Matrix<double> out) {
        check_rows(begin, end, size_of(left, 0));
        require(left.shape(1) == right.shape(0) && left.shape(0) == out.shape(0) &&
                    right.shape(1) == out.shape(1),
                "the shapes do not fit");
        if (right.shape(1) == 1)
          return ordered_sums(left.data(), size_of(left, 1), size_of(left, 1), right.data(), begin,
                              end, out.data());
        require(right.shape(1) % ProductBlock<Number>::columns == 0, "columns come in sixteens");
        ordered_product(left.data(), size_of(left, 1), size_of(left, 1), right.data(),
                        size_of(right, 1), begin, end, out.data());
      },
      "left"_a.noconvert(), "right"_a.noconvert(), "begin"_a, "end"_a, "out"_a.noconvert(),
      Released());
}

}  // namespace

void bind_hashing(nb::module_& m) {
  bind_bits<float>(m);
  bind_bits<double>(m);
  m.def(
      "margin_boundaries",
      [](Matrix<const double> gram, Cube<const int32_t> subsets, Matrix<double> weights,
         Vector<double> thresholds) {
        require(gram.shape(0) == gram.shape(1), "a square matrix of similarities");
        require(subsets.shape(1) == 2 && subsets.shape(2) > 0, "two subsets for each bit");
        require(weights.shape(0) == subsets.shape(0) && weights.shape(1) == 2 * subsets.shape(2) &&
                    thresholds.shape(0) == subsets.shape(0),
                "the results do not fit");
        check_columns(subsets.data(), subsets.size(), size_of(gram, 0));
        MarginBoundary boundary(gram.data(), size_of(gram, 0), size_of(subsets, 2));
        const int64_t points = 2 * size_of(subsets, 2);
        for (int64_t bit = 0; bit < size_of(subsets, 0); ++bit)
          boundary.solve(subsets.data() + bit * points, weights.data() + bit * points,
                         thresholds.data() + bit);
      },
      "gram"_a.noconvert(), "subsets"_a.noconvert(), "weights"_a.noconvert(),
      "thresholds"_a.noconvert(), Released());
  m.def(
      "nearest_codes",
      [](Matrix<const uint64_t> queries, Matrix<const uint64_t> codes, int64_t begin, int64_t end,
         Matrix<int64_t> indices, Matrix<int32_t> distances, Stop stop) {
        check_rows(begin, end, size_of(queries, 0));
        require(queries.shape(1) == codes.shape(1), "codes of different lengths");
        require(indices.shape(0) == queries.shape(0) && distances.shape(0) == queries.shape(0) &&
                    indices.shape(1) == distances.shape(1) && indices.shape(1) <= codes.shape(0),
                "the results do not fit");
        const int64_t k = size_of(indices, 1), words = size_of(codes, 1);
        if (k == 0) return;
        nearest_codes(queries.data(), begin, end, codes.data(), size_of(codes, 0), words, k,
                      indices.data(), distances.data(), flag(stop));
      },
      "queries"_a.noconvert(), "codes"_a.noconvert(), "begin"_a, "end"_a, "indices"_a.noconvert(),
      "distances"_a.noconvert(), "stop"_a = nb::none(), Released());
}

}  // namespace kernelwood
