// How engines and the arrays they read are bound; shared by the files that bind one kind each.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include "kernelwood/engine.hpp"
#include "kernelwood/label_matching.hpp"
#include "kernelwood/reduce.hpp"

namespace kernelwood {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<nb::gil_scoped_release>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Offsets must rise and stay inside the arrays they index: they may come from a file.
inline void check_offsets(Vector<int64_t> offsets, size_t n) {
  require(offsets.size() > 0, "offsets must not be empty");
  const int64_t* at = offsets.data();
  for (size_t i = 1; i < offsets.size(); ++i) require(at[i - 1] <= at[i], "offsets must not fall");
  require(at[0] >= 0 && at[offsets.size() - 1] <= static_cast<int64_t>(n),
          "offsets reach beyond the arrays");
}

// Holds the arrays that say how labels match; see label_matching.hpp.
template <class Number>
struct Matching {
  Matching(std::optional<Vector<double>> edge_gates, std::optional<Vector<double>> node_gates,
           std::optional<Vector<int32_t>> groups)
      : edge_gates(edge_gates), node_gates(node_gates), groups(groups) {}
  void set_table(Vector<int64_t> row_of, Vector<int32_t> column_of, Vector<Number> values) {
    rows = row_of;
    columns = column_of;
    table = values;
    check_table();
  }
  template <class Stored>
  void set_vectors(const SimilarityParameters& parameters, Rows<Stored> vectors,
                   Vector<int64_t> row_of) {
    require(groups && groups->size() == row_of.size(), "groups and vectors differ in length");
    for (size_t i = 0; i < row_of.size(); ++i)
      require(row_of.data()[i] < static_cast<int64_t>(vectors.shape(0)), "no such vector");
    vector_rows = row_of;
    source.parameters = parameters;
    source.dim = static_cast<int64_t>(vectors.shape(1));
    source.rows = row_of.data();
    hold(vectors);
  }
  LabelMatching<Number> labels() const {
    return {edge_gates ? edge_gates->data() : nullptr,
            node_gates ? node_gates->data() : nullptr,
            groups ? groups->data() : nullptr,
            rows ? rows->data() : nullptr,
            columns ? columns->data() : nullptr,
            table ? table->data() : nullptr,
            vector_rows ? &source : nullptr};
  }
  // Every label of some structures must have its entry in each array. Only theirs are looked at: a
  // small part of a large batch must cost no more than the part.
  template <class Side>
  void check(const Side& side, int64_t first, int64_t n) const {
    const int64_t begin = side.offsets.data()[first], end = side.offsets.data()[first + n];
    const auto largest = [&](const Vector<int32_t>& ids) {
      int32_t most = -1;
      for (const int32_t* id = ids.data() + begin; id < ids.data() + end; ++id) {
        require(*id >= 0, "negative label");
        most = std::max(most, *id);
      }
      return static_cast<int64_t>(most);
    };
    const int64_t label = largest(side.labels), edge = largest(side.edges);
    require(!edge_gates || edge < static_cast<int64_t>(edge_gates->size()), "too few edge gates");
    require(!node_gates || label < static_cast<int64_t>(node_gates->size()), "too few node gates");
    require(!groups || label < static_cast<int64_t>(groups->size()), "too few groups");
  }
  // Every column must be readable from every row.
  void check_table() const {
    const size_t n = groups ? groups->size() : 0;
    require(rows->size() == n && columns->size() == n, "groups, rows and columns differ in length");
    int64_t last_row = -1, last_column = -1;
    for (size_t i = 0; i < n; ++i) {
      require(columns->data()[i] >= 0, "no such column");
      last_row = std::max(last_row, rows->data()[i]);
      last_column = std::max(last_column, int64_t{columns->data()[i]});
    }
    require(last_row + last_column < static_cast<int64_t>(table->size()), "the table is too small");
  }
  std::optional<Vector<double>> edge_gates, node_gates;
  std::optional<Vector<int32_t>> groups;
  std::optional<Vector<int64_t>> rows;
  std::optional<Vector<int32_t>> columns;
  std::optional<Vector<Number>> table;
  std::optional<Vector<int64_t>> vector_rows;
  std::optional<Rows<float>> single;
  std::optional<Rows<double>> twice;
  VectorSource source;

