// Blocks of tree kernel values, a panel of trees at a time against a stream of trees.
//
// K = C * Delta * C' with C the counts of distinct subtrees: for each panel tree the rows of
// Delta are made (tree_rows.hpp) and scattered into one column of `values` (tree_features.hpp);
// then every stream tree multiplies its sparse counts with the whole panel. Where labels match
// softly there are no constants to share: the rows (soft_tree_rows.hpp) are added up slot by slot.
// A value depends only on its two trees, never on what else is in the block.
#pragma once

#include <memory>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/panel_engine.hpp"
#include "kernelwood/panel_values.hpp"
#include "kernelwood/slot_lists.hpp"
#include "kernelwood/soft_tree_rows.hpp"
#include "kernelwood/tree_pairs.hpp"
#include "kernelwood/tree_rows.hpp"

namespace kernelwood {

template <class Real, bool soft>
class TreeEngine : public PanelEngine<TreeEngine<Real, soft>, Real> {
 public:
  using PanelEngine<TreeEngine, Real>::lanes;
  using Nodes = std::conditional_t<soft, SoftNodes<Real>, ExactNodes<Real>>;
  using Features = std::conditional_t<soft, SlotLists, TreeFeatures>;
  static constexpr bool softly = soft, makes_similarities = false, takes_matching = true;
  static constexpr bool prepares = !soft && !std::is_same_v<Real, Scaled>;
  using Pairs = std::conditional_t<prepares, TreePairs<Real>, void>;
  using Matching = LabelMatching<Output<Real>>;

  // Without `stream` the panel trees are compared with each other. Without panel trees any may
  // come later (compare_new).
  TreeEngine(const TreeParameters& parameters, const Matching& labels, const TreeArrays& panel,
             const TreeArrays* stream, StopFlag stop)
      : parameters_(parameters), symmetric_(stream == nullptr),
        table_(static_cast<size_t>(n_nodes(panel) + (stream ? n_nodes(*stream) : 0)),
               labels.groups),
        panel_(table_.add(panel, lists_leaves())),
        other_(stream ? table_.add(*stream, lists_leaves()) : TreeSide{}),
        slots_(table_, this->stream()), nodes_(labels, table_, slots_),
        postings_(sums_over_children() ? new ChildPostings(table_, slots_) : nullptr) {
    if (stop.raised()) throw Stopped();
    if (parameters.kind == TreeKernel::rooted) return;
    if constexpr (soft) {
      features_.reset(
          new SlotLists(slots_, this->stream(), [&](int32_t sub) { return counts(sub); }));
    } else {
      if (parameters.kind == TreeKernel::subtree) weigh_subtrees();
      features_.reset(new TreeFeatures(parameters.kind, parameters.count_leaves, table_, slots_,
                                       postings_.get(), panel.n_trees > 0 ? &panel_ : nullptr,
                                       this->stream(), symmetric_));
      if (postings_)
        postings_->set_features([&](int32_t slot) { return features_->of_slot(slot); });
    }
    const int64_t n = features_->begin(this->stream().size());
    counts_.reserve(static_cast<size_t>(n));
    for (int64_t q = 0; q < n; ++q) counts_.push_back(Real(double(features_->counts()[q])));
  }

  int64_t n_panel() const { return panel_.size(); }
  int64_t n_stream() const { return stream().size(); }

  bool compares_new(const TreeEngine& /*alone*/) const { return true; }
  // Trees that are not in the engine in rows, those of the stream in columns: the same values as
  // those of a panel. `alone` are the same trees, compared with each other.
  void compare_new(const TreeArrays& trees, const TreeEngine& /*alone*/, Results<Real> out,
                   StopFlag stop) const {
    static_assert(prepares);
    SubtreeTable table(static_cast<size_t>(n_nodes(trees)), &table_);
    const TreeSide side = table.add(trees, lists_leaves());
    if (side.size() < few)
      compare_side<1>(table, side, out, stop);
    else
      compare_side<lanes>(table, side, out, stop);
  }

 private:
  friend class PanelEngine<TreeEngine, Real>;
  using Rows = std::conditional_t<soft, SoftTreeRows<Real>, TreeRows<Real>>;

  // A whole panel costs about as much as so many trees one by one.
  static constexpr int64_t few = 6;

