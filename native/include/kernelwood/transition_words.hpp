// Properties of a word that features are made of, as hashes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "kernelwood/transition_hash.hpp"

namespace kernelwood {

// Of long words only the first and the last characters count.
constexpr size_t kLongestAffix = 5;

struct WordParts {
  uint64_t form = 0;   // the word in lower case
  uint64_t known = 0;  // the same for words of the vocabulary, shape and ending for others
  uint64_t shape = 0;
  uint64_t end[kLongestAffix + 1] = {};    // the last 1, 2, ... bytes in lower case
  uint64_t begin[kLongestAffix + 1] = {};  // the first ones
  uint64_t last_part = 0;                  // after the last hyphen or slash
};

class WordReader {
 public:
  // The vocabulary has words in lower case.
  template <class Words>
  explicit WordReader(const Words& vocabulary) {
    for (const auto& word : vocabulary) known_.insert(hash_text(word));
  }

  WordParts read(std::string_view word) {
    lower_.assign(word);
    for (char& c : lower_)
      if ('A' <= c && c <= 'Z') c += 'a' - 'A';
    WordParts parts;
    parts.form = hash_text(lower_);
    write_shape(word);
    parts.shape = hash_text(shape_);
    const std::string_view lower = lower_;
    for (size_t n = 1; n <= kLongestAffix; ++n) {
      const size_t length = std::min(n, lower.size());
      parts.end[n] = hash_text(lower.substr(lower.size() - length));
      parts.begin[n] = hash_text(lower.substr(0, length));
    }
    const size_t cut = lower.find_last_of("-/");
    parts.last_part = cut == std::string_view::npos ? 0 : hash_text(lower.substr(cut + 1));
    parts.known =
        known_.count(parts.form) ? parts.form : hash_feature(1000, parts.shape, parts.end[3]);
    return parts;
  }

 private:
  // Kinds of characters, repetitions left out.
  void write_shape(std::string_view word) {
    shape_.clear();
    for (const char c : word) {
      const char kind = kind_of(c);
      if (shape_.empty() || shape_.back() != kind) shape_ += kind;
      if (shape_.size() == 8) break;
    }
  }
  static char kind_of(char c) {
    if ('a' <= c && c <= 'z') return 'a';
    if ('A' <= c && c <= 'Z') return 'A';
    if ('0' <= c && c <= '9') return '0';
    return static_cast<unsigned char>(c) < 128 ? c : 'x';
  }

  std::unordered_set<uint64_t> known_;
  std::string lower_, shape_;
};

}  // namespace kernelwood
