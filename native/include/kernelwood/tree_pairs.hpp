// Values of listed pairs of trees that are interned already (interned_trees.hpp), by the subset and
// the partial tree kernel with labels that match exactly.
//
// A pair is so little work that building an engine would take most of the time. Here the subtrees
// of two trees that can match are compared one by one. Values have the bits of those of the engine
// (tree_engine.hpp): Delta is computed by the same steps, and summed by the same features in the
// same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/child_sums.hpp"
#include "kernelwood/interned_trees.hpp"
#include "kernelwood/tree_rows.hpp"

namespace kernelwood {

// Symbols and shapes of panel trees as stream trees number them; those that these do not have get
// the number after the last.
struct CommonNames {
  // `labels` are, by label of the panel, the labels of the stream, or any that it does not have.
  // Without them both sides are the same trees.
  CommonNames(const SubtreeTable& panel, const SubtreeTable& stream, const int32_t* labels) {
    if (!labels) {
      for (int32_t symbol = 0; symbol < stream.n_symbols(); ++symbol) symbols.push_back(symbol);
      for (int32_t shape = 0; shape < stream.n_shapes(); ++shape) shapes.push_back(shape);
      return;
    }
    for (int32_t name = 0; name < panel.names().size(); ++name) {
      const int32_t known =
          stream.names().find(labels[panel.names().edge(name)], labels[panel.names().label(name)]);
      symbols.push_back(known < 0 ? stream.n_symbols() : known);
    }
    Buffer<int32_t> children;
    for (int32_t shape = 0; shape < panel.n_shapes(); ++shape) {
      children.clear();
      for (int64_t j = 0; j < panel.arity(shape); ++j)
        children.push_back(symbols[static_cast<size_t>(panel.child_symbols(shape)[j])]);
      const int32_t symbol = symbols[static_cast<size_t>(panel.shape_symbol(shape))];
      const int32_t known = stream.find_shape(symbol, children.data(), panel.arity(shape));
      shapes.push_back(known < 0 ? stream.n_shapes() : known);
    }
  }
  Buffer<int32_t> symbols, shapes;
};

template <class Real>
class TreePairs {
 public:
  using Interned = InternedTrees;

  // Gates are those of the stream's labels.
  TreePairs(const TreeParameters& parameters, const LabelMatching<Output<Real>>& gates,
            const InternedTrees& panel, const InternedTrees& stream, const int32_t* labels,
            StopFlag stop)
      : partial_(parameters.kind == TreeKernel::partial),
        names_(panel.table(), stream.table(), labels), nodes_(gates, stream.table()),
        panel_{panel, names_, stream.table().n_symbols() + 1}, stream_{stream},
        sums_(parameters, panel_, stream_, nodes_, stop), decay_(parameters.decay),
        leaf_leaf_(leaf_value<Real>(parameters, parameters.leaf_power)),
        leaf_inner_(leaf_value<Real>(parameters, 2.0)),
        inner_base_(partial_ ? sums_.base() : decay_),
        head_(
            static_cast<size_t>(partial_ ? stream.table().n_symbols() : stream.table().n_shapes()) +
                1,
            -1) {}

  // Whether a kernel and two trees of such sizes are compared here; a larger pair would need a
  // large matrix of Delta.
  static bool takes(const TreeParameters& parameters, int64_t n, int64_t m) {
    const bool kind = parameters.kind == TreeKernel::partial ||
                      (parameters.kind == TreeKernel::subset && !parameters.count_leaves);
    return kind && n <= most_pairs && m <= most_pairs && n * m <= most_pairs;
  }

  Real compare(int64_t t, int64_t s) {
    fill(t, s);
    return add_up();
  }

