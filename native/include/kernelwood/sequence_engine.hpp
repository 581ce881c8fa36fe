// Blocks of subsequence kernel values (SPEC: "subsequence / path kernel").
//
// Short sequences go through the vectorised prefix-sum form (sequence_panel.hpp). Where its
// rescaling by decay^-(i+j) could overflow, and for extended range, pairs are computed one by one
// with the plain recurrence. Which form a pair takes depends on the pair alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/sequence_window.hpp"

namespace kernelwood {

template <class Real>
class SequenceEngine {
 public:
  static constexpr int lanes = sequence_lanes<Output<Real>>;
  // Plain pairs in double even for float results, since float tables lose digits.
  using Plain = std::conditional_t<std::is_same_v<Real, Scaled>, Scaled, double>;

  SequenceEngine(const SequenceParameters& parameters, const SequenceArrays& panel,
                 const SequenceArrays* stream, StopFlag stop)
      : parameters_(parameters), sides_(parameters, panel, stream, stop) {
    split(this->panel(), short_, long_);
    split(this->stream(), short_stream_, long_stream_);
  }

  // Windows of short sequences first, then one unit for each long one.
  int64_t n_panels() const { return n_windows() + static_cast<int64_t>(long_.size()); }
  int64_t n_panel() const { return panel().size(); }
  int64_t n_stream() const { return stream().size(); }

