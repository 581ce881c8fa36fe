// Tables by number and by string in flat arrays with open addressing: a search reads one line of
// the cache, and a second if it finds something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelwood {

// What both share: places by hash, at most half of them in use. A value below 0 is free.
class HashPlaces {
 public:
  struct Place {
    uint64_t key = 0;
    int32_t value = -1;
  };

  // The value of the first place with a key for which `same` holds of the value, or -1.
  template <class Same>
  int32_t find(uint64_t key, Same&& same) const {
    for (size_t at = begin(key);; at = (at + 1) & (places_.size() - 1)) {
      const Place& place = places_[at];
      if (place.value < 0 || (place.key == key && same(place.value))) return place.value;
    }
  }

  // A key that was not found.
  void add(uint64_t key, int32_t value) {
    if (2 * ++n_used_ > places_.size()) grow();
    put({key, value});
  }

 private:
  size_t begin(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (places_.size() - 1);
  }

  void put(const Place& made) {
    size_t at = begin(made.key);
    while (places_[at].value >= 0) at = (at + 1) & (places_.size() - 1);
    places_[at] = made;
  }

  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    for (const Place& place : old)
      if (place.value >= 0) put(place);
  }

  std::vector<Place> places_ = std::vector<Place>(16);
  size_t n_used_ = 0;
};

class NumberTable {
 public:
  int32_t find(uint64_t key) const {
    return places_.find(key, [](int32_t) { return true; });
  }
  void add(uint64_t key, int32_t value) { places_.add(key, value); }

 private:
  HashPlaces places_;
};

// Strings with values; each also has a number, in the order in which they are added.
class StringTable {
 public:
  // The number of a string, or -1.
  int32_t find(std::u32string_view text) const {
    return places_.find(hash(text), [&](int32_t number) { return text == at(number); });
  }

  int32_t add(std::u32string_view text) {
    const auto number = static_cast<int32_t>(ends_.size());
    characters_ += text;
    ends_.push_back(characters_.size());
    places_.add(hash(text), number);
    return number;
  }

 private:
  static uint64_t hash(std::u32string_view text) {
    uint64_t made = 0xcbf29ce484222325u;
    for (const char32_t c : text) {
      made = (made ^ c) * 0x100000001b3u;
      made ^= made >> 29;
    }
    return made;
  }

  std::u32string_view at(int32_t number) const {
    const auto i = static_cast<size_t>(number);
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {characters_.data() + begin, ends_[i] - begin};
  }

  HashPlaces places_;
  std::u32string characters_;
  std::vector<size_t> ends_;
};

}  // namespace kernelwood
