// Two sets of sequences, ready to be compared: names, the elements that can match, and their
// weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/element_matching.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/sequence_blocks.hpp"
#include "kernelwood/sequence_plain.hpp"

namespace kernelwood {

struct SequenceArrays {
  const int64_t* offsets;
  int64_t n_sequences;
  const int32_t* labels;
  const int32_t* edges;
};

struct SequenceParameters {
  double decay = 0.8;
  int64_t max_length = 0;  // 0: all lengths
  double heaviest = 1.0;   // bound of the matches of two elements, whichever are compared
};

// Matches of two sequences where labels match exactly.
template <class Elements>
class EqualNames {
 public:
  EqualNames(const Elements& elements, NameSpan a, NameSpan b)
      : elements_(elements), a_(a), b_(b) {}
  void begin_row(int64_t i) {
    name_ = a_.data[i];
    weight_ = elements_.weight(name_);
  }
  double operator()(int64_t j) const { return b_.data[j] == name_ ? weight_ : 0.0; }

 private:
  const Elements& elements_;
  NameSpan a_, b_;
  int32_t name_ = 0;
  double weight_ = 1.0;
};

// One side: all names, and the kept elements (those that can match) with their weights.
template <class Real>
struct SequenceSide {
  using Weight = Output<Real>;
  Buffer<int64_t> begin{0}, kept_begin{0};
  Buffer<int32_t> names, kept;
  Buffer<Weight> up, down;  // of the kept elements of short sequences
  Buffer<int32_t> positions;            // of kept elements, and their weights in blocks; only if
  Buffer<double> block_up, block_down;  // there are long sequences
  Buffer<uint8_t> is_long;
  Buffer<double> self;  // exact matching: all-lengths self-similarity of the short ones

  int64_t size() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t kept_length(int64_t s) const {
    return kept_begin[static_cast<size_t>(s) + 1] - kept_begin[static_cast<size_t>(s)];
  }
  NameSpan span(int64_t s) const {
    const int64_t at = begin[static_cast<size_t>(s)];
    return {names.data() + at, begin[static_cast<size_t>(s) + 1] - at};
  }
};

// The panel side and the stream side; without a stream the panel is both.
template <class Real, class Elements>
class SequenceSides {
 public:
  using Matching = LabelMatching<Output<Real>>;

  SequenceSides(const SequenceParameters& parameters, const Matching& labels,
                const SequenceArrays& panel, const SequenceArrays* stream, StopFlag stop)
      : decay_(parameters.decay), symmetric_(stream == nullptr), names_(labels.groups),
        elements_((add(panel, panel_), stream ? add(*stream, other_) : void(), labels), names_),
        scale_(decay_, parameters.max_length, parameters.heaviest) {
    measure(panel_, stop);
    if (stream) measure(other_, stop);
    in_blocks_ = scale_.serves() && (has_long(panel_) || has_long(other_));
    keep_matching();
  }

  // A panel that came later, for the stream of `prepared`; `alone` has it as its own panel.
  SequenceSides(const SequenceSides& prepared, const SequenceArrays& panel,
                const SequenceSides& alone)
      : decay_(prepared.decay_), symmetric_(false), in_blocks_(prepared.in_blocks_),
        prepared_(&prepared), names_(&prepared.names_), elements_(prepared.elements_),
        scale_(prepared.scale_) {
    add(panel, panel_);
    panel_.self = alone.panel_.self;
    panel_.is_long = alone.panel_.is_long;
    Buffer<uint8_t> keep(static_cast<size_t>(names_.n_symbols()), 0);
    std::fill_n(keep.begin(), prepared.names_.n_symbols(), uint8_t{1});
    weigh(panel_, keep);
  }

  const SequenceSide<Real>& panel() const { return panel_; }
  const SequenceSide<Real>& stream() const {
    return symmetric_ ? panel_ : prepared_ ? prepared_->other_ : other_;
  }
  const NameTable& names() const { return names_; }
  const Elements& elements() const { return elements_; }
  // Long sequences are compared in blocks, if these serve.
  const BlockScale& scale() const { return scale_; }
  // Whether elements have weights for blocks.
  bool in_blocks() const { return in_blocks_; }

  // Longer ones are never short. Blocks are as fast as one tile that fits a cache.
  static constexpr int64_t longest_short = Elements::soft ? 256 : 2048;
  static constexpr int64_t longest_tile = 128;

 private:
  // log2 of what one side may contribute to a rescaled sum: two sides stay within the range.
  static constexpr double short_limit = sizeof(Real) == 4 ? 60.0 : 500.0;