  void gram(int64_t panel_begin, int64_t panel_end, Results<Real> out, StopFlag stop) const {
    Work work(*this, stop);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        work.window.lay_out(panel(), short_, p);
        gram_inside(work, out);
        compare_window(work, short_.data() + work.window.end, n_short() - work.window.end, out, 0,
                       stop);
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
    Work work(*this, stop);
    const auto inside = [&](const Buffer<int32_t>& all) {
      return std::make_pair(std::lower_bound(all.begin(), all.end(), stream_begin),
                            std::lower_bound(all.begin(), all.end(), stream_end));
    };
    const auto shorts = inside(short_stream_), longs = inside(long_stream_);
    const auto plain_pair = [&](int32_t s, int32_t t) {
      if (!stop.raised())
        out.row(s - stream_begin)[t] = plain(work, stream().span(s), panel().span(t));
    };
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        work.window.lay_out(panel(), short_, p);
        compare_window(work, short_stream_.data() + (shorts.first - short_stream_.begin()),
                       shorts.second - shorts.first, out, stream_begin, stop);
        for (auto s = longs.first; s != longs.second; ++s)
          for (int64_t i = work.window.begin; i < work.window.end; ++i)
            plain_pair(*s, short_[static_cast<size_t>(i)]);
      } else {
        const int32_t t = long_[static_cast<size_t>(p - n_windows())];
        for (int64_t s = stream_begin; s < stream_end; ++s) plain_pair(static_cast<int32_t>(s), t);
      }
    }
  }

  void diagonal(Output<Real>* out, StopFlag stop) const {
    Work work(*this, stop);
    for (int64_t s = 0; s < panel().size() && !stop.raised(); ++s)
      out[s] = self_similarity(work, static_cast<int32_t>(s));
  }

 private:
  using Number = Output<Real>;
  using Window = SequenceWindow<Real>;
  using Panel = typename Window::Panel;
  static constexpr int64_t stream_chunk = 64;

  struct Work {
    Work(const SequenceEngine& engine, StopFlag stop)
        : stop(stop), window(engine.sides_.n_symbols()),
          present(static_cast<size_t>(SequenceSides<Real>::longest_short) + 1) {}
    StopFlag stop;
    Window window;
    Buffer<int32_t> present;
    Buffer<Number> tables, values;
    Buffer<Plain> table;
  };

  const SequenceSide<Real>& panel() const { return sides_.panel(); }
  const SequenceSide<Real>& stream() const { return sides_.stream(); }
  int64_t n_short() const { return static_cast<int64_t>(short_.size()); }
  int64_t n_windows() const { return (n_panel() + Window::size - 1) / Window::size; }

  static void split(const SequenceSide<Real>& side, Buffer<int32_t>& shorts,
                    Buffer<int32_t>& longs) {
    for (int64_t s = 0; s < side.size(); ++s)
      (side.is_long[static_cast<size_t>(s)] ? longs : shorts).push_back(static_cast<int32_t>(s));
  }

  Output<Real> self_similarity(Work& work, int32_t s) const {
    const SymbolSpan span = panel().span(s);
    if (parameters_.max_length == 0 && !panel().is_long[static_cast<size_t>(s)])
      return static_cast<Output<Real>>(panel().self[static_cast<size_t>(s)]);
    return plain(work, span, span);
  }

  Output<Real> plain(Work& work, SymbolSpan a, SymbolSpan b) const {
    const Plain decay(parameters_.decay);
    const Plain value =
        parameters_.max_length == 0
            ? plain_all_lengths<Plain>(a, b, decay, work.table, work.stop)
            : plain_bounded<Plain>(a, b, decay, parameters_.max_length, work.table, work.stop);
    return static_cast<Output<Real>>(output(value));
  }

  void compare_plain(Work& work, int32_t s, int32_t t, StopFlag stop, Results<Real> out) const {
    if (!stop.raised())
      out.row(std::max(s, t))[std::min(s, t)] = plain(work, panel().span(s), panel().span(t));
  }

  // Some stream sequences against one panel of the window: out is (n, lanes).
  void compare_lanes(Work& work, const Panel& panel, const int32_t* visited, int64_t n, Number* out,
                     int64_t stride) const {
    if constexpr (!std::is_same_v<Real, Scaled>) {
      const int64_t layers = std::min(parameters_.max_length, panel.length);
      work.tables.resize(panel.symbols.size() * static_cast<size_t>(std::max<int64_t>(1, layers)));
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
    work.values.resize(static_cast<size_t>(Window::size) * lanes);
    const auto n = static_cast<int64_t>(work.window.sorted.size());
    for (int64_t first = 0; first < n; first += lanes) {
      compare_lanes(work, work.window.panels[static_cast<size_t>(first / lanes)],
                    work.window.sorted.data() + first, n - first, work.values.data(), lanes);
      for (int64_t k = first; k < n; ++k)
        for (int64_t lane = 0; lane < lanes && first + lane < k; ++lane) {
          const int32_t s = work.window.sorted[static_cast<size_t>(k)];
          const int32_t t = work.window.sorted[static_cast<size_t>(first + lane)];
          out.row(std::max(s, t))[std::min(s, t)] =
              work.values[static_cast<size_t>((k - first) * lanes + lane)];
        }
    }
    for (const int32_t s : work.window.sorted) out.row(s)[s] = self_similarity(work, s);
  }

  // The window against stream sequences outside it, a chunk at a time, written row by row.
  void compare_window(Work& work, const int32_t* visited, int64_t n, Results<Real> out,
                      int64_t first_row, StopFlag stop) const {
    work.values.resize(static_cast<size_t>(stream_chunk * Window::size));
    const auto width = static_cast<int64_t>(work.window.sorted.size());
    for (int64_t k0 = 0; k0 < n && !stop.raised(); k0 += stream_chunk) {
      const int64_t n_chunk = std::min(stream_chunk, n - k0);
      for (int64_t first = 0; first < width; first += lanes)
        compare_lanes(work, work.window.panels[static_cast<size_t>(first / lanes)], visited + k0,
                      n_chunk, work.values.data() + first, Window::size);
      for (int64_t k = 0; k < n_chunk; ++k) {
        const Number* values = work.values.data() + k * Window::size;
        Number* row = out.row(visited[k0 + k] - first_row);
        for (int64_t i = 0; i < width; ++i)
          row[short_[static_cast<size_t>(work.window.begin + i)]] =
              values[work.window.lane_of[static_cast<size_t>(i)]];
      }
    }
  }

  SequenceParameters parameters_;
  SequenceSides<Real> sides_;
  Buffer<int32_t> short_, long_, short_stream_, long_stream_;
};

}  // namespace kernelwood
