// Pieces of text by which terms are compared: runs of letters or digits, and signs.
//
// Terms and texts are cut alike; entities/pieces.py defines the rules. A piece whose characters
// could be composed with each other, or fold to several, is spelled by the caller.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelwood/shape_tokens.hpp"
#include "kernelwood/term_characters.hpp"

namespace kernelwood {

struct TermPiece {
  int64_t start, end;
  int64_t spelled = -1;  // number of its spelling, if it has one of its own
  uint32_t letter = 0;   // the Greek letter that it is or names, if that counts
  bool is_word = false, begins = false, ends = false, is_blank = false;
};

struct Spelling {
  std::u32string written, folded;
};

class TermPieces {
 public:
  // With `variants`, dashes are hyphens, hyphens and blanks between letters and digits are left
  // out, and names of Greek letters are the letters. With `by_line`, lines, each with its end, are
  // texts of their own.
  TermPieces(const CharacterTable& characters, const uint32_t* text, int64_t n, bool variants,
             bool by_line)
      : characters_(characters), text_(text, text + n), variants_(variants) {
    std::vector<uint8_t> shape(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      uint32_t& code = text_[static_cast<size_t>(i)];
      if (variants && (code == 0x2012 || code == 0x2013 || code == 0x2212)) code = '-';
      shape[static_cast<size_t>(i)] = characters.shape(code);
    }
    if (by_line) lines_.push_back(0);
    int64_t seen = 0;
    ShapeTokens(shape.data(), n).each([&](int64_t start, int64_t end) {
      if (by_line)
        for (; seen < start; ++seen)
          if (text_[static_cast<size_t>(seen)] == '\n') begin_line();
      cut(start, end);
    });
    if (by_line)
      for (; seen < n; ++seen)
        if (text_[static_cast<size_t>(seen)] == '\n') begin_line();
  }

  const std::vector<TermPiece>& pieces() const { return pieces_; }
  // Where the pieces of each line begin, and the end of the last.
  const std::vector<size_t>& lines() const { return lines_; }
  const std::vector<uint32_t>& text() const { return text_; }
  const CharacterTable& characters() const { return characters_; }

  // The pieces that need a spelling, and what they are spelled.
  const std::vector<size_t>& unspelled() const { return unspelled_; }
  void spell(std::vector<Spelling>&& spellings) { spellings_ = std::move(spellings); }
  bool is_spelled() const { return spellings_.size() == unspelled_.size(); }

  // Appends the text of a piece as it is compared without case, or with it.
  void append(const TermPiece& piece, bool folded, std::u32string& to) const {
    if (piece.spelled >= 0) {
      const Spelling& own = spellings_[static_cast<size_t>(piece.spelled)];
      to += folded ? own.folded : own.written;
    } else if (piece.is_blank) {
      to += U' ';
    } else if (piece.letter != 0) {
      to += static_cast<char32_t>(folded ? characters_.folded(piece.letter) : piece.letter);
    } else {
      for (int64_t i = piece.start; i < piece.end; ++i) {
        const uint32_t code = text_[static_cast<size_t>(i)];
        to += static_cast<char32_t>(folded ? characters_.folded(code) : code);
      }
    }
  }

 private:
  enum Kind : uint8_t { kLatin, kGreek, kDigits, kSign };
  struct Run {
    int64_t start, end;
    Kind kind;
    uint32_t letter;  // of a Greek one
    bool begins, ends;
  };

  uint32_t code(int64_t place) const { return text_[static_cast<size_t>(place)]; }
  bool is_hyphen(const Run& run) const {
    const uint32_t c = code(run.start);
    return c == '-' || c == 0x2010 || c == 0x2011;
  }

  void begin_line() {
    lines_.push_back(pieces_.size());
    before_ = -1;
    after_word_ = false;
  }

  void cut(int64_t start, int64_t end) {
    find_runs(start, end);
    open_ends();
    if (before_ >= 0 && start > before_ && !(after_word_ && runs_.front().kind != kSign)) {
      TermPiece blank{before_, before_};
      blank.is_blank = true;
      pieces_.push_back(blank);
    }
    for (size_t i = 0; i < runs_.size(); ++i) {
      const Run& run = runs_[i];
      if (variants_ && joins(i)) continue;
      TermPiece piece{run.start, run.end};
      piece.is_word = run.kind != kSign;
      piece.begins = run.begins;
      piece.ends = run.ends;
      if (variants_ && run.kind == kGreek) {
        piece.letter = run.letter;
      } else if (!is_plain(run)) {
        piece.spelled = static_cast<int64_t>(unspelled_.size());
        unspelled_.push_back(pieces_.size());
      }
      pieces_.push_back(piece);
    }
    before_ = end;
    after_word_ = variants_ && runs_.back().kind != kSign;
  }

  bool is_plain(const Run& run) const {
    for (int64_t i = run.start; i < run.end; ++i)
      if (!(characters_.flags(code(i)) & kPlain)) return false;
    return true;
  }

