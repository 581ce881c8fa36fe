// Blocks of subsequence kernel values (SPEC: "subsequence / path kernel").
//
// Short sequences go through the vectorised prefix-sum form (sequence_panel.hpp). Where its
// rescaling by decay^-(i+j) could overflow, and for extended range, pairs are computed one by one
// with the plain recurrence. Which form a pair takes depends on the pair alone.
#pragma once

#include <algorithm>
#include <cmath>
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
  static constexpr int lanes = sequence_lanes<Output<Real>>;
  // Plain pairs in double even for float results, since float tables lose digits.
  using Plain = std::conditional_t<std::is_same_v<Real, Scaled>, Scaled, double>;

  SequenceEngine(const SequenceParameters& parameters, const SequenceArrays& panel,
                 const SequenceArrays* stream)
      : parameters_(parameters), symmetric_(stream == nullptr) {
    SymbolInterner symbols;
    add(panel, symbols, panel_);
    if (stream) add(*stream, symbols, other_);
    n_symbols_ = symbols.size();
    keep_matching();
    split(panel_, short_, long_);
    split(this->stream(), short_stream_, long_stream_);
  }

  // Windows of short sequences first, then one unit for each long one.
  int64_t n_panels() const { return n_windows() + static_cast<int64_t>(long_.size()); }
  int64_t n_panel() const { return panel_.size(); }
  int64_t n_stream() const { return stream().size(); }

  void gram(int64_t panel_begin, int64_t panel_end, Results<Real> out, StopFlag stop) const {
    Work work(*this);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        lay_out_window(work, p);
        gram_inside(work, out);
        compare_window(work, short_.data() + work.end, n_short() - work.end, out, 0, stop);
        continue;
      }
      const auto at = static_cast<size_t>(p - n_windows());
      const int32_t t = long_[at];
      for (const int32_t s : short_) compare_plain(work, s, t, stop, out);
      for (size_t later = at; later < long_.size(); ++later)
        compare_plain(work, long_[later], t, stop, out);
    }
  }

  void cross(int64_t panel_begin, int64_t panel_end, int64_t stream_begin, int64_t stream_end,
             Results<Real> out, StopFlag stop) const {
    Work work(*this);
    const auto inside = [&](const std::vector<int32_t>& all) {
      return std::make_pair(std::lower_bound(all.begin(), all.end(), stream_begin),
                            std::lower_bound(all.begin(), all.end(), stream_end));
    };
    const auto shorts = inside(short_stream_), longs = inside(long_stream_);
    const auto plain_pair = [&](int32_t s, int32_t t) {
      if (!stop.raised())
        out.row(s - stream_begin)[t] = plain(work, stream().span(s), panel_.span(t));
    };
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        lay_out_window(work, p);
        compare_window(work, short_stream_.data() + (shorts.first - short_stream_.begin()),
                       shorts.second - shorts.first, out, stream_begin, stop);
        for (auto s = longs.first; s != longs.second; ++s)
          for (int64_t i = work.begin; i < work.end; ++i)
            plain_pair(*s, short_[static_cast<size_t>(i)]);
      } else {
        const int32_t t = long_[static_cast<size_t>(p - n_windows())];
        for (int64_t s = stream_begin; s < stream_end; ++s) plain_pair(static_cast<int32_t>(s), t);
      }
    }
  }

  void diagonal(Output<Real>* out) const {
    Work work(*this);
    for (int64_t s = 0; s < panel_.size(); ++s) out[s] = self_similarity(work, static_cast<int32_t>(s));
  }

 private:
  static constexpr int64_t window = 128;      // panel sequences laid out at a time
  static constexpr int64_t stream_chunk = 64;
  static constexpr int64_t longest_short = 2048;
  // log2 of what one side may contribute to a rescaled sum; two sides stay far below the range.
  static constexpr double short_limit = sizeof(Real) == 4 ? 50.0 : 450.0;
  using Number = Output<Real>;

  // One group of lanes of a window.
  struct Panel {
    int64_t length = 0;
    std::vector<typename SequencePanel<Number>::Int> symbols;
    std::vector<Number> up, down;
    std::vector<ColumnRange> columns_of;  // by symbol
    std::vector<int32_t> columns;
  };
  struct Work {
    explicit Work(const SequenceEngine&) : panels(window / lanes) {}
    int64_t begin = 0, end = 0;              // the window, in short_
    std::vector<int32_t> sorted;             // its sequences by length
    std::vector<int32_t> lane_of;            // where each of them went
    std::vector<Panel> panels;
    std::vector<std::pair<int32_t, int32_t>> cells;  // (symbol, column) of a panel
    std::vector<int32_t> present;
    std::vector<Number> tables, values;
    std::vector<Plain> table;
  };

  const SequenceSide<Real>& stream() const { return symmetric_ ? panel_ : other_; }
  int64_t n_short() const { return static_cast<int64_t>(short_.size()); }
  int64_t n_windows() const { return (n_short() + window - 1) / window; }

  static void split(const SequenceSide<Real>& side, std::vector<int32_t>& shorts,
                    std::vector<int32_t>& longs) {
    for (int64_t s = 0; s < side.size(); ++s)
      (side.is_long[static_cast<size_t>(s)] ? longs : shorts).push_back(static_cast<int32_t>(s));
  }

  void add(const SequenceArrays& arrays, SymbolInterner& symbols, SequenceSide<Real>& side) const {
    const int64_t base = arrays.offsets[0];
    for (int64_t s = 0; s < arrays.n_sequences; ++s)
      side.begin.push_back(arrays.offsets[s + 1] - base);
    for (int64_t e = base; e < arrays.offsets[arrays.n_sequences]; ++e)
      side.symbols.push_back(
          symbols.intern(arrays.edges[e], arrays.labels[e]));
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

  void compare_plain(Work& work, int32_t s, int32_t t, StopFlag stop, Results<Real> out) const {
    if (!stop.raised())
      out.row(std::max(s, t))[std::min(s, t)] = plain(work, panel_.span(s), panel_.span(t));
  }

  // Lays the kept elements of a window out, lane by lane, in order of length, padded with a
  // symbol that matches nothing.
  void lay_out_window(Work& work, int64_t w) const {
    work.begin = w * window;
    work.end = std::min(work.begin + window, n_short());
    work.sorted.assign(short_.begin() + work.begin, short_.begin() + work.end);
    std::stable_sort(work.sorted.begin(), work.sorted.end(), [&](int32_t a, int32_t b) {
      return panel_.span(a).size < panel_.span(b).size;
    });
    work.lane_of.resize(work.sorted.size());
    for (size_t i = 0; i < work.sorted.size(); ++i) {
      const auto at = std::lower_bound(short_.begin() + work.begin, short_.begin() + work.end,
                                       work.sorted[i]);
      work.lane_of[static_cast<size_t>(at - short_.begin() - work.begin)] = static_cast<int32_t>(i);
    }
    for (size_t first = 0; first < work.sorted.size(); first += lanes)
      lay_out_panel(work, first, work.panels[first / lanes]);
  }

  void lay_out_panel(Work& work, size_t first, Panel& panel) const {
    const size_t width = std::min<size_t>(lanes, work.sorted.size() - first);
    panel.length = 0;
    for (size_t lane = 0; lane < width; ++lane)
      panel.length = std::max(panel.length, panel_.kept_length(work.sorted[first + lane]));
    const auto n_cells = static_cast<size_t>(panel.length) * lanes;
    panel.symbols.assign(n_cells, -1);
    panel.up.assign(n_cells, 0);
    panel.down.assign(n_cells, 0);
    work.cells.clear();
    for (size_t lane = 0; lane < width; ++lane) {
      const auto t = static_cast<size_t>(work.sorted[first + lane]);
      for (int64_t e = panel_.kept_begin[t]; e < panel_.kept_begin[t + 1]; ++e) {
        const auto column = static_cast<int32_t>(e - panel_.kept_begin[t]);
        const size_t at = static_cast<size_t>(column) * lanes + lane;
        panel.symbols[at] = panel_.kept[static_cast<size_t>(e)];
        panel.up[at] = panel_.up[static_cast<size_t>(e)];
        panel.down[at] = panel_.down[static_cast<size_t>(e)];
        work.cells.emplace_back(panel_.kept[static_cast<size_t>(e)], column);
      }
    }
    list_columns(work, panel);
  }

  // For each symbol of the panel, the columns in which some lane has it.
  void list_columns(Work& work, Panel& panel) const {
    std::sort(work.cells.begin(), work.cells.end());
    work.cells.erase(std::unique(work.cells.begin(), work.cells.end()), work.cells.end());
    panel.columns.clear();
    panel.columns_of.assign(n_symbols_, {});
    for (const auto& cell : work.cells) {
      ColumnRange& range = panel.columns_of[static_cast<size_t>(cell.first)];
      const auto at = static_cast<int32_t>(panel.columns.size());
      if (range.begin == range.end) range.begin = at;
      range.end = at + 1;
      panel.columns.push_back(cell.second);
    }
  }

  // Some stream sequences against one panel of the window: out is (n, lanes).
  void compare_lanes(Work& work, const Panel& panel, const int32_t* visited, int64_t n,
                     Number* out, int64_t stride) const {
    if constexpr (!std::is_same_v<Real, Scaled>) {
      const int64_t layers = std::min(parameters_.max_length, panel.length);
      work.tables.resize(panel.symbols.size() * static_cast<size_t>(std::max<int64_t>(1, layers)));
      work.present.resize(static_cast<size_t>(longest_short) + 1);
      const SequenceSide<Real>& side = stream();
      compare_panel(SequencePanel<Real>{
          panel.length, panel.symbols.data(), panel.up.data(), panel.down.data(),
          panel.columns_of.data(), panel.columns.data(), side.kept_begin.data(), side.kept.data(),
          side.up.data(), side.down.data(), visited, n, layers, work.present.data(),
          work.tables.data(), out, stride});
    }
  }

  // Pairs inside the window: every sequence against those not shorter.
  void gram_inside(Work& work, Results<Real> out) const {
    work.values.resize(static_cast<size_t>(window) * lanes);
    const auto n = static_cast<int64_t>(work.sorted.size());
    for (int64_t first = 0; first < n; first += lanes) {
      compare_lanes(work, work.panels[static_cast<size_t>(first / lanes)],
                    work.sorted.data() + first, n - first, work.values.data(), lanes);
      for (int64_t k = first; k < n; ++k)
        for (int64_t lane = 0; lane < lanes && first + lane < k; ++lane) {
          const int32_t s = work.sorted[static_cast<size_t>(k)];
          const int32_t t = work.sorted[static_cast<size_t>(first + lane)];
          out.row(std::max(s, t))[std::min(s, t)] =
              work.values[static_cast<size_t>((k - first) * lanes + lane)];
        }
    }
    for (const int32_t s : work.sorted) out.row(s)[s] = self_similarity(work, s);
  }

  // The window against stream sequences outside it, a chunk at a time, written row by row.
  void compare_window(Work& work, const int32_t* visited, int64_t n, Results<Real> out,
                      int64_t first_row, StopFlag stop) const {
    work.values.resize(static_cast<size_t>(stream_chunk) * window);
    const auto width = static_cast<int64_t>(work.sorted.size());
    for (int64_t k0 = 0; k0 < n && !stop.raised(); k0 += stream_chunk) {
      const int64_t n_chunk = std::min(stream_chunk, n - k0);
      for (int64_t first = 0; first < width; first += lanes)
        compare_lanes(work, work.panels[static_cast<size_t>(first / lanes)], visited + k0, n_chunk,
                      work.values.data() + first, window);
      for (int64_t k = 0; k < n_chunk; ++k) {
        const Number* values = work.values.data() + k * window;
        Number* row = out.row(visited[k0 + k] - first_row);
        for (int64_t i = 0; i < width; ++i)
          row[short_[static_cast<size_t>(work.begin + i)]] = values[work.lane_of[static_cast<size_t>(i)]];
      }
    }
  }

  SequenceParameters parameters_;
  bool symmetric_;
  SequenceSide<Real> panel_, other_;
  std::vector<int32_t> short_, long_, short_stream_, long_stream_;
  size_t n_symbols_ = 0;
};

}  // namespace kernelwood