  // Scratch of one call; nothing in the engine itself changes after construction.
  template <int n_lanes>
  struct LaneWork {
    LaneWork(const TreeEngine& engine, const SubtreeTable& table, const TreeSide& panel,
             StopFlag stop)
        : table(table), panel(panel), rows(engine.make_rows(table, stop)),
          chain_head(engine.symmetric_ ? static_cast<size_t>(engine.chain_keys()) : 0, -1) {
      if (!engine.features_) return;
      values = PanelValues<Real, n_lanes>(engine.features_->size());
      if (soft) by_lane.assign(values.size(), Real(0.0));
      if (&table != &engine.table_ && engine.parameters_.kind == TreeKernel::subtree)
        in_engine = table.in_base();
    }
    // The number of a subtree in the table of the engine, -1 if it is not there.
    int32_t known(int32_t sub) const {
      return in_engine.empty() ? sub : in_engine[static_cast<size_t>(sub)];
    }
    const SubtreeTable& table;  // of the panel's trees
    const TreeSide& panel;
    Rows rows;
    PanelValues<Real, n_lanes> values;
    Buffer<Real> by_lane;  // the same turned, (lanes, features): where rows are added
    Buffer<int32_t> chain_head, chain_next;  // entries of a tree by symbol or shape
    Buffer<int32_t> in_engine;               // by subtree, where the table is not the engine's
    int64_t chain_first = 0;
  };
  struct Work : LaneWork<panel_lanes<Real>> {
    Work(const TreeEngine& engine, StopFlag stop)
        : LaneWork<panel_lanes<Real>>(engine, engine.table_, engine.panel_, stop) {}
  };

  // Trees of another table, which continues that of the engine, as panels of so many lanes.
  template <int n_lanes>
  void compare_side(const SubtreeTable& table, const TreeSide& side, Results<Real> out,
                    StopFlag stop) const {
    LaneWork<n_lanes> work(*this, table, side, stop);
    Buffer<Output<Real>> block(static_cast<size_t>(n_lanes > 1 ? n_stream() * n_lanes : 0));
    for (int64_t first = 0; first < side.size() && !stop.raised(); first += n_lanes) {
      const int64_t width = std::min<int64_t>(n_lanes, side.size() - first);
      const Results<Real> values =
          n_lanes > 1 ? Results<Real>{block.data(), n_lanes} : Results<Real>{out.row(first), 1};
      for (int lane = 0; lane < width; ++lane)
        run_one(work, first + lane, 0, lane, values, n_stream());
      multiply(work, 0, n_stream(), static_cast<int>(width), values);
      if (n_lanes > 1)
        transpose(block.data(), n_lanes, n_stream(), width, out.row(first), out.stride);
    }
  }

  Rows make_rows(const SubtreeTable& table, StopFlag stop) const {
    if constexpr (soft) {
      return {parameters_, table, slots_, nodes_, postings_.get(), stop};
    } else {
      return {parameters_, table, slots_, nodes_, postings_.get(), features_.get(), stop};
    }
  }

  const TreeSide& stream() const { return symmetric_ ? panel_ : other_; }
  bool lists_leaves() const { return soft || sums_over_children() || parameters_.count_leaves; }
  // Whether pairs with a subtree add to the value of the kernel.
  bool counts(int32_t sub) const {
    return table_.shape(sub) >= 0 || sums_over_children() || parameters_.count_leaves;
  }
  bool sums_over_children() const {
    return parameters_.kind == TreeKernel::partial || parameters_.kind == TreeKernel::rooted;
  }
  static int64_t n_nodes(const TreeArrays& trees) {
    return trees.offsets[trees.n_trees] - trees.offsets[0];
  }

  // lambda^(productions) of every distinct subtree, times the weights of its inner nodes.
  void weigh_subtrees() {
    Buffer<int64_t> productions(static_cast<size_t>(table_.n_subtrees()), 0);
    for (int32_t sub = 0; sub < table_.n_subtrees(); ++sub) {
      if (table_.shape(sub) >= 0) productions[static_cast<size_t>(sub)] = 1;
      for (int64_t i = 0; i < table_.n_children(sub); ++i)
        productions[static_cast<size_t>(sub)] +=
            productions[static_cast<size_t>(table_.children(sub)[i])];
      weights_.push_back(power<Real>(parameters_.decay, productions[static_cast<size_t>(sub)]));
    }
    if (nodes_.gated()) gate_subtrees();
  }