  // The self-similarity of a tree that is on both sides.
  Real compare_with_itself(int64_t t) {
    fill(t, t);
    Real sum(0.0);
    for (int32_t u = 0; u < n_stream_; ++u) {
      const int32_t head = features_[static_cast<size_t>(u)].head;
      if (head < 0) continue;
      Real own(0.0);
      for (int32_t v = head; v >= 0; v = features_[static_cast<size_t>(v)].next)
        own += Real(double(stream_.count(v))) * delta(u)[v];
      sum += Real(double(panel_.count(u))) * own;
    }
    add_up();
    return sum;
  }

 private:
  void fill(int64_t t, int64_t s) {
    panel_.first = panel_.trees.first(t);
    stream_.first = stream_.trees.first(s);
    n_stream_ = static_cast<int32_t>(stream_.trees.n_entries(s));
    const auto n_panel = static_cast<int32_t>(panel_.trees.n_entries(t));
    delta_.resize(static_cast<size_t>(n_panel) * static_cast<size_t>(n_stream_ + 1));
    if (!partial_) std::fill(delta_.begin(), delta_.end(), Real(0.0));
    chain_stream();
    for (int32_t u = 0; u < n_panel; ++u) compare_subtree(u);
  }

  static constexpr int64_t most_pairs = int64_t{1} << 16;

  // The subtrees of the panel and the stream tree by their places, as ChildSums reads them.
  struct Panel {
    const InternedTrees& trees;
    const CommonNames& names;
    int32_t symbols;
    int64_t first = 0;
    int32_t n_symbols() const { return symbols; }
    int32_t symbol(int32_t u) const {
      return names.symbols[static_cast<size_t>(trees.symbol(first + u))];
    }
    int32_t shape(int32_t u) const {
      const int32_t shape = trees.shape(first + u);
      return shape < 0 ? -1 : names.shapes[static_cast<size_t>(shape)];
    }
    int32_t count(int32_t u) const { return trees.count(first + u); }
    int64_t n_children(int32_t u) const { return trees.n_children(first + u); }
    const int32_t* children(int32_t u) const { return trees.children(first + u); }
  };
  struct Stream {
    const InternedTrees& trees;
    int64_t first = 0;
    bool is_leaf(int32_t v) const { return trees.shape(first + v) < 0; }
    int32_t count(int32_t v) const { return trees.count(first + v); }
    const int32_t* children(int32_t v) const { return trees.children(first + v); }
    // Of the single member, at the place `begin`, of a shape.
    const int32_t* child_symbols(const Shape& shape) const {
      return trees.child_symbols(first + shape.begin);
    }
    const int32_t* child_slots(const Shape& shape, int64_t j) const {
      return children(shape.begin) + j;
    }
  };
  // What the engine's features of a stream subtree hold: its slot; and, of the first subtree with a
  // key, the shape or symbol that all of these share.
  struct Features {
    Real slot{0.0}, inner{0.0}, leaf{0.0};
    int64_t n_inner = 0;  // subtrees with the key that are no leaves
    int32_t head = -1;  // the first subtree with the key
    int32_t next = -1;
  };

  // Only subtrees with the same key can match.
  int32_t key(int32_t v) const {
    const int64_t entry = stream_.first + v;
    return partial_ ? stream_.trees.symbol(entry) : stream_.trees.shape(entry);
  }
  int32_t panel_key(int32_t u) const { return partial_ ? panel_.symbol(u) : panel_.shape(u); }

  void chain_stream() {
    features_.assign(static_cast<size_t>(n_stream_), Features());
    for (int32_t v = n_stream_ - 1; v >= 0; --v) {
      if (key(v) < 0) continue;
      int32_t& head = head_[static_cast<size_t>(key(v))];
      features_[static_cast<size_t>(v)].next = head;
      head = v;
    }
    for (int32_t v = 0; v < n_stream_; ++v) {
      if (key(v) < 0) continue;
      Features& own = features_[static_cast<size_t>(v)];
      own.head = head_[static_cast<size_t>(key(v))];
      if (!stream_.is_leaf(v)) features_[static_cast<size_t>(own.head)].n_inner += stream_.count(v);
    }
  }

