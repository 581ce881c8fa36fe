// Values of a panel of structures at features, and their product with the stream's counts.
//
// Only features that were touched are cleared again: a panel meets few of all there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/panel_product.hpp"

namespace kernelwood {

// The features of each stream structure and how often it has them.
template <class Real>
struct StreamFeatures {
  const int32_t* ids;
  const Real* counts;
  const int64_t* begin;
};

// What is to be added to the products, lane by lane; nothing if null.
template <class Real>
struct LaneSums {
  const Real* data = nullptr;
  int64_t stride = 0;
  Real at(int lane, int64_t s) const { return data[lane * stride + s]; }
};

template <class Real, int n_lanes = panel_lanes<Real>>
class PanelValues {
 public:
  static constexpr int lanes = n_lanes;

  PanelValues() = default;
  explicit PanelValues(int64_t n_features)
      : values_(static_cast<size_t>(n_features) * lanes, Real(0.0)),
        touched_(static_cast<size_t>(n_features), 0), list_(static_cast<size_t>(n_features) + 1) {}

  // (features, lanes), for those who fill in every value themselves.
  Real* data() { return values_.data(); }
  size_t size() const { return values_.size(); }

  void add(int32_t feature, int lane, Real value) {
    if (feature < 0) return;
    values_[static_cast<size_t>(feature) * lanes + static_cast<size_t>(lane)] += value;
    list_[n_touched_] = feature;
    n_touched_ += 1u - touched_[static_cast<size_t>(feature)];
    touched_[static_cast<size_t>(feature)] = 1;
  }

  // out[s - stream_begin][lane] = sum over the features of stream structure s, and `more` of it.
  void multiply(const StreamFeatures<Real>& stream, int64_t stream_begin, int64_t stream_end,
                int width, Results<Real> out, LaneSums<Real> more = {}) {
    PanelProduct<Real> job{values_.data(), stream.ids,   stream.counts,
                           stream.begin,   stream_begin, stream_end,
                           width,          nullptr,      0};
    if constexpr (std::is_same_v<Real, Scaled>) {
      scaled_out_.resize(static_cast<size_t>(stream_end - stream_begin));
      job.out = scaled_out_.data();
      job.stride = 1;
      multiply_panel(job);
      for (int64_t s = stream_begin; s < stream_end; ++s) {
        Real sum = scaled_out_[static_cast<size_t>(s - stream_begin)];
        if (more.data) sum += more.at(0, s);
        out.row(s - stream_begin)[0] = output(sum);
      }
    } else {
      job.out = out.data;
      job.stride = out.stride;
      if constexpr (lanes == 1)
        multiply_one(job);
      else
        multiply_panel(job);
      if (more.data)
        for (int64_t s = stream_begin; s < stream_end; ++s)
          for (int lane = 0; lane < width; ++lane)
            out.row(s - stream_begin)[lane] += more.at(lane, s);
    }
  }

  void clear_touched() {
    for (size_t i = 0; i < n_touched_; ++i) {
      const auto feature = static_cast<size_t>(list_[i]);
      touched_[feature] = 0;
      std::fill_n(values_.data() + feature * lanes, lanes, Real(0.0));
    }
    n_touched_ = 0;
  }

 private:
  Buffer<Real> values_;
  Buffer<uint8_t> touched_;  // features with a value in this panel
  Buffer<int32_t> list_;
  size_t n_touched_ = 0;
  Buffer<Real> scaled_out_;
};

}  // namespace kernelwood
