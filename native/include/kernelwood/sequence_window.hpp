// Some short sequences laid out for vector lanes, sorted by length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernelwood/buffer.hpp"
#include "kernelwood/sequence_panel.hpp"
#include "kernelwood/sequence_side.hpp"

namespace kernelwood {

template <class Real, class Elements>
class SequenceWindow {
 public:
  using Number = Output<Real>;
  using Sides = SequenceSides<Real, Elements>;
  static constexpr int lanes = sequence_lanes<Number>;
  // A window holds the short ones of as many sequences.
  static constexpr int64_t size = Elements::soft ? 256 : 128;

  explicit SequenceWindow(const Sides& sides) : panels(size / lanes), sides_(sides) {}

  // One group of lanes of a window.
  struct Panel {
    int64_t length = 0;
    Buffer<typename SequencePanel<Number>::Int> symbols;
    Buffer<Number> up, down;
    Buffer<int32_t> names;  // of the cells, -1 where there is none; soft matching only
    Buffer<ColumnRange> columns_of;  // by symbol
    Buffer<int32_t> columns;
  };
  int64_t begin = 0, end = 0;    // the window, in the list of short sequences
  Buffer<int32_t> sorted;   // its sequences by length
  Buffer<int32_t> lane_of;  // where each of them went
  std::vector<Panel> panels;

  // Lays the kept elements of a window out, lane by lane, in order of length, padded with a
  // symbol that matches nothing.
  void lay_out(const Buffer<int32_t>& shorts, int64_t w) {
    const SequenceSide<Real>& side = sides_.panel();
    const auto position = [&](int64_t index) {
      return std::lower_bound(shorts.begin(), shorts.end(), index) - shorts.begin();
    };
    begin = position(w * size);
    end = position((w + 1) * size);
    sorted.assign(shorts.begin() + begin, shorts.begin() + end);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int32_t a, int32_t b) { return side.span(a).size < side.span(b).size; });
    lane_of.resize(sorted.size());
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto at = std::lower_bound(shorts.begin() + begin, shorts.begin() + end, sorted[i]);
      lane_of[static_cast<size_t>(at - shorts.begin() - begin)] = static_cast<int32_t>(i);
    }
    for (size_t first = 0; first < sorted.size(); first += lanes)
      lay_out_panel(first, panels[first / lanes]);
  }

 private:
  void lay_out_panel(size_t first, Panel& panel) {
    const SequenceSide<Real>& side = sides_.panel();
    const size_t width = std::min<size_t>(lanes, sorted.size() - first);
    panel.length = 0;
    for (size_t lane = 0; lane < width; ++lane)
      panel.length = std::max(panel.length, side.kept_length(sorted[first + lane]));
    const auto n_cells = static_cast<size_t>(panel.length) * lanes;
    panel.symbols.assign(n_cells, -1);
    panel.up.assign(n_cells, 0);
    panel.down.assign(n_cells, 0);
    if (Elements::soft) panel.names.assign(n_cells, -1);
    cells_.clear();
    for (size_t lane = 0; lane < width; ++lane) {
      const auto t = static_cast<size_t>(sorted[first + lane]);
      for (int64_t e = side.kept_begin[t]; e < side.kept_begin[t + 1]; ++e) {
        const auto column = static_cast<int32_t>(e - side.kept_begin[t]);
        const size_t at = static_cast<size_t>(column) * lanes + lane;
        const int32_t name = side.kept[static_cast<size_t>(e)];
        const int32_t symbol = sides_.names().symbol(name);
        panel.symbols[at] = symbol;
        panel.up[at] = side.up[static_cast<size_t>(e)];
        panel.down[at] = side.down[static_cast<size_t>(e)];
        cells_.emplace_back(symbol, column);
        if (Elements::soft) panel.names[at] = name;
      }
    }
    list_columns(cells_, static_cast<size_t>(sides_.names().n_symbols()), panel.columns_of,
                 panel.columns);
  }

  const Sides& sides_;
  Buffer<std::pair<int32_t, int32_t>> cells_;  // (symbol, column) of a panel
};

}  // namespace kernelwood
