// Blocks of subsequence kernel values (SPEC: "subsequence / path kernel").
//
// Short sequences go through the vectorised prefix-sum form (sequence_panel.hpp). Where its
// rescaling by decay^-(i+j) could overflow, and for extended range, pairs are computed one by one
// with the plain recurrence. Which form a pair takes depends on the pair alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernelwood/engine.hpp"
#include "kernelwood/interning.hpp"
#include "kernelwood/sequence_panel.hpp"

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

struct SymbolSpan {
  const int32_t* data;
  int64_t size;
};

// The textbook recurrence without subtraction: P(a,b) = decay P(a-1,b) + run(a,b),
// run(a,b) = decay run(a,b-1) + D(a,b), D(a,b) = [match] (1 + decay^2 P(a-1,b-1)).
template <class Real>
Real plain_all_lengths(SymbolSpan a, SymbolSpan b, Real decay, std::vector<Real>& table) {
  table.assign(static_cast<size_t>(b.size), Real(0.0));
  const Real squared = decay * decay;
  Real total(0.0);
  for (int64_t i = 0; i < a.size; ++i) {
    Real run(0.0), diagonal(0.0);
    for (int64_t j = 0; j < b.size; ++j) {
      const Real above = table[static_cast<size_t>(j)];
      run *= decay;
      if (a.data[i] == b.data[j]) {
        const Real value = Real(1.0) + squared * diagonal;
        run += value;
        total += value;
      }
      table[static_cast<size_t>(j)] = decay * above + run;
      diagonal = above;
    }
  }
  return total;
}

// The same by layers of subsequence length.
template <class Real>
Real plain_bounded(SymbolSpan a, SymbolSpan b, Real decay, int64_t max_length,
                   std::vector<Real>& table) {
  const int64_t layers = std::min(max_length, std::min(a.size, b.size));
  table.assign(static_cast<size_t>(layers * b.size), Real(0.0));
  const Real squared = decay * decay;
  Real total(0.0);
  for (int64_t i = 0; i < a.size; ++i)
    for (int64_t l = layers - 1; l >= 0; --l) {
      Real* line = table.data() + l * b.size;
      const Real* below = line - b.size;
      Real run(0.0);
      for (int64_t j = 0; j < b.size; ++j) {
        run *= decay;
        if (a.data[i] == b.data[j]) {
          const Real value = l == 0 ? Real(1.0) : j == 0 ? Real(0.0) : squared * below[j - 1];
          run += value;
          total += value;
        }
        line[j] = decay * line[j] + run;
      }
    }
  return total;
}

// One side: all symbols, and the kept elements (those that can match) with their weights.
template <class Real>
struct SequenceSide {
  using Weight = Output<Real>;
  std::vector<int64_t> begin{0}, kept_begin{0};
  std::vector<int32_t> symbols, kept;
  std::vector<Weight> up, down;
  std::vector<uint8_t> is_long;
  std::vector<double> self;  // all-lengths self-similarity of the short ones

  int64_t size() const { return static_cast<int64_t>(begin.size()) - 1; }
  int64_t kept_length(int64_t s) const {
    return kept_begin[static_cast<size_t>(s) + 1] - kept_begin[static_cast<size_t>(s)];
  }
  SymbolSpan span(int64_t s) const {
    const int64_t at = begin[static_cast<size_t>(s)];
    return {symbols.data() + at, begin[static_cast<size_t>(s) + 1] - at};
  }
};

template <class Real>
class SequenceEngine {
 public:
  static constexpr int lanes = std::is_same_v<Real, Scaled> ? 1 : sequence_lanes<Real>;
  // Plain pairs in double even for float results, since float tables lose digits.
  using Plain = std::conditional_t<std::is_same_v<Real, Scaled>, Scaled, double>;

