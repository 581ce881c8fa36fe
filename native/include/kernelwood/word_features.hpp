// Features of words in a chain, as kernelwood/entities/tagger_features.py makes them, found in a
// list of names. Words are ASCII here: their characters are of few kinds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernelwood/english_stem.hpp"

namespace kernelwood {

// Numbers of features in groups.
struct FeatureGroups {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> numbers;
  void close() { offsets.push_back(static_cast<int64_t>(numbers.size())); }
};

inline std::string ascii_lower(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if ('A' <= c && c <= 'Z') c += 'a' - 'A';
  return made;
}

// The stem of a word in lower case; a word with other characters than letters is its own.
inline std::string stem_of(const std::string& lower) {
  const bool letters =
      std::all_of(lower.begin(), lower.end(), [](char c) { return 'a' <= c && c <= 'z'; });
  return letters ? EnglishStem::of(lower) : lower;
}

class WordFeatures {
 public:
  // Greek letters are names in lower case; of longer words, the first characters are taken.
  WordFeatures(const std::vector<std::string>& names, const std::vector<int32_t>& numbers,
               const std::vector<std::string>& greek, size_t longest)
      : greek_(greek.begin(), greek.end()), longest_(longest) {
    numbers_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], numbers[i]);
  }

  // Appends the features of a token to a group, and those of its pieces to one each.
  void find(std::string_view token, FeatureGroups& tokens, FeatureGroups& pieces) {
    const std::string lower = ascii_lower(token), stem = stem_of(lower);
    const std::string cut = lower.substr(0, longest_);
    shape(token);
    add("Tl", cut, tokens);
    add("Ts", shape_, tokens);
    add("Tt", stem, tokens);
    add("Tz", last(cut, 3), tokens);
    tokens.close();
    split(token);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_.size() > 1) shape(pieces_[i]);
      find_piece(i, pieces_.size() == 1 ? lower : ascii_lower(pieces_[i]),
                 pieces_.size() == 1 ? &stem : nullptr, pieces);
    }
  }

 private:
  void find_piece(size_t index, const std::string& lower, const std::string* stem,
                  FeatureGroups& out) {
    const std::string_view word = pieces_[index];
    const std::string cut = lower.substr(0, longest_);
    add("Pl", cut, out);
    add("Ps", shape_, out);
    add("Pt", stem ? *stem : stem_of(lower), out);
    const char place[] = {static_cast<char>('0' + std::min<size_t>(index, 3)), '/',
                          static_cast<char>('0' + std::min<size_t>(pieces_.size() - index, 4))};
    add("Pi", {place, 3}, out);
    const char length = static_cast<char>('0' + std::min<size_t>(word.size(), 8));
    add("Pn", {&length, 1}, out);
    for (size_t n = 1; n <= std::min<size_t>(4, cut.size()); ++n)
      add("Pp", std::string_view(cut).substr(0, n), out);
    for (size_t n = 1; n <= std::min<size_t>(4, cut.size()); ++n) add("Pz", last(cut, n), out);
    if (word != cut) {
      add("PW", word.substr(0, longest_), out);
      shape_.clear();
      for (char c : word.substr(0, 10)) shape_ += kind(c);
      add("PS", shape_, out);
    }
    if (greek_.count(cut)) add("Pg", "", out);
    if (word.find_first_not_of("IVX") == std::string_view::npos) add("Pr", "", out);
    out.close();
  }

  void add(const char* prefix, std::string_view value, FeatureGroups& out) {
    key_.assign(prefix).append(value);
    const auto found = numbers_.find(key_);
    if (found != numbers_.end()) out.numbers.push_back(found->second);
  }

  // Cuts a token at hyphens and underscores, which are pieces.
  void split(std::string_view token) {
    pieces_.clear();
    size_t start = 0;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] != '-' && token[i] != '_') continue;
      if (i > start) pieces_.push_back(token.substr(start, i - start));
      pieces_.push_back(token.substr(i, 1));
      start = i + 1;
    }
    if (start < token.size()) pieces_.push_back(token.substr(start));
  }

  // Writes the kinds of characters, repetitions left out.
  void shape(std::string_view word) {
    shape_.clear();
    for (char c : word)
      if (shape_.empty() || shape_.back() != kind(c)) shape_ += kind(c);
    if (shape_.size() > longest_) shape_.resize(longest_);
  }

  static char kind(char c) {
    if ('A' <= c && c <= 'Z') return 'A';
    if ('a' <= c && c <= 'z') return 'a';
    return '0' <= c && c <= '9' ? '0' : c;
  }

  static std::string_view last(std::string_view text, size_t n) {
    return text.substr(text.size() - std::min(n, text.size()));
  }

  std::unordered_map<std::string, int32_t> numbers_;
  std::unordered_set<std::string> greek_;
  size_t longest_;
  std::string key_, shape_;
  std::vector<std::string_view> pieces_;
};

}  // namespace kernelwood
