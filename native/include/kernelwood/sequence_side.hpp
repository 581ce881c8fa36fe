// Two sets of sequences, ready to be compared: names, the elements that can match, and their
// weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/element_matching.hpp"
#include "kernelwood/engine.hpp"
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
  Buffer<Weight> up, down;
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
        elements_((add(panel, panel_), stream ? add(*stream, other_) : void(), labels), names_) {
    measure(panel_, stop);
    if (stream) measure(other_, stop);
    keep_matching();
  }

  // A panel that came later, for the stream of `prepared`; `alone` has it as its own panel.
  SequenceSides(const SequenceSides& prepared, const SequenceArrays& panel,
                const SequenceSides& alone)
      : decay_(prepared.decay_), symmetric_(false), prepared_(&prepared), names_(&prepared.names_),
        elements_(prepared.elements_) {
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

  // Longer ones never take the vectorised form.
  static constexpr int64_t longest_short = Elements::soft ? 256 : 2048;

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
      bool is_long = std::is_same_v<Real, Scaled> || span.size > longest_short;
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

  void weigh(SequenceSide<Real>& side, const Buffer<uint8_t>& keep) const {
    Buffer<double> powers{1.0};
    for (int64_t s = 0; s < side.size(); ++s) {
      const NameSpan span = side.span(s);
      for (int64_t i = 0; i < span.size && !side.is_long[static_cast<size_t>(s)]; ++i) {
        const int32_t name = span.data[i];
        if (!keep[static_cast<size_t>(names_.symbol(name))] || !elements_.visible(name)) continue;
        while (powers.size() <= static_cast<size_t>(i)) powers.push_back(powers.back() * decay_);
        side.kept.push_back(name);
        side.up.push_back(static_cast<Output<Real>>(1.0 / powers[static_cast<size_t>(i)]));
        side.down.push_back(static_cast<Output<Real>>(powers[static_cast<size_t>(i)]));
      }
      side.kept_begin.push_back(static_cast<int64_t>(side.kept.size()));
    }
  }

  double decay_;
  bool symmetric_;
  const SequenceSides* prepared_ = nullptr;
  SequenceSide<Real> panel_, other_;
  NameTable names_;
  Elements elements_;
};

}  // namespace kernelwood