  SequenceEngine(const SequenceParameters& parameters, const SequenceArrays& panel,
                 const SequenceArrays* stream)
      : parameters_(parameters), symmetric_(stream == nullptr) {
    KeyInterner symbols;
    add(panel, symbols, panel_);
    if (stream) add(*stream, symbols, other_);
    n_symbols_ = symbols.size();
    keep_matching();
    order_.resize(static_cast<size_t>(panel_.size()));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) {
      const bool long_a = panel_.is_long[static_cast<size_t>(a)], long_b = panel_.is_long[static_cast<size_t>(b)];
      return long_a != long_b ? long_b : panel_.kept_length(a) < panel_.kept_length(b);
    });
    n_short_ = std::count(panel_.is_long.begin(), panel_.is_long.end(), 0);
  }

  // Panels of short sequences first, then one panel for each long one.
  int64_t n_panels() const { return n_short_panels() + panel_.size() - n_short_; }

  int64_t n_panel() const { return panel_.size(); }
  int64_t n_stream() const { return stream().size(); }

  void gram(int64_t panel_begin, int64_t panel_end, Results<Real> out, StopFlag stop) const {
    Work work(*this);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      const int64_t first = first_of(p);
      compare(work, p, order_.data() + first, panel_.size() - first, stop,
              [&](int32_t s, int32_t t, Output<Real> value) {
                if (s == t) value = self_similarity(work, s);
                out.row(std::max(s, t))[std::min(s, t)] = value;
              });
    }
  }

  void cross(int64_t panel_begin, int64_t panel_end, int64_t stream_begin, int64_t stream_end,
             Results<Real> out, StopFlag stop) const {
    Work work(*this);
    std::vector<int32_t> visited(static_cast<size_t>(stream_end - stream_begin));
    std::iota(visited.begin(), visited.end(), static_cast<int32_t>(stream_begin));
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p)
      compare(work, p, visited.data(), stream_end - stream_begin, stop,
              [&](int32_t s, int32_t t, Output<Real> value) {
                out.row(s - stream_begin)[t] = value;
              });
  }

  void diagonal(Output<Real>* out) const {
    Work work(*this);
    for (int64_t s = 0; s < panel_.size(); ++s) out[s] = self_similarity(work, static_cast<int32_t>(s));
  }

 private:
  static constexpr int64_t stream_chunk = 256;
  static constexpr int64_t longest_short = 2048;
  // log2 of what one side may contribute to a rescaled sum; two sides stay far below the range.
  static constexpr double short_limit = sizeof(Real) == 4 ? 50.0 : 450.0;

  struct Work {
    explicit Work(const SequenceEngine& engine) : present(engine.n_symbols_ / 64 + 1, 0) {}
    std::vector<uint64_t> present;
    std::vector<typename SequencePanel<Output<Real>>::Int> symbols;
    std::vector<Output<Real>> up, down, sums, values;
    std::vector<int32_t> short_stream;
    std::vector<Plain> table;
  };

  const SequenceSide<Real>& stream() const { return symmetric_ ? panel_ : other_; }
  int64_t n_short_panels() const { return (n_short_ + lanes - 1) / lanes; }
  int64_t first_of(int64_t p) const {
    return p < n_short_panels() ? p * lanes : n_short_ + p - n_short_panels();
  }
  int64_t width_of(int64_t p) const {
    return p < n_short_panels() ? std::min<int64_t>(lanes, n_short_ - p * lanes) : 1;
  }

  void add(const SequenceArrays& arrays, KeyInterner& symbols, SequenceSide<Real>& side) const {
    const int64_t base = arrays.offsets[0];
    for (int64_t s = 0; s < arrays.n_sequences; ++s)
      side.begin.push_back(arrays.offsets[s + 1] - base);
    for (int64_t e = base; e < arrays.offsets[arrays.n_sequences]; ++e)
      side.symbols.push_back(
          symbols.intern((static_cast<uint64_t>(static_cast<uint32_t>(arrays.edges[e])) << 32) |
                         static_cast<uint32_t>(arrays.labels[e])));
    std::vector<double> table;
    for (int64_t s = 0; s < side.size(); ++s) {
      const SymbolSpan span = side.span(s);
      double self = 0.0;
      bool is_long = std::is_same_v<Real, Scaled> || span.size > longest_short;
      if (!is_long && span.size > 0) {
        self = plain_all_lengths<double>(span, span, parameters_.decay, table);
        is_long = !(0.5 * std::log2(self) -
                        static_cast<double>(span.size) * std::log2(parameters_.decay) <
                    short_limit);
      }
      side.self.push_back(self);
      side.is_long.push_back(is_long);
    }
  }

  // An element is kept if another sequence (of the other side, or of the same) has its symbol.
  void keep_matching() {
    std::vector<int64_t> first(n_symbols_, -1);
    std::vector<uint8_t> in_panel(n_symbols_, 0), keep(n_symbols_, 0);
    for (int64_t s = 0; s < panel_.size(); ++s)
      for (int64_t e = panel_.begin[static_cast<size_t>(s)]; e < panel_.begin[static_cast<size_t>(s) + 1]; ++e) {
        const auto symbol = static_cast<size_t>(panel_.symbols[static_cast<size_t>(e)]);
        in_panel[symbol] = 1;
        if (first[symbol] < 0) first[symbol] = s;
        if (symmetric_ && first[symbol] != s) keep[symbol] = 1;
      }
    for (const int32_t symbol : other_.symbols)
      if (in_panel[static_cast<size_t>(symbol)]) keep[static_cast<size_t>(symbol)] = 1;
    weigh(panel_, keep);
    if (!symmetric_) weigh(other_, keep);
  }

  void weigh(SequenceSide<Real>& side, const std::vector<uint8_t>& keep) const {
    std::vector<double> powers{1.0};
    for (int64_t s = 0; s < side.size(); ++s) {
      const SymbolSpan span = side.span(s);
      for (int64_t i = 0; i < span.size && !side.is_long[static_cast<size_t>(s)]; ++i) {
        if (!keep[static_cast<size_t>(span.data[i])]) continue;
        while (powers.size() <= static_cast<size_t>(i))
          powers.push_back(powers.back() * parameters_.decay);
        side.kept.push_back(span.data[i]);
        side.up.push_back(static_cast<Output<Real>>(1.0 / powers[static_cast<size_t>(i)]));
        side.down.push_back(static_cast<Output<Real>>(powers[static_cast<size_t>(i)]));
      }
      side.kept_begin.push_back(static_cast<int64_t>(side.kept.size()));
    }
  }

  Output<Real> self_similarity(Work& work, int32_t s) const {
    const SymbolSpan span = panel_.span(s);
    if (parameters_.max_length == 0 && !panel_.is_long[static_cast<size_t>(s)])
      return static_cast<Output<Real>>(panel_.self[static_cast<size_t>(s)]);
    return plain(work, span, span);
  }

  Output<Real> plain(Work& work, SymbolSpan a, SymbolSpan b) const {
    const Plain decay(parameters_.decay);
    const Plain value = parameters_.max_length == 0
                            ? plain_all_lengths<Plain>(a, b, decay, work.table)
                            : plain_bounded<Plain>(a, b, decay, parameters_.max_length, work.table);
    return static_cast<Output<Real>>(output(value));
  }

  // Shows put(stream sequence, panel sequence, value) every pair of a panel and a stream list.
  template <class Put>
  void compare(Work& work, int64_t p, const int32_t* visited, int64_t n, StopFlag stop,
               Put&& put) const {
    const bool long_panel = p >= n_short_panels();
    const int64_t first = first_of(p), width = width_of(p);
    work.short_stream.clear();
    for (int64_t k = 0; k < n; ++k) {
      if (stop.raised()) return;
      const int32_t s = visited[k];
      if (!long_panel && !stream().is_long[static_cast<size_t>(s)]) {
        work.short_stream.push_back(s);
        continue;
      }
      for (int64_t i = first; i < first + width; ++i) {
        const int32_t t = order_[static_cast<size_t>(i)];
        put(s, t, plain(work, stream().span(s), panel_.span(t)));
      }
    }
    if constexpr (!std::is_same_v<Real, Scaled>) {
      if (!work.short_stream.empty()) compare_short(work, first, width, stop, put);
    }
  }

  template <class Put>
  void compare_short(Work& work, int64_t first, int64_t width, StopFlag stop, Put&& put) const {
    SequencePanel<Real> job = lay_out(work, first, width);
    const auto n = static_cast<int64_t>(work.short_stream.size());
    work.values.resize(static_cast<size_t>(stream_chunk) * lanes);
    job.out = work.values.data();
    for (int64_t k0 = 0; k0 < n && !stop.raised(); k0 += stream_chunk) {
      job.order = work.short_stream.data() + k0;
      job.n_stream = std::min(stream_chunk, n - k0);
      compare_panel(job);
      for (int64_t k = 0; k < job.n_stream; ++k)
        for (int64_t lane = 0; lane < width; ++lane)
          put(job.order[k], order_[static_cast<size_t>(first + lane)],
              job.out[k * lanes + lane]);
    }
    for (uint64_t& word : work.present) word = 0;
  }

  // Writes the kept elements of a panel lane by lane, padded with a symbol that matches nothing.
  SequencePanel<Real> lay_out(Work& work, int64_t first, int64_t width) const {
    int64_t length = 0;
    for (int64_t i = first; i < first + width; ++i)
      length = std::max(length, panel_.kept_length(order_[static_cast<size_t>(i)]));
    const auto cells = static_cast<size_t>(length) * lanes;
    work.symbols.assign(cells, -1);
    work.up.assign(cells, Real(0));
    work.down.assign(cells, Real(0));
    const int64_t layers = std::max<int64_t>(1, std::min(parameters_.max_length, length));
    work.sums.resize(cells * static_cast<size_t>(layers));
    for (int64_t lane = 0; lane < width; ++lane) {
      const auto t = static_cast<size_t>(order_[static_cast<size_t>(first + lane)]);
      for (int64_t e = panel_.kept_begin[t]; e < panel_.kept_begin[t + 1]; ++e) {
        const auto at = static_cast<size_t>((e - panel_.kept_begin[t]) * lanes + lane);
        const auto symbol = static_cast<uint32_t>(panel_.kept[static_cast<size_t>(e)]);
        work.symbols[at] = static_cast<int32_t>(symbol);
        work.up[at] = panel_.up[static_cast<size_t>(e)];
        work.down[at] = panel_.down[static_cast<size_t>(e)];
        work.present[symbol >> 6] |= uint64_t{1} << (symbol & 63);
      }
    }
    const SequenceSide<Real>& side = stream();
    return {length, work.symbols.data(), work.up.data(), work.down.data(), work.present.data(),
            side.kept_begin.data(), side.kept.data(), side.up.data(), side.down.data(),
            nullptr, 0, std::min(parameters_.max_length, length), work.sums.data(), nullptr};
  }

  SequenceParameters parameters_;
  bool symmetric_;
  SequenceSide<Real> panel_, other_;
  std::vector<int32_t> order_;
  size_t n_symbols_ = 0;
  int64_t n_short_ = 0;
};

}  // namespace kernelwood
