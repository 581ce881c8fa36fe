// Word vectors as files hold them: lines of a word and decimal numbers, or records of a word and
// raw floats.
//
// A chunk of a file goes in; the numbers and the places of the words come out. Problems are results
// too: only the caller knows the file.
//
// Numbers become the float of the nearest double, whatever the locale. Up to 2^53 and 10^22 one
// operation on exact doubles gives that double (Clinger, How to read floating point numbers
// accurately, 1990). Up to 19 digits and 10^44 a double that may be wrong in its last bits will
// do, if all doubles that near are the same float. Else strtod gets the digits, without their
// decimal point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kernelwood {

enum class VectorLayout { spaced, tabbed };  // word v1 v2 …; word TAB number TAB number TAB v1,v2,…
enum class VectorProblem { none, wrong_count, not_a_number, not_finite, no_word };

struct VectorChunk {
  int64_t rows = 0;  // vectors read
  int64_t lines = 0;  // lines read, blank ones included
  int64_t consumed = 0;  // bytes of these lines; the rest belongs to the next chunk
  VectorProblem problem = VectorProblem::none;  // in the line after these
  int64_t begin = 0, end = 0;  // the bytes that are wrong
  int64_t found = 0;  // how many fields there are, if too few or many
};

// Caller's memory for the results of one chunk.
struct VectorRows {
  float* values;  // capacity x dim
  int64_t* spans;  // capacity x 2: where in the chunk a word begins and ends
  int64_t capacity;
  int64_t dim;
};

namespace decimal {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline double power_of_ten(int64_t exponent) {
  static constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return power[exponent];
}

// mantissa * 10^exponent, exact or wrong by less than 2^-51 of it; exponents up to 44 either way.
inline double scaled(uint64_t mantissa, int64_t exponent) {
  double value = static_cast<double>(mantissa);
  for (int64_t left = exponent < 0 ? -exponent : exponent; left > 0; left -= 22) {
    const double power = power_of_ten(std::min<int64_t>(left, 22));
    value = exponent < 0 ? value / power : value * power;
  }
  return value;
}

// Whether everything within 2^-50 of a positive value is the same float.
inline bool settles_float(double value) {
  const double margin = value * 0x1p-50;
  return value < 1e38 && static_cast<float>(value - margin) == static_cast<float>(value + margin);
}

// Digits with at most one point, times 10^exponent.
inline double round_slowly(const char* at, const char* end, int64_t exponent) {
  // A double is decided by its first 768 digits and by whether anything but zeros follows.
  constexpr int most = 780;
  constexpr int64_t extreme = 100000;  // no double reaches it, whatever the digits
  char text[most + 1 + 32];  // digits, one more, and the exponent
  int n = 0;
  bool fraction = false, more = false;
  for (; at < end; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    if (fraction) --exponent;
    if (n == 0 && *at == '0') continue;
    if (n < most) {
      text[n++] = *at;
    } else {
      more |= *at != '0';
      ++exponent;
    }
  }
  if (n == 0) return 0.0;
  if (more) {
    text[n++] = '1';
    --exponent;
  }
  const long long bounded = std::max(-extreme, std::min(extreme, exponent));
  std::snprintf(text + n, sizeof(text) - static_cast<size_t>(n), "e%lld", bounded);
  return std::strtod(text, nullptr);
}

// Reads digits into a number that wraps around after 19 of them; returns how many count.
inline int64_t read_digits(const char*& at, const char* end, uint64_t& mantissa) {
  if (mantissa == 0)
    while (at < end && *at == '0') ++at;
  const char* const first = at;
  for (; at < end && is_digit(*at); ++at)
    mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
  return at - first;
}

// Reads the number at the start of [at, end); returns where it ends, or null if there is none.
// The value becomes the same float as the double nearest to the number does.
inline const char* read(const char* at, const char* end, double& value) {
  bool negative = false;
  if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  const char* const digits = at;
  uint64_t mantissa = 0;
  int64_t n_digits = read_digits(at, end, mantissa), shifted = 0;
  const bool has_point = at < end && *at == '.';
  if (has_point) {
    const char* const fraction = ++at;
    n_digits += read_digits(at, end, mantissa);
    shifted = at - fraction;
  }
  const char* const digits_end = at;
  if (digits_end - digits == has_point) return nullptr;
  int64_t exponent = 0;
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    bool down = false;
    if (at < end && (*at == '-' || *at == '+')) down = *at++ == '-';
    const char* const first = at;
    for (; at < end && is_digit(*at); ++at)
      if (exponent < int64_t{1} << 50) exponent = exponent * 10 + (*at - '0');
    if (at == first) return nullptr;
    if (down) exponent = -exponent;
  }
  const int64_t power = exponent - shifted;
  bool settled = n_digits <= 19 && power >= -44 && power <= 44;
  if (settled) {
    value = scaled(mantissa, power);
    const bool exact = mantissa <= uint64_t{1} << 53 && power >= -22 && power <= 22;
    settled = exact || settles_float(value);
  }
  if (!settled) value = round_slowly(digits, digits_end, exponent);
  if (negative) value = -value;
  return at;
}

}  // namespace decimal

