// A few sequences in lanes against stream sequences, tile by tile (sequence_blocks.hpp).
//
// Exactly, a stream sequence passes all tiles before the next one comes. Softly, all sequences of a
// chunk pass a tile before the next one is looked at, so that similarities are made for the labels
// of one tile at a time: rows of them are short, and used by many sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/sequence_blocks.hpp"
#include "kernelwood/sequence_side.hpp"
#include "kernelwood/similarity_block.hpp"
#include "kernelwood/soft_rows.hpp"

namespace kernelwood {

// Similarities of stream elements to the cells of a tile, those of frequent names kept.
template <class Number>
class TileRows {
 public:
  static constexpr int lanes = block_lanes;

  TileRows(const FrequentNames& frequent, const SimilarityBlock<Number>& block)
      : frequent_(frequent), block_(block) {}

  // The block must have the names of the tile in its columns.
  void begin_tile(const BlockPanel& panel, int64_t tile) {
    begin_ = panel.tile_begin[static_cast<size_t>(tile)];
    n_columns_ = panel.tile_begin[static_cast<size_t>(tile) + 1] - begin_;
    const int32_t* names = panel.names.data() + int64_t{begin_} * lanes;
    cells_.resize(static_cast<size_t>(n_columns_) * lanes);
    for (size_t i = 0; i < cells_.size(); ++i)
      cells_[i] = names[i] < 0 ? block_.no_column() : block_.column(names[i]);
    const int64_t n_kept = std::min<int64_t>(frequent_.size(), most_kept) + 1;
    kept_.assign(static_cast<size_t>(n_kept), {nullptr, -1, nullptr});
    similarities_.resize(static_cast<size_t>(n_kept) * cells_.size());
    columns_.resize(static_cast<size_t>(n_kept * n_columns_));
  }

  bool has_kept(int32_t name) const {
    const int32_t place = frequent_.place(name);
    return place >= 0 && place < last() && kept_[static_cast<size_t>(place)].n_columns >= 0;
  }
  // Valid until the next one is asked for. The block must have a row for a name that is not kept.
  SoftRow<double> row(int32_t name) {
    const int32_t place = frequent_.place(name);
    if (place < 0 || place >= last()) return make_row(name, last());
    SoftRow<double>& kept = kept_[static_cast<size_t>(place)];
    if (kept.n_columns < 0) kept = make_row(name, place);
    return kept;
  }

 private:
  static constexpr int64_t most_kept = 96;  // in a part of a cache

  int32_t last() const { return static_cast<int32_t>(kept_.size()) - 1; }

  SoftRow<double> make_row(int32_t name, int32_t place) {
    int32_t* columns = columns_.data() + int64_t{place} * n_columns_;
    double* out = similarities_.data() + static_cast<size_t>(place) * cells_.size();
    copy_cells(block_.row(name), cells_.data(), n_columns_, out);
    int32_t n = 0;
    for (int32_t c = 0; c < n_columns_; ++c) {
      double sum = 0.0;  // never negative
      for (int lane = 0; lane < lanes; ++lane) sum += out[c * lanes + lane];
      if (sum == 0.0) continue;
      if (n < c) std::copy_n(out + c * lanes, lanes, out + n * lanes);
      columns[n++] = begin_ + c;
    }
    return {columns, n, out};
  }

  __attribute__((noinline)) static void copy_cells(const Number* row, const int32_t* cells,
                                                   int64_t n_columns, double* out) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < n_columns * lanes; ++i) out[i] = static_cast<double>(row[cells[i]]);
  }

  const FrequentNames& frequent_;
  const SimilarityBlock<Number>& block_;
  int32_t begin_ = 0, n_columns_ = 0;
  Buffer<SoftRow<double>> kept_;
  Buffer<double> similarities_;
  Buffer<int32_t> columns_, cells_;
};

template <class Real, class Elements>
class SequenceTiles {
 public:
  using Number = Output<Real>;
  using Sides = SequenceSides<Real, Elements>;
  static constexpr int lanes = block_lanes;

  SequenceTiles(const Sides& sides, int64_t max_length)
      : sides_(sides), max_length_(max_length), layers_(max_length == 0 ? 1 : max_length - 1),
        sequences_(1) {
    if constexpr (!Elements::soft)
      if (sides.elements().gated())
        for (int32_t name = 0; name < sides.names().size(); ++name)
          weights_.push_back(sides.elements().weight(name));
  }

