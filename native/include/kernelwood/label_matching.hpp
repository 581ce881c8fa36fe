// How labels match, and how much they count.
//
// Exactly, equal labels match. Softly, labels of one group match as well as a table or their
// vectors say, and labels of different groups never do. Gates weigh labels either way.
#pragma once

#include <cstdint>

#include "kernelwood/buffer.hpp"
#include "kernelwood/interning.hpp"

namespace kernelwood {

enum class SimilarityFunction { cosine, gaussian, sigmoid, exponential, threshold };

// What becomes of the cosine c of two vectors.
struct SimilarityParameters {
  SimilarityFunction function = SimilarityFunction::cosine;
  double weight = 1.0;     // cosine: weight * c
  // cosine: less counts as 0; exponential: c at which it reaches 0; threshold: least c that counts
  // as 1, the others as 0
  double floor = 0.0;
  bool has_floor = false;  // exponential
};

// Vectors of labels, of one of two types.
struct VectorSource {
  SimilarityParameters parameters;
  const float* single = nullptr;
  const double* twice = nullptr;
  int64_t dim = 0;
  const int64_t* rows = nullptr;  // by label; -1: the label matches only itself
};

template <class Number>
struct LabelMatching {
  const double* edge_gates = nullptr;  // by edge label; null: all 1
  const double* node_gates = nullptr;  // by node label; null: all 1
  // By node label, and null where labels match exactly: the group; where the similarities of a
  // label begin in the table, and the place of a label in the rows of its group. Any place can be
  // read from any row: the table is padded.
  const int32_t* groups = nullptr;
  const int64_t* rows = nullptr;
  const int32_t* columns = nullptr;
  const Number* table = nullptr;
  // Instead of rows, columns and a table, for engines that make their own.
  const VectorSource* vectors = nullptr;

  bool gated() const { return edge_gates != nullptr || node_gates != nullptr; }
  // The gates of all names, none if there are no gates.
  template <class Real, class Names>
  Buffer<Real> gates(const Names& names) const {
    Buffer<Real> gates;
    for (int32_t name = 0; gated() && name < names.size(); ++name)
      gates.push_back(Real((edge_gates ? edge_gates[names.edge(name)] : 1.0) *
                           (node_gates ? node_gates[names.label(name)] : 1.0)));
    return gates;
  }
};

// What nodes and elements are called, and what they can match.
//
// A name stands for an edge and a label, a symbol for what can match: names of different symbols
// never do. Where labels match exactly the two are the same; where they match softly, all labels
// of a group share a symbol.
//
// Where labels match exactly, a table may continue another that no longer changes: new names get
// numbers beyond it.
class NameTable {
 public:
  explicit NameTable(const int32_t* groups) : groups_(groups) {}
  explicit NameTable(const NameTable* base)
      : groups_(nullptr), base_(base), n_base_(base->size()) {}

  int32_t intern(int32_t edge, int32_t label) {
    if (base_) {
      const int32_t known = base_->names_.find(edge, label);
      if (known >= 0) return known;
    }
    const int32_t name = names_.intern(edge, label);
    if (static_cast<size_t>(name) == labels_.size()) add(edge, label);
    return n_base_ + name;
  }

  // -1 if there is none.
  int32_t find(int32_t edge, int32_t label) const { return names_.find(edge, label); }

  int32_t size() const { return n_base_ + static_cast<int32_t>(labels_.size()); }
  int32_t n_symbols() const {
    return n_base_ + static_cast<int32_t>(groups_ ? symbols_.size() : names_.size());
  }
  int32_t edge(int32_t name) const { return edges_[static_cast<size_t>(name)]; }
  int32_t label(int32_t name) const { return labels_[static_cast<size_t>(name)]; }
  int32_t symbol(int32_t name) const {
    return groups_ ? symbol_of_[static_cast<size_t>(name)] : name;
  }

 private:
  __attribute__((noinline)) void add(int32_t edge, int32_t label) {
    edges_.push_back(edge);
    labels_.push_back(label);
    if (groups_) symbol_of_.push_back(symbols_.intern(edge, groups_[label]));
  }

  const int32_t* groups_;  // by label; null: labels match exactly
  const NameTable* base_ = nullptr;
  int32_t n_base_ = 0;
  SymbolInterner names_, symbols_;
  Buffer<int32_t> edges_, labels_, symbol_of_;
};

}  // namespace kernelwood
