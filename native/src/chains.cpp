// Python bindings for linear chains: features of words, emissions, best labels, probabilities of
// segments.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/chain_emissions.hpp"
#include "kernelwood/chain_labels.hpp"
#include "kernelwood/english_stem.hpp"
#include "kernelwood/word_features.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

void check_rising(Vector<const int64_t> offsets, int64_t length) {
  const int64_t n = size_of(offsets, 0);
  require(n > 0 && offsets.data()[0] == 0 && offsets.data()[n - 1] == length,
          "offsets begin at 0 and end at the number of places");
  for (int64_t i = 1; i < n; ++i)
    require(offsets.data()[i - 1] <= offsets.data()[i], "offsets must not fall");
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; });
}

std::string english_stem(const std::string& word) {
  require(std::all_of(word.begin(), word.end(), [](char c) { return 'a' <= c && c <= 'z'; }),
          "a word consists of ASCII letters in lower case");
  return EnglishStem::of(word);
}

template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Owned<T> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Owned<T>(kept->data(), {kept->size()}, owner);
}

// Returns groups of numbers of features for tokens, the same for their pieces, and where the
// pieces of each token begin.
std::tuple<Owned<int64_t>, Owned<int32_t>, Owned<int64_t>, Owned<int32_t>, Owned<int64_t>>
find_features(WordFeatures& features, const std::vector<std::string>& tokens) {
  FeatureGroups of_tokens, of_pieces;
  std::vector<int64_t> begins{0};
  for (const std::string& token : tokens) {
    require(is_ascii(token), "words are ASCII");
    features.find(token, of_tokens, of_pieces);
    begins.push_back(static_cast<int64_t>(of_pieces.offsets.size()) - 1);
  }
  return {owned(std::move(of_tokens.offsets)), owned(std::move(of_tokens.numbers)),
          owned(std::move(of_pieces.offsets)), owned(std::move(of_pieces.numbers)),
          owned(std::move(begins))};
}

// Adds the sparse rows of each group of features to its row of ``out``.
void sum_features(Vector<const int64_t> offsets, Vector<const int32_t> columns,
                  Vector<const double> values, Vector<const int64_t> groups,
                  Vector<const int32_t> features, Matrix<double> out) {
  require(columns.size() == values.size(), "entries differ in length");
  require(size_of(offsets, 0) > 0, "offsets begin at 0");
  check_rising(groups, size_of(features, 0));
  require(size_of(groups, 0) - 1 == size_of(out, 0), "wrong shape of results");
  const int64_t n_rows = size_of(offsets, 0) - 1, width = size_of(out, 1);
  for (int64_t i = 0; i < size_of(features, 0); ++i) {
    const int32_t row = features.data()[i];
    require(0 <= row && row < n_rows, "no such feature");
    const int64_t begin = offsets.data()[row], end = offsets.data()[row + 1];
    require(0 <= begin && begin <= end && end <= size_of(columns, 0), "offsets must not fall");
    for (int64_t k = begin; k < end; ++k)
      require(0 <= columns.data()[k] && columns.data()[k] < width, "no such column");
  }
  const SparseRows rows{offsets.data(), columns.data(), values.data()};
  for (int64_t i = 0; i < size_of(out, 0); ++i) {
    const int64_t begin = groups.data()[i];
    add_rows(rows, features.data() + begin, groups.data()[i + 1] - begin, out.data() + i * width);
  }
}

// Adds the blocks of the words around each place to its row of ``out``.
void add_word_blocks(Matrix<const double> rows, Vector<const int32_t> words,
                     Vector<const int64_t> word_chains, Vector<const int32_t> centers,
                     Vector<const int64_t> chains, Matrix<double> out) {
  const int64_t n_labels = size_of(out, 1), n_rows = size_of(rows, 0);
  require(n_labels > 0 && size_of(rows, 1) % n_labels == 0, "rows consist of blocks");
  const int64_t n_blocks = size_of(rows, 1) / n_labels;
  require(n_blocks % 2 == 1 && n_rows > 0, "there is a block for each distance");
  check_rising(word_chains, size_of(words, 0));
  check_rising(chains, size_of(centers, 0));
  require(word_chains.size() == chains.size() && size_of(out, 0) == size_of(centers, 0),
          "wrong shape of results");
  for (int64_t i = 0; i < size_of(words, 0); ++i)
    require(0 <= words.data()[i] && words.data()[i] < n_rows, "no such row");
  for (int64_t c = 0; c + 1 < size_of(chains, 0); ++c) {
    const int64_t begin = word_chains.data()[c], end = word_chains.data()[c + 1];
    for (int64_t i = chains.data()[c]; i < chains.data()[c + 1]; ++i)
      add_blocks(rows.data(), words.data(), begin, end, centers.data()[i], n_blocks / 2, n_labels,
                 out.data() + i * n_labels);
  }
}

