// Long sequences: the prefix sums of sequence_panel.hpp in blocks, with an origin that moves.
//
// Positions are cut into blocks of equal width. Weights decay^-i are relative to the first position
// of their block, by a power of two, so that they stay in the range of double for sequences of any
// length. A tile is one block of the panel against all of a stream sequence, which passes by in
// blocks, too. Q at the left edge of the tile is carried from tile to tile, row by row; sums of
// columns are carried from block to block. Between blocks all of them are multiplied by powers of
// two, which changes no digit. The same powers keep values beyond the range of double in it: every
// lane has a number of steps of 2^512 by which its values in the block are too small.
//
// A value depends on its pair alone: blocks are cut by position, and powers of two never round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/label_matching.hpp"
#include "kernelwood/scaled.hpp"
#include "kernelwood/sequence_panel.hpp"
#include "kernelwood/simd.hpp"

namespace kernelwood {

inline constexpr int block_lanes = sequence_lanes<double>;

// The width of blocks, and weights of positions relative to the first one of their block.
class BlockScale {
 public:
  BlockScale() = default;

  // `heaviest` is a bound of how much two elements match. The width is such that no value of a
  // block can leave the range of double, nor one that matters be lost beside a larger one.
  BlockScale(double decay, int64_t max_length, double heaviest) : decay_(decay) {
    // Blocks are cut alike with all usual gates, whichever of them occur in a call.
    const double step = -std::log2(decay);
    const double weight = std::max(usual_weight_bits, std::log2(std::max(1.0, heaviest)));
    const double column = position_bits + weight + step;
    if (static_cast<double>(max_length - 1) * (position_bits + column) > spread_bits) return;
    const double growth = std::log2(1.0 + std::exp2(0.5 * weight));
    double width = std::min(growth_bits / growth, spread_bits / column);
    if (step > 0.0) width = std::min(width, decay_bits / step);
    width_ = static_cast<int64_t>(std::min(width, double{widest}));
  }

  // Whether blocks serve; they do not with a tiny decay, huge gates or a large bound of the length.
  bool serves() const { return width_ > 0; }
  int64_t block_of(int64_t position) const { return position / width_; }

  // Makes weights of the first positions.
  void reach(int64_t n_positions) {
    if (serves())
      while (static_cast<int64_t>(up_.size()) < n_positions) add_position();
  }
  double up(int64_t position) const { return up_[static_cast<size_t>(position)]; }
  double down(int64_t position) const { return down_[static_cast<size_t>(position)]; }
  // What takes values of a block to the weights of a later one.
  double shift(int64_t from, int64_t to) const {
    const int64_t by = origins_[static_cast<size_t>(to)] - origins_[static_cast<size_t>(from)];
    return std::ldexp(1.0, static_cast<int>(std::max<int64_t>(by, -2000)));
  }

 private:
  static constexpr int64_t widest = 32;
  static constexpr double decay_bits = 100.0, growth_bits = 150.0, spread_bits = 700.0;
  static constexpr double usual_weight_bits = 8.0;  // gates of at most 16
  static constexpr double position_bits = 21.0;  // of the length of a sequence

  void add_position() {
    if (static_cast<int64_t>(up_.size()) % width_ == 0) origins_.push_back(exponent_);
    const auto by = static_cast<int>(exponent_ - origins_.back());
    up_.push_back(std::ldexp(1.0 / power_, -by));
    down_.push_back(std::ldexp(power_, by));
    int drop = 0;
    power_ = 2.0 * std::frexp(power_ * decay_, &drop);
    exponent_ += drop - 1;
  }