  void gate_subtrees() {
    Buffer<Real> gates(weights_.size(), Real(1.0));
    for (int32_t sub = 0; sub < table_.n_subtrees(); ++sub) {
      Real& gate = gates[static_cast<size_t>(sub)];
      if (table_.shape(sub) >= 0) gate = nodes_.weight(table_.symbol(sub));
      for (int64_t i = 0; i < table_.n_children(sub); ++i)
        gate *= gates[static_cast<size_t>(table_.children(sub)[i])];
      weights_[static_cast<size_t>(sub)] *= gate;
    }
  }

  // Scatters one panel tree into a lane (none if negative); returns its self-similarity when
  // the engine is symmetric.
  template <class Scratch>
  Real run_one(Scratch& work, int64_t tree, int64_t stream_begin, int lane, Results<Real> out,
               int64_t stream_end) const {
    if constexpr (!soft)
      if (parameters_.kind == TreeKernel::subtree) return run_subtrees(work, tree, lane);
    Real diagonal(0.0);
    if (symmetric_) chain_entries(work, tree);
    work.rows.for_each_row(work.panel, tree, stream_begin, [&](int64_t entry, int32_t sub) {
      const Real count(double(work.panel.count[static_cast<size_t>(entry)]));
      if (parameters_.kind == TreeKernel::rooted) {
        if (sub != work.panel.root[static_cast<size_t>(tree)]) return;
        if (symmetric_) diagonal = work.rows.row(sub)[slots_.slot(sub)];
        if (lane >= 0) write_roots(work, sub, stream_begin, stream_end, lane, out);
        return;
      }
      if (soft && !counts(sub)) return;
      if (symmetric_) diagonal += count * self_sum(work, sub);
      if (lane < 0) return;
      if constexpr (soft)
        add_row(work, work.rows.row(sub), count, lane);
      else
        scatter(work, sub, count, lane);
    });
    if (symmetric_) unchain_entries(work, tree);
    return diagonal;
  }

  template <class Scratch>
  Real run_subtrees(Scratch& work, int64_t tree, int lane) const {
    Real diagonal(0.0);
    const TreeSide& panel = work.panel;
    for (int64_t e = panel.begin[static_cast<size_t>(tree)];
         e < panel.begin[static_cast<size_t>(tree) + 1]; ++e) {
      const int32_t sub = work.known(panel.sub[static_cast<size_t>(e)]);
      if (sub < 0 || table_.shape(sub) < 0) continue;
      const Real count(double(panel.count[static_cast<size_t>(e)]));
      const Real value = count * weights_[static_cast<size_t>(sub)];
      diagonal += count * value;
      const int32_t slot = slots_.slot(sub);
      if (lane >= 0 && slot >= 0) work.values.add(features_->of_slot(slot), lane, value);
    }
    return diagonal;
  }

  template <class Scratch>
  void add_row(Scratch& work, const Row<Real>& row, Real count, int lane) const {
    Real* sums = work.by_lane.data() + lane * features_->size() + row.begin;
    for (int32_t k = 0; k < row.size; ++k) sums[k] += count * row.values[k];
  }

  template <class Scratch>
  void scatter(Scratch& work, int32_t sub, Real count, int lane) const {
    const int32_t symbol = work.table.symbol(sub), shape = work.table.shape(sub);
    if (parameters_.kind == TreeKernel::partial) {
      work.values.add(features_->of_inner(symbol), lane, count * work.rows.base(sub));
      work.values.add(features_->of_leaf(symbol), lane, count * work.rows.against_leaf(sub));
    } else if (shape < 0) {
      work.values.add(features_->of_leaf(symbol), lane, count * leaf_match(symbol));
    } else {
      work.values.add(features_->of_shape(shape), lane, count * work.rows.base(sub));
    }
    work.rows.for_each_touched(
        sub, [&](int32_t feature, Real excess) { work.values.add(feature, lane, count * excess); });
  }

  // Two leaves of a symbol in a subset kernel that counts them.
  Real leaf_match(int32_t symbol) const {
    const Real decay(parameters_.decay);
    return nodes_.gated() ? decay * nodes_.weight(symbol) : decay;
  }

