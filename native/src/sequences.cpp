// Bindings of the subsequence kernel.
#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/sequence_engine.hpp"

namespace kernelwood {

namespace {

// Holds the arrays of a side while an engine reads them.
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

}  // namespace

void bind_sequences(nb::module_& m) {
  nb::class_<Sequences>(m, "Sequences")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int32_t>>(), "offsets"_a.noconvert(),
           "labels"_a.noconvert(), "edges"_a.noconvert());

  nb::class_<SequenceParameters>(m, "SequenceParameters")
      .def(nb::init<>())
      .def_rw("decay", &SequenceParameters::decay)
      .def_rw("max_length", &SequenceParameters::max_length)
      .def_rw("heaviest", &SequenceParameters::heaviest);
  bind_engines<SequenceEngine, SequenceParameters, Sequences>(m, "SequenceEngine");
}

}  // namespace kernelwood
