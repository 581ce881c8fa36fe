// Blocks of subsequence kernel values (SPEC: "subsequence / path kernel").
//
// Short sequences go through the vectorised prefix-sum form (sequence_panel.hpp). Where its
// rescaling by decay^-(i+j) could overflow, and for extended range, the same sums are made in
// blocks (sequence_tiles.hpp) or, with parameters for which these do not serve, pairs are computed
// one by one with the plain recurrence. Which form a pair takes depends on the pair alone.
//
// Where labels match softly, similarities are made for a window of panel sequences and a chunk of
// stream sequences at a time (similarity_block.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/sequence_tiles.hpp"
#include "kernelwood/sequence_window.hpp"
#include "kernelwood/soft_rows.hpp"

namespace kernelwood {

template <class Real, bool soft>
class SequenceEngine {
 public:
  static constexpr int lanes = sequence_lanes<Output<Real>>;
  static constexpr bool softly = soft, makes_similarities = soft, takes_matching = true;
  static constexpr bool turns = true, prepares = !soft && !std::is_same_v<Real, Scaled>;
  using Pairs = void;
  using Matching = LabelMatching<Output<Real>>;
  using Elements =
      std::conditional_t<soft, SoftElements<Output<Real>>, ExactElements<Output<Real>>>;
  // Plain pairs in double even for float results, since float tables lose digits.
  using Plain = std::conditional_t<std::is_same_v<Real, Scaled>, Scaled, double>;

  SequenceEngine(const SequenceParameters& parameters, const Matching& labels,
                 const SequenceArrays& panel, const SequenceArrays* stream, StopFlag stop)
      : parameters_(parameters), sides_(parameters, labels, panel, stream, stop),
        frequent_(soft ? FrequentNames(sides_.names(), this->stream()) : FrequentNames()) {
    split(this->panel(), short_, long_);
    split(this->stream(), short_stream_, long_stream_);
    if constexpr (!soft)
      if (sides_.elements().gated())
        for (int32_t name = 0; name < sides_.names().size(); ++name)
          weights_.push_back(static_cast<Number>(sides_.elements().weight(name)));
  }

  // Whether `compare_new` serves for sequences that `alone` has as its panel. Weights for blocks
  // are only there if the stream has long sequences itself.
  bool compares_new(const SequenceEngine& alone) const {
    return sides_.in_blocks() || alone.long_.empty();
  }

  // Sequences that are not in the engine in rows, those of the stream in columns: the same values
  // as those of a panel. `alone` are the same sequences, compared with each other.
  void compare_new(const SequenceArrays& sequences, const SequenceEngine& alone, Results<Real> out,
                   StopFlag stop) const {
    static_assert(prepares);
    const SequenceEngine later(*this, sequences, alone);
    later.cross_turned(0, later.n_panels(), 0, n_stream(), out, stop);
  }

  // As `cross`, with the panel's sequences in rows and the stream's in columns.
  void cross_turned(int64_t panel_begin, int64_t panel_end, int64_t stream_begin,
                    int64_t stream_end, Results<Real> out, StopFlag stop) const {
    cross(panel_begin, panel_end, stream_begin, stream_end, {out.data, 1, out.stride}, stop);
  }

  // Windows of short sequences first, then groups of long ones.
  int64_t n_panels() const {
    return n_windows() + (static_cast<int64_t>(long_.size()) + group_size() - 1) / group_size();
  }
  int64_t n_panel() const { return panel().size(); }
  int64_t n_stream() const { return stream().size(); }

