// Python bindings of the transition parser and of its training.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/transition_training.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

constexpr int32_t kMostClasses = 1 << 12;
constexpr int64_t kMostPlaces = int64_t{1} << 32;

// Checks that offsets rise from 0 to a length.
void check_rising(const Vector<const int64_t>& offsets, int64_t length) {
  const int64_t n = size_of(offsets, 0);
  require(n > 0 && offsets.data()[0] == 0 && offsets.data()[n - 1] == length,
          "offsets begin at 0 and end at the number of places");
  for (int64_t i = 1; i < n; ++i)
    require(offsets.data()[i - 1] <= offsets.data()[i], "offsets must not fall");
}

// The words of sentences as bytes, one after the other.
class Text {
 public:
  Text(const Vector<const uint8_t>& bytes, const Vector<const int64_t>& words,
       const Vector<const int64_t>& sentences)
      : bytes_(bytes), words_(words), sentences_(sentences) {
    check_rising(words, size_of(bytes, 0));
    check_rising(sentences, n_words());
    for (int64_t s = 0; s < n_sentences(); ++s)
      require(length(s) < INT32_MAX / 2, "a sentence has too many words");
  }
  int64_t n_words() const { return size_of(words_, 0) - 1; }
  int64_t n_sentences() const { return size_of(sentences_, 0) - 1; }
  int64_t start(int64_t sentence) const { return sentences_.data()[sentence]; }
  int64_t length(int64_t sentence) const { return start(sentence + 1) - start(sentence); }

  void read(int64_t sentence, WordReader& reader, Words& out) const {
    out.clear();
    for (int64_t w = start(sentence); w < start(sentence + 1); ++w) {
      const int64_t begin = words_.data()[w], end = words_.data()[w + 1];
      out.push_back(reader.read({reinterpret_cast<const char*>(bytes_.data()) + begin,
                                 static_cast<size_t>(end - begin)}));
    }
  }

 private:
  Vector<const uint8_t> bytes_;
  Vector<const int64_t> words_, sentences_;
};

WeightShape shape_of(int32_t n_classes, int64_t n_places) {
  require(0 < n_classes && n_classes <= kMostClasses, "wrong number of classes");
  const WeightShape shape = WeightShape::of(n_classes, n_places);
  require(shape.n_rows > 0 && n_places <= kMostPlaces && (n_places & (n_places - 1)) == 0,
          "the number of weights must be a power of two, and at least that of classes");
  return shape;
}

class Weights {
 public:
  Weights(int32_t n_classes, const Vector<const int8_t>& table)
      : shape_(shape_of(n_classes, size_of(table, 0))),
        table_(table.data(), table.data() + table.size()) {}
  FixedWeights fixed() const { return {shape_, table_.data()}; }

 private:
  WeightShape shape_;
  std::vector<int8_t> table_;
};

class TransitionParser {
 public:
  TransitionParser(const std::vector<std::string>& vocabulary, int32_t n_tags, int32_t n_labels,
                   const Vector<const int8_t>& tags, const Vector<const int8_t>& actions,
                   const Vector<const int8_t>& labels)
      : reader_(vocabulary), tags_(n_tags, tags), actions_(kActions, actions),
        labels_(n_labels, labels) {}

  // Writes part of speech, head (-1: the root) and label of every word of the sentences from begin
  // to end. Heads count from the start of their sentence.
  void parse(Vector<const uint8_t> bytes, Vector<const int64_t> words,
             Vector<const int64_t> sentences, int64_t begin, int64_t end, Vector<int32_t> tags,
             Vector<int32_t> heads, Vector<int32_t> labels, Stop stop) const {
    const Text text(bytes, words, sentences);
    require(0 <= begin && begin <= end && end <= text.n_sentences(), "no such sentences");
    for (const auto* out : {&tags, &heads, &labels})
      require(size_of(*out, 0) == text.n_words(), "wrong shape of results");
    const StopFlag stopped = flag(stop);
    WordReader reader = reader_;
    TransitionWork work;
    for (int64_t s = begin; s < end && !stopped.raised(); ++s) {
      text.read(s, reader, work.words);
      find_tags(tags_.fixed(), work);
      find_heads(actions_.fixed(), work);
      find_labels(labels_.fixed(), work);
      const int64_t n = text.length(s), at = text.start(s);
      for (int64_t w = 0; w < n; ++w) {
        const int32_t head = work.tree.heads[static_cast<size_t>(w)];
        tags.data()[at + w] = work.tags[static_cast<size_t>(w)];
        heads.data()[at + w] = head == n ? -1 : head;
        labels.data()[at + w] = work.labels[static_cast<size_t>(w)];
      }
    }
  }

