// A tagger and dependency parser: parts of speech from left to right, transitions, labels.
//
// Each step takes the best class by a sum of integer weights, of equal ones the first. The time is
// linear in the length of the sentence.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernelwood/transition_features.hpp"
#include "kernelwood/transition_system.hpp"
#include "kernelwood/transition_weights.hpp"
#include "kernelwood/transition_words.hpp"

namespace kernelwood {

inline int32_t best_class(const std::vector<int32_t>& scores) {
  return static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// The best action that is possible.
inline int32_t best_action(const Configuration& c, const std::vector<int32_t>& scores) {
  int32_t best = -1;
  for (int32_t a = 0; a < kActions; ++a)
    if (c.may(a) && (best < 0 || scores[a] > scores[best])) best = a;
  return best;
}

// For each word the child of its head that is next to it on the side of the head, and the one on
// the other side; -1 if there is none.
struct Siblings {
  std::vector<int32_t> nearer, farther;

  void assign(const std::vector<int32_t>& heads) {
    const int32_t n = static_cast<int32_t>(heads.size());
    nearer.assign(heads.size(), -1);
    farther.assign(heads.size(), -1);
    last_.assign(heads.size() + 1, -1);
    for (int32_t word = n - 1; word >= 0; --word)
      if (heads[static_cast<size_t>(word)] > word) link(heads, word);
    last_.assign(heads.size() + 1, -1);
    for (int32_t word = 0; word < n; ++word)
      if (heads[static_cast<size_t>(word)] < word) link(heads, word);
  }

 private:
  void link(const std::vector<int32_t>& heads, int32_t word) {
    int32_t& last = last_[static_cast<size_t>(heads[static_cast<size_t>(word)])];
    nearer[static_cast<size_t>(word)] = last;
    if (last >= 0) farther[static_cast<size_t>(last)] = word;
    last = word;
  }
  std::vector<int32_t> last_;
};

// Visits the words of a tree so that a word comes after the one that is nearer to its head.
template <class Visit>
void visit_by_distance(const std::vector<int32_t>& heads, Visit visit) {
  const int32_t n = static_cast<int32_t>(heads.size());
  for (int32_t word = n - 1; word >= 0; --word)
    if (heads[static_cast<size_t>(word)] > word) visit(word);
  for (int32_t word = 0; word < n; ++word)
    if (heads[static_cast<size_t>(word)] < word) visit(word);
}

// What one thread needs for a sentence. Heads are numbers of words, that of the root is their
// number.
struct TransitionWork {
  Words words;
  std::vector<int32_t> tags, labels, scores;
  Configuration configuration;
  Attached tree;
  Siblings siblings;
  Features features;
};

template <class Weights>
void find_tags(const Weights& weights, TransitionWork& work) {
  work.tags.assign(work.words.size(), 0);
  work.scores.resize(static_cast<size_t>(weights.shape().n_classes));
  for (size_t at = 0; at < work.words.size(); ++at) {
    tag_features(work.words, work.tags, at, work.features);
    weights.score(work.features, work.scores.data());
    work.tags[at] = best_class(work.scores);
  }
}

template <class Weights>
void find_heads(const Weights& weights, TransitionWork& work) {
  const Places place(work.words, work.tags);
  work.scores.resize(kActions);
  Configuration& c = work.configuration;
  c.start(static_cast<int32_t>(work.words.size()));
  while (!c.done()) {
    action_features(c, place, work.features);
    weights.score(work.features, work.scores.data());
    c.apply(best_action(c, work.scores));
  }
  work.tree.assign(c.heads());
}

template <class Weights>
void find_labels(const Weights& weights, TransitionWork& work) {
  const Places place(work.words, work.tags);
  const std::vector<int32_t>& heads = work.tree.heads;
  work.labels.assign(heads.size(), -1);
  work.scores.resize(static_cast<size_t>(weights.shape().n_classes));
  work.siblings.assign(heads);
  visit_by_distance(heads, [&](int32_t word) {
    const int32_t nearer = work.siblings.nearer[static_cast<size_t>(word)];
    const int32_t label = nearer < 0 ? -1 : work.labels[static_cast<size_t>(nearer)];
    label_features(work.tree, place, word, nearer, label,
                   work.siblings.farther[static_cast<size_t>(word)], work.features);
    weights.score(work.features, work.scores.data());
    work.labels[static_cast<size_t>(word)] = best_class(work.scores);
  });
}

}  // namespace kernelwood