  double decay_ = 1.0, power_ = 1.0;  // decay^n = power_ * 2^exponent_
  int64_t width_ = 0, exponent_ = 0;
  Buffer<double> up_, down_;
  Buffer<int64_t> origins_;  // by block
};

// What a tile shares with its left neighbor, for one element after the other of a stream sequence.
struct TileEdge {
  int32_t begin, end;  // columns of the tile
  int64_t layers;  // tables
  const double* one;  // (lanes): 1 in the units of the block
  const double* gain;  // (lanes): what takes carries to these units
  double* carries;  // (elements, layers, lanes): Q at the edge, left before and right after
  double* sums;  // (layers, lanes): of the columns of the tile
};

// An element of a stream sequence that some column of the panel matches.
struct BlockRow {
  int64_t element;
  int32_t next, end;  // columns of the panel that it matches, in the tile and behind it
};

template <int Bytes>
struct BlockLoop : SequenceLoop<Bytes, double> {
  using Base = SequenceLoop<Bytes, double>;
  using typename Base::Panel;
  using typename Base::Vector;
  static constexpr int n = Base::n;

  struct Edge {
    static constexpr bool carries = true;
    KW_INLINE Edge(const TileEdge& tile, int64_t row, double up)
        : first(tile.begin), layers(tile.layers), gain(reinterpret_cast<const Vector*>(tile.gain)),
          carried(reinterpret_cast<Vector*>(tile.carries) + row * tile.layers * n),
          sums(reinterpret_cast<Vector*>(tile.sums)) {
#pragma GCC unroll 8
      for (int z = 0; z < n; ++z) unit[z] = reinterpret_cast<const Vector*>(tile.one)[z] * up;
    }
    KW_INLINE Vector start(int64_t layer, int z) const {
      Vector& at = carried[layer * n + z];
      const Vector left = at * gain[z];
      at = left + sums[layer * n + z];
      return left;
    }
    KW_INLINE void finish(int64_t layer, int z, Vector added) const {
      sums[layer * n + z] += added;
    }
    KW_INLINE void pass() const {
      for (int64_t layer = 0; layer < layers; ++layer)
#pragma GCC unroll 8
        for (int z = 0; z < n; ++z) start(layer, z);
    }
    int64_t first, layers;
    const Vector* gain;
    Vector* carried;
    Vector* sums;
    Vector unit[n];
  };

  // Some elements of the stream sequence, by their rows; adds to `total`, by lanes.
  template <class Meeting>
  static KW_INLINE void run_rows(const Panel& job, const TileEdge& tile, BlockRow* rows,
                                 int64_t begin, int64_t end, double* total) {
    Vector sum[n] = {};
    for (int64_t r = begin; r < end; ++r) {
      BlockRow& row = rows[r];
      const int64_t e = row.element;
      const Edge edge(tile, r, job.stream_up[e]);
      const int32_t first = row.next;
      while (row.next < row.end && job.columns[row.next] < tile.end) ++row.next;
      if (first == row.next)
        edge.pass();
      else
        Base::add_element(job, Meeting(job, e, {first, row.next}), edge, e, false, sum);
    }
    for (int z = 0; z < n; ++z) reinterpret_cast<Vector*>(total)[z] += sum[z];
  }

  static KW_INLINE void run(const Panel& job, const TileEdge& tile, BlockRow* rows, int64_t begin,
                            int64_t end, double* total) {
    if (job.weights)
      run_rows<GatedMeeting<Base>>(job, tile, rows, begin, end, total);
    else
      run_rows<ExactMeeting<Base>>(job, tile, rows, begin, end, total);
  }

