// What engines share that compare a panel of structures at a time with a stream of structures.
//
// The engine has, for this class alone: Work, the scratch of one call; run_one, which scatters one
// panel structure into a lane (none if negative) and returns its self-similarity if the engine
// compares the panel with itself; and multiply, which makes values of what was scattered.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/panel_product.hpp"
#include "kernelwood/reduce.hpp"

namespace kernelwood {

template <class Engine, class Real>
class PanelEngine {
 public:
  static constexpr int lanes = panel_lanes<Real>;
  static constexpr bool turns = true;

  int64_t n_panels() const { return (self().n_panel() + lanes - 1) / lanes; }

  // Lower triangle and diagonal of the symmetric matrix, for the columns of some panels.
  void gram(int64_t panel_begin, int64_t panel_end, Results<Real> out, StopFlag stop) const {
    typename Engine::Work work(self(), stop);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      const int64_t first = p * lanes;
      run_panel(work, p, first, self().n_stream(), {out.row(first) + first, out.stride}, true);
    }
  }

  // Stream structures [stream_begin, stream_end) in rows, those of some panels in columns.
  void cross(int64_t panel_begin, int64_t panel_end, int64_t stream_begin, int64_t stream_end,
             Results<Real> out, StopFlag stop) const {
    typename Engine::Work work(self(), stop);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p)
      run_panel(work, p, stream_begin, stream_end, {out.data + p * lanes, out.stride}, false);
  }

  // The same with those of the panels in rows and stream structures in columns.
  void cross_turned(int64_t panel_begin, int64_t panel_end, int64_t stream_begin,
                    int64_t stream_end, Results<Real> out, StopFlag stop) const {
    typename Engine::Work work(self(), stop);
    const int64_t n = stream_end - stream_begin;
    Buffer<Output<Real>> block(static_cast<size_t>(n) * lanes);
    for (int64_t p = panel_begin; p < panel_end && !stop.raised(); ++p) {
      run_panel(work, p, stream_begin, stream_end, {block.data(), lanes}, false);
      const int64_t width = std::min<int64_t>(lanes, self().n_panel() - p * lanes);
      transpose(block.data(), lanes, n, width, out.row(p * lanes), out.stride);
    }
  }

  // Self-similarities of the panel structures.
  void diagonal(Output<Real>* out, StopFlag stop) const {
    typename Engine::Work work(self(), stop);
    for (int64_t i = 0; i < self().n_panel() && !stop.raised(); ++i)
      out[i] = output(self().run_one(work, i, i, -1, {}, 0));
  }

 private:
  const Engine& self() const { return static_cast<const Engine&>(*this); }

  template <class Work>
  void run_panel(Work& work, int64_t p, int64_t stream_begin, int64_t stream_end, Results<Real> out,
                 bool with_diagonal) const {
    const int64_t first = p * lanes;
    const int width = static_cast<int>(std::min<int64_t>(lanes, self().n_panel() - first));
    Real diagonal[lanes];
    for (int lane = 0; lane < width; ++lane)
      diagonal[lane] = self().run_one(work, first + lane, stream_begin, lane, out, stream_end);
    self().multiply(work, stream_begin, stream_end, width, out);
    if (with_diagonal)
      for (int lane = 0; lane < width; ++lane)
        out.row(first + lane - stream_begin)[lane] = output(diagonal[lane]);
  }
};

}  // namespace kernelwood
