// Graphs as sparse vectors of pairs of labels, for the all-paths graph kernel (Airola et al. 2008):
// the value of a pair (i, j) is the weight of all paths from nodes labeled i to nodes labeled j,
//
//   G_ij = sum over nodes u labeled i, v labeled j of g_u W_uv,   W = A + A^2 + A^3 + ...,
//
// where A_uv is the weight of the edge from u to v times the gate g_v. With `best`, W_uv is the
// weight of the best path: sums are maxima. Components are visited in topological order; the paths
// inside one are summed by Lehmann's algorithm, which only adds and multiplies numbers of 0 or more
// and meets a diagonal element of 1 or more if, and only if, the sum diverges.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/feature_rows.hpp"
#include "kernelwood/graph_arrays.hpp"
#include "kernelwood/graph_components.hpp"

namespace kernelwood {

struct PathParameters {
  bool best = false;
  bool to_unit_range = false;
  int64_t max_bytes = int64_t{1} << 40;
  int64_t max_steps = int64_t{1} << 40;
};

enum class PathProblem { none, diverges, too_many_steps };

class PathFeatures {
 public:
  // `base`: features of other graphs, whose numbers are continued.
  PathFeatures(const PathParameters& parameters, const GraphArrays& graphs,
               const PathFeatures* base, StopFlag stop)
      : parameters_(parameters), rows_(parameters.max_bytes),
        numbers_(base ? &base->numbers_ : nullptr) {
    for (int64_t g = 0; g < graphs.n && !stop.raised(); ++g) {
      problem_ = add(graphs, g, stop);
      if (problem_ != PathProblem::none) {
        problem_graph_ = g;
        return;
      }
    }
  }

  const FeatureRows& rows() const { return rows_; }
  int64_t n_features() const { return numbers_.size(); }
  PathProblem problem() const { return problem_; }
  int64_t problem_graph() const { return problem_graph_; }
  int64_t nbytes() const { return rows_.nbytes() + 40 * n_features(); }
  // The labels of a feature.
  int32_t first_label(int32_t id) const { return static_cast<int32_t>(numbers_.key(id) >> 32); }
  int32_t second_label(int32_t id) const { return static_cast<int32_t>(numbers_.key(id)); }

 private:
  static constexpr double least_pivot = 1e-9;
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  PathProblem add(const GraphArrays& graphs, int64_t index, StopFlag stop) {
    graph_.read(graphs, index);
    components_.find(graph_.n_nodes(), graph_.begin.data(), graph_.targets.data());
    order_edges();
    find_reach();
    if (count_steps() > parameters_.max_steps) return PathProblem::too_many_steps;
    if (!close_components(stop)) return PathProblem::diverges;
    number_labels();
    list_features(stop);
    return PathProblem::none;
  }

  double plus(double a, double b) const { return parameters_.best ? std::max(a, b) : a + b; }

  // Edges between places in topological order, with the gates of their targets as factors.
  void order_edges() {
    const int32_t n = graph_.n_nodes();
    begin_.assign(1, 0);
    to_.clear();
    weight_.clear();
    for (int32_t place = 0; place < n; ++place) {
      const int32_t v = components_.node(place);
      for (int32_t e = graph_.begin[at(v)]; e < graph_.begin[at(v) + 1]; ++e) {
        const int32_t target = graph_.targets[at(e)];
        to_.push_back(components_.place(target));
        weight_.push_back(graph_.weights[at(e)] * graph_.gates[at(target)]);
      }
      begin_.push_back(static_cast<int32_t>(to_.size()));
    }
  }

  // Of each component, the last one that is reached from it; and whether it has a cycle.
  void find_reach() {
    const int32_t n = components_.size();
    reach_.resize(at(n));
    matrix_begin_.assign(at(n), -1);
    for (int32_t c = n - 1; c >= 0; --c) {
      reach_[at(c)] = c;
      if (components_.start(c + 1) - components_.start(c) > 1) matrix_begin_[at(c)] = 0;
      for (int32_t e = begin_[at(components_.start(c))]; e < begin_[at(components_.start(c + 1))];
           ++e) {
        const int32_t other = components_.of_place(to_[at(e)]);
        reach_[at(c)] = std::max(reach_[at(c)], reach_[at(other)]);
        if (other == c) matrix_begin_[at(c)] = 0;
      }
    }
  }

  double count_steps() const {
    double steps = 0;
    for (int32_t c = 0; c < components_.size(); ++c) {
      const int32_t first = components_.start(c), end = components_.start(reach_[at(c)] + 1);
      const double size = components_.start(c + 1) - first;
      steps += size * (end - first + begin_[at(end)] - begin_[at(first)]);
      if (matrix_begin_[at(c)] >= 0) steps += size * size * (size + (end - first));
    }
    return steps;
  }

  // All paths between the nodes of each component with a cycle; false if their sum diverges.
  bool close_components(StopFlag stop) {
    matrices_.clear();
    for (int32_t c = 0; c < components_.size(); ++c) {
      if (matrix_begin_[at(c)] < 0) continue;
      const int32_t first = components_.start(c), size = components_.start(c + 1) - first;
      const auto n_bytes = static_cast<int64_t>(sizeof(double)) * size * size;
      if (n_bytes > parameters_.max_bytes) throw BudgetExceeded(n_bytes);
      matrix_begin_[at(c)] = static_cast<int64_t>(matrices_.size());
      matrices_.resize(matrices_.size() + at(size) * at(size), 0.0);
      double* matrix = matrices_.data() + matrix_begin_[at(c)];
      for (int32_t i = 0; i < size; ++i)
        for (int32_t e = begin_[at(first + i)]; e < begin_[at(first + i) + 1]; ++e)
          if (const int32_t j = to_[at(e)] - first; j < size) {
            double& entry = matrix[at(i) * at(size) + at(j)];
            entry = plus(entry, weight_[at(e)]);
          }
      if (!close(matrix, size, stop)) return false;
    }
    return true;
  }