  // Lays out some sequences of the panel side, one per lane.
  void lay_out(const int32_t* sequences, int n_lanes) {
    const SequenceSide<Real>& side = sides_.panel();
    panel_.n_lanes = n_lanes;
    panel_.tile_begin.assign(1, 0);
    int64_t next[lanes];
    int64_t n_left = 0;
    for (int lane = 0; lane < n_lanes; ++lane) {
      next[lane] = side.kept_begin[static_cast<size_t>(sequences[lane])];
      n_left += side.kept_length(sequences[lane]);
    }
    panel_.symbols.clear();
    panel_.up.clear();
    panel_.down.clear();
    panel_.names.clear();
    cells_.clear();
    for (int64_t tile = 0; n_left > 0; ++tile) {
      const int32_t begin = panel_.tile_begin.back();
      int32_t end = begin;
      for (int lane = 0; lane < n_lanes; ++lane) {
        const int64_t last = side.kept_begin[static_cast<size_t>(sequences[lane]) + 1];
        int32_t column = begin;
        for (int64_t& e = next[lane]; e < last; ++e, ++column) {
          if (sides_.scale().block_of(side.positions[static_cast<size_t>(e)]) != tile) break;
          if (column == end) grow(++end);
          fill(static_cast<size_t>(column) * lanes + static_cast<size_t>(lane), e, column);
          --n_left;
        }
      }
      panel_.tile_begin.push_back(end);
    }
    list_columns(cells_, static_cast<size_t>(sides_.names().n_symbols()), panel_.columns_of,
                 panel_.columns);
    const SequenceSide<Real>& stream = sides_.stream();
    tables_.resize(static_cast<size_t>(layers_ * panel_.n_columns() * lanes));
    job_ = {panel_.n_columns(),
            panel_.symbols.data(),
            panel_.up.data(),
            panel_.down.data(),
            panel_.columns_of.data(),
            panel_.columns.data(),
            stream.kept_begin.data(),
            stream.kept.data(),
            weights_.empty() ? nullptr : weights_.data(),
            stream.block_up.data(),
            stream.block_down.data(),
            nullptr,
            0,
            max_length_,
            nullptr,
            tables_.data(),
            nullptr,
            0};
  }

  // Calls put(k, lane, value) for all lanes and for the k-th of n stream sequences.
  template <class Put>
  void compare(const int32_t* visited, int64_t n, StopFlag stop, Put&& put) {
    BlockSequence& sequence = sequences_[0];
    for (int64_t k = 0; k < n && !stop.raised(); ++k) {
      begin(sequence, visited[k]);
      for (int64_t tile = 0; tile < panel_.n_tiles() && !stop.raised(); ++tile)
        sequence.pass_tile(job_, panel_, tile, sides_.scale(),
                           [&](const TileEdge& edge, BlockRow* rows, int64_t first, int64_t last,
                               double* total) { add_rows(job_, edge, rows, first, last, total); });
      for (int lane = 0; lane < panel_.n_lanes; ++lane) put(k, lane, sequence.value(lane));
    }
  }

  // The same where labels match softly.
  template <class Put>
  void compare_softly(SimilarityBlock<Number>& block, const FrequentNames& frequent,
                      const int32_t* visited, int64_t n, StopFlag stop, Put&& put) {
    TileRows<Number> rows(frequent, block);
    int64_t n_chunk = 0;
    for (int64_t k0 = 0; k0 < n && !stop.raised(); k0 += n_chunk) {
      n_chunk = begin_chunk(visited + k0, n - k0);
      for (int64_t tile = 0; tile < panel_.n_tiles() && !stop.raised(); ++tile)
        pass_softly(block, rows, tile, visited + k0, n_chunk, stop);
      for (int64_t k = 0; k < n_chunk; ++k)
        for (int lane = 0; lane < panel_.n_lanes; ++lane)
          put(k0 + k, lane, sequences_[static_cast<size_t>(k)].value(lane));
    }
  }

 private:
  static constexpr int64_t most_carried = int64_t{1} << 20;  // numbers that a chunk carries
  static constexpr int64_t most_values = int64_t{1} << 21;  // of similarities