  template <class Scratch>
  void multiply(Scratch& work, int64_t stream_begin, int64_t stream_end, int width,
                Results<Real> out) const {
    if (!features_) return;  // roots wrote their values themselves
    if (soft) turn_lanes(work);
    work.values.multiply({features_->ids(), counts_.data(), features_->begins()}, stream_begin,
                         stream_end, width, out);
    if (!soft) work.values.clear_touched();  // turning the lanes writes every value
  }

  // values = by_lane turned, a few features at a time so that both stay in cache; clears by_lane.
  template <class Scratch>
  void turn_lanes(Scratch& work) const {
    constexpr int64_t step = 16;
    const int64_t n = features_->size();
    for (int64_t first = 0; first < n; first += step) {
      const int64_t last = std::min(first + step, n);
      for (int lane = 0; lane < lanes; ++lane) {
        Real* from = work.by_lane.data() + lane * n;
        for (int64_t f = first; f < last; ++f) work.values.data()[f * lanes + lane] = from[f];
        for (int64_t f = first; f < last; ++f) from[f] = Real(0.0);
      }
    }
  }

  template <class Scratch>
  void write_roots(Scratch& work, int32_t root, int64_t stream_begin, int64_t stream_end, int lane,
                   Results<Real> out) const {
    const Row<Real>& row = work.rows.row(root);
    const int32_t symbol = work.table.symbol(root);
    for (int64_t s = stream_begin; s < stream_end; ++s) {
      const int32_t other = stream().root[static_cast<size_t>(s)];
      out.row(s - stream_begin)[lane] =
          output(table_.symbol(other) == symbol ? row[slots_.slot(other)] : Real(0.0));
    }
  }

  // Entries of one tree that can meet each other: same symbol, for subset kernels same shape.
  int32_t chain_keys() const {
    return sums_over_children() ? table_.n_symbols() : table_.n_shapes() + table_.n_symbols();
  }
  size_t chain_key(int32_t sub) const {
    if (sums_over_children()) return static_cast<size_t>(table_.symbol(sub));
    const int32_t shape = table_.shape(sub);
    return static_cast<size_t>(shape >= 0 ? shape : table_.n_shapes() + table_.symbol(sub));
  }
  template <class Scratch>
  void chain_entries(Scratch& work, int64_t tree) const {
    const int64_t first = panel_.begin[static_cast<size_t>(tree)];
    const int64_t last = panel_.begin[static_cast<size_t>(tree) + 1];
    work.chain_next.resize(static_cast<size_t>(last - first));
    work.chain_first = first;
    for (int64_t e = last - 1; e >= first; --e) {
      int32_t& head = work.chain_head[chain_key(panel_.sub[static_cast<size_t>(e)])];
      work.chain_next[static_cast<size_t>(e - first)] = head;
      head = static_cast<int32_t>(e - first);
    }
  }
  template <class Scratch>
  void unchain_entries(Scratch& work, int64_t tree) const {
    for (int64_t e = panel_.begin[static_cast<size_t>(tree)];
         e < panel_.begin[static_cast<size_t>(tree) + 1]; ++e)
      work.chain_head[chain_key(panel_.sub[static_cast<size_t>(e)])] = -1;
  }

  // Sum of Delta(sub, v) over the nodes v of its own tree.
  template <class Scratch>
  Real self_sum(Scratch& work, int32_t sub) const {
    const bool exact_leaf = !soft && table_.shape(sub) < 0 && !sums_over_children();
    Real sum(0.0);
    for (int32_t at = work.chain_head[chain_key(sub)]; at >= 0;
         at = work.chain_next[static_cast<size_t>(at)]) {
      const auto entry = static_cast<size_t>(work.chain_first + at);
      const Real count(double(panel_.count[entry]));
      if constexpr (!soft)
        if (exact_leaf) {
          sum += count * leaf_match(table_.symbol(sub));
          continue;
        }
      sum += count * work.rows.row(sub)[slots_.slot(panel_.sub[entry])];
    }
    return sum;
  }

  TreeParameters parameters_;
  bool symmetric_;
  SubtreeTable table_;
  TreeSide panel_, other_;
  SlotIndex slots_;
  Nodes nodes_;
  std::unique_ptr<ChildPostings> postings_;
  std::unique_ptr<Features> features_;
  Buffer<Real> counts_, weights_;
};

}  // namespace kernelwood
