// Hashes of features of words, and of features made of several parts.
//
// Only integers of fixed width and shifts of unsigned numbers: the same on every processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelwood {

// FNV-1a, with its bits mixed.
inline uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

// The hash of a feature: the number of its template, then its parts.
inline uint64_t hash_parts(uint64_t h) { return h; }

template <class... Rest>
uint64_t hash_parts(uint64_t h, uint64_t part, Rest... rest) {
  h = ((h << 23) | (h >> 41)) ^ part;
  return hash_parts(h * 0x9e3779b97f4a7c15u, rest...);
}

template <class... Parts>
uint64_t hash_feature(uint64_t kind, Parts... parts) {
  uint64_t h = hash_parts((kind + 1) * 0xff51afd7ed558ccdu, static_cast<uint64_t>(parts)...);
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ (h >> 32);
}

}  // namespace kernelwood