// Reads lines of words and numbers; a chunk may end inside a line, unless it is the last.
class VectorText {
 public:
  VectorText(VectorLayout layout, const VectorRows& out) : layout_(layout), out_(out) {}

  VectorChunk parse(const char* data, int64_t size, bool is_last) {
    data_ = data;
    chunk_ = {};
    const char* const end = data + size;
    for (const char* at = data; at < end && chunk_.rows < out_.capacity;) {
      const char* newline =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
      if (!newline && !is_last) break;
      const char* stop = newline ? newline : end;
      while (stop > at && (is_gap(stop[-1]) || stop[-1] == '\r')) --stop;
      if (stop > at) {
        if (!(layout_ == VectorLayout::spaced ? spaced(at, stop) : tabbed(at, stop))) break;
        ++chunk_.rows;
      }
      at = newline ? newline + 1 : end;
      ++chunk_.lines;
      chunk_.consumed = at - data;
    }
    return chunk_;
  }

 private:
  static bool is_gap(char c) { return c == ' ' || c == '\t'; }
  static const char* skip_gap(const char* at, const char* end) {
    while (at < end && is_gap(*at)) ++at;
    return at;
  }
  static const char* skip_field(const char* at, const char* end) {
    while (at < end && !is_gap(*at)) ++at;
    return at;
  }

  bool fail(VectorProblem problem, const char* begin, const char* end, int64_t found = 0) {
    chunk_.problem = problem;
    chunk_.begin = begin - data_;
    chunk_.end = end - data_;
    chunk_.found = found;
    return false;
  }

  void set_word(const char* begin, const char* end) {
    out_.spans[2 * chunk_.rows] = begin - data_;
    out_.spans[2 * chunk_.rows + 1] = end - data_;
  }

  // Half a step above the largest float rounding would give infinity.
  static bool fits(double value) { return std::fabs(value) < 0x1.ffffffp127; }

  // One number that fills a field.
  bool number(const char* begin, const char* end, int64_t column) {
    double value = 0;
    if (decimal::read(begin, end, value) != end)
      return fail(is_special(begin, end) ? VectorProblem::not_finite : VectorProblem::not_a_number,
                  begin, end);
    if (!fits(value)) return fail(VectorProblem::not_finite, begin, end);
    out_.values[chunk_.rows * out_.dim + column] = static_cast<float>(value);
    return true;
  }

  static bool is_special(const char* at, const char* end) {
    if (at < end && (*at == '-' || *at == '+')) ++at;
    const auto spells = [&](const char* word) {
      for (const char* c = at; c < end; ++c, ++word)
        if (*word == '\0' || (*c | 0x20) != *word) return false;
      return *word == '\0';
    };
    return spells("nan") || spells("inf") || spells("infinity");
  }

  // Reads numbers if they, and nothing else, fill [at, end).
  bool numbers(const char* at, const char* end) {
    float* const values = out_.values + chunk_.rows * out_.dim;
    for (int64_t column = 0; column < out_.dim; ++column) {
      double value = 0;
      at = decimal::read(skip_gap(at, end), end, value);
      if (!at || (at < end && !is_gap(*at)) || !fits(value)) return false;
      values[column] = static_cast<float>(value);
    }
    return at == end;
  }

  // The line without the gap at its end.
  bool spaced(const char* line, const char* end) {
    const char* const first_end = skip_field(line, end);
    if (first_end > line && numbers(first_end, end)) {
      set_word(line, first_end);
      return true;
    }
    return spaced_carefully(line, end);
  }