  // Whether a run is a hyphen between letters or digits.
  bool joins(size_t i) const {
    return runs_[i].kind == kSign && 0 < i && i + 1 < runs_.size() && is_hyphen(runs_[i]) &&
           runs_[i - 1].kind != kSign && runs_[i + 1].kind != kSign;
  }

  Kind kind_of(int64_t place) const {
    const uint8_t flags = characters_.flags(code(place));
    return flags & kAlphabetic ? kLatin : flags & kAlphanumeric ? kDigits : kSign;
  }

  // A mark belongs to the character before; every sign is a run.
  void find_runs(int64_t start, int64_t end) {
    runs_.clear();
    Kind kind = kind_of(start);
    for (int64_t place = start + 1; place <= end; ++place) {
      if (place < end) {
        const uint8_t flags = characters_.flags(code(place));
        if ((flags & kMark) && !(flags & kAlphanumeric)) continue;
        if (kind != kSign && kind_of(place) == kind) continue;
      }
      add_run(start, place, kind);
      start = place;
      if (place < end) kind = kind_of(place);
    }
  }

  // A Greek letter or its name is a separate run.
  void add_run(int64_t start, int64_t end, Kind kind) {
    if (kind == kLatin)
      for (int64_t place = start; place < end;) {
        const auto [length, letter] = greek_at(place, end);
        if (length == 0) {
          ++place;
          continue;
        }
        if (place > start) runs_.push_back({start, place, kLatin, 0, false, false});
        runs_.push_back({place, place + length, kGreek, letter, false, false});
        start = place += length;
      }
    if (start < end) runs_.push_back({start, end, kind, 0, false, false});
  }

  // Length and letter of a Greek letter or its name; one with an accent is no symbol.
  std::pair<int64_t, uint32_t> greek_at(int64_t place, int64_t end) const {
    struct Name {
      std::string_view name;
      uint32_t letter;
    };
    static constexpr std::array<Name, 11> names{{{"alpha", 0x3b1},
                                                 {"beta", 0x3b2},
                                                 {"gamma", 0x3b3},
                                                 {"delta", 0x3b4},
                                                 {"epsilon", 0x3b5},
                                                 {"zeta", 0x3b6},
                                                 {"theta", 0x3b8},
                                                 {"kappa", 0x3ba},
                                                 {"lambda", 0x3bb},
                                                 {"sigma", 0x3c3},
                                                 {"omega", 0x3c9}}};
    constexpr uint32_t micro = 0xb5, mu = 0x3bc, to_upper = 0x20;
    const uint32_t first = code(place);
    int64_t length = 0;
    uint32_t letter = 0;
    if (first >= 128) {
      const bool is_greek = (0x391 <= first && first <= 0x3a9) ||
                            (0x3b1 <= first && first <= 0x3c9) || first == micro;
      if (!is_greek) return {0, 0};
      length = 1;
      letter = first == micro ? mu : first;
    } else {
      for (const Name& each : names) {
        const auto size = static_cast<int64_t>(each.name.size());
        if ((first | 0x20) != static_cast<uint32_t>(each.name[0]) || place + size > end) continue;
        int64_t i = 1;
        while (i < size && code(place + i) < 128 &&
               (code(place + i) | 0x20) == static_cast<uint32_t>(each.name[static_cast<size_t>(i)]))
          ++i;
        if (i < size) continue;
        length = size;
        letter = first < 'a' ? each.letter - to_upper : each.letter;
        break;
      }
      if (length == 0) return {0, 0};
    }
    const int64_t after = place + length;
    const bool accented = after < end && 0x300 <= code(after) && code(after) <= 0x36f;
    return accented ? std::pair<int64_t, uint32_t>{0, 0} : std::pair{length, letter};
  }

  // Finds where terms may begin and end: at hyphens that separate words, not parts of names.
  void open_ends() {
    runs_.front().begins = true;
    runs_.back().ends = true;
    const size_t n = runs_.size();
    size_t left = 0;  // the first run after the hyphen before
    for (size_t at = 0; at < n; ++at) {
      if (!is_hyphen(runs_[at])) continue;
      size_t right = at + 1;
      while (right < n && !is_hyphen(runs_[right])) ++right;
      if (left < at && at + 1 < right) {
        runs_[at + 1].begins = is_word(left, at);
        runs_[at - 1].ends = is_word(at + 1, right) && runs_[at + 1].kind == kLatin;
      }
      left = at + 1;
    }
  }

  // Whether runs are a word, not a number or letter in a name; a Greek letter is one character.
  bool is_word(size_t first, size_t end) const {
    int64_t size = 0;
    bool letters = false;
    for (size_t i = first; i < end; ++i) {
      size += runs_[i].kind == kGreek ? 1 : runs_[i].end - runs_[i].start;
      letters |= runs_[i].kind == kLatin;
    }
    return size > 1 && letters;
  }

  const CharacterTable& characters_;
  std::vector<uint32_t> text_;
  bool variants_;
  std::vector<TermPiece> pieces_;
  std::vector<size_t> lines_, unspelled_;
  std::vector<Spelling> spellings_;
  std::vector<Run> runs_;
  int64_t before_ = -1;  // the end of the token before
  bool after_word_ = false;
};

}  // namespace kernelwood
