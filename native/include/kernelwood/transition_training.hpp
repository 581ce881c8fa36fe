// Learns the weights of the tagger, the transitions and the labels: averaged perceptrons.
//
// The caller gives the order of the sentences; nothing is drawn at random. Transitions are learned
// by a dynamic oracle: after the first passes over the text, the parser goes where its own mistakes
// lead it, and learns what is best from there.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelwood/transition_parser.hpp"

namespace kernelwood {

struct GoldSentence {
  Words words;
  std::vector<int32_t> tags, heads, labels;  // the head of the root is the number of words
};

inline void learn_tags(const GoldSentence& gold, TransitionWork& work, LearnedWeights& weights) {
  work.tags.assign(gold.words.size(), 0);
  work.scores.resize(static_cast<size_t>(weights.shape().n_classes));
  for (size_t at = 0; at < gold.words.size(); ++at) {
    tag_features(gold.words, work.tags, at, work.features);
    weights.score(work.features, work.scores.data());
    const int32_t found = best_class(work.scores), right = gold.tags[at];
    if (found != right) {
      weights.change(work.features, right, 1);
      weights.change(work.features, found, -1);
    }
    weights.step();
    work.tags[at] = found;
  }
}

// The tags of the work are those that the parser will see, found ones rather than those of gold.
inline void learn_heads(const GoldSentence& gold, bool explore, TransitionWork& work,
                        LearnedWeights& weights) {
  const Places place(gold.words, work.tags);
  work.scores.resize(kActions);
  Configuration& c = work.configuration;
  c.start(static_cast<int32_t>(gold.words.size()));
  while (!c.done()) {
    action_features(c, place, work.features);
    weights.score(work.features, work.scores.data());
    int32_t found = -1, right = -1, least = 0;
    int32_t costs[kActions];
    for (int32_t a = 0; a < kActions; ++a) {
      if (!c.can(a)) continue;
      if (found < 0 || work.scores[a] > work.scores[found]) found = a;
      costs[a] = c.cost(a, gold.heads);
      if (right < 0 || costs[a] < least) right = a, least = costs[a];
    }
    // Of the actions that cost least, the one that scores best.
    for (int32_t a = 0; a < kActions; ++a)
      if (c.can(a) && costs[a] == least && work.scores[a] > work.scores[right]) right = a;
    if (costs[found] > least) {
      weights.change(work.features, right, 1);
      weights.change(work.features, found, -1);
    }
    weights.step();
    c.apply(explore ? found : right);
  }
}

// The heads of the work's tree are those of gold or found ones; only right ones teach.
inline void learn_labels(const GoldSentence& gold, TransitionWork& work, LearnedWeights& weights) {
  const Places place(gold.words, work.tags);
  work.tree.assign(gold.heads);
  work.labels.assign(gold.words.size(), -1);
  work.scores.resize(static_cast<size_t>(weights.shape().n_classes));
  work.siblings.assign(gold.heads);
  visit_by_distance(gold.heads, [&](int32_t word) {
    const size_t at = static_cast<size_t>(word);
    const int32_t nearer = work.siblings.nearer[at];
    const int32_t label = nearer < 0 ? -1 : work.labels[static_cast<size_t>(nearer)];
    label_features(work.tree, place, word, nearer, label, work.siblings.farther[at], work.features);
    weights.score(work.features, work.scores.data());
    const int32_t found = best_class(work.scores), right = gold.labels[at];
    if (found != right) {
      weights.change(work.features, right, 1);
      weights.change(work.features, found, -1);
    }
    weights.step();
    work.labels[at] = found;
  });
}

}  // namespace kernelwood
