// Blocks of forest kernel values, a panel of forests at a time against a stream of forests.
//
// For each panel forest the rows of its hyper-edges are made (forest_rows.hpp), weighed by their
// expected counts and scattered into one column of values (forest_features.hpp); then every stream
// forest multiplies its own expected counts with the whole panel. A value depends only on its two
// forests, never on what else is in the block.
#pragma once

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/forest_features.hpp"
#include "kernelwood/forest_rows.hpp"
#include "kernelwood/panel_engine.hpp"
#include "kernelwood/panel_values.hpp"

namespace kernelwood {

struct ForestParameters {
  double decay = 0.4;
  double sharpness = 1.0;
  int64_t max_bytes = int64_t{1} << 31;
};

template <class Real>
class ForestEngine : public PanelEngine<ForestEngine<Real>, Real> {
 public:
  using PanelEngine<ForestEngine, Real>::lanes;
  static constexpr bool softly = false, makes_similarities = false, takes_matching = false;
  static constexpr bool prepares = false;
  using Pairs = void;

  // Without `stream` the panel forests are compared with each other.
  ForestEngine(const ForestParameters& parameters, const ForestArrays& panel,
               const ForestArrays* stream, StopFlag stop)
      : parameters_(parameters), symmetric_(stream == nullptr),
        table_(static_cast<size_t>(n_edges(panel) + (stream ? n_edges(*stream) : 0))),
        panel_(table_.add(panel, parameters.sharpness)),
        other_(stream ? table_.add(*stream, parameters.sharpness) : ForestSide{}),
        slots_(table_, this->stream()),
        features_(table_, slots_, panel_, this->stream(), symmetric_) {
    if (stop.raised()) throw Stopped();
    counts_.reserve(features_.weights().size());
    for (const double weight : features_.weights()) counts_.push_back(Real(weight));
    owned_weights_.reserve(features_.owned_weights().size());
    for (const double weight : features_.owned_weights()) owned_weights_.push_back(Real(weight));
  }

  int64_t n_panel() const { return panel_.size(); }
  int64_t n_stream() const { return stream().size(); }

 private:
  friend class PanelEngine<ForestEngine, Real>;

  // Scratch of one call; nothing in the engine itself changes after construction.
  struct Work {
    Work(const ForestEngine& engine, StopFlag stop)
        : rows(engine.parameters_.decay, engine.parameters_.max_bytes, engine.table_,
               engine.slots_),
          values(engine.features_.size()),
          owned_sums(static_cast<size_t>(engine.n_stream()) * lanes, Real(0.0)),
          first_of_shape(static_cast<size_t>(engine.table_.n_shapes()), -1), stop(stop) {}
    ForestRows<Real> rows;
    PanelValues<Real> values;
    Buffer<Real> owned_sums;  // (lanes, stream forests): what owned slots add to a value
    Buffer<int32_t> first_of_shape, next_of_entry;  // entries of one forest, shape by shape
    StopFlag stop;
  };

  const ForestSide& stream() const { return symmetric_ ? panel_ : other_; }
  static int64_t n_edges(const ForestArrays& forests) {
    return forests.edge_offsets[forests.n_forests] - forests.edge_offsets[0];
  }

  void multiply(Work& work, int64_t stream_begin, int64_t stream_end, int width,
                Results<Real> out) const {
    work.values.multiply({features_.ids(), counts_.data(), features_.begins()}, stream_begin,
                         stream_end, width, out, {work.owned_sums.data(), n_stream()});
    work.values.clear_touched();
    std::fill(work.owned_sums.begin(), work.owned_sums.end(), Real(0.0));
  }

  // Scatters one panel forest into a lane (none if negative); returns its self-similarity when the
  // engine is symmetric.
  Real run_one(Work& work, int64_t f, int64_t stream_begin, int lane, Results<Real>,
               int64_t) const {
    const auto begin = static_cast<size_t>(panel_.begin[static_cast<size_t>(f)]);
    const auto end = static_cast<size_t>(panel_.begin[static_cast<size_t>(f) + 1]);
    Real diagonal(0.0);
    if (symmetric_) chain_entries(work, begin, end);
    work.rows.begin_forest(panel_, f);
    for (size_t i = begin; i < end && !work.stop.raised(); ++i) {
      const int32_t edge = panel_.edge[i];
      const Real* row = work.rows.edge_row(edge, stream_begin);
      if (row != nullptr) {
        const Real weight(panel_.weight[i]);
        if (symmetric_) diagonal += weight * self_sum(work, begin, edge, row);
        if (lane >= 0) scatter(work, edge, row, weight, stream_begin, lane);
      }
      work.rows.finish(edge);
    }
    if (symmetric_)
      for (size_t i = begin; i < end; ++i)
        work.first_of_shape[static_cast<size_t>(table_.shape(panel_.edge[i]))] = -1;
    return diagonal;
  }

  void scatter(Work& work, int32_t edge, const Real* row, Real weight, int64_t stream_begin,
               int lane) const {
    const int32_t id = table_.shape(edge);
    const Real base = work.rows.base();
    work.values.add(features_.of_shape(id), lane, weight * base);
    const ForestShape& shape = slots_.shape(id);
    for (const int run : {SlotRun::simple, SlotRun::neither}) {
      const SlotRange some = slots_.live(shape, run, stream_begin);
      for (int32_t k = some.begin; k < some.end; ++k)
        if (row[k] != base)
          work.values.add(features_.of_slot(shape.begin + k), lane, weight * (row[k] - base));
    }
    Real* sums = work.owned_sums.data() + lane * n_stream();
    for (const int run : {SlotRun::simple_owned, SlotRun::owned}) {
      const SlotRange some = slots_.live(shape, run, stream_begin);
      for (int32_t k = some.begin; k < some.end; ++k)
        sums[slots_.owner(shape.begin + k)] +=
            weight * owned_weights_[static_cast<size_t>(shape.begin + k)] * (row[k] - base);
    }
  }

  void chain_entries(Work& work, size_t begin, size_t end) const {
    work.next_of_entry.resize(end - begin);
    for (size_t i = end; i-- > begin;) {
      int32_t& first = work.first_of_shape[static_cast<size_t>(table_.shape(panel_.edge[i]))];
      work.next_of_entry[i - begin] = first;
      first = static_cast<int32_t>(i - begin);
    }
  }

  // Sum of Delta(edge, e) over the hyper-edges e of its own forest, by their expected counts.
  Real self_sum(const Work& work, size_t begin, int32_t edge, const Real* row) const {
    const int32_t id = table_.shape(edge);
    const int32_t first_slot = slots_.shape(id).begin;
    Real sum(0.0);
    for (int32_t at = work.first_of_shape[static_cast<size_t>(id)]; at >= 0;
         at = work.next_of_entry[static_cast<size_t>(at)]) {
      const size_t entry = begin + static_cast<size_t>(at);
      sum += Real(panel_.weight[entry]) * row[slots_.slot(panel_.edge[entry]) - first_slot];
    }
    return sum;
  }

  ForestParameters parameters_;
  bool symmetric_;
  ForestTable table_;
  ForestSide panel_, other_;
  ForestSlots slots_;
  ForestFeatures features_;
  Buffer<Real> counts_, owned_weights_;
};

}  // namespace kernelwood