  // For tests: applies transitions to a sentence with these parts of speech. Returns the features
  // of the next transition; of each action the cost by the oracle, -1 if it is impossible, and
  // whether the parser may take it; and the heads so far.
  std::tuple<Features, std::vector<int32_t>, std::vector<bool>, std::vector<int32_t>> replay(
      Vector<const uint8_t> bytes, Vector<const int64_t> words, Vector<const int64_t> sentences,
      const std::vector<int32_t>& tags, const std::vector<int32_t>& actions,
      const std::vector<int32_t>& gold) const {
    const Text text(bytes, words, sentences);
    const size_t n = static_cast<size_t>(text.n_words());
    require(text.n_sentences() == 1 && tags.size() == n && gold.size() == n, "one sentence");
    WordReader reader = reader_;
    TransitionWork work;
    text.read(0, reader, work.words);
    Configuration& c = work.configuration;
    c.start(static_cast<int32_t>(n));
    for (const int32_t action : actions) {
      require(0 <= action && action < kActions && c.can(action), "an impossible transition");
      c.apply(action);
    }
    action_features(c, Places(work.words, tags), work.features);
    std::vector<int32_t> costs;
    std::vector<bool> allowed;
    for (int32_t a = 0; a < kActions; ++a) {
      costs.push_back(c.can(a) ? c.cost(a, gold) : -1);
      allowed.push_back(c.may(a));
    }
    return {work.features, costs, allowed, c.heads()};
  }

 private:
  WordReader reader_;
  Weights tags_, actions_, labels_;
};

using Learned = nb::ndarray<nb::numpy, int8_t, nb::ndim<1>>;

Learned owned(std::vector<int8_t>&& values) {
  auto* kept = new std::vector<int8_t>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<int8_t>*>(p); });
  return Learned(kept->data(), {kept->size()}, owner);
}

// Sentences with gold parses.
class TransitionTreebank {
 public:
  TransitionTreebank(const std::vector<std::string>& vocabulary, int32_t n_tags, int32_t n_labels,
                     Vector<const uint8_t> bytes, Vector<const int64_t> words,
                     Vector<const int64_t> sentences, Vector<const int32_t> tags,
                     Vector<const int32_t> heads, Vector<const int32_t> labels)
      : n_tags_(n_tags), n_labels_(n_labels) {
    const Text text(bytes, words, sentences);
    for (const auto* of_words : {&tags, &heads, &labels})
      require(size_of(*of_words, 0) == text.n_words(), "there is a value for every word");
    WordReader reader(vocabulary);
    gold_.resize(static_cast<size_t>(text.n_sentences()));
    for (int64_t s = 0; s < text.n_sentences(); ++s) {
      GoldSentence& gold = gold_[static_cast<size_t>(s)];
      text.read(s, reader, gold.words);
      const int32_t n = static_cast<int32_t>(text.length(s));
      starts_.push_back(text.start(s));
      for (int64_t w = text.start(s); w < text.start(s + 1); ++w) {
        const int32_t head = heads.data()[w], own = static_cast<int32_t>(w - text.start(s));
        require(-1 <= head && head < n && head != own, "no such head");
        require(0 <= tags.data()[w] && tags.data()[w] < n_tags, "no such tag");
        require(0 <= labels.data()[w] && labels.data()[w] < n_labels, "no such label");
        gold.heads.push_back(head < 0 ? n : head);
        gold.tags.push_back(tags.data()[w]);
        gold.labels.push_back(labels.data()[w]);
      }
    }
    n_words_ = text.n_words();
  }

  std::vector<int8_t> learn_tags(const Vector<const int64_t>& order, int64_t n_places,
                                 int64_t clipped) const {
    return learn(order, shape_of(n_tags_, n_places), clipped,
                 [](int64_t, const GoldSentence& gold, TransitionWork& work, LearnedWeights& w) {
                   kernelwood::learn_tags(gold, work, w);
                 });
  }
  // The tags are found ones. From the sentence `exploring` of the order on, the parser follows its
  // own transitions.
  std::vector<int8_t> learn_heads(const Vector<const int64_t>& order, int64_t n_places,
                                  int64_t clipped, const Vector<const int32_t>& tags,
                                  int64_t exploring) const {
    check_tags(tags);
    return learn(order, shape_of(kActions, n_places), clipped,
                 [&](int64_t i, const GoldSentence& gold, TransitionWork& work, LearnedWeights& w) {
                   read_tags(tags, order.data()[i], work);
                   kernelwood::learn_heads(gold, i >= exploring, work, w);
                 });
  }
  std::vector<int8_t> learn_labels(const Vector<const int64_t>& order, int64_t n_places,
                                   int64_t clipped, const Vector<const int32_t>& tags) const {
    check_tags(tags);
    return learn(order, shape_of(n_labels_, n_places), clipped,
                 [&](int64_t i, const GoldSentence& gold, TransitionWork& work, LearnedWeights& w) {
                   read_tags(tags, order.data()[i], work);
                   kernelwood::learn_labels(gold, work, w);
                 });
  }

