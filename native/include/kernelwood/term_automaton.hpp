// The terms of a dictionary as an automaton over pieces of text, and search for the longest.
//
// A state is a sequence of pieces, compared without case, with which terms begin. Where terms end,
// the state knows the one whose case is ignored, and those that count only as they are written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernelwood/flat_tables.hpp"
#include "kernelwood/term_pieces.hpp"

namespace kernelwood {

struct TermMatch {
  int64_t start, end, term;
};

// Spans that terms must not overlap, merged, by rising start.
struct TakenSpans {
  const int64_t *starts, *ends;
  int64_t n;

  // The end of the free part that contains a place.
  int64_t limit(int64_t place, int64_t length) const {
    const int64_t following = std::upper_bound(ends, ends + n, place) - ends;
    return following < n ? starts[following] : length;
  }
};

class TermAutomaton {
 public:
  // Each line of the pieces is a term; `ignores` says whether its case is ignored. Of equal terms
  // the first is kept: placed[i] is the number of term i, or -1 - the number of its equal.
  TermAutomaton(const TermPieces& terms, const uint8_t* ignores, int64_t* placed) : states_(1) {
    const auto& lines = terms.lines();
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      int32_t state = 0;
      buffer_.assign(1, 0);
      for (size_t p = lines[i]; p < lines[i + 1]; ++p) {
        const TermPiece& piece = terms.pieces()[p];
        state = add_state(state, add_piece(terms, piece));
        terms.append(piece, false, buffer_);
      }
      buffer_[0] = static_cast<char32_t>(state);
      State& last = states_[static_cast<size_t>(state)];
      const auto number = static_cast<int32_t>(n_terms_);
      int64_t found = last.any_case;
      if (found < 0 && ignores[i]) last.any_case = number;
      if (found < 0 && !ignores[i]) {
        const int32_t at = exact_.find(buffer_);
        if (at >= 0) {
          found = exact_terms_[static_cast<size_t>(at)];
        } else {
          exact_.add(buffer_);
          exact_terms_.push_back(number);
          last.has_exact = true;
        }
      }
      placed[i] = found < 0 ? number : -1 - found;
      n_terms_ += found < 0;
    }
  }

  int64_t n_terms() const { return n_terms_; }

  // The terms in a text, from left to right the longest, not overlapping.
  std::vector<TermMatch> find(const TermPieces& text, const TakenSpans& taken) const {
    Search search{*this, text, taken, {}, {}, {}, {}};
    return search.run();
  }

 private:
  struct State {
    int32_t any_case = -1;
    bool has_exact = false;
  };

  struct Search {
    const TermAutomaton& terms;
    const TermPieces& text;
    const TakenSpans& taken;
    std::u32string buffer;
    std::vector<int32_t> numbers;  // of pieces, once they are known
    std::vector<size_t> sizes;     // of what is written up to each piece
    std::vector<std::pair<size_t, int32_t>> ends;

    std::vector<TermMatch> run() {
      std::vector<TermMatch> found;
      const auto& pieces = text.pieces();
      numbers.assign(pieces.size(), kUnknown);
      for (size_t place = 0; place < pieces.size();) {
        size_t end = place;
        if (pieces[place].begins) {
          const int32_t term = longest(place, &end);
          if (term >= 0) found.push_back({pieces[place].start, pieces[end - 1].end, term});
        }
        place = std::max(end, place + 1);
      }
      return found;
    }

    // The longest term that begins at a piece, or -1, and the end of its pieces.
    int32_t longest(size_t first, size_t* end) {
      const auto& pieces = text.pieces();
      int32_t state = 0;
      bool exact = false;
      ends.clear();
      int64_t limit = -1;
      for (size_t place = first; place < pieces.size(); ++place) {
        state = terms.next(state, number_of(place));
        if (state < 0) break;
        if (place == first)
          limit = taken.limit(pieces[first].start, static_cast<int64_t>(text.text().size()));
        if (pieces[place].end > limit) break;
        const State& here = terms.states_[static_cast<size_t>(state)];
        if (!pieces[place].ends || (here.any_case < 0 && !here.has_exact)) continue;
        ends.push_back({place + 1, state});
        exact |= here.has_exact;
      }
      if (exact) write(first);
      for (size_t i = ends.size(); i-- > 0;) {
        const State& here = terms.states_[static_cast<size_t>(ends[i].second)];
        int32_t term = here.any_case;
        if (here.has_exact) {
          buffer[0] = static_cast<char32_t>(ends[i].second);
          const int32_t at = terms.exact_.find({buffer.data(), sizes[ends[i].first - first]});
          if (at >= 0) {
            const int32_t exactly = terms.exact_terms_[static_cast<size_t>(at)];
            if (term < 0 || exactly < term) term = exactly;
          }
        }
        if (term < 0) continue;
        *end = ends[i].first;
        return term;
      }
      return -1;
    }

    int32_t number_of(size_t place) {
      int32_t& number = numbers[place];
      if (number == kUnknown) {
        buffer.clear();
        text.append(text.pieces()[place], true, buffer);
        number = terms.numbers_.find(buffer);
      }
      return number;
    }

    // What is written, after one character for the state.
    void write(size_t first) {
      buffer.assign(1, 0);
      sizes.assign(1, 1);
      for (size_t place = first; place < ends.back().first; ++place) {
        text.append(text.pieces()[place], false, buffer);
        sizes.push_back(buffer.size());
      }
    }
  };

  static uint64_t step(int32_t state, int32_t piece) {
    return static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(piece);
  }

  int32_t next(int32_t state, int32_t piece) const {
    return piece < 0 ? -1 : steps_.find(step(state, piece));
  }

  int32_t add_piece(const TermPieces& terms, const TermPiece& piece) {
    folded_.clear();
    terms.append(piece, true, folded_);
    const int32_t number = numbers_.find(folded_);
    return number >= 0 ? number : numbers_.add(folded_);
  }

  int32_t add_state(int32_t state, int32_t piece) {
    const int32_t found = steps_.find(step(state, piece));
    if (found >= 0) return found;
    const auto made = static_cast<int32_t>(states_.size());
    steps_.add(step(state, piece), made);
    states_.emplace_back();
    return made;
  }

  static constexpr int32_t kUnknown = -2;
  std::vector<State> states_;
  StringTable numbers_;  // of pieces
  NumberTable steps_;    // state and piece -> state
  StringTable exact_;    // state and what is written
  std::vector<int32_t> exact_terms_;
  int64_t n_terms_ = 0;
  std::u32string buffer_, folded_;
};

}  // namespace kernelwood
