// Features of the tagger, of the transitions and of the labels of dependencies.
//
// A feature is the hash of the number of its template and of properties of words. Tags are numbers
// from 0; the tag of a place outside the sentence is kOutside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernelwood/transition_system.hpp"
#include "kernelwood/transition_words.hpp"

namespace kernelwood {

using Features = std::vector<uint64_t>;
using Words = std::vector<WordParts>;

constexpr uint64_t kOutside = 1u << 16;
constexpr uint64_t kRootTag = kOutside + 1;

// Features of the part of speech of a word; those of the words before it are known.
inline void tag_features(const Words& words, const std::vector<int32_t>& tags, size_t at,
                         Features& out) {
  static const WordParts kNone;
  out.clear();
  const auto word = [&](size_t place) -> const WordParts& {  // wraps below 0
    return place < words.size() ? words[place] : kNone;
  };
  const auto tag = [&](size_t back) -> uint64_t {
    return back <= at ? static_cast<uint64_t>(tags[at - back]) : kOutside;
  };
  const WordParts &w = words[at], &l = word(at - 1), &r = word(at + 1);
  const uint64_t t1 = tag(1), t2 = tag(2), first = at == 0;
  uint64_t kind = 0;
  const auto add = [&](auto... parts) { out.push_back(hash_feature(kind++, parts...)); };
  add(w.known);
  add(w.form);
  add(w.shape);
  add(w.shape, first);
  add(w.end[1]);
  add(w.end[2]);
  add(w.end[3]);
  add(w.end[4]);
  add(w.end[5]);
  add(w.begin[1]);
  add(w.begin[2]);
  add(w.begin[3]);
  add(w.begin[4]);
  add(w.last_part);
  add(t1);
  add(t1, t2);
  add(t1, w.known);
  add(t1, w.end[3]);
  add(t1, t2, w.known);
  add(t1, w.shape, w.end[2]);
  add(l.known);
  add(l.known, w.known);
  add(l.end[3]);
  add(r.known);
  add(r.known, w.known);
  add(r.end[3]);
  add(r.end[2], w.end[3]);
  add(t1, r.known);
  add(t1, r.end[2], w.end[2]);
  add(r.shape);
  add(word(at - 2).known);
  add(word(at + 2).known);
  add(word(at + 2).end[3]);
  add(r.known, word(at + 2).known);
}

// Properties of a place in the sentence, as features have them.
struct Place {
  uint64_t word, tag, both;
};

class Places {
 public:
  Places(const Words& words, const std::vector<int32_t>& tags) : words_(words), tags_(tags) {}
  Place operator()(int32_t at) const {
    if (at < 0) return {0, kOutside, kOutside};
    const size_t i = static_cast<size_t>(at);
    if (i >= words_.size()) return {0, kRootTag, kRootTag};
    const uint64_t word = words_[i].known, tag = static_cast<uint64_t>(tags_[i]);
    return {word, tag, word + 0x9e3779b97f4a7c15u * (tag + 1)};
  }
  uint64_t tag(int32_t at) const {
    if (at < 0) return kOutside;
    const size_t i = static_cast<size_t>(at);
    return i >= words_.size() ? kRootTag : static_cast<uint64_t>(tags_[i]);
  }

