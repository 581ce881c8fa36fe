// Bindings of the kernels of graphs.
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "engine_bindings.hpp"
#include "kernelwood/graph_colors.hpp"
#include "kernelwood/graph_paths.hpp"

namespace kernelwood {

namespace {

using Stop = std::optional<Vector<int32_t>>;

// Holds the arrays of graphs while features are made of them.
struct Graphs {
  Graphs(Vector<int64_t> offsets, Vector<int32_t> labels, Vector<int32_t> edges,
         Vector<int32_t> sources, Vector<int32_t> targets, Vector<double> weights)
      : offsets(offsets), labels(labels), edges(edges), sources(sources), targets(targets),
        weights(weights) {
    const size_t n = labels.size();
    check_offsets(offsets, n);
    require(edges.size() == n && sources.size() == n && targets.size() == n && weights.size() == n,
            "arrays of graphs differ in length");
    for (size_t g = 0; g + 1 < offsets.size(); ++g) check(offsets.data()[g], offsets.data()[g + 1]);
  }
  GraphArrays arrays() const {
    return {static_cast<int64_t>(offsets.size()) - 1,
            offsets.data(),
            labels.data(),
            edges.data(),
            sources.data(),
            targets.data(),
            weights.data()};
  }

 private:
  void check(int64_t first, int64_t end) const {
    require(end - first <= int64_t{1} << 30, "a graph is too large");
    int64_t at = first;
    for (; at < end && sources.data()[at] < 0; ++at)
      require(labels.data()[at] >= 0, "negative label");
    const int64_t n_nodes = at - first;
    for (; at < end; ++at) {
      const int32_t source = sources.data()[at], target = targets.data()[at];
      require(0 <= source && source < n_nodes && 0 <= target && target < n_nodes, "no such node");
      require(edges.data()[at] >= 0, "negative label");
    }
  }