// Keeps the arrays of scores while they are read.
struct Chains {
  Chains(Vector<const int64_t> offsets, Matrix<const double> emissions,
         Matrix<const double> transitions, Vector<const uint8_t> first, Vector<const uint8_t> last)
      : offsets(offsets), emissions(emissions), transitions(transitions), first(first), last(last) {
    const int64_t n = size_of(transitions, 0);
    require(n > 0 && n <= INT32_MAX && size_of(transitions, 1) == n && size_of(emissions, 1) == n &&
                size_of(first, 0) == n && size_of(last, 0) == n,
            "the numbers of labels differ");
    check_rising(offsets, size_of(emissions, 0));
  }
  ChainLabels labels() const {
    return ChainLabels(
        {emissions.data(), transitions.data(), first.data(), last.data(), size_of(transitions, 0)});
  }
  Vector<const int64_t> offsets;
  Matrix<const double> emissions, transitions;
  Vector<const uint8_t> first, last;
};

void decode_chains(Vector<const int64_t> offsets, Matrix<const double> emissions,
                   Matrix<const double> transitions, Vector<const uint8_t> first,
                   Vector<const uint8_t> last, Vector<int32_t> out) {
  const Chains chains(offsets, emissions, transitions, first, last);
  require(size_of(out, 0) == size_of(emissions, 0), "wrong shape of results");
  ChainLabels labels = chains.labels();
  for (int64_t c = 0; c + 1 < size_of(offsets, 0); ++c)
    labels.decode(offsets.data()[c], offsets.data()[c + 1], out.data());
}

// Segments are in order and inside of chains.
void segment_probabilities(Vector<const int64_t> offsets, Matrix<const double> emissions,
                           Matrix<const double> transitions, Vector<const uint8_t> first,
                           Vector<const uint8_t> last, Vector<const int32_t> labels,
                           Matrix<const int64_t> segments, Vector<double> out) {
  const Chains chains(offsets, emissions, transitions, first, last);
  const int64_t n = size_of(segments, 0);
  require(size_of(out, 0) == n && size_of(segments, 1) == 2, "wrong shape of results");
  require(size_of(labels, 0) == size_of(emissions, 0), "there is a label for each place");
  for (int64_t i = 0; i < size_of(labels, 0); ++i)
    require(0 <= labels.data()[i] && labels.data()[i] < size_of(transitions, 0), "no such label");
  ChainLabels sums = chains.labels();
  int64_t chain = 0, summed = -1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = segments.data()[2 * i], end = segments.data()[2 * i + 1];
    while (chain + 1 < size_of(offsets, 0) && offsets.data()[chain + 1] <= begin) ++chain;
    require(chain + 1 < size_of(offsets, 0) && offsets.data()[chain] <= begin && begin < end &&
                end <= offsets.data()[chain + 1],
            "segments must be in order and inside of chains");
    if (summed != chain) sums.sum(offsets.data()[chain], offsets.data()[chain + 1]);
    summed = chain;
    out.data()[i] = sums.probability(begin, end - 1, labels.data());
  }
}

}  // namespace

void bind_chains(nb::module_& m) {
  nb::class_<WordFeatures>(m, "WordFeatures")
      .def(
          "__init__",
          [](WordFeatures* made, const std::vector<std::string>& names,
             const std::vector<int32_t>& numbers, const std::vector<std::string>& greek,
             size_t longest) {
            require(names.size() == numbers.size(), "each name has a number");
            new (made) WordFeatures(names, numbers, greek, longest);
          },
          "names"_a, "numbers"_a, "greek"_a, "longest"_a)
      .def("find", &find_features, "tokens"_a);
  m.def("english_stem", &english_stem, "word"_a);
  m.def("sum_features", &sum_features, "offsets"_a.noconvert(), "columns"_a.noconvert(),
        "values"_a.noconvert(), "groups"_a.noconvert(), "features"_a.noconvert(),
        "out"_a.noconvert(), Released());
  m.def("add_word_blocks", &add_word_blocks, "rows"_a.noconvert(), "words"_a.noconvert(),
        "word_chains"_a.noconvert(), "centers"_a.noconvert(), "chains"_a.noconvert(),
        "out"_a.noconvert(), Released());
  m.def("decode_chains", &decode_chains, "offsets"_a.noconvert(), "emissions"_a.noconvert(),
        "transitions"_a.noconvert(), "first"_a.noconvert(), "last"_a.noconvert(),
        "out"_a.noconvert(), Released());
  m.def("segment_probabilities", &segment_probabilities, "offsets"_a.noconvert(),
        "emissions"_a.noconvert(), "transitions"_a.noconvert(), "first"_a.noconvert(),
        "last"_a.noconvert(), "labels"_a.noconvert(), "segments"_a.noconvert(), "out"_a.noconvert(),
        Released());
}

}  // namespace kernelwood