 private:
  const Words& words_;
  const std::vector<int32_t>& tags_;
};

// The distance of two words in classes: 1, 2, 3, 4, 5 to 7, 8 to 12, more.
inline uint64_t distance_class(int32_t left, int32_t right) {
  const int32_t d = right - left;
  return left < 0 || right < 0 ? 0 : d < 5 ? d : d < 8 ? 5 : d < 13 ? 6 : 7;
}

// Features of the next transition.
inline void action_features(const Configuration& c, const Places& place, Features& out) {
  out.clear();
  const int32_t i0 = c.top(0), i1 = c.top(1), i2 = c.top(2);
  const Place s0 = place(i0), s1 = place(i1), s2 = place(i2), b0 = place(c.ahead(0)),
              b1 = place(c.ahead(1)), b2 = place(c.ahead(2));
  static const Children kChildless;
  const Children& c0 = i0 < 0 ? kChildless : c.children(i0);
  const Children& c1 = i1 < 0 ? kChildless : c.children(i1);
  const Children& cb = c.children(c.next());
  const Place s0l = place(c0.left), s0r = place(c0.right), s1l = place(c1.left),
              s1r = place(c1.right), b0l = place(cb.left);
  const uint64_t d0 = distance_class(i0, c.next()), d1 = distance_class(i1, i0);
  const auto few = [](int32_t n) { return static_cast<uint64_t>(std::min(n, 4)); };
  uint64_t kind = 100;
  const auto add = [&](auto... parts) { out.push_back(hash_feature(kind++, parts...)); };
  add(s0.word);
  add(s0.tag);
  add(s0.both);
  add(s1.word);
  add(s1.tag);
  add(s1.both);
  add(s2.both);
  add(b0.word);
  add(b0.tag);
  add(b0.both);
  add(b1.word);
  add(b1.tag);
  add(b1.both);
  add(b2.both);
  add(s0.both, b0.both);
  add(s0.both, b0.tag);
  add(s0.tag, b0.both);
  add(s0.word, b0.word);
  add(s0.tag, b0.tag);
  add(s1.both, s0.both);
  add(s1.both, s0.tag);
  add(s1.tag, s0.both);
  add(s1.word, s0.word);
  add(s1.tag, s0.tag);
  add(b0.tag, b1.tag);
  add(b0.word, b1.tag);
  add(b0.tag, b1.word);
  add(s0.tag, b0.tag, b1.tag);
  add(s0.word, b0.tag, b1.tag);
  add(s0.tag, b0.word, b1.tag);
  add(s0.tag, b0.tag, b1.word);
  add(s0.tag, b0.tag, b1.tag, b2.tag);
  add(s1.tag, s0.tag, b0.tag);
  add(s1.word, s0.tag, b0.tag);
  add(s1.tag, s0.word, b0.tag);
  add(s1.tag, s0.tag, b0.word);
  add(s1.word, s0.word, b0.tag);
  add(s1.tag, s0.tag, b0.tag, b1.tag);
  add(s2.tag, s1.tag, s0.tag);
  add(s2.tag, s1.tag, s0.tag, b0.tag);
  add(s2.tag, s1.tag, s0.word);
  add(s2.word, s0.word);
  add(s2.tag, s1.word, s0.word);
  add(s0.tag, s0l.tag, b0.tag);
  add(s0.tag, s0r.tag, b0.tag);
  add(s0.word, s0r.word, b0.tag);
  add(s0.tag, b0.tag, b0l.tag);
  add(s0.word, b0.tag, b0l.tag);
  add(s0.tag, b0.tag, b0l.word);
  add(s1.tag, s1r.tag, s0.tag);
  add(s1.tag, s1l.tag, s0.tag);
  add(s1.tag, s0.tag, s0l.tag);
  add(s1.tag, s0.tag, s0r.tag);
  add(s1.tag, s0.word, s0r.tag);
  add(s1.word, s0.word, s0r.tag);
  add(s1.word, s0.word, s0r.word);
  add(s1.tag, s0.word, s0r.word);
  add(s2.word, s0.word, s0r.word);
  add(s1.tag, s1r.tag, s0.tag, s0r.tag);
  add(s1.tag, s1r.word, s0.tag);
  add(s1.tag, s0.tag, s0r.tag, b0.tag);
  add(s1.tag, s0.tag, s0l.tag, b0.tag);
  add(s1.tag, s1r.tag, s0.tag, b0.tag);
  add(s0.tag, place.tag(c0.left2), s0l.tag, b0.tag);
  add(s0.tag, s0r.tag, place.tag(c0.right2), b0.tag);
  add(s1.tag, s1r.tag, place.tag(c1.right2), s0.tag);
  add(b0.tag, b0l.tag, place.tag(cb.left2), s0.tag);
  add(s0.tag, few(c0.n_left), few(c0.n_right));
  add(s0.word, few(c0.n_right));
  add(s0.tag, b0.tag, few(c0.n_right));
  add(s1.tag, s0.tag, few(c1.n_right));
  add(b0.tag, s0.tag, few(cb.n_left));
  add(s0.tag, b0.tag, d0);
  add(s0.both, d0);
  add(b0.both, d0);
  add(s0.word, b0.word, d0);
  add(s1.tag, s0.tag, d1);
  add(s1.both, s0.tag, d1);
  add(s1.tag, s0.both, d1);
  add(s1.tag, s0.tag, b0.tag, d0, d1);
}

// A finished tree, with the children of every word; word n is the root.
struct Attached {
  std::vector<int32_t> heads;
  std::vector<Children> children;