 private:
  template <class Learn>
  std::vector<int8_t> learn(const Vector<const int64_t>& order, const WeightShape& shape,
                            int64_t clipped, Learn learn) const {
    require(clipped > 0, "clipped must be at least 1");
    LearnedWeights weights(shape);
    TransitionWork work;
    for (int64_t i = 0; i < size_of(order, 0); ++i) {
      const int64_t s = order.data()[i];
      require(0 <= s && s < static_cast<int64_t>(gold_.size()), "no such sentence");
      learn(i, gold_[static_cast<size_t>(s)], work, weights);
    }
    return weights.quantized(clipped);
  }
  void check_tags(const Vector<const int32_t>& tags) const {
    require(size_of(tags, 0) == n_words_, "there is a tag for every word");
    for (int64_t w = 0; w < n_words_; ++w)
      require(0 <= tags.data()[w] && tags.data()[w] < n_tags_, "no such tag");
  }
  void read_tags(const Vector<const int32_t>& tags, int64_t sentence, TransitionWork& work) const {
    const int32_t* first = tags.data() + starts_[static_cast<size_t>(sentence)];
    work.tags.assign(first, first + gold_[static_cast<size_t>(sentence)].words.size());
  }

  int32_t n_tags_, n_labels_;
  int64_t n_words_ = 0;
  std::vector<GoldSentence> gold_;
  std::vector<int64_t> starts_;
};

// Calls a function without the GIL, and returns its weights as an array.
template <class Function>
Learned released(Function function) {
  std::vector<int8_t> weights;
  {
    nb::gil_scoped_release release;
    weights = function();
  }
  return owned(std::move(weights));
}

}  // namespace

void bind_transitions(nb::module_& m) {
  nb::class_<TransitionParser>(m, "TransitionParser")
      .def(nb::init<const std::vector<std::string>&, int32_t, int32_t, const Vector<const int8_t>&,
                    const Vector<const int8_t>&, const Vector<const int8_t>&>(),
           "vocabulary"_a, "n_tags"_a, "n_labels"_a, "tags"_a.noconvert(), "actions"_a.noconvert(),
           "labels"_a.noconvert())
      .def("parse", &TransitionParser::parse, "bytes"_a.noconvert(), "words"_a.noconvert(),
           "sentences"_a.noconvert(), "begin"_a, "end"_a, "tags"_a.noconvert(),
           "heads"_a.noconvert(), "labels"_a.noconvert(), "stop"_a = nb::none(), Released())
      .def("replay", &TransitionParser::replay, "bytes"_a.noconvert(), "words"_a.noconvert(),
           "sentences"_a.noconvert(), "tags"_a, "actions"_a, "gold"_a);

  nb::class_<TransitionTreebank>(m, "TransitionTreebank")
      .def(nb::init<const std::vector<std::string>&, int32_t, int32_t, Vector<const uint8_t>,
                    Vector<const int64_t>, Vector<const int64_t>, Vector<const int32_t>,
                    Vector<const int32_t>, Vector<const int32_t>>(),
           "vocabulary"_a, "n_tags"_a, "n_labels"_a, "bytes"_a.noconvert(), "words"_a.noconvert(),
           "sentences"_a.noconvert(), "tags"_a.noconvert(), "heads"_a.noconvert(),
           "labels"_a.noconvert())
      .def(
          "learn_tags",
          [](const TransitionTreebank& self, Vector<const int64_t> order, int64_t n_places,
             int64_t clipped) {
            return released([&] { return self.learn_tags(order, n_places, clipped); });
          },
          "order"_a.noconvert(), "n_places"_a, "clipped"_a)
      .def(
          "learn_heads",
          [](const TransitionTreebank& self, Vector<const int64_t> order, int64_t n_places,
             int64_t clipped, Vector<const int32_t> tags, int64_t exploring) {
            return released(
                [&] { return self.learn_heads(order, n_places, clipped, tags, exploring); });
          },
          "order"_a.noconvert(), "n_places"_a, "clipped"_a, "tags"_a.noconvert(), "exploring"_a)
      .def(
          "learn_labels",
          [](const TransitionTreebank& self, Vector<const int64_t> order, int64_t n_places,
             int64_t clipped, Vector<const int32_t> tags) {
            return released([&] { return self.learn_labels(order, n_places, clipped, tags); });
          },
          "order"_a.noconvert(), "n_places"_a, "clipped"_a, "tags"_a.noconvert());
}

}  // namespace kernelwood