 private:
  void hold(const Rows<float>& vectors) {
    single = vectors;
    source.single = vectors.data();
  }
  void hold(const Rows<double>& vectors) {
    twice = vectors;
    source.twice = vectors.data();
  }
};

template <class Number>
void bind_matching(nb::module_& m, const char* name) {
  using M = Matching<Number>;
  nb::class_<M>(m, name)
      .def(nb::init<std::optional<Vector<double>>, std::optional<Vector<double>>,
                    std::optional<Vector<int32_t>>>(),
           "edge_gates"_a = nb::none(), "node_gates"_a = nb::none(), "groups"_a = nb::none())
      .def("set_table", &M::set_table, "rows"_a.noconvert(), "columns"_a.noconvert(),
           "table"_a.noconvert())
      .def("set_vectors", &M::template set_vectors<float>, "parameters"_a, "vectors"_a.noconvert(),
           "rows"_a.noconvert())
      .def("set_vectors", &M::template set_vectors<double>, "parameters"_a, "vectors"_a.noconvert(),
           "rows"_a.noconvert());
}

// Some structures of a batch, one after the other.
template <class Side>
struct Part {
  const Side& side;
  int64_t first, n;
  auto arrays() const { return side.arrays(first, n); }
};

// The labels of structures as an engine sees them; without `matching` equal labels match.
template <class Engine, class Number, class Side>
LabelMatching<Number> labels_of(const Matching<Number>* matching, const Part<Side>& panel,
                                const Part<Side>* stream) {
  if (Engine::softly)
    require(matching && matching->groups &&
                (matching->table || (Engine::makes_similarities && matching->vector_rows)),
            "soft matching needs similarities");
  if (!matching) return {};
  matching->check(panel.side, panel.first, panel.n);
  if (stream) matching->check(stream->side, stream->first, stream->n);
  return matching->labels();
}

template <class T>
void require_rows(const Matrix<T>& out) {
  require(out.shape(0) == 0 || out.shape(1) == 0 || out.stride(1) == 1,
          "results must be row-major");
}

// An engine that takes no matching compares labels exactly, whatever they are.
template <class Engine, class Number, class Parameters, class Side>
Engine make_engine(const Parameters& parameters, const Matching<Number>* matching,
                   const Part<Side>& panel, const Part<Side>* stream, StopFlag stop) {
  const auto arrays = panel.arrays();
  const auto other = stream ? stream->arrays() : arrays;
  if constexpr (Engine::takes_matching) {
    return Engine(parameters, labels_of<Engine, Number, Side>(matching, panel, stream), arrays,
                  stream ? &other : nullptr, stop);
  } else {
    require(matching == nullptr, "these structures match exactly");
    return Engine(parameters, arrays, stream ? &other : nullptr, stop);
  }
}

// Self-similarities, by small engines so that no structure meets many others.
template <class Engine, class Result, class Parameters, class Side>
void diagonal(const Parameters& parameters, const Side& side, int64_t first, int64_t last,
              Output1<Result> out, std::optional<Vector<int32_t>> stop,
              const Matching<Result>* matching) {
  const StopFlag flag(stop ? stop->data() : nullptr);
  // A table of similarities would hold the labels of all of them against all.
  constexpr int64_t group = Engine::softly && !Engine::makes_similarities ? 1 : 32;
  require(0 <= first && first <= last && last <= side.size(), "range outside the batch");
  require(static_cast<int64_t>(out.size()) == last - first, "wrong length of results");
  for (int64_t t = first; t < last && !flag.raised(); t += group) {
    const Part<Side> some{side, t, std::min(group, last - t)};
    make_engine<Engine>(parameters, matching, some, static_cast<const Part<Side>*>(nullptr), flag)
        .diagonal(out.data() + (t - first), flag);
  }
}

// The value of each panel structure and the stream structure at the same place, by small engines.
template <class Engine, class Result, class Parameters, class Side>
void compare_pairs(const Parameters& parameters, const Side& panel, const Side& stream,
                   int64_t first, int64_t last, Output1<Result> out,
                   std::optional<Vector<int32_t>> stop, const Matching<Result>* matching) {
  const StopFlag flag(stop ? stop->data() : nullptr);
  constexpr int64_t group = Engine::lanes;
  require(panel.size() == stream.size(), "as many panel as stream structures");
  require(0 <= first && first <= last && last <= panel.size(), "range outside the batch");
  require(static_cast<int64_t>(out.size()) == last - first, "wrong length of results");
  Result block[group * group];
  for (int64_t t = first; t < last && !flag.raised(); t += group) {
    const int64_t n = std::min(group, last - t);
    const Part<Side> other{stream, t, n};
    const auto engine =
        make_engine<Engine>(parameters, matching, Part<Side>{panel, t, n}, &other, flag);
    engine.cross(0, engine.n_panels(), 0, n, {block, n}, flag);
    for (int64_t i = 0; i < n; ++i) out.data()[t - first + i] = block[i * n + i];
  }
}

// 1 / sqrt of a self-similarity, 0 where it is 0.
template <class Result>
Result inverse_root(Result self) {
  return self > 0 ? 1 / std::sqrt(self) : Result(0);
}

// A raw value divided by the roots of the self-similarities, at most `largest`, if that is given.
template <class Result>
Result normalized(Result value, Result own, Result other, std::optional<double> largest) {
  if (!largest) return value;
  return std::min(value * (inverse_root(own) * inverse_root(other)), static_cast<Result>(*largest));
}

// Values of listed pairs of interned structures, panel[rows[i]] and stream[columns[i]]; see
// tree_pairs.hpp.
template <class Engine, class Result, class Parameters>
void compare_interned(const Parameters& parameters, const typename Engine::Pairs::Interned& panel,
                      const typename Engine::Pairs::Interned& stream, Vector<int32_t> labels,
                      Vector<int64_t> rows, Vector<int64_t> columns, Output1<Result> out,
                      std::optional<Vector<int32_t>> stop, const Matching<Result>* matching) {
  const StopFlag flag(stop ? stop->data() : nullptr);
  require(rows.size() == columns.size() && rows.size() == out.size(), "wrong length of results");
  panel.require_labels(labels.size());
  LabelMatching<Result> gates;
  if (matching) {
    gates = matching->labels();
    stream.require_labels(std::min(matching->edge_gates ? matching->edge_gates->size() : SIZE_MAX,
                                   matching->node_gates ? matching->node_gates->size() : SIZE_MAX));
  }
  typename Engine::Pairs pairs(parameters, gates, panel, stream, labels.data(), flag);
  for (size_t i = 0; i < rows.size() && !flag.raised(); ++i) {
    const int64_t t = rows.data()[i], s = columns.data()[i];
    require(0 <= t && t < panel.size() && 0 <= s && s < stream.size(), "no such structure");
    require(Engine::Pairs::takes(parameters, panel.n_entries(t), stream.n_entries(s)),
            "a pair is too large");
    out.data()[i] = pairs.compare(t, s);
  }
}

// The value of two structures, normalized if `largest` is given, and both self-similarities.
template <class Engine, class Result, class Parameters, class Side>
std::tuple<Result, Result, Result> compare_two(const Parameters& parameters, const Side& side,
                                               int64_t panel, std::optional<double> largest,
                                               const Matching<Result>* matching) {
  const StopFlag flag(nullptr);
  require(side.size() == 2 && (panel == 0 || panel == 1), "two structures, one is the panel");
  Result value, own[2];
  if constexpr (!std::is_void_v<typename Engine::Pairs>) {
    using Pairs = typename Engine::Pairs;
    if (Pairs::takes(parameters, side.size_of(0), side.size_of(1))) {
      const auto labels = labels_of<Engine>(matching, Part<Side>{side, 0, 2},
                                            static_cast<const Part<Side>*>(nullptr));
      const typename Pairs::Interned both(side.arrays());
      Pairs pairs(parameters, labels, both, both, nullptr, flag);
      for (int64_t i = 0; i < 2; ++i) own[i] = pairs.compare_with_itself(i);
      value = pairs.compare(panel, 1 - panel);
      return {normalized(value, own[0], own[1], largest), own[0], own[1]};
    }
  }
  for (int64_t i = 0; i < 2; ++i)
    make_engine<Engine>(parameters, matching, Part<Side>{side, i, 1},
                        static_cast<const Part<Side>*>(nullptr), flag)
        .diagonal(own + i, flag);
  const Part<Side> stream{side, 1 - panel, 1};
  const auto engine =
      make_engine<Engine>(parameters, matching, Part<Side>{side, panel, 1}, &stream, flag);
  engine.cross(0, engine.n_panels(), 0, 1, {&value, 1}, flag);
  return {normalized(value, own[0], own[1], largest), own[0], own[1]};
}

// Compares structures with those of an engine that was made before they were known: few structures
// in rows, those of the engine's stream in columns. `alone` are the same structures with labels and
// gates for comparing them with each other. With `scale`, the inverse roots of the stream's
// self-similarities, values are normalized. Returns the number of self-similarities that are 0, and
// -1 without values if one is outside the first two of `bounds`, or if the engine does not serve for
// these structures; the third bound is the largest value.
template <class E, class Parameters, class Side, class Result>
int64_t compare_new(const E& self, const Parameters& parameters, const Side& few, const Side& alone,
                    const Matching<Result>* matching, std::optional<Vector<Result>> scale,
                    std::tuple<double, double, double> bounds, Matrix<Result> out,
                    std::optional<Vector<int32_t>> stop) {
  require_rows(out);
  require(static_cast<int64_t>(out.shape(0)) == few.size() && alone.size() == few.size() &&
              static_cast<int64_t>(out.shape(1)) == self.n_stream() &&
              (!scale || scale->size() == out.shape(1)),
          "wrong shape of results");
  const StopFlag flag(stop ? stop->data() : nullptr);
  const auto [low, high, largest] = bounds;
  const auto engine = make_engine<E>(parameters, matching, Part<Side>{alone, 0, alone.size()},
                                     static_cast<const Part<Side>*>(nullptr), flag);
  if (!self.compares_new(engine)) return -1;
  Buffer<Result> own(static_cast<size_t>(few.size()));
  engine.diagonal(own.data(), flag);
  int64_t n_zeros = 0;
  for (Result& value : own) {
    if (!(value == 0 || (low <= value && value <= high))) return -1;
    n_zeros += value == 0;
    value = inverse_root(value);
  }
  self.compare_new(few.arrays(), engine, {out.data(), out.stride(0)}, flag);
  if (scale)
    scale_block(out.data(), out.stride(0), few.size(), self.n_stream(), own.data(), scale->data(),
                static_cast<Result>(largest));
  return n_zeros;
}

template <class E, class Real, class Parameters, class Side>
void bind_engine(nb::module_& m, const char* name) {
  using Result = Output<Real>;
  nb::class_<E> bound(m, name);
  bound
      .def(
          "__init__",
          [](E* self, const Parameters& parameters, const Side& panel, const Side* stream,
             std::optional<Vector<int32_t>> stop, const Matching<Result>* matching) {
            const Part<Side> all{panel, 0, panel.size()};
            const Part<Side> other{stream ? *stream : panel, 0, stream ? stream->size() : 0};
            new (self) E(make_engine<E>(parameters, matching, all, stream ? &other : nullptr,
                                        StopFlag(stop ? stop->data() : nullptr)));
          },
          "parameters"_a, "panel"_a, "stream"_a = nb::none(), "stop"_a = nb::none(),
          "matching"_a = nb::none(), nb::keep_alive<1, 6>(), Released())
      .def_prop_ro("n_panels", &E::n_panels)
      .def_prop_ro_static("lanes", [](nb::handle) { return E::lanes; })
      .def(
          "gram",
          [](const E& self, int64_t panel_begin, int64_t panel_end, Matrix<Result> out,
             std::optional<Vector<int32_t>> stop) {
            require_rows(out);
            require(0 <= panel_begin && panel_end <= self.n_panels(), "no such panel");
            require(static_cast<int64_t>(out.shape(0)) == self.n_panel() &&
                        out.shape(0) == out.shape(1),
                    "wrong shape of results");
            self.gram(panel_begin, panel_end, {out.data(), out.stride(0)},
                      StopFlag(stop ? stop->data() : nullptr));
          },
          "panel_begin"_a, "panel_end"_a, "out"_a, "stop"_a = nb::none(), Released())
      .def(
          "cross",
          [](const E& self, int64_t panel_begin, int64_t panel_end, int64_t stream_begin,
             int64_t stream_end, Matrix<Result> out, std::optional<Vector<int32_t>> stop) {
            require(0 <= panel_begin && panel_end <= self.n_panels(), "no such panel");
            require(
                0 <= stream_begin && stream_begin <= stream_end && stream_end <= self.n_stream(),
                "stream range outside the batch");
            require(static_cast<int64_t>(out.shape(0)) == stream_end - stream_begin &&
                        static_cast<int64_t>(out.shape(1)) == self.n_panel(),
                    "wrong shape of results");
            const StopFlag flag(stop ? stop->data() : nullptr);
            if constexpr (E::turns)
              if (out.stride(1) != 1 && out.stride(0) == 1)
                return self.cross_turned(panel_begin, panel_end, stream_begin, stream_end,
                                         {out.data(), out.stride(1)}, flag);
            require_rows(out);
            self.cross(panel_begin, panel_end, stream_begin, stream_end,
                       {out.data(), out.stride(0)}, flag);
          },
          "panel_begin"_a, "panel_end"_a, "stream_begin"_a, "stream_end"_a, "out"_a,
          "stop"_a = nb::none(), Released())
      .def_static("diagonal", &diagonal<E, Result, Parameters, Side>, "parameters"_a, "side"_a,
                  "first"_a, "last"_a, "out"_a, "stop"_a = nb::none(), "matching"_a = nb::none(),
                  Released())
      .def_static("pairs", &compare_pairs<E, Result, Parameters, Side>, "parameters"_a, "panel"_a,
                  "stream"_a, "first"_a, "last"_a, "out"_a, "stop"_a = nb::none(),
                  "matching"_a = nb::none(), Released())
      .def_static("value", &compare_two<E, Result, Parameters, Side>, "parameters"_a, "side"_a,
                  "panel"_a, "largest"_a = nb::none(), "matching"_a = nb::none(), Released());
  if constexpr (!std::is_void_v<typename E::Pairs>)
    bound.def_static("compare_interned", &compare_interned<E, Result, Parameters>, "parameters"_a,
                     "panel"_a, "stream"_a, "labels"_a, "rows"_a, "columns"_a, "out"_a,
                     "stop"_a = nb::none(), "matching"_a = nb::none(), Released());
  if constexpr (E::prepares)
    bound.def("compare_new", &compare_new<E, Parameters, Side, Result>, "parameters"_a, "few"_a,
              "alone"_a, "matching"_a.none(), "scale"_a.none(), "bounds"_a, "out"_a,
              "stop"_a = nb::none(), Released());
}

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

}  // namespace kernelwood