  void grow(int32_t n_columns) {
    const auto n_cells = static_cast<size_t>(n_columns) * lanes;
    panel_.symbols.resize(n_cells, -1);
    panel_.up.resize(n_cells, 0.0);
    panel_.down.resize(n_cells, 0.0);
    if (Elements::soft) panel_.names.resize(n_cells, -1);
  }

  void fill(size_t at, int64_t e, int32_t column) {
    const SequenceSide<Real>& side = sides_.panel();
    const int32_t name = side.kept[static_cast<size_t>(e)];
    const int32_t symbol = sides_.names().symbol(name);
    panel_.symbols[at] = symbol;
    panel_.up[at] = side.block_up[static_cast<size_t>(e)];
    panel_.down[at] = side.block_down[static_cast<size_t>(e)];
    if (Elements::soft) panel_.names[at] = name;
    cells_.emplace_back(symbol, column);
  }

  void begin(BlockSequence& sequence, int32_t s) {
    const SequenceSide<Real>& stream = sides_.stream();
    sequence.begin(job_, sides_.names(), stream.positions.data(),
                   stream.kept_begin[static_cast<size_t>(s)],
                   stream.kept_begin[static_cast<size_t>(s) + 1], layers_, sides_.scale());
  }

  // Begins as many stream sequences as there is room for, at least one, and returns their number.
  int64_t begin_chunk(const int32_t* visited, int64_t n) {
    int64_t n_carried = 0, k = 0;
    names_.clear();
    for (; k < n; ++k) {
      const int64_t n_kept = sides_.stream().kept_length(visited[k]);
      n_carried += n_kept * std::max<int64_t>(1, layers_) * lanes;
      if (k > 0 && n_carried > most_carried) break;
      if (sequences_.size() <= static_cast<size_t>(k)) sequences_.emplace_back();
      begin(sequences_[static_cast<size_t>(k)], visited[k]);
      const int64_t first = sides_.stream().kept_begin[static_cast<size_t>(visited[k])];
      const int32_t* names = sides_.stream().kept.data() + first;
      names_.insert(names_.end(), names, names + n_kept);
    }
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    return k;
  }

  void pass_softly(SimilarityBlock<Number>& block, TileRows<Number>& rows, int64_t tile,
                   const int32_t* visited, int64_t n, StopFlag stop) {
    const int64_t first = int64_t{panel_.tile_begin[static_cast<size_t>(tile)]} * lanes;
    const int64_t last = int64_t{panel_.tile_begin[static_cast<size_t>(tile) + 1]} * lanes;
    if (first == last) return;
    block.set_columns([&](auto&& visit) {
      for (int64_t i = first; i < last; ++i)
        if (const int32_t name = panel_.names[static_cast<size_t>(i)]; name >= 0) visit(name);
    });
    rows.begin_tile(panel_, tile);
    const int64_t room = std::max<int64_t>(1, most_values / static_cast<int64_t>(block.width()));
    const auto make_rows = [&](const int32_t* names, int64_t n_names) {
      block.set_rows(
          [&](auto&& visit) {
            for (int64_t i = 0; i < std::min(n_names, room); ++i) visit(names[i]);
          },
          stop);
    };
    const bool at_once = static_cast<int64_t>(names_.size()) <= room;
    if (at_once) make_rows(names_.data(), static_cast<int64_t>(names_.size()));
    const int32_t* stream = job_.stream_symbols;
    for (int64_t k = 0; k < n && !stop.raised(); ++k)
      sequences_[static_cast<size_t>(k)].pass_tile(
          job_, panel_, tile, sides_.scale(),
          [&](const TileEdge& edge, BlockRow* some, int64_t first, int64_t last, double* total) {
            for (int64_t r = first; r < last; ++r) {
              const int64_t e = some[r].element;
              if (!at_once && !rows.has_kept(stream[e]) && !block.has_row(stream[e]))
                make_rows(stream + e, job_.begin[visited[k] + 1] - e);
              add_soft_row(job_, edge, rows.row(stream[e]), r, e, total);
            }
          });
  }

  const Sides& sides_;
  int64_t max_length_, layers_;
  BlockPanel panel_;
  SequencePanel<double> job_{};
  Buffer<double> weights_, tables_;  // by name, exact and gated only
  Buffer<int32_t> names_;  // of a chunk
  std::vector<BlockSequence> sequences_;
  Buffer<std::pair<int32_t, int32_t>> cells_;  // (symbol, column) of a panel
};

}  // namespace kernelwood
