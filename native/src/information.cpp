// Python bindings of latent variables that explain codes.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/latent_factors.hpp"
#include "kernelwood/latent_swaps.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

void check_start(const Matrix<const uint8_t>& bits, size_t n_examples, size_t n_latent) {
  require(bits.shape(0) > 0 && bits.shape(1) > 0 && n_latent > 0, "nothing to explain");
  require(n_examples == bits.shape(0), "responsibilities for each example");
  require(bits.shape(0) < (size_t{1} << 22), "too many examples for exact sums");
}

// Nothing is done in place of the first iteration.
struct NoFirst {
  bool evaluate(LatentFactors&) const { return false; }
  bool respond(LatentFactors&) const { return false; }
};

std::tuple<double, double, int64_t> explain(Matrix<const uint8_t> bits, Matrix<double> shares,
                                            Vector<int32_t> owners, bool from_afar,
                                            int64_t max_iterations, double tolerance, Stop stop) {
  check_start(bits, shares.shape(0), shares.shape(1));
  require(owners.shape(0) == bits.shape(1), "an owner for each bit");
  const int64_t n = size_of(bits, 0), n_bits = size_of(bits, 1), m = size_of(shares, 1);
  const CodeBits codes(bits.data(), n, n_bits);
  LatentFactors factors(n, n_bits, m);
  factors.start(shares.data(), from_afar);
  const auto keep = [&](LatentFactors& best) {
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(best.shares() + i * best.width(), m, shares.data() + i * m);
    best.final_owners(owners.data());
  };
  const LatentFit fit =
      factors.settle(codes, max_iterations, tolerance, flag(stop), keep, NoFirst());
  return {fit.total_correlation, codes.sum_of_entropies(), fit.n_iterations};
}

struct Swaps {
  Swaps(Matrix<const uint8_t> bits, Matrix<const double> shares, Vector<const int32_t> columns)
      : swaps((check(bits, shares, columns),
               CodeBits(bits.data(), size_of(bits, 0), size_of(bits, 1))),
              size_of(shares, 1), shares.data(), columns.data(), size_of(columns, 0)),
        n(size_of(bits, 0)), n_columns(size_of(columns, 0)) {}

  static void check(const Matrix<const uint8_t>& bits, const Matrix<const double>& shares,
                    const Vector<const int32_t>& columns) {
    check_start(bits, shares.shape(0), shares.shape(1));
    for (size_t c = 0; c < columns.size(); ++c)
      require(0 <= columns.data()[c] && columns.data()[c] < size_of(bits, 1), "no such bit");
  }

  void entropies(Cube<const uint8_t> replacements, Vector<const int64_t> examples,
                 int64_t n_iterations, int64_t begin, int64_t end, Vector<double> out,
                 Stop stop) const {
    require(0 <= begin && begin <= end && end <= size_of(replacements, 0) &&
                out.shape(0) == replacements.shape(0),
            "no such replacements");
    require(size_of(examples, 0) == n && size_of(replacements, 2) == n_columns,
            "the shapes do not fit");
    for (int64_t i = 0; i < n; ++i)
      require(0 <= examples.data()[i] && examples.data()[i] < size_of(replacements, 1),
              "no such example");
    LatentSwaps::Scratch scratch(swaps);
    std::vector<uint8_t> column(n);
    const std::vector<int32_t>& columns = swaps.columns();
    const StopFlag stopped = flag(stop);
    for (int64_t s = begin; s < end && !stopped.raised(); ++s) {
      const uint8_t* bytes = replacements.data() + s * size_of(replacements, 1) * n_columns;
      for (int64_t c = 0; c < n_columns; ++c) {
        for (int64_t i = 0; i < n; ++i) column[i] = bytes[examples.data()[i] * n_columns + c];
        scratch.codes.set_column(columns[c], column.data(), 1);
      }
      out.data()[s] = swaps.entropy_after(n_iterations, stopped, scratch);
    }
  }

  LatentSwaps swaps;
  int64_t n, n_columns;
};

}  // namespace

void bind_information(nb::module_& m) {
  m.def("explain_codes", &explain, "bits"_a.noconvert(), "responsibilities"_a.noconvert(),
        "owners"_a.noconvert(), "from_afar"_a, "max_iterations"_a, "tolerance"_a,
        "stop"_a = nb::none(), Released());
  nb::class_<Swaps>(m, "CodeSwaps")
      .def(nb::init<Matrix<const uint8_t>, Matrix<const double>, Vector<const int32_t>>(),
           "bits"_a.noconvert(), "responsibilities"_a.noconvert(), "columns"_a.noconvert())
      .def("entropies", &Swaps::entropies, "replacements"_a.noconvert(), "examples"_a.noconvert(),
           "n_iterations"_a, "begin"_a, "end"_a, "out"_a.noconvert(), "stop"_a = nb::none(),
           Released());
}

}  // namespace kernelwood