  void compare_subtree(int32_t u) {
    const int32_t shape = panel_.shape(u);
    const Real count(double(panel_.count(u)));
    if (!partial_ && shape < 0) return;
    const int32_t head = head_[static_cast<size_t>(panel_key(u))];
    if (head < 0) return;
    const Real base = weighted(u, shape < 0 ? leaf_inner_ : inner_base_);
    Features& shared = features_[static_cast<size_t>(head)];
    shared.inner += count * base;
    if (partial_) {
      shared.leaf += count * weighted(u, shape < 0 ? leaf_leaf_ : leaf_inner_);
      if (shape >= 0) sums_.begin(u, *this);
    }
    Real* row = delta(u);
    for (int32_t v = head; v >= 0; v = features_[static_cast<size_t>(v)].next) {
      row[v] = weighted(u, partial_ ? partial_value(shape < 0, v) : subset_value(u, v));
      if (!stream_.is_leaf(v)) features_[static_cast<size_t>(v)].slot += count * (row[v] - base);
    }
    if (partial_ && shape >= 0) sums_.end();
  }

  Real subset_value(int32_t u, int32_t v) const {
    Real value = inner_base_;
    for (int64_t j = 0; j < panel_.n_children(u); ++j) {
      const int32_t child = panel_.children(u)[j];
      if (panel_.shape(child) >= 0) value *= Real(1.0) + delta(child)[stream_.children(v)[j]];
    }
    return value;
  }

  Real partial_value(bool is_leaf, int32_t v) {
    if (stream_.is_leaf(v)) return is_leaf ? leaf_leaf_ : leaf_inner_;
    if (is_leaf) return leaf_inner_;
    Shape shape;
    shape.begin = v;
    shape.n_members = 1;
    shape.arity = static_cast<int32_t>(stream_.trees.n_children(stream_.first + v));
    return sums_.sum_member(shape, 0);
  }

  // The sum over the features of the stream tree, in the order in which the engine lists them.
  // Unchains the stream tree.
  Real add_up() {
    Real sum(0.0);
    for (int32_t v = 0; v < n_stream_; ++v) {
      const Features& own = features_[static_cast<size_t>(v)];
      const Real count(double(stream_.count(v)));
      if (own.head < 0) continue;
      head_[static_cast<size_t>(key(v))] = -1;
      Features& shared = features_[static_cast<size_t>(own.head)];
      if (stream_.is_leaf(v)) {
        sum += shared.leaf * count;
        continue;
      }
      if (shared.n_inner > 0) sum += shared.inner * Real(double(shared.n_inner));
      shared.n_inner = 0;
      sum += own.slot * count;
    }
    return sum;
  }

  Real weighted(int32_t u, Real value) const {
    return nodes_.gated() ? nodes_.weight(panel_.symbol(u)) * value : value;
  }

  friend class ChildSums<Real, ExactNodes<Real>, Panel, Stream>;
  Row<Real> row(int32_t u) const { return {const_cast<Real*>(delta(u)), 0, n_stream_}; }
  Real* delta(int32_t u) { return delta_.data() + int64_t{u} * (n_stream_ + 1); }
  const Real* delta(int32_t u) const { return delta_.data() + int64_t{u} * (n_stream_ + 1); }

  bool partial_;
  CommonNames names_;
  ExactNodes<Real> nodes_;
  Panel panel_;
  Stream stream_;
  ChildSums<Real, ExactNodes<Real>, Panel, Stream> sums_;
  Real decay_, leaf_leaf_, leaf_inner_, inner_base_;
  int32_t n_stream_ = 0;
  Buffer<int32_t> head_;  // by key, -1 for none
  Buffer<Features> features_;
  Buffer<Real> delta_;  // by panel and stream place, with one more column
};

}  // namespace kernelwood