  static KW_INLINE void run_soft(const Panel& job, const TileEdge& tile, const SoftRow<double>& row,
                                 int64_t r, int64_t e, double* total) {
    const Edge edge(tile, r, job.stream_up[e]);
    if (row.n_columns == 0) return edge.pass();
    Base::add_element(job, SoftMeeting<Base>(row), edge, e, false,
                      reinterpret_cast<Vector*>(total));
  }
};

template <int Bytes>
KW_INLINE void add_rows_impl(const SequencePanel<double>& job, const TileEdge& tile, BlockRow* rows,
                             int64_t begin, int64_t end, double* total) {
  BlockLoop<Bytes>::run(job, tile, rows, begin, end, total);
}
template <int Bytes>
KW_INLINE void add_soft_row_impl(const SequencePanel<double>& job, const TileEdge& tile,
                                 const SoftRow<double>& row, int64_t r, int64_t e, double* total) {
  BlockLoop<Bytes>::run_soft(job, tile, row, r, e, total);
}
KW_DISPATCH(add_rows,
            (const SequencePanel<double>& job, const TileEdge& tile, BlockRow* rows, int64_t begin,
             int64_t end, double* total),
            (job, tile, rows, begin, end, total))
KW_DISPATCH(add_soft_row,
            (const SequencePanel<double>& job, const TileEdge& tile, const SoftRow<double>& row,
             int64_t r, int64_t e, double* total),
            (job, tile, row, r, e, total))

// A few sequences in lanes, their kept elements cut into tiles.
struct BlockPanel {
  int n_lanes = 0;
  Buffer<int32_t> tile_begin;  // first columns of tiles, and the number of columns
  Buffer<int64_t> symbols;  // (columns, lanes)
  Buffer<double> up, down;
  Buffer<int32_t> names;  // -1 where there is none; soft matching only
  Buffer<ColumnRange> columns_of;  // by symbol
  Buffer<int32_t> columns;

  int64_t n_tiles() const { return static_cast<int64_t>(tile_begin.size()) - 1; }
  int64_t n_columns() const { return tile_begin.back(); }
};

// One stream sequence on its way through the tiles of a panel.
class BlockSequence {
 public:
  static constexpr int lanes = block_lanes;

  // Lists the elements [begin, end) that some column of the panel matches.
  void begin(const SequencePanel<double>& job, const NameTable& names, const int32_t* positions,
             int64_t begin, int64_t end, int64_t layers, const BlockScale& scale) {
    rows_.clear();
    blocks_.clear();
    layers_ = layers;
    for (int64_t e = begin; e < end; ++e) {
      const ColumnRange range = job.columns_of[names.symbol(job.stream_symbols[e])];
      if (range.begin == range.end) continue;
      const int64_t block = scale.block_of(positions[e]);
      if (blocks_.empty() || blocks_.back().block != block)
        blocks_.push_back({block, static_cast<int64_t>(rows_.size()), 0});
      rows_.push_back({e, range.begin, range.end});
      blocks_.back().end = static_cast<int64_t>(rows_.size());
    }
    const size_t by_layers = static_cast<size_t>(layers) * lanes;
    carries_.assign(rows_.size() * by_layers, 0.0);
    ends_.assign(blocks_.size() * by_layers, 0.0);
    steps_.assign(blocks_.size() * lanes, 0);
    sums_.resize(by_layers);
    last_tile_ = 0;
    std::fill_n(total_, lanes, 0.0);
    std::fill_n(total_steps_, lanes, 0);
  }

  // Calls add(edge, rows, first row, last row, total) for each block of the sequence.
  template <class Add>
  void pass_tile(const SequencePanel<double>& job, const BlockPanel& panel, int64_t tile,
                 const BlockScale& scale, Add&& add) {
    const TileEdge edge{panel.tile_begin[static_cast<size_t>(tile)],
                        panel.tile_begin[static_cast<size_t>(tile) + 1],
                        layers_,
                        one_,
                        gain_,
                        carries_.data(),
                        sums_.data()};
    if (edge.begin == edge.end) return;
    const double from_left = scale.shift(last_tile_, tile);
    last_tile_ = tile;
    for (int64_t layer = 0; layer < layers_; ++layer)
      std::fill_n(column(job, layer, edge.begin), (edge.end - edge.begin) * lanes, 0.0);
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill_n(own_steps_, lanes, 0);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const double from_above = b > 0 ? scale.shift(blocks_[b - 1].block, blocks_[b].block) : 1.0;
      enter(job, edge, b, from_above, from_left);
      double total[lanes] = {};
      add(edge, rows_.data(), blocks_[b].begin, blocks_[b].end, total);
      leave(b, total);
    }
  }