  // Children in order of distance, as transitions attach them.
  void assign(const std::vector<int32_t>& found) {
    heads = found;
    const int32_t n = static_cast<int32_t>(heads.size());
    children.assign(static_cast<size_t>(n) + 1, Children());
    for (int32_t word = n - 1; word >= 0; --word) {
      if (heads[static_cast<size_t>(word)] <= word) continue;
      Children& family = children[static_cast<size_t>(heads[static_cast<size_t>(word)])];
      family.left2 = family.left, family.left = word, ++family.n_left;
    }
    for (int32_t word = 0; word < n; ++word) {
      if (heads[static_cast<size_t>(word)] >= word) continue;
      Children& family = children[static_cast<size_t>(heads[static_cast<size_t>(word)])];
      family.right2 = family.right, family.right = word, ++family.n_right;
    }
  }
};

// Features of the label of the dependency of a word on its head. `before` is the nearest child of
// the head on the same side between the two, -1 if there is none; `far` is the one after it.
inline void label_features(const Attached& tree, const Places& place, int32_t word, int32_t between,
                           int32_t label_between, int32_t beyond, Features& out) {
  out.clear();
  const int32_t head = tree.heads[static_cast<size_t>(word)];
  const int32_t n = static_cast<int32_t>(tree.heads.size());
  const int32_t above = head < n ? tree.heads[static_cast<size_t>(head)] : -1;
  const Children &own = tree.children[static_cast<size_t>(word)],
                 &hers = tree.children[static_cast<size_t>(head)];
  const Place d = place(word), h = place(head), g = place(above), own_left = place(own.left),
              own_right = place(own.right), first = place(hers.left), last = place(hers.right);
  const uint64_t side = head > word;
  const uint64_t d1 = side + 2 * (side ? distance_class(word, head) : distance_class(head, word));
  const Place mid = place(between);
  uint64_t kind = 300;
  const auto add = [&](auto... parts) { out.push_back(hash_feature(kind++, parts...)); };
  add(d.tag, side);
  add(d.word, side);
  add(d.both);
  add(h.tag, side);
  add(h.word, side);
  add(d.tag, h.tag, side);
  add(d.word, h.tag, side);
  add(d.tag, h.word, side);
  add(d.word, h.word, side);
  add(d.tag, h.tag, d1);
  add(d.tag, h.tag, g.tag, side);
  add(d.tag, h.tag, mid.tag, side);
  add(d.tag, h.tag, mid.word, side);
  add(d.tag, h.tag, side, static_cast<uint64_t>(label_between + 1));
  add(d.tag, mid.tag, side, static_cast<uint64_t>(label_between + 1));
  add(d.tag, h.tag, place.tag(beyond), side);
  add(d.tag, own_left.tag, side);
  add(d.tag, own_left.word, side);
  add(d.tag, own_right.tag, side);
  add(d.tag, h.tag, own_left.tag, side);
  add(d.tag, h.tag, own_left.word, side);
  add(d.tag, h.tag, own_right.tag, side);
  add(d.word, own_right.tag, side);
  add(d.tag, own_left.tag, own_right.tag, h.tag);
  add(d.tag, own_left.both, h.tag, side);
  add(d.tag, h.tag, first.tag, side);
  add(d.tag, h.tag, first.word, side);
  add(d.tag, h.tag, last.tag, side);
  add(d.tag, h.tag, place.tag(hers.left2), first.tag, side);
  add(d.tag, h.tag, place(hers.left2).word, side);
  add(d.word, h.word, g.tag, side);
  add(d.tag, place.tag(word - 1), h.tag, side);
  add(d.tag, place.tag(word + 1 < n ? word + 1 : -1), h.tag, side);
  add(d.tag, h.tag, static_cast<uint64_t>(std::min(own.n_left, 3)),
      static_cast<uint64_t>(std::min(own.n_right, 3)), side);
  add(d.tag, h.tag, static_cast<uint64_t>(std::min(hers.n_left, 3)),
      static_cast<uint64_t>(std::min(hers.n_right, 3)), side);
}

}  // namespace kernelwood