  // Where one of two sequences is long, that of the greater index is the stream sequence, as where
  // a matrix is computed in parts.
  void gram(int64_t panel_begin, int64_t panel_end, Results<Real> out, StopFlag stop) const {
    Work work(*this, stop);
    const auto put = [&](int32_t s, int32_t t, Number value) {
      if (s > t) out.row(s)[t] = value;
    };
    const auto compare_later = [&](const Group& group, const Buffer<int32_t>& all) {
      const int32_t first = *std::min_element(group.begin, group.begin + group.size);
      const int64_t at = std::upper_bound(all.begin(), all.end(), first) - all.begin();
      compare_group(work, group, all.data() + at, static_cast<int64_t>(all.size()) - at, put);
    };
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        work.window.lay_out(short_, p);
        begin_window(work);
        gram_inside(work, out);
        compare_window(work, short_.data() + work.window.end, n_short() - work.window.end, out, 0,
                       stop);
        for_groups(work.window, [&](const Group& group) { compare_later(group, long_); });
        continue;
      }
      const Group group = group_of(p);
      compare_later(group, short_);
      compare_later(group, long_);
      for (int64_t k = 0; k < group.size && !stop.raised(); ++k) {
        const int32_t t = group.begin[k];
        begin_long(work, t);
        out.row(t)[t] = self_similarity(work, t);
      }
    }
  }

  void cross(int64_t panel_begin, int64_t panel_end, int64_t stream_begin, int64_t stream_end,
             Results<Real> out, StopFlag stop) const {
    Work work(*this, stop);
    const auto inside = [&](const Buffer<int32_t>& all) {
      return std::make_pair(std::lower_bound(all.begin(), all.end(), stream_begin),
                            std::lower_bound(all.begin(), all.end(), stream_end));
    };
    const auto shorts = inside(short_stream()), longs = inside(long_stream());
    const auto put = [&](int32_t s, int32_t t, Number value) {
      out.at(s - stream_begin, t) = value;
    };
    const auto compare = [&](const Group& group, const auto& range, const Buffer<int32_t>& all) {
      compare_group(work, group, all.data() + (range.first - all.begin()),
                    range.second - range.first, put);
    };
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      if (p < n_windows()) {
        work.window.lay_out(short_, p);
        begin_window(work);
        compare_window(work, short_stream().data() + (shorts.first - short_stream().begin()),
                       shorts.second - shorts.first, out, stream_begin, stop);
        for_groups(work.window, [&](const Group& group) { compare(group, longs, long_stream()); });
      } else {
        compare(group_of(p), shorts, short_stream());
        compare(group_of(p), longs, long_stream());
      }
    }
  }

  void diagonal(Output<Real>* out, StopFlag stop) const {
    Work work(*this, stop);
    for (int64_t s = 0; s < panel().size() && !stop.raised(); ++s) {
      begin_long(work, s);
      out[s] = self_similarity(work, static_cast<int32_t>(s));
    }
  }

 private:
  using Number = Output<Real>;
  using Sides = SequenceSides<Real, Elements>;
  using Window = SequenceWindow<Real, Elements>;
  using Panel = typename Window::Panel;
  static constexpr int64_t stream_chunk = soft ? 1024 : 64;  // at most
  static constexpr int64_t block_values = int64_t{1} << 21;  // of similarities
  static constexpr int64_t panels_at_once = 4;  // so that what they need fits a cache

  // What soft matching needs beyond the rest.
  struct Nothing {
    explicit Nothing(const SequenceEngine&) {}
  };
  struct Similarities {
    explicit Similarities(const SequenceEngine& engine)
        : block(engine.sides_.elements().labels(), engine.sides_.names()),
          rows(Window::size / lanes, SoftRows<Real>(engine.sides_.names(), engine.frequent_)),
          jobs(rows.size()), tables(rows.size()),
          seen(static_cast<size_t>(engine.sides_.names().size()), 0) {}
    SimilarityBlock<Number> block;
    // One for each panel of the window.
    std::vector<SoftRows<Real>> rows;
    std::vector<SequencePanel<Number>> jobs;
    std::vector<Buffer<Number>> tables;
    Buffer<int64_t> seen;
    int64_t stamp = 0;
  };
  struct Work {
    Work(const SequenceEngine& engine, StopFlag stop)
        : stop(stop), window(engine.sides_), tiles(engine.sides_, engine.parameters_.max_length),
          similarities(engine), present(static_cast<size_t>(Sides::longest_short) + 1) {}
    StopFlag stop;
    Window window;
    SequenceTiles<Real, Elements> tiles;
    std::conditional_t<soft, Similarities, Nothing> similarities;
    Buffer<int32_t> present;
    Buffer<Number> tables, values;
    Buffer<Plain> table;
  };

  // Makes room for the similarities of the window's names, or of one sequence's ...
  void begin_window(Work& work) const {
    if constexpr (soft)
      work.similarities.block.set_columns([&](auto&& visit) {
        for (const int32_t t : work.window.sorted) visit_names(panel().span(t), visit);
      });
  }
  void begin_long(Work& work, int64_t t) const {
    if constexpr (soft)
      work.similarities.block.set_columns(
          [&](auto&& visit) { visit_names(panel().span(t), visit); });
  }
  // ... and makes those to some stream sequences.
  void begin_chunk(Work& work, const int32_t* visited, int64_t n) const {
    if constexpr (soft)
      work.similarities.block.set_rows(
          [&](auto&& visit) {
            for (int64_t k = 0; k < n; ++k) visit_names(stream().span(visited[k]), visit);
          },
          work.stop);
  }
  template <class Visit>
  static void visit_names(NameSpan span, Visit&& visit) {
    for (int64_t i = 0; i < span.size; ++i) visit(span.data[i]);
  }
  // How many stream sequences make a chunk: soft matching has room for so many different names.
  int64_t chunk_size(Work& work, const int32_t* visited, int64_t n) const {
    n = std::min(n, stream_chunk);
    if constexpr (soft) {
      int64_t room = block_values / static_cast<int64_t>(work.similarities.block.width());
      const int64_t stamp = ++work.similarities.stamp;
      for (int64_t k = 0; k < n; ++k) {
        visit_names(stream().span(visited[k]), [&](int32_t name) {
          int64_t& seen = work.similarities.seen[static_cast<size_t>(name)];
          room -= seen != stamp;
          seen = stamp;
        });
        if (room < 0 && k > 0) return k;
      }
    }
    return n;
  }

  // The sequences of `later`, for the stream of `prepared`; `alone` has them as its own panel.
  SequenceEngine(const SequenceEngine& prepared, const SequenceArrays& later,
                 const SequenceEngine& alone)
      : parameters_(prepared.parameters_), sides_(prepared.sides_, later, alone.sides_),
        prepared_(&prepared), weights_(prepared.weights_) {
    split(this->panel(), short_, long_);
  }
  const Buffer<int32_t>& short_stream() const {
    return prepared_ ? prepared_->short_stream_ : short_stream_;
  }
  const Buffer<int32_t>& long_stream() const {
    return prepared_ ? prepared_->long_stream_ : long_stream_;
  }

  const SequenceSide<Real>& panel() const { return sides_.panel(); }
  const SequenceSide<Real>& stream() const { return sides_.stream(); }
  int64_t n_short() const { return static_cast<int64_t>(short_.size()); }
  int64_t n_windows() const { return (n_panel() + Window::size - 1) / Window::size; }

  // Panel sequences that are compared together where one of a pair is long.
  struct Group {
    const int32_t* begin;
    int64_t size;
  };
  bool in_blocks() const { return sides_.scale().serves(); }
  int64_t group_size() const { return in_blocks() ? block_lanes : 1; }
  Group group_of(int64_t p) const {
    const int64_t first = (p - n_windows()) * group_size();
    return {long_.data() + first,
            std::min(group_size(), static_cast<int64_t>(long_.size()) - first)};
  }

  template <class Visit>
  void for_groups(const Window& window, Visit&& visit) const {
    const auto width = static_cast<int64_t>(window.sorted.size());
    for (int64_t i = 0; i < width; i += group_size())
      visit(Group{window.sorted.data() + i, std::min(group_size(), width - i)});
  }

  // Calls put(s, t, value) for every s of n stream sequences and every t of a group.
  template <class Put>
  void compare_group(Work& work, const Group& group, const int32_t* visited, int64_t n,
                     Put&& put) const {
    if (n == 0 || work.stop.raised()) return;
    if (!in_blocks()) {
      for (int64_t i = 0; i < group.size; ++i) {
        const int32_t t = group.begin[i];
        begin_long(work, t);
        for (int64_t k = 0; k < n && !work.stop.raised(); ++k)
          put(visited[k], t, plain(work, stream().span(visited[k]), panel().span(t)));
      }
      return;
    }
    const auto put_block = [&](int64_t k, int lane, Scaled value) {
      put(visited[k], group.begin[lane], from_scaled(value));
    };
    work.tiles.lay_out(group.begin, static_cast<int>(group.size));
    if constexpr (soft)
      work.tiles.compare_softly(work.similarities.block, frequent_, visited, n, work.stop,
                                put_block);
    else
      work.tiles.compare(visited, n, work.stop, put_block);
  }

  static Number from_scaled(Scaled value) {
    if constexpr (std::is_same_v<Real, Scaled>)
      return value.log2();
    else
      return static_cast<Number>(value.rounded());
  }

  static void split(const SequenceSide<Real>& side, Buffer<int32_t>& shorts,
                    Buffer<int32_t>& longs) {
    for (int64_t s = 0; s < side.size(); ++s)
      (side.is_long[static_cast<size_t>(s)] ? longs : shorts).push_back(static_cast<int32_t>(s));
  }

  Output<Real> self_similarity(Work& work, int32_t s) const {
    const NameSpan span = panel().span(s);
    if (!soft && parameters_.max_length == 0 && !panel().is_long[static_cast<size_t>(s)])
      return static_cast<Output<Real>>(panel().self[static_cast<size_t>(s)]);
    return plain(work, span, span);
  }

  // Soft matching needs the names of b in the columns of the block.
  Output<Real> plain(Work& work, NameSpan a, NameSpan b) const {
    if constexpr (soft)
      return plain_by(work, a, b, SimilarNames<Number>(work.similarities.block, a, b, work.stop));
    else
      return plain_by(work, a, b, EqualNames<Elements>(sides_.elements(), a, b));
  }
  template <class Match>
  Output<Real> plain_by(Work& work, NameSpan a, NameSpan b, Match&& match) const {
    const Plain decay(parameters_.decay);
    const Plain value = parameters_.max_length == 0
                            ? plain_all_lengths<Plain>(a, b, match, decay, work.table, work.stop)
                            : plain_bounded<Plain>(a, b, match, decay, parameters_.max_length,
                                                   work.table, work.stop);
    return static_cast<Output<Real>>(output(value));
  }

  SequencePanel<Number> job(Work& work, const Panel& panel, Buffer<Number>& tables) const {
    const int64_t layers = std::min(parameters_.max_length, panel.length);
    tables.resize(panel.symbols.size() * static_cast<size_t>(std::max<int64_t>(1, layers - 1)));
    const SequenceSide<Real>& side = stream();
    return {panel.length,
            panel.symbols.data(),
            panel.up.data(),
            panel.down.data(),
            panel.columns_of.data(),
            panel.columns.data(),
            side.kept_begin.data(),
            side.kept.data(),
            weights_.empty() ? nullptr : weights_.data(),
            side.up.data(),
            side.down.data(),
            nullptr,
            0,
            layers,
            work.present.data(),
            tables.data(),
            nullptr,
            0};
  }

  // Some stream sequences against a panel of the window: out is (n, lanes).
  void compare_lanes(Work& work, int64_t first, const int32_t* visited, int64_t n, Number* out,
                     int64_t stride) const {
    if constexpr (!std::is_same_v<Real, Scaled>) {
      const Panel& panel = work.window.panels[static_cast<size_t>(first / lanes)];
      SequencePanel<Number> job = this->job(work, panel, work.tables);
      job.visited = visited;
      job.n_stream = n;
      job.out = out;
      job.out_stride = stride;
      compare_panel(job);
    }
  }

  // Some stream sequences against all panels of the window, or only those that start at or before
  // the position of the sequence in the window, if `position` is that of the first of them. Panel
  // by panel inside, so that the similarities of an element are fetched once for all of them.
  void compare_softly(Work& work, const int32_t* visited, int64_t n, int64_t position,
                      Number* out) const {
    if constexpr (soft && !std::is_same_v<Real, Scaled>) {
      Similarities& own = work.similarities;
      const auto width = static_cast<int64_t>(work.window.sorted.size());
      const int64_t n_panels = (width + lanes - 1) / lanes;
      for (size_t p = 0; p < static_cast<size_t>(n_panels); ++p) {
        own.rows[p].begin_panel(work.window.panels[p], own.block);
        own.jobs[p] = job(work, work.window.panels[p], own.tables[p]);
      }
      for (int64_t first = 0; first < n_panels; first += panels_at_once)
        for (int64_t k = 0; k < n && !work.stop.raised(); ++k) {
          const int64_t last = position < 0 ? n_panels : (position + k) / lanes + 1;
          compare_sequence(own, visited[k], first, std::min(first + panels_at_once, last),
                           out + k * Window::size);
        }
    }
  }

  template <class Own>
  void compare_sequence(Own& own, int32_t s, int64_t first, int64_t last, Number* out) const {
    for (auto p = static_cast<size_t>(first); p < static_cast<size_t>(last); ++p) {
      std::fill_n(out + p * lanes, lanes, Number(0));
      std::fill(own.tables[p].begin(), own.tables[p].end(), Number(0));
    }
    const SequenceSide<Real>& side = stream();
    for (int64_t e = side.kept_begin[static_cast<size_t>(s)];
         e < side.kept_begin[static_cast<size_t>(s) + 1]; ++e)
      for (auto p = static_cast<size_t>(first); p < static_cast<size_t>(last); ++p) {
        const SoftRow<Number> row = own.rows[p].row(side.kept[static_cast<size_t>(e)]);
        if (row.n_columns > 0) add_soft_element(own.jobs[p], row, e, out + p * lanes);
      }
  }

  // Pairs inside the window: every sequence against those not longer.
  void gram_inside(Work& work, Results<Real> out) const {
    const int32_t* sorted = work.window.sorted.data();
    const auto n = static_cast<int64_t>(work.window.sorted.size());
    int64_t n_chunk = 0;
    for (int64_t begin = 0; begin < n; begin += n_chunk) {
      n_chunk = soft ? chunk_size(work, sorted + begin, n - begin) : n;
      compare_chunk(work, sorted + begin, n_chunk, begin);
      for (int64_t k = begin; k < begin + n_chunk; ++k) {
        const Number* values = work.values.data() + (k - begin) * Window::size;
        for (int64_t i = 0; i < k; ++i)
          out.row(std::max(sorted[k], sorted[i]))[std::min(sorted[k], sorted[i])] = values[i];
        out.row(sorted[k])[sorted[k]] = self_similarity(work, sorted[k]);
      }
    }
  }

  // Fills the first rows of `values` with a chunk against the window; see compare_softly.
  void compare_chunk(Work& work, const int32_t* visited, int64_t n, int64_t position) const {
    work.values.resize(static_cast<size_t>(n * Window::size));
    begin_chunk(work, visited, n);
    if (soft) return compare_softly(work, visited, n, position, work.values.data());
    const auto width = static_cast<int64_t>(work.window.sorted.size());
    for (int64_t first = 0; first < width; first += lanes) {
      const int64_t skipped = position < 0 ? 0 : std::max<int64_t>(0, first - position);
      if (skipped < n)
        compare_lanes(work, first, visited + skipped, n - skipped,
                      work.values.data() + skipped * Window::size + first, Window::size);
    }
  }

  // The window against stream sequences outside it, a chunk at a time, written row by row.
  void compare_window(Work& work, const int32_t* visited, int64_t n, Results<Real> out,
                      int64_t first_row, StopFlag stop) const {
    const auto width = static_cast<int64_t>(work.window.sorted.size());
    int64_t n_chunk = 0;
    for (int64_t k0 = 0; k0 < n && !stop.raised(); k0 += n_chunk) {
      n_chunk = chunk_size(work, visited + k0, n - k0);
      compare_chunk(work, visited + k0, n_chunk, -1);
      const auto write = [&](int64_t k, int64_t i) {
        out.at(visited[k0 + k] - first_row, short_[static_cast<size_t>(work.window.begin + i)]) =
            work.values[static_cast<size_t>(k * Window::size +
                                            work.window.lane_of[static_cast<size_t>(i)])];
      };
      if (out.step == 1) {
        for (int64_t k = 0; k < n_chunk; ++k)
          for (int64_t i = 0; i < width; ++i) write(k, i);
      } else {
        for (int64_t i = 0; i < width; ++i)
          for (int64_t k = 0; k < n_chunk; ++k) write(k, i);
      }
    }
  }

  SequenceParameters parameters_;
  Sides sides_;
  const SequenceEngine* prepared_ = nullptr;  // has the stream, if the panel came later
  FrequentNames frequent_;
  Buffer<Number> weights_;  // by name, exact and gated only
  Buffer<int32_t> short_, long_, short_stream_, long_stream_;
};

}  // namespace kernelwood
