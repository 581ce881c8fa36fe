// Python bindings for the search of dictionary terms in texts.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "bound_arrays.hpp"
#include "kernelwood/term_automaton.hpp"
#include "kernelwood/term_characters.hpp"
#include "kernelwood/term_pieces.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernelwood {
namespace {

constexpr size_t kMost = std::numeric_limits<int32_t>::max();

// The pages of the characters of a text that the table does not have.
std::vector<uint32_t> missing_pages(const CharacterTable& table, Vector<const uint32_t> text) {
  std::vector<uint32_t> found;
  uint32_t last = std::numeric_limits<uint32_t>::max();
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t page = text.data()[i] >> 8;
    if (page == last) continue;
    require(page < CharacterTable::n_pages, "no such character");
    last = page;
    if (!table.has(page) && std::find(found.begin(), found.end(), page) == found.end())
      found.push_back(page);
  }
  return found;
}

void add_page(CharacterTable& table, uint32_t page, Vector<const uint8_t> shape,
              Vector<const uint8_t> flags, Vector<const uint32_t> folded) {
  require(page < CharacterTable::n_pages, "no such page");
  require(shape.size() == 256 && flags.size() == 256 && folded.size() == 256,
          "a page has 256 characters");
  CharacterPage made;
  std::copy_n(shape.data(), 256, made.shape.begin());
  std::copy_n(flags.data(), 256, made.flags.begin());
  std::copy_n(folded.data(), 256, made.folded.begin());
  table.add(page, made);
}

void cut(TermPieces* self, const CharacterTable& table, Vector<const uint32_t> text, bool variants,
         bool by_line) {
  require(missing_pages(table, text).empty() && table.has('-' >> 8) && table.has(0x3b1 >> 8),
          "pages of characters are missing");
  require(text.size() < kMost, "the text is too long");
  new (self) TermPieces(table, text.data(), size_of(text, 0), variants, by_line);
}

std::vector<std::tuple<int64_t, int64_t>> unspelled(const TermPieces& pieces) {
  std::vector<std::tuple<int64_t, int64_t>> made;
  for (const size_t i : pieces.unspelled())
    made.emplace_back(pieces.pieces()[i].start, pieces.pieces()[i].end);
  return made;
}

void spell(TermPieces& pieces, Vector<const uint32_t> written, Vector<const int64_t> written_ends,
           Vector<const uint32_t> folded, Vector<const int64_t> folded_ends) {
  const size_t n = pieces.unspelled().size();
  require(written_ends.size() == n && folded_ends.size() == n, "a spelling for each piece");
  const auto parts = [n](const auto& text, const auto& ends) {
    std::vector<std::u32string> made;
    int64_t start = 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t end = ends.data()[i];
      require(start <= end && end <= size_of(text, 0), "ends must not fall");
      made.emplace_back(text.data() + start, text.data() + end);
      start = end;
    }
    return made;
  };
  std::vector<std::u32string> as_written = parts(written, written_ends);
  std::vector<std::u32string> as_folded = parts(folded, folded_ends);
  std::vector<Spelling> made;
  for (size_t i = 0; i < n; ++i)
    made.push_back({std::move(as_written[i]), std::move(as_folded[i])});
  pieces.spell(std::move(made));
}

void check_spelled(const TermPieces& pieces) {
  require(pieces.is_spelled(), "pieces need their spelling");
}

}  // namespace

void bind_terms(nb::module_& m) {
  nb::class_<CharacterTable>(m, "CharacterTable")
      .def(nb::init<>())
      .def("missing", &missing_pages, "text"_a.noconvert(), Released())
      .def("add", &add_page, "page"_a, "shape"_a.noconvert(), "flags"_a.noconvert(),
           "folded"_a.noconvert());
  nb::class_<TermPieces>(m, "TermPieces")
      .def("__init__", &cut, "table"_a, "text"_a.noconvert(), "variants"_a, "by_line"_a,
           nb::keep_alive<1, 2>(), Released())
      .def("unspelled", &unspelled)
      .def("spell", &spell, "written"_a.noconvert(), "written_ends"_a.noconvert(),
           "folded"_a.noconvert(), "folded_ends"_a.noconvert());
  nb::class_<TermAutomaton>(m, "TermAutomaton")
      .def(
          "__init__",
          [](TermAutomaton* self, const TermPieces& terms, Vector<const uint8_t> ignores,
             Vector<int64_t> placed) {
            check_spelled(terms);
            require(ignores.size() + 1 == terms.lines().size() && placed.size() == ignores.size(),
                    "a flag and a place for each line");
            new (self) TermAutomaton(terms, ignores.data(), placed.data());
          },
          "terms"_a, "ignores"_a.noconvert(), "placed"_a.noconvert(), Released())
      .def(
          "find",
          [](const TermAutomaton& self, const TermPieces& text, Vector<const int64_t> starts,
             Vector<const int64_t> ends) {
            check_spelled(text);
            require(starts.size() == ends.size(), "an end for each start");
            std::vector<TermMatch> found;
            {
              const nb::gil_scoped_release released;
              found = self.find(text, {starts.data(), ends.data(), size_of(starts, 0)});
            }
            std::vector<std::tuple<int64_t, int64_t, int64_t>> made;
            made.reserve(found.size());
            for (const TermMatch& each : found) made.emplace_back(each.start, each.end, each.term);
            return made;
          },
          "text"_a, "starts"_a.noconvert(), "ends"_a.noconvert());
}

}  // namespace kernelwood