  bool close(double* matrix, int64_t n, StopFlag stop) {
    row_.resize(at(n));
    for (int64_t k = 0; k < n && !stop.raised(); ++k) {
      const double loop = matrix[k * n + k];
      if (parameters_.best ? loop > 1 : !(loop < 1 - least_pivot)) return false;
      const double around = parameters_.best ? 1 : 1 / (1 - loop);
      std::copy_n(matrix + k * n, n, row_.data());
      for (int64_t i = 0; i < n; ++i) {
        const double factor = matrix[i * n + k] * around;
        if (factor == 0) continue;
        double* own = matrix + i * n;
        for (int64_t j = 0; j < n; ++j) own[j] = plus(own[j], factor * row_[at(j)]);
      }
    }
    return true;
  }

  // Labels in the order of the nodes, and the nodes of each.
  void number_labels() {
    const int32_t n = graph_.n_nodes();
    label_of_.resize(at(n));
    distinct_.clear();
    nodes_of_label_.assign(1, 0);
    for (int32_t v = 0; v < n; ++v) {
      const auto label = at(graph_.labels[at(v)]);
      if (label >= known_.size()) known_.resize(label + 1, -1);
      if (known_[label] < 0) {
        known_[label] = static_cast<int32_t>(distinct_.size());
        distinct_.push_back(graph_.labels[at(v)]);
        nodes_of_label_.push_back(0);
      }
      label_of_[at(v)] = known_[label];
      ++nodes_of_label_[at(known_[label]) + 1];
    }
    for (const int32_t label : distinct_) known_[at(label)] = -1;
    for (size_t i = 1; i < nodes_of_label_.size(); ++i)
      nodes_of_label_[i] += nodes_of_label_[i - 1];
    next_.assign(nodes_of_label_.begin(), nodes_of_label_.end());
    by_label_.resize(at(n));
    for (int32_t v = 0; v < n; ++v) by_label_[at(next_[at(label_of_[at(v)])]++)] = v;
  }

  void list_features(StopFlag stop) {
    reached_.assign(at(graph_.n_nodes()), 0.0);
    sums_.assign(distinct_.size(), 0.0);
    for (size_t i = 0; i < distinct_.size() && !stop.raised(); ++i) {
      touched_.clear();
      for (int32_t k = nodes_of_label_[i]; k < nodes_of_label_[i + 1]; ++k)
        follow(by_label_[at(k)]);
      for (const int32_t j : touched_) {
        const uint64_t key =
            static_cast<uint64_t>(distinct_[i]) << 32 | static_cast<uint32_t>(distinct_[at(j)]);
        rows_.add(numbers_.number(key), sums_[at(j)]);
        sums_[at(j)] = 0;
      }
    }
    rows_.end_row(parameters_.to_unit_range);
  }

  // Adds the weights of all paths from a node to the sums of their last labels.
  void follow(int32_t source) {
    const int32_t own = components_.place(source);
    const int32_t first = components_.of_place(own), last = reach_[at(first)];
    for (int32_t e = begin_[at(own)]; e < begin_[at(own) + 1]; ++e)
      arrive(to_[at(e)], weight_[at(e)]);
    for (int32_t c = first; c <= last; ++c) {
      const int32_t begin = components_.start(c), end = components_.start(c + 1);
      if (matrix_begin_[at(c)] >= 0) go_around(c, begin, end - begin);
      for (int32_t place = begin; place < end; ++place) {
        const double weight = reached_[at(place)];
        if (weight == 0) continue;
        reached_[at(place)] = 0;
        for (int32_t e = begin_[at(place)]; e < begin_[at(place) + 1]; ++e)
          if (to_[at(e)] >= end) arrive(to_[at(e)], weight * weight_[at(e)]);
        const int32_t label = label_of_[at(components_.node(place))];
        const double gated = graph_.gates[at(source)] * weight;
        if (sums_[at(label)] == 0 && gated > 0) touched_.push_back(label);
        sums_[at(label)] += gated;
      }
    }
  }

  void arrive(int32_t place, double weight) {
    reached_[at(place)] = plus(reached_[at(place)], weight);
  }

  // Lets what has arrived at a component go on along its own edges.
  void go_around(int32_t component, int32_t begin, int32_t size) {
    const double* matrix = matrices_.data() + matrix_begin_[at(component)];
    row_.assign(reached_.begin() + begin, reached_.begin() + begin + size);
    for (int32_t i = 0; i < size; ++i)
      if (row_[at(i)] > 0)
        for (int32_t j = 0; j < size; ++j)
          arrive(begin + j, row_[at(i)] * matrix[at(i) * at(size) + at(j)]);
  }

  PathParameters parameters_;
  FeatureRows rows_;
  FeatureNumbers numbers_;
  PathProblem problem_ = PathProblem::none;
  int64_t problem_graph_ = -1;

  VisibleGraph graph_;
  Components components_;
  Buffer<int32_t> begin_, to_, reach_, label_of_, distinct_, known_, nodes_of_label_, by_label_;
  Buffer<int32_t> next_, touched_;
  Buffer<int64_t> matrix_begin_;
  Buffer<double> weight_, matrices_, row_, reached_, sums_;
};

}  // namespace kernelwood