  Scaled value(int lane) const { return Scaled(total_[lane], total_steps_[lane]); }

 private:
  struct Rows {
    int64_t block, begin, end;
  };
  // Values above `high` are brought down by a step, values below `low` up again; below `lost` they
  // count as 0 (see BlockScale).
  static constexpr double high = 0x1p350, low = 0x1p-200, lost = 0x1p-900, step = 0x1p512;

  static double* column(const SequencePanel<double>& job, int64_t layer, int64_t at) {
    return job.tables + (layer * job.length + at) * lanes;
  }

  // Takes what comes from above and from the left to the units of a block.
  void enter(const SequencePanel<double>& job, const TileEdge& edge, size_t b, double from_above,
             double from_left) {
    double* ends = ends_.data() + b * static_cast<size_t>(layers_) * lanes;
    int64_t* left_steps = steps_.data() + b * lanes;
    double factor[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      double above = 0.0, left = 0.0;
      for (int64_t layer = 0; layer < layers_; ++layer) {
        above = std::max(above, sums_[static_cast<size_t>(layer * lanes + lane)]);
        left = std::max(left, ends[layer * lanes + lane]);
      }
      above *= from_above;
      left *= from_left;
      const int64_t was = own_steps_[lane], other = left_steps[lane];
      int64_t now = above == 0.0 ? other : left == 0.0 ? was : std::max(was, other);
      const double most =
          std::max(above * Scaled::steps(was - now), left * Scaled::steps(other - now));
      if (most == 0.0)
        now = 0;
      else if (most >= high)
        ++now;
      else if (most < low && now > 0)
        --now;
      factor[lane] = above == 0.0 ? 0.0 : from_above * Scaled::steps(was - now);
      gain_[lane] = left == 0.0 ? 0.0 : from_left * Scaled::steps(other - now);
      one_[lane] = Scaled::steps(-now);
      own_steps_[lane] = left_steps[lane] = now;
    }
    for (int64_t layer = 0; b > 0 && layer < layers_; ++layer) {
      scale(column(job, layer, edge.begin), edge.end - edge.begin, factor);
      scale(sums_.data() + layer * lanes, 1, factor);
    }
    const double* from = edge.gain;
    scale(ends, layers_, from);
  }

  static void scale(double* values, int64_t n, const double* factors) {
    for (int64_t i = 0; i < n; ++i)
      for (int lane = 0; lane < lanes; ++lane) {
        const double value = values[i * lanes + lane] * factors[lane];
        values[i * lanes + lane] = value < lost ? 0.0 : value;
      }
  }

  void leave(size_t b, const double* total) {
    double* ends = ends_.data() + b * static_cast<size_t>(layers_) * lanes;
    for (int64_t i = 0; i < layers_ * lanes; ++i) ends[i] += sums_[static_cast<size_t>(i)];
    for (int lane = 0; lane < lanes; ++lane) {
      if (total[lane] == 0.0) continue;
      int64_t& steps = total_steps_[lane];
      const int64_t now = std::max(steps, own_steps_[lane]);
      total_[lane] = total_[lane] * Scaled::steps(steps - now) +
                     total[lane] * Scaled::steps(own_steps_[lane] - now);
      steps = now;
      if (total_[lane] >= step) {
        total_[lane] /= step;
        ++steps;
      }
    }
  }

  int64_t layers_ = 1, last_tile_ = 0;
  Buffer<BlockRow> rows_;
  Buffer<Rows> blocks_;
  Buffer<double> carries_, ends_;  // Q at the left edge: of rows, and after the last row of blocks
  Buffer<int64_t> steps_;  // of the block to the left, by (block, lane)
  Buffer<double> sums_;
  int64_t own_steps_[lanes];
  double one_[lanes], gain_[lanes];
  double total_[lanes];
  int64_t total_steps_[lanes];
};

}  // namespace kernelwood
