// Python bindings for training support vector machines.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/svm_solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

// Returns intercept, dual objective, number of iterations, and whether they were enough.
template <class T>
std::tuple<double, double, int64_t, bool> solve(Matrix<const T> gram, Vector<const int64_t> rows,
                                                Vector<const int8_t> targets,
                                                Vector<const double> bounds, double tolerance,
                                                int64_t max_iterations, Vector<double> coefficients,
                                                Stop stop, std::optional<Vector<T>> space) {
  const int64_t n = size_of(rows, 0), n_rows = size_of(gram, 0);
  require(gram.shape(0) == gram.shape(1) && n_rows <= INT32_MAX, "a Gram matrix is square");
  require(size_of(targets, 0) == n && size_of(bounds, 0) == n && size_of(coefficients, 0) == n,
          "the shapes do not fit");
  bool positive = false, negative = false;
  for (int64_t p = 0; p < n; ++p) {
    require(0 <= rows.data()[p] && rows.data()[p] < n_rows, "no such row");
    require(targets.data()[p] == 1 || targets.data()[p] == -1, "targets are 1 or -1");
    require(bounds.data()[p] > 0 && std::isfinite(bounds.data()[p]), "bounds are above 0");
    (targets.data()[p] > 0 ? positive : negative) = true;
  }
  require(positive && negative, "samples of both classes");
  require(tolerance > 0 && max_iterations >= 0, "tolerance and iterations must not be negative");
  SvmSolver<T> solver({gram.data(), n_rows, rows.data(), targets.data(), bounds.data(), n,
                       space ? SvmSpace<T>{space->data(), size_of(*space, 0)} : SvmSpace<T>{}});
  const SvmResult result = solver.solve(tolerance, max_iterations, flag(stop), coefficients.data());
  return {result.intercept, result.objective, result.n_iterations, result.converged};
}

template <class T>
void bind_solver(nb::module_& m) {
  m.def("solve_svm", &solve<T>, "gram"_a.noconvert(), "rows"_a.noconvert(), "targets"_a.noconvert(),
        "bounds"_a.noconvert(), "tolerance"_a, "max_iterations"_a, "coefficients"_a.noconvert(),
        "stop"_a = nb::none(), "space"_a.noconvert() = nb::none(), Released());
}

}  // namespace

void bind_svm(nb::module_& m) {
  bind_solver<float>(m);
  bind_solver<double>(m);
}

}  // namespace kernelwood