  void add(const SequenceArrays& arrays, SequenceSide<Real>& side) {
    const int64_t base = arrays.offsets[0];
    for (int64_t s = 0; s < arrays.n_sequences; ++s)
      side.begin.push_back(arrays.offsets[s + 1] - base);
    for (int64_t e = base; e < arrays.offsets[arrays.n_sequences]; ++e)
      side.names.push_back(names_.intern(arrays.edges[e], arrays.labels[e]));
  }

  // Which sequences are short enough for the vectorised form. Exact matching has a bound for the
  // sums, the self-similarities; soft matching has none, so that sums which overflow must be seen
  // in the result.
  void measure(SequenceSide<Real>& side, StopFlag stop) const {
    Buffer<double> table;
    for (int64_t s = 0; s < side.size(); ++s) {
      if (stop.raised()) throw Stopped();
      const NameSpan span = side.span(s);
      double self = 0.0, bits = 0.0;
      bool is_long = std::is_same_v<Real, Scaled> ||
                     span.size > (scale_.serves() ? longest_tile : longest_short);
      if (!is_long && span.size > 0) {
        if constexpr (!Elements::soft) {
          self = plain_all_lengths<double>(span, span, EqualNames<Elements>(elements_, span, span),
                                           decay_, table, StopFlag(nullptr));
          bits = 0.5 * std::log2(self);
        }
        is_long = !(bits - static_cast<double>(span.size) * std::log2(decay_) < short_limit);
      }
      side.self.push_back(self);
      side.is_long.push_back(is_long);
    }
  }

  static bool has_long(const SequenceSide<Real>& side) {
    return std::find(side.is_long.begin(), side.is_long.end(), 1) != side.is_long.end();
  }

  // An element is kept if another sequence (of the other side, or of the same) has its symbol, or
  // if the panel is to come later.
  void keep_matching() {
    const auto n_symbols = static_cast<size_t>(names_.n_symbols());
    const bool unknown = !symmetric_ && panel_.size() == 0;
    Buffer<int64_t> first(n_symbols, -1);
    Buffer<uint8_t> in_panel(n_symbols, 0), keep(n_symbols, unknown);
    for (int64_t s = 0; s < panel_.size(); ++s)
      for (int64_t e = panel_.begin[static_cast<size_t>(s)];
           e < panel_.begin[static_cast<size_t>(s) + 1]; ++e) {
        const auto symbol =
            static_cast<size_t>(names_.symbol(panel_.names[static_cast<size_t>(e)]));
        in_panel[symbol] = 1;
        if (first[symbol] < 0) first[symbol] = s;
        if (symmetric_ && first[symbol] != s) keep[symbol] = 1;
      }
    for (const int32_t name : other_.names) {
      const auto symbol = static_cast<size_t>(names_.symbol(name));
      if (in_panel[symbol]) keep[symbol] = 1;
    }
    weigh(panel_, keep);
    if (!symmetric_) weigh(other_, keep);
  }

  void weigh(SequenceSide<Real>& side, const Buffer<uint8_t>& keep) {
    Buffer<double> powers{1.0};
    for (int64_t s = 0; s < side.size(); ++s) {
      const NameSpan span = side.span(s);
      const bool is_long = side.is_long[static_cast<size_t>(s)];
      if (in_blocks_) scale_.reach(span.size);
      for (int64_t i = 0; i < span.size && (in_blocks_ || !is_long); ++i) {
        const int32_t name = span.data[i];
        if (!keep[static_cast<size_t>(names_.symbol(name))] || !elements_.visible(name)) continue;
        while (!is_long && powers.size() <= static_cast<size_t>(i))
          powers.push_back(powers.back() * decay_);
        const double power = is_long ? 1.0 : powers[static_cast<size_t>(i)];
        side.kept.push_back(name);
        side.up.push_back(static_cast<Output<Real>>(1.0 / power));
        side.down.push_back(static_cast<Output<Real>>(power));
        if (!in_blocks_) continue;
        side.positions.push_back(static_cast<int32_t>(i));
        side.block_up.push_back(scale_.up(i));
        side.block_down.push_back(scale_.down(i));
      }
      side.kept_begin.push_back(static_cast<int64_t>(side.kept.size()));
    }
  }

  double decay_;
  bool symmetric_, in_blocks_ = false;
  const SequenceSides* prepared_ = nullptr;
  SequenceSide<Real> panel_, other_;
  NameTable names_;
  Elements elements_;
  BlockScale scale_;
};

}  // namespace kernelwood
