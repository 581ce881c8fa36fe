// How well a panel subtree's root matches the root of a stream subtree: k of the kernels.
#pragma once

#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/engine.hpp"
#include "kernelwood/label_matching.hpp"
#include "kernelwood/slot_index.hpp"

namespace kernelwood {

// Roots match if their symbols are equal, and then as much as the symbol's gate says, squared.
template <class Real>
class ExactNodes {
 public:
  static constexpr bool soft = false;

  ExactNodes(const LabelMatching<Output<Real>>& labels, const SubtreeTable& table, const SlotIndex&)
      : ExactNodes(labels, table) {}
  ExactNodes(const LabelMatching<Output<Real>>& labels, const SubtreeTable& table)
      : weights_(labels.template gates<Real>(table.names())) {
    for (Real& weight : weights_) weight *= weight;
  }

  bool gated() const { return !weights_.empty(); }
  // Symbols that only panel trees have match nothing, whatever their weight.
  Real weight(int32_t symbol) const {
    const auto at = static_cast<size_t>(symbol);
    return at < weights_.size() ? weights_[at] : Real(1.0);
  }

 private:
  Buffer<Real> weights_;  // by symbol, which here is the name; empty without gates
};

// Roots with one symbol match as well as the table says, times both gates.
template <class Real>
class SoftNodes {
 public:
  using Number = Output<Real>;
  static constexpr bool soft = true;

  SoftNodes(const LabelMatching<Number>& labels, const SubtreeTable& table, const SlotIndex& slots)
      : labels_(labels), table_(table), columns_(static_cast<size_t>(slots.n_slots())),
        gates_(labels.template gates<Real>(table.names())) {
    if (gated()) slot_gates_.resize(columns_.size());
    for (const int32_t sub : slots.subs_by_last()) {
      const auto slot = static_cast<size_t>(slots.slot(sub));
      columns_[slot] = labels.columns[table.names().label(table.name(sub))];
      if (gated()) slot_gates_[slot] = gate(sub);
    }
  }

  bool gated() const { return !gates_.empty(); }
  Real gate(int32_t sub) const {
    return gated() ? gates_[static_cast<size_t>(table_.name(sub))] : Real(1.0);
  }

  // What the table says of a panel subtree and the slot of a stream subtree with its symbol.
  Real similarity(int32_t sub, int32_t slot) const {
    return Real(row(sub)[columns_[static_cast<size_t>(slot)]]);
  }
  Real match(int32_t sub, int32_t slot) const {
    const Real value = similarity(sub, slot);
    return gated() ? value * (gate(sub) * slot_gates_[static_cast<size_t>(slot)]) : value;
  }

  // match(sub, slot) for a range of slots; returns how many are not 0.
  int32_t match_all(int32_t sub, SlotRange range, Real* out) const {
    const Number* row = this->row(sub);
    const int32_t* columns = columns_.data() + range.begin;
    int32_t n = 0;
    for (int32_t k = 0; k < range.size(); ++k) {
      const Number value = row[columns[k]];
      out[k] = Real(value);
      n += value != Number(0);
    }
    if (!gated()) return n;
    const Real own = gate(sub);
    const Real* gates = slot_gates_.data() + range.begin;
    for (int32_t k = 0; k < range.size(); ++k) out[k] *= own * gates[k];
    return own == Real(0.0) ? 0 : n;
  }

 private:
  const Number* row(int32_t sub) const {
    return labels_.table + labels_.rows[table_.names().label(table_.name(sub))];
  }

  LabelMatching<Number> labels_;
  const SubtreeTable& table_;
  Buffer<int32_t> columns_;         // by slot
  Buffer<Real> gates_, slot_gates_; // by name, by slot; empty without gates
};

}  // namespace kernelwood
