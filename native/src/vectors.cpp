// Python bindings for reading word vectors.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bindings.hpp"
#include "kernelwood/vector_text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<nb::gil_scoped_release>;

const char* text_of(const Bytes& chunk) { return reinterpret_cast<const char*>(chunk.data()); }

VectorRows output(const Rows<float>& values, const Rows<int64_t>& spans) {
  if (values.shape(1) == 0 || spans.shape(0) != values.shape(0) || spans.shape(1) != 2)
    throw std::invalid_argument("wrong shape of results");
  return {values.data(), spans.data(), static_cast<int64_t>(values.shape(0)),
          static_cast<int64_t>(values.shape(1))};
}

}  // namespace

void bind_vectors(nb::module_& m) {
  nb::enum_<VectorLayout>(m, "VectorLayout")
      .value("spaced", VectorLayout::spaced)
      .value("tabbed", VectorLayout::tabbed);
  nb::enum_<VectorProblem>(m, "VectorProblem")
      .value("none", VectorProblem::none)
      .value("wrong_count", VectorProblem::wrong_count)
      .value("not_a_number", VectorProblem::not_a_number)
      .value("not_finite", VectorProblem::not_finite)
      .value("no_word", VectorProblem::no_word);
  nb::class_<VectorChunk>(m, "VectorChunk")
      .def_ro("rows", &VectorChunk::rows)
      .def_ro("lines", &VectorChunk::lines)
      .def_ro("consumed", &VectorChunk::consumed)
      .def_ro("problem", &VectorChunk::problem)
      .def_ro("begin", &VectorChunk::begin)
      .def_ro("end", &VectorChunk::end)
      .def_ro("found", &VectorChunk::found);

  m.def(
      "parse_vector_lines",
      [](Bytes chunk, bool is_last, VectorLayout layout, Rows<float> values, Rows<int64_t> spans) {
        return VectorText(layout, output(values, spans))
            .parse(text_of(chunk), static_cast<int64_t>(chunk.size()), is_last);
      },
      "chunk"_a.noconvert(), "is_last"_a, "layout"_a, "values"_a.noconvert(), "spans"_a.noconvert(),
      Released());
  m.def(
      "parse_vector_records",
      [](Bytes chunk, Rows<float> values, Rows<int64_t> spans) {
        return parse_vector_records(text_of(chunk), static_cast<int64_t>(chunk.size()),
                                    output(values, spans));
      },
      "chunk"_a.noconvert(), "values"_a.noconvert(), "spans"_a.noconvert(), Released());
  m.def(
      "scale_to_unit_length",
      [](Rows<float> matrix) {
        scale_to_unit_length(matrix.data(), static_cast<int64_t>(matrix.shape(0)),
                             static_cast<int64_t>(matrix.shape(1)));
      },
      "matrix"_a.noconvert(), Released());
}

}  // namespace kernelwood
