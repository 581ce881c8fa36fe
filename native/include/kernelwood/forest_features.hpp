// The sparse vectors by which whole forests are multiplied.
//
// K(a, b) = sum over features f of value_a(f) * weight_b(f). Most hyper-edges that meet at all do
// so with the value decay, which a feature of their shape carries; only what exceeds it is carried
// by features of single slots. Features that no other panel forest can reach are left out, and
// slots that one forest owns are no features: what they carry is added to that forest's sum at
// once, by the weight it gives them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/forest_slots.hpp"
#include "kernelwood/presence.hpp"

namespace kernelwood {

class ForestFeatures {
 public:
  ForestFeatures(const ForestTable& table, const ForestSlots& slots, const ForestSide& panel,
                 const ForestSide& stream, bool symmetric)
      : table_(table), slots_(slots) {
    find_reachable(panel, symmetric);
    list_stream(stream);
    renumber_by_frequency();
  }

  int64_t size() const { return n_features_; }
  // Dense feature ids; -1 where nothing can meet.
  int32_t of_slot(int32_t slot) const { return ids_[static_cast<size_t>(slot)]; }
  int32_t of_shape(int32_t shape) const { return ids_[shape_at(shape)]; }
  const int64_t* begins() const { return begin_.data(); }
  const int32_t* ids() const { return listed_.data(); }
  const Buffer<double>& weights() const { return weights_; }
  // By slot: its expected count in the forest that owns it.
  const Buffer<double>& owned_weights() const { return owned_weights_; }

 private:
  size_t shape_at(int32_t shape) const { return static_cast<size_t>(slots_.n_slots() + shape); }

  void find_reachable(const ForestSide& panel, bool symmetric) {
    Presence shapes(static_cast<size_t>(table_.n_shapes()), symmetric);
    for (int64_t f = 0; f < panel.size(); ++f)
      for (int64_t i = panel.begin[static_cast<size_t>(f)];
           i < panel.begin[static_cast<size_t>(f) + 1]; ++i)
        shapes.see(table_.shape(panel.edge[static_cast<size_t>(i)]), static_cast<int32_t>(f));
    Buffer<uint8_t> nodes(static_cast<size_t>(table_.n_nodes()), 0);
    for (int32_t node = 0; node < table_.n_nodes(); ++node)
      for (int32_t k = 0; k < table_.n_alternatives(node); ++k)
        nodes[static_cast<size_t>(node)] |=
            shapes.reachable(table_.shape(table_.alternatives(node)[k].edge));
    ids_.assign(shape_at(table_.n_shapes()), -1);
    for (int32_t shape = 0; shape < table_.n_shapes(); ++shape)
      if (slots_.shape(shape).size > 0 && shapes.reachable(shape)) ids_[shape_at(shape)] = 0;
    for (const int32_t edge : slots_.edges()) {
      if (table_.is_owned(edge) || !shapes.reachable(table_.shape(edge))) continue;
      const int32_t* child = table_.children(edge);
      if (std::any_of(child, child + table_.n_children(edge),
                      [&](int32_t node) { return nodes[static_cast<size_t>(node)] != 0; }))
        ids_[static_cast<size_t>(slots_.slot(edge))] = 0;
    }
  }

  void list_stream(const ForestSide& stream) {
    Buffer<int64_t> listed_at(ids_.size(), -1);
    owned_weights_.assign(static_cast<size_t>(slots_.n_slots()), 0.0);
    int64_t forest_begin = 0;
    const auto add = [&](size_t feature, double weight) {
      if (ids_[feature] < 0) return;
      if (listed_at[feature] < forest_begin) {
        listed_at[feature] = static_cast<int64_t>(listed_.size());
        listed_.push_back(static_cast<int32_t>(feature));
        weights_.push_back(0.0);
        ++ids_[feature];
      }
      weights_[static_cast<size_t>(listed_at[feature])] += weight;
    };
    for (int64_t f = 0; f < stream.size(); ++f) {
      forest_begin = static_cast<int64_t>(listed_.size());
      for (int64_t i = stream.begin[static_cast<size_t>(f)];
           i < stream.begin[static_cast<size_t>(f) + 1]; ++i) {
        const int32_t edge = stream.edge[static_cast<size_t>(i)];
        const double weight = stream.weight[static_cast<size_t>(i)];
        add(shape_at(table_.shape(edge)), weight);
        add(static_cast<size_t>(slots_.slot(edge)), weight);
        if (table_.is_owned(edge)) owned_weights_[static_cast<size_t>(slots_.slot(edge))] = weight;
      }
      begin_.push_back(static_cast<int64_t>(listed_.size()));
    }
  }

  void renumber_by_frequency() {
    n_features_ = number_by_frequency(ids_);
    for (int32_t& feature : listed_) feature = ids_[static_cast<size_t>(feature)];
  }

  const ForestTable& table_;
  const ForestSlots& slots_;
  int32_t n_features_ = 0;
  Buffer<int32_t> ids_, listed_;
  Buffer<double> weights_, owned_weights_;
  Buffer<int64_t> begin_{0};
};

}  // namespace kernelwood