  Vector<int64_t> offsets;
  Vector<int32_t> labels, edges, sources, targets;
  Vector<double> weights;
};

template <class Features>
void bind_features(nb::class_<Features>& features) {
  features.def_prop_ro("nbytes", &Features::nbytes)
      .def(
          "selves",
          [](const Features& self, bool intersect, Output1<double> out) {
            require(static_cast<int64_t>(out.size()) == self.rows().size(), "wrong length");
            self.rows().selves(intersect, out.data());
          },
          "intersect"_a, "out"_a, Released());
}

// The features of one graph: first label, second label, value.
std::vector<std::tuple<int32_t, int32_t, double>> row_of(const PathFeatures& self, int64_t row) {
  require(0 <= row && row < self.rows().size(), "no such row");
  std::vector<std::tuple<int32_t, int32_t, double>> found;
  for (int64_t at = self.rows().begin(row); at < self.rows().end(row); ++at) {
    const int32_t id = self.rows().id(at);
    found.emplace_back(self.first_label(id), self.second_label(id), self.rows().value(at));
  }
  return found;
}

// Stream structures in rows and panel structures in columns; with `lower`, both are the same and
// only the lower triangle, with the diagonal, is filled. With scales, values are normalized, and at
// most `largest`.
template <class Features, class Result>
void compare(const Features& panel, const Features& stream, bool intersect, int64_t panel_begin,
             int64_t panel_end, bool lower, Matrix<Result> out,
             std::optional<Vector<double>> panel_scale, std::optional<Vector<double>> stream_scale,
             double largest, Stop stop) {
  const StopFlag flag(stop ? stop->data() : nullptr);
  const auto size = [](const Features& side) { return static_cast<size_t>(side.rows().size()); };
  require(out.shape(0) == size(stream) && out.shape(1) == size(panel), "wrong shape of results");
  require(panel_scale.has_value() == stream_scale.has_value(), "scales of both sides or of none");
  require(
      !panel_scale || (panel_scale->size() == size(panel) && stream_scale->size() == size(stream)),
      "wrong number of scales");
  require(0 <= panel_begin && panel_begin <= panel_end &&
              panel_end <= static_cast<int64_t>(size(panel)),
          "range outside the panel");
  RowComparison rows(panel.rows(), stream.rows(), stream.n_features(), intersect);
  for (int64_t p = panel_begin; p < panel_end && !flag.raised(); p += RowComparison::lanes)
    rows.run(p, std::min(p + RowComparison::lanes, panel_end), lower ? p : 0, flag,
             [&](int64_t s, int64_t t, double value) {
               if (lower && t > s) return;
               if (panel_scale)
                 value =
                     std::min(value * (panel_scale->data()[t] * stream_scale->data()[s]), largest);
               out.data()[s * out.stride(0) + t * out.stride(1)] = static_cast<Result>(value);
             });
}

template <class Features>
void compare_pairs_of(const Features& panel, const Features& stream, bool intersect,
                      Output1<double> out, Stop stop) {
  const StopFlag flag(stop ? stop->data() : nullptr);
  const int64_t n = panel.rows().size();
  require(stream.rows().size() == n && static_cast<int64_t>(out.size()) == n, "wrong length");
  RowComparison rows(panel.rows(), stream.rows(), stream.n_features(), intersect);
  for (int64_t i = 0; i < n && !flag.raised(); ++i) out.data()[i] = rows.pair(i, i);
}

template <class Features>
void bind_comparison(nb::module_& m) {
  const auto bind = [&](auto result) {
    m.def("compare_features", &compare<Features, decltype(result)>, "panel"_a, "stream"_a,
          "intersect"_a, "panel_begin"_a, "panel_end"_a, "lower"_a, "out"_a, "panel_scale"_a.none(),
          "stream_scale"_a.none(), "largest"_a, "stop"_a.none(), Released());
  };
  bind(float());
  bind(double());
  m.def("compare_feature_pairs", &compare_pairs_of<Features>, "panel"_a, "stream"_a, "intersect"_a,
        "out"_a, "stop"_a.none(), Released());
}

}  // namespace

void bind_graphs(nb::module_& m) {
  nb::class_<Graphs>(m, "Graphs")
      .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int32_t>, Vector<int32_t>,
                    Vector<int32_t>, Vector<double>>(),
           "offsets"_a.noconvert(), "labels"_a.noconvert(), "edges"_a.noconvert(),
           "sources"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert());
  nb::class_<PathParameters>(m, "PathParameters")
      .def(nb::init<>())
      .def_rw("best", &PathParameters::best)
      .def_rw("to_unit_range", &PathParameters::to_unit_range)
      .def_rw("max_bytes", &PathParameters::max_bytes)
      .def_rw("max_steps", &PathParameters::max_steps);
  nb::class_<ColorParameters>(m, "ColorParameters")
      .def(nb::init<>())
      .def_rw("n_iterations", &ColorParameters::n_iterations)
      .def_rw("to_unit_range", &ColorParameters::to_unit_range)
      .def_rw("max_bytes", &ColorParameters::max_bytes);
  nb::enum_<PathProblem>(m, "PathProblem")
      .value("none", PathProblem::none)
      .value("diverges", PathProblem::diverges)
      .value("too_many_steps", PathProblem::too_many_steps);

  nb::class_<PathFeatures> paths(m, "PathFeatures");
  paths
      .def(
          "__init__",
          [](PathFeatures* self, const PathParameters& parameters, const Graphs& graphs,
             const PathFeatures* base, Stop stop) {
            new (self) PathFeatures(parameters, graphs.arrays(), base,
                                    StopFlag(stop ? stop->data() : nullptr));
          },
          "parameters"_a, "graphs"_a, "base"_a.none(), "stop"_a.none(), nb::keep_alive<1, 4>(),
          Released())
      .def("row", &row_of, "row"_a)
      .def_prop_ro("problem", &PathFeatures::problem)
      .def_prop_ro("problem_graph", &PathFeatures::problem_graph);
  bind_features(paths);
  bind_comparison<PathFeatures>(m);

  nb::class_<ColorFeatures> colors(m, "ColorFeatures");
  colors.def(
      "__init__",
      [](ColorFeatures* self, const ColorParameters& parameters, const Graphs& graphs,
         const ColorFeatures* base, Stop stop) {
        new (self) ColorFeatures(parameters, graphs.arrays(), base,
                                 StopFlag(stop ? stop->data() : nullptr));
      },
      "parameters"_a, "graphs"_a, "base"_a.none(), "stop"_a.none(), nb::keep_alive<1, 4>(),
      Released());
  bind_features(colors);
  bind_comparison<ColorFeatures>(m);
}

}  // namespace kernelwood
