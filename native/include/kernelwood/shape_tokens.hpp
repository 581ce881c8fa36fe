// Tokens of a text by fixed rules: the regular expression of text/tokenizer.py, by hand.
//
// The rules apply to the shape of a text: ASCII letters in lower case, "x" for other letters, "0"
// for digits, "~" for marks that belong to the character before, " " for blanks, "'" and "-" for
// all apostrophes and hyphens, some punctuation unchanged, and "#" for the rest.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace kernelwood {

class ShapeTokens {
 public:
  ShapeTokens(const uint8_t* shape, int64_t n) : shape_(shape), n_(n) {}

  // Calls found(start, end) of every token, in order.
  template <class Found>
  void each(Found&& found) {
    for (int64_t place = 0; place < n_;) {
      if (shape_[place] == ' ') {
        ++place;
        continue;
      }
      const int64_t end = end_of(place);
      // A clitic begins with an apostrophe, or has one before its last letter.
      if (std::memchr(shape_ + place + 1, '\'', static_cast<size_t>(end - place - 1)) == nullptr) {
        found(place, end);
      } else {
        without_clitics(place, end, found);
      }
      place = end;
    }
  }

 private:
  static bool is_letter(uint8_t c) { return 'a' <= c && c <= 'z'; }
  static bool is_word(uint8_t c) { return is_letter(c) || c == '_' || c == '0'; }
  static bool continues(uint8_t c) { return is_word(c) || c == '~'; }

  uint8_t at(int64_t place) const { return place < n_ ? shape_[place] : ' '; }

  int64_t after_marks(int64_t place) const {
    while (at(place) == '~') ++place;
    return place;
  }

  int64_t end_of(int64_t start) const {
    const uint8_t first = shape_[start];
    if (is_letter(first)) {
      const int64_t end = end_of_letters(start);
      if (end > start) return end;
    }
    if (first == '\'') {
      const int64_t end = end_of_clitic(start);
      if (end > start) return end;
    }
    if (is_word(first)) return end_of_word(start);
    int64_t end = start + 1;
    if (std::strchr(".-'`!?", first) != nullptr)
      while (at(end) == first) ++end;
    return after_marks(end);
  }

  // U.S., e.g.; `start` if there are none.
  int64_t end_of_letters(int64_t start) const {
    int64_t end = after_marks(start + 1), last = -1, n = 0;
    for (; at(end) == '.' && is_letter(at(end + 1)); ++n) {
      last = end;
      end = after_marks(end + 2);
    }
    if (n == 0) return start;
    if (!continues(at(end))) return at(end) == '.' ? end + 1 : end;
    return n > 1 ? last + 1 : start;  // the last letter begins a word
  }

  // A clitic that was cut off before; `start` if there is none.
  int64_t end_of_clitic(int64_t start) const {
    const uint8_t first = at(start + 1), second = at(start + 2);
    if (first == 's' || first == 'd' || first == 'm') return continues(second) ? start : start + 2;
    const bool two =
        (second == 'e' && (first == 'r' || first == 'v')) || (first == 'l' && second == 'l');
    return two && !continues(at(start + 3)) ? start + 3 : start;
  }

  int64_t end_of_word(int64_t start) const {
    int64_t end = start + 1;
    for (;; ++end) {
      const uint8_t c = at(end), before = shape_[end - 1], next = at(end + 1);
      if (continues(c)) continue;
      if (c == '-' && is_word(next)) continue;
      if (c == '\'' && (is_letter(before) || before == '_' || before == '~') &&
          (is_letter(next) || next == '_'))
        continue;
      if ((c == '.' || c == ',') && before == '0' && next == '0') continue;
      return end;
    }
  }

  template <class Found>
  void without_clitics(int64_t start, int64_t end, Found&& found) {
    cuts_.assign(1, end);
    while (const int64_t length = clitic_length(start, cuts_.back()))
      cuts_.push_back(cuts_.back() - length);
    for (; !cuts_.empty(); cuts_.pop_back()) {
      found(start, cuts_.back());
      start = cuts_.back();
    }
  }

  int64_t clitic_length(int64_t start, int64_t end) const {
    for (const int64_t length : {2, 3}) {
      const int64_t first = end - length;
      if (first <= start || shape_[first - 1] == '\'' || shape_[first - 1] == '-') continue;
      const std::string_view text(reinterpret_cast<const char*>(shape_ + first),
                                  static_cast<size_t>(length));
      for (const std::string_view clitic : {"'s", "'d", "'m", "'re", "'ve", "'ll", "n't"})
        if (text == clitic) return length;
    }
    return 0;
  }

  const uint8_t* shape_;
  int64_t n_;
  std::vector<int64_t> cuts_;
};

}  // namespace kernelwood
