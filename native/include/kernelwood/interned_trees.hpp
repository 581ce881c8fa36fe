// Trees whose subtrees are interned, kept for many comparisons: what any of them needs to know of a
// tree, whatever the kernel.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernelwood/buffer.hpp"
#include "kernelwood/subtree_table.hpp"

namespace kernelwood {

// The entries of a tree are its distinct subtrees, children before parents; places count from the
// first entry of the tree.
class InternedTrees {
 public:
  explicit InternedTrees(const TreeArrays& trees)
      : table_(static_cast<size_t>(trees.offsets[trees.n_trees] - trees.offsets[0]),
               static_cast<const int32_t*>(nullptr)),
        side_(table_.add(trees, true)) {
    Buffer<int32_t> place_of(static_cast<size_t>(table_.n_subtrees()), -1);
    for (int64_t t = 0; t < size(); ++t)
      for (int64_t e = first(t); e < first(t + 1); ++e) {
        const int32_t sub = this->sub(e);
        place_of[static_cast<size_t>(sub)] = static_cast<int32_t>(e - first(t));
        for (int64_t i = 0; i < table_.n_children(sub); ++i) {
          const int32_t child = table_.children(sub)[i];
          children_.push_back(place_of[static_cast<size_t>(child)]);
          child_symbols_.push_back(table_.symbol(child));
        }
        children_begin_.push_back(static_cast<int64_t>(children_.size()));
      }
  }

  // Every label must have its entry in an array of this length.
  void require_labels(size_t n) const {
    for (int32_t name = 0; name < table_.names().size(); ++name)
      if (static_cast<size_t>(table_.names().edge(name)) >= n ||
          static_cast<size_t>(table_.names().label(name)) >= n)
        throw std::invalid_argument("too few labels");
  }

  const SubtreeTable& table() const { return table_; }
  int64_t size() const { return side_.size(); }
  int64_t first(int64_t tree) const { return side_.begin[static_cast<size_t>(tree)]; }
  int64_t n_entries(int64_t tree) const { return first(tree + 1) - first(tree); }

  int32_t sub(int64_t entry) const { return side_.sub[static_cast<size_t>(entry)]; }
  int32_t count(int64_t entry) const { return side_.count[static_cast<size_t>(entry)]; }
  int32_t symbol(int64_t entry) const { return table_.symbol(sub(entry)); }
  int32_t shape(int64_t entry) const { return table_.shape(sub(entry)); }
  // Places and symbols of the children.
  const int32_t* children(int64_t entry) const { return children_.data() + begin(entry); }
  const int32_t* child_symbols(int64_t entry) const { return child_symbols_.data() + begin(entry); }
  int64_t n_children(int64_t entry) const {
    return children_begin_[static_cast<size_t>(entry) + 1] - begin(entry);
  }

 private:
  int64_t begin(int64_t entry) const { return children_begin_[static_cast<size_t>(entry)]; }

  SubtreeTable table_;
  TreeSide side_;
  Buffer<int64_t> children_begin_{0};
  Buffer<int32_t> children_, child_symbols_;
};

}  // namespace kernelwood
