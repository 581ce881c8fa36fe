// Vectors for scratch data: memory that is used for one call and wanted again by the next.
//
// Asking the system for megabytes and giving them back on every call costs more than many small
// matrices take to compute, so each thread keeps a few freed blocks. Elements are left
// uninitialised where a vector would clear what is about to be written.
//
// Memory is counted by thread: the difference over the construction of an object is what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace kernelwood {

// Freed blocks of one thread, by powers of two.
class BlockPool {
 public:
  static constexpr size_t smallest = size_t{1} << 14;  // below this malloc is as good

  static BlockPool& of_this_thread() {
    thread_local BlockPool pool;
    return pool;
  }

  // Memory that so many bytes take.
  static int64_t taken(size_t bytes) {
    const int level = bytes < smallest ? levels : level_of(bytes);
    return static_cast<int64_t>(level == levels ? bytes : smallest << level);
  }

  void* take(size_t bytes) {
    const int level = level_of(bytes);
    if (level >= levels) return ::operator new(bytes);
    if (free_[level].empty()) return ::operator new(smallest << level);
    void* block = free_[level].back();
    free_[level].pop_back();
    kept_ -= smallest << level;
    return block;
  }

  void give(void* block, size_t bytes) noexcept {
    const int level = level_of(bytes);
    const size_t size = smallest << level;
    if (level >= levels || kept_ + size > most_kept || free_[level].size() == most_blocks) {
      ::operator delete(block);
      return;
    }
    free_[level].push_back(block);
    kept_ += size;
  }

  ~BlockPool() {
    for (auto& blocks : free_)
      for (void* block : blocks) ::operator delete(block);
  }

 private:
  static constexpr int levels = 10;                      // up to 8 MB each
  static constexpr size_t most_kept = size_t{1} << 24;   // 16 MB in all
  static constexpr size_t most_blocks = 64;

  BlockPool() {
    for (auto& blocks : free_) blocks.reserve(most_blocks);
  }
  static int level_of(size_t bytes) {
    int level = 0;
    while (level < levels && (smallest << level) < bytes) ++level;
    return level;
  }

  std::vector<void*> free_[levels];
  size_t kept_ = 0;
};

// Bytes that buffers took in this thread less those given back in it.
inline int64_t& buffer_bytes() {
  thread_local int64_t bytes = 0;
  return bytes;
}

// Out of line: every buffer that is made or freed would contain a copy.
[[gnu::noinline]] inline void* take_bytes(size_t bytes) {
  buffer_bytes() += BlockPool::taken(bytes);
  return bytes < BlockPool::smallest ? ::operator new(bytes)
                                     : BlockPool::of_this_thread().take(bytes);
}

[[gnu::noinline]] inline void give_bytes(void* block, size_t bytes) noexcept {
  buffer_bytes() -= BlockPool::taken(bytes);
  if (bytes < BlockPool::smallest)
    ::operator delete(block);
  else
    BlockPool::of_this_thread().give(block, bytes);
}

template <class T>
struct BufferAllocator {
  using value_type = T;

  BufferAllocator() = default;
  template <class U>
  BufferAllocator(const BufferAllocator<U>&) {}

  T* allocate(size_t n) { return static_cast<T*>(take_bytes(n * sizeof(T))); }
  void deallocate(T* block, size_t n) noexcept { give_bytes(block, n * sizeof(T)); }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;  // no value: numbers stay as they are
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const BufferAllocator&, const BufferAllocator&) { return true; }
  friend bool operator!=(const BufferAllocator&, const BufferAllocator&) { return false; }
};

template <class T>
using Buffer = std::vector<T, BufferAllocator<T>>;

}  // namespace kernelwood
