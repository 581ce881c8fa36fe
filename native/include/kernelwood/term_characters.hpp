// Properties of characters that decide where tokens and terms begin and end, and how terms are
// compared. They are given by pages of 256 characters when a text needs them, and never change.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace kernelwood {

enum CharacterFlag : uint8_t {
  kAlphabetic = 1,
  kAlphanumeric = 2,
  kMark = 4,   // belongs to the character before
  kUpper = 8,
  kPlain = 16  // never composed with others, and folded to one character
};

struct CharacterPage {
  std::array<uint8_t, 256> shape;  // class for the rules of tokens, see text/tokenizer.py
  std::array<uint8_t, 256> flags;
  std::array<uint32_t, 256> folded;  // without case
};

class CharacterTable {
 public:
  static constexpr uint32_t n_pages = 0x110000 / 256;

  CharacterTable() {
    for (auto& page : pages_) page.store(nullptr, std::memory_order_relaxed);
  }

  // Threads may read while pages are added.
  bool has(uint32_t page) const { return of(page) != nullptr; }

  void add(uint32_t page, const CharacterPage& properties) {
    const std::lock_guard<std::mutex> lock(adding_);
    if (has(page)) return;
    owned_.push_back(std::make_unique<CharacterPage>(properties));
    pages_[page].store(owned_.back().get(), std::memory_order_release);
  }

  // Of characters whose page is there.
  uint8_t shape(uint32_t code) const { return of(code >> 8)->shape[code & 255]; }
  uint8_t flags(uint32_t code) const { return of(code >> 8)->flags[code & 255]; }
  uint32_t folded(uint32_t code) const { return of(code >> 8)->folded[code & 255]; }

 private:
  const CharacterPage* of(uint32_t page) const {
    return pages_[page].load(std::memory_order_acquire);
  }

  std::array<std::atomic<const CharacterPage*>, n_pages> pages_;
  std::vector<std::unique_ptr<CharacterPage>> owned_;
  std::mutex adding_;
};

}  // namespace kernelwood