  // A word may have gaps inside, so the last fields count.
  bool spaced_carefully(const char* line, const char* end) {
    int64_t n_fields = 0;
    for (const char* at = skip_gap(line, end); at < end; ++n_fields)
      at = skip_gap(skip_field(at, end), end);
    if (n_fields <= out_.dim) return fail(VectorProblem::wrong_count, line, end, n_fields);
    const char* const word = skip_gap(line, end);
    const char *word_end = word, *last_field = word, *at = word;
    for (int64_t field = n_fields - out_.dim; field > 0; --field) {
      last_field = at;
      word_end = skip_field(at, end);
      at = skip_gap(word_end, end);
    }
    // A word of several fields may end in a 2, but not in a 0.25: that is a number too many.
    double value = 0;
    if (last_field != word && decimal::read(last_field, word_end, value) == word_end &&
        std::memchr(last_field, '.', static_cast<size_t>(word_end - last_field)))
      return fail(VectorProblem::wrong_count, line, end, n_fields);
    set_word(word, word_end);
    for (int64_t column = 0; column < out_.dim; ++column) {
      const char* field_end = skip_field(at, end);
      if (!number(at, field_end, column)) return false;
      at = skip_gap(field_end, end);
    }
    return true;
  }

  bool tabbed(const char* line, const char* end) {
    const char* at = line;
    const char* word_end = line;
    int64_t n_tabs = 0;
    for (; n_tabs < 3; ++n_tabs) {
      const char* tab =
          static_cast<const char*>(std::memchr(at, '\t', static_cast<size_t>(end - at)));
      if (!tab) break;
      if (n_tabs == 0) word_end = tab;
      at = tab + 1;
    }
    const int64_t n_numbers = n_tabs < 3 ? 0 : 1 + std::count(at, end, ',');
    if (n_numbers != out_.dim) return fail(VectorProblem::wrong_count, line, end, n_numbers);
    if (word_end == line) return fail(VectorProblem::no_word, line, end);
    set_word(line, word_end);
    for (int64_t column = 0; column < out_.dim; ++column) {
      const char* field_end = std::find(at, end, ',');
      if (!number(at, field_end, column)) return false;
      at = field_end + 1;
    }
    return true;
  }

  VectorLayout layout_;
  VectorRows out_;
  const char* data_ = nullptr;
  VectorChunk chunk_;
};

// Reads records of a word, a space and little-endian floats, with line feeds between them or not.
inline VectorChunk parse_vector_records(const char* data, int64_t size, const VectorRows& out) {
  VectorChunk chunk;
  const char* const end = data + size;
  const int64_t n_bytes = 4 * out.dim;
  for (const char* at = data; chunk.rows < out.capacity;) {
    while (at < end && *at == '\n') ++at;
    const char* space =
        static_cast<const char*>(std::memchr(at, ' ', static_cast<size_t>(end - at)));
    if (!space || end - space - 1 < n_bytes) break;
    chunk.begin = at - data;
    chunk.end = space - data;
    if (space == at || std::memchr(at, '\n', static_cast<size_t>(space - at))) {
      chunk.problem = VectorProblem::no_word;
      break;
    }
    out.spans[2 * chunk.rows] = chunk.begin;
    out.spans[2 * chunk.rows + 1] = chunk.end;
    const auto* bytes = reinterpret_cast<const unsigned char*>(space + 1);
    float* const values = out.values + chunk.rows * out.dim;
    bool finite = true;
    for (int64_t i = 0; i < out.dim; ++i, bytes += 4) {
      const uint32_t bits = uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 |
                            uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
      std::memcpy(values + i, &bits, 4);
      finite &= (bits & 0x7f800000u) != 0x7f800000u;
    }
    if (!finite) {
      chunk.problem = VectorProblem::not_finite;
      break;
    }
    ++chunk.rows;
    at = space + 1 + n_bytes;
    chunk.consumed = at - data;
  }
  return chunk;
}

// Scales rows to length 1. Rows that have it up to rounding stay as they are, so that doing this
// twice is the same as doing it once; rows of zeros stay zero.
inline void scale_to_unit_length(float* matrix, int64_t n_rows, int64_t dim) {
  constexpr double rounding = 0x1p-22;
  for (float* row = matrix; row < matrix + n_rows * dim; row += dim) {
    double sum[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < dim; ++i) sum[i & 3] += static_cast<double>(row[i]) * row[i];
    const double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    if (total == 0 || std::fabs(total - 1) <= rounding) continue;
    const double length = std::sqrt(total);
    for (int64_t i = 0; i < dim; ++i) row[i] = static_cast<float>(row[i] / length);
  }
}

}  // namespace kernelwood
